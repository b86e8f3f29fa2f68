/** What the command line tool finds open holds going live back, and for no longer than it says something. */
import t from 'tap'
import { checksOf, upsertChecks } from '../../../control-plane/store/queries/verification.ts'
import { failedLocally, reportOf } from '../../../control-plane/tenants/protection.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { middleware, startScene } from '../verification/scene.ts'

const found = (check: string, status: string) => ({
  check,
  status,
  detail: status === 'fail' ? `server.js:9 is open (${check})` : '',
  next_action: status === 'fail' ? 'Put it behind the guard.' : '',
})
const report = (...checks: object[]) => ({
  cli_version: '0.1.0',
  project: { framework: 'express', language: 'typescript' },
  checks,
})
const GOOD = ['middleware_mounted', 'listeners_guarded', 'websockets_guarded'].map((name) =>
  found(name, 'pass'),
)
const OPEN = [...GOOD.filter(({ check }) => check !== 'listeners_guarded'), found('listeners_guarded', 'fail')] // prettier-ignore

/** A tenant of which the platform has confirmed all that it asks for. */
async function startVerified(t: Parameters<typeof startScene>[0]) {
  const one = await startScene(t)
  const { scene, services, probe, customer } = one
  scene.application = middleware(async () =>
    (await services.keys.publicKeys('acme')).map(({ pem }) => pem),
  )
  await probe()
  return {
    ...one,
    reported: (...checks: object[]) => customer('POST', 'verify/local', report(...checks)),
    goLive: (body?: object) => customer('POST', 'go-live', body),
  }
}

const HELD = {
  status: 409,
  body: {
    error: 'local_checks_failed',
    missing: ['listeners_guarded'],
    checks: [{ ...found('listeners_guarded', 'fail') }],
  },
}

void t.test('an open listener in the latest report is named with what to do', async (t) => {
  const { reported, goLive } = await startVerified(t)
  await reported(...OPEN)
  const refused = await goLive()
  t.match(refused, HELD)
  t.match(refused.body['detail'], /Fix what checks name and run service-analyzer verify/)
  t.match(await goLive({ ignore_local_checks: false }), HELD)
  await reported(...GOOD)
  t.match(await goLive(), { status: 200, body: { protection: 'on' } })
})

void t.test('each of the three checks holds it back, and no other name', async (t) => {
  const { reported, goLive } = await startVerified(t)
  for (const { check } of GOOD) {
    await reported(found(check, 'fail'))
    t.match(await goLive(), { status: 409, body: { missing: [check] } })
    await reported(found(check, 'warn'))
  }
  await reported(found('health_path', 'fail'), found('key_installed', 'fail'))
  t.match(await goLive(), { status: 200 })
})

void t.test('no report, one of yesterday, and one that another followed hold nobody', async (t) => {
  const { reported, goLive, clock, probe, customer } = await startVerified(t)
  t.match(await goLive(), { status: 200 })
  await customer('POST', 'go-back')
  await reported(...OPEN)
  clock.advance(LIMITS.verificationValidMs - 1)
  await probe()
  t.match(await goLive(), HELD, 'and what the platform sees from outside changes nothing')
  clock.advance(1)
  t.match(await goLive(), { status: 200 })
  await customer('POST', 'go-back')

  await reported(...OPEN)
  clock.advance(1)
  await reported(found('middleware_mounted', 'pass'))
  t.match(await goLive(), { status: 200 }, 'the latest report no longer knows of it')
})

void t.test('a report of another application is forgotten with its address', async (t) => {
  const { reported, goLive, operator, probe } = await startVerified(t)
  await reported(...OPEN)
  await operator('PATCH', '/tenants/acme', { name: 'Acme' })
  t.match(await goLive(), HELD)
  await operator('PATCH', '/tenants/acme', { health: '/health' })
  await probe()
  t.match(await goLive(), HELD, 'another health path is no other application')
  await operator('PATCH', '/tenants/acme', { origin: 'http://127.0.0.1:9009' })
  await probe()
  t.match(await goLive(), { status: 200 })
})

void t.test(
  'who says so goes live anyway, and the audit trail knows what was ignored',
  async (t) => {
    const { reported, goLive, services, customer, operator } = await startVerified(t)
    await reported(...OPEN)
    t.match(await goLive({ ignore_local_checks: true }), { status: 200 })
    const last = async () => (await services.auditTrail.list({ limit: 1 })).items[0]
    t.match(await last(), {
      action: 'protection.on',
      actor: 'analyzer:acme',
      content: { force: false, missing: [], ignored: ['listeners_guarded'] },
    })
    await customer('POST', 'go-back')
    t.match(await operator('POST', '/tenants/acme/go-live', {}), HELD)
    t.match(await operator('POST', '/tenants/acme/go-live', { force: true }), { status: 200 })
    t.match(await last(), { content: { force: true, ignored: ['listeners_guarded'] } })
  },
)

void t.test(
  'a report that comes between the page and the click is not ignored unread',
  async (t) => {
    const { reported, services, clock } = await startVerified(t)
    const { store, tenants } = services
    await reported(...OPEN)
    const latest = async () => failedLocally(await checksOf(store.read, 'acme'), clock.nowMs())
    const ignoredReport = reportOf(await latest())
    t.match(ignoredReport, /^listeners_guarded@\d+$/)
    const wish = { force: false, ignoredReport }
    const asked = Promise.withResolvers<void>()
    clock.advance(1)
    const reporting = store.change(async ({ queries, nowMs }) => {
      await asked.promise
      const rows = (await checksOf(queries, 'acme')).filter(
        ({ source }) => source === 'self_report',
      )
      await upsertChecks(
        queries,
        rows.map((row) => ({ ...row, at: nowMs })),
      )
    })
    const refused = t.rejects(tenants.goLive('acme', wish, ACTOR), { code: 'local_checks_failed' })
    asked.resolve()
    await reporting
    await refused
    await tenants.goLive('acme', { ...wish, ignoredReport: reportOf(await latest()) }, ACTOR)
    t.equal((await tenants.get('acme')).protection, 'on')
  },
)

void t.test(
  'it ignores reports alone, and what verification has not confirmed is still missing',
  async (t) => {
    const { customer } = await startScene(t)
    await customer('POST', 'verify/local', report(...OPEN))
    const missing = ['middleware_mounted', 'key_installed']
    t.match(await customer('POST', 'go-live', { ignore_local_checks: true }), {
      status: 409,
      body: { error: 'not_verified', missing },
    })
    t.match((await customer('POST', 'go-live')).body, {
      error: 'not_verified',
      missing: [...missing, 'listeners_guarded'],
      checks: HELD.body.checks,
    })
  },
)
