/** Verification through the real edge: clocks that are off, what is down, what is in the way. */
import t from 'tap'
import { tenantBody } from '../../support/application.ts'
import { sealedPathsTold } from '../../support/sealed-events.ts'
import { wholeFleet } from '../../support/whole-fleet.ts'
import { startVerifyingApplication } from '../../support/verifying-application.ts'

interface Check {
  readonly check: string
  readonly status: string
  readonly detail: string
  readonly next_action: string
}

void t.test('through the real edge', async (t) => {
  const fleet = await wholeFleet(t)

  async function start(tenantId: string, origin: string, more: Record<string, unknown> = {}) {
    const body = tenantBody(tenantId, origin, more)
    const created = await fleet.operator('POST', '/tenants', body)
    const key = String(created.body['analyzer_key'])
    await fleet.operator('POST', `/tenants/${tenantId}/publish`)
    await fleet.settled()
    return async () => {
      const { status, body } = await fleet.api(key, 'POST', '/verify/probe')
      t.equal(status, 200, JSON.stringify(body))
      const checks = body['checks'] as unknown as Check[]
      const at = (name: string) => checks.find(({ check }) => check === name)
      return { overall: body['status'] as unknown as string, at, checks }
    }
  }
  const verifying = (tenantId: string) =>
    startVerifyingApplication(t, { tenantId, baseUrl: fleet.baseUrl })

  await t.test(
    'a clock is measured at the application, and half a minute is no matter',
    async (t) => {
      const application = await verifying('clock')
      const probe = await start('clock', application.origin)
      for (const seconds of [0, 29, -29]) {
        application.clockAheadSeconds = seconds
        const { overall, at } = await probe()
        t.equal(overall, 'pass', `${seconds} s`)
        t.match(at('application_reached'), { status: 'pass', next_action: '' })
        t.match(at('key_installed'), { status: 'pass' })
      }
    },
  )

  await t.test(
    'five minutes are reported, and named as what keeps a key from counting',
    async (t) => {
      const application = await verifying('late')
      const probe = await start('late', application.origin)
      for (const [seconds, side, until] of [
        [300, 'ahead of', /sessions end (?:299|300|301) s too early/],
        [-300, 'behind', /people are refused for the first (?:239|240|241) s after signing in/],
      ] as const) {
        application.clockAheadSeconds = seconds
        const { overall, at } = await probe()
        t.equal(overall, 'fail')
        const clock = new RegExp(`Its clock is (?:299|300|301) s ${side} `)
        t.match(at('application_reached'), { status: 'warn', detail: clock })
        t.match(at('application_reached')?.next_action, /^Synchronize the clock .*NTP/)
        t.match(at('application_reached')?.next_action, until)
        t.match(at('middleware_mounted'), { status: 'pass' }, 'it does answer probes')
        t.match(at('key_installed'), { status: 'fail', detail: clock, next_action: /^Synchronize/ })
      }
      application.clockAheadSeconds = 45 // beyond half a minute, within what a probe allows
      const { overall, at } = await probe()
      t.equal(overall, 'pass', 'a warning is no failure')
      t.match(at('application_reached'), { status: 'warn' })
      application.clockAheadSeconds = -45
      t.match(
        (await probe()).at('application_reached')?.next_action,
        /sessions last 4[4-6] s too long/,
      )
    },
  )

  await t.test('an application that is down is told from a gateway that is', async (t) => {
    const probe = await start('down', 'http://127.0.0.1:1')
    const { at } = await probe()
    t.match(at('hostname_routed'), { status: 'pass', detail: /routed through a gateway/ })
    t.match(at('application_reached'), {
      status: 'fail',
      detail: /answers 502: there is no answer from the application at http:\/\/127\.0\.0\.1:1/,
      next_action: /curl -v http:\/\/127\.0\.0\.1:1\/health/,
    })
    t.match(at('key_installed'), { next_action: 'Make application_reached pass first.' })

    await fleet.gateways[0]?.stop()
    const off = await probe()
    t.match(off.at('hostname_routed'), {
      status: 'fail',
      detail: /the connection was refused/,
      next_action: /^Start the gateway that listens at http:\/\/down\.localhost:\d+/,
    })
    t.match(off.at('application_reached'), { next_action: 'Make hostname_routed pass first.' })
    await fleet.startGateway(0)
    await fleet.settled()
    t.match((await probe()).at('hostname_routed'), { status: 'pass' })
  })

  await t.test('a suspended tenant is told who can help', async (t) => {
    const application = await verifying('suspended')
    const probe = await start('suspended', application.origin)
    await fleet.operator('POST', '/tenants/suspended/suspend')
    await fleet.settled()
    t.match((await probe()).at('application_reached'), {
      status: 'fail',
      detail: /suspended/,
      next_action: /POST .*\/operator\/tenants\/suspended\/activate/,
    })
  })

  await t.test(
    'sealed paths are looked at once protection is on, the health path too',
    async (t) => {
      const application = await verifying('sealed')
      const probe = await start('sealed', application.origin, { sealed: ['/admin', '/internal'] })
      t.match((await probe()).at('sealed_hidden'), { status: 'skip', detail: /Protection is off/ })
      await fleet.operator('POST', '/tenants/sealed/go-live', { force: true })
      await fleet.settled()
      const { overall, at } = await probe()
      t.equal(overall, 'pass')
      t.match(at('sealed_hidden'), { status: 'pass', detail: '(14 tried)' })
      const edges = fleet.gateways.map(
        (_, gateway) => `${fleet.edge('sealed.localhost', gateway)}/admin/x`,
      )
      for (const edge of edges) t.equal((await fleet.browser().fetch(edge)).status, 404)
      const told = await sealedPathsTold(fleet, 'sealed', '/admin/x')
      t.same([...new Set(told)], ['/admin/x'], 'what verification tries is not told of')
      await fleet.operator('PATCH', '/tenants/sealed', { sealed: [] })
      await fleet.settled()
      t.match((await probe()).at('sealed_hidden'), { status: 'skip', detail: /no sealed paths/ })
    },
  )
})
