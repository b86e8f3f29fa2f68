import t from 'tap'
import { PASSWORD, startApplication, startTenant } from '../../support/application.ts'
import { wholeFleet } from '../../support/whole-fleet.ts'

t.test('no valid session is refused at any moment of a key rotation', async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'turned', application.origin, {
    max_session_seconds: 3600,
  })
  const rotate = (phase: string, more = {}) =>
    fleet.operator('POST', '/tenants/turned/keys/rotate', { phase, ...more })
  const published = async () => {
    const answer = await fetch(`${fleet.baseUrl}/tenants/turned/public-key`)
    const { keys } = (await answer.json()) as { keys: { kid: string; status: string }[] }
    return keys.map(({ status }) => status).sort()
  }

  const old = fleet.browser()
  t.match(await old.signIn(`${tenant.edge()}/`, 'ada', PASSWORD), { status: 200 })
  const statuses: number[] = []
  let isDone = false
  const traffic = (async () => {
    while (!isDone) {
      statuses.push((await old.fetch(`${tenant.edge()}/work`)).status)
      const newcomer = fleet.browser()
      const page = await newcomer.signIn(`${tenant.edge()}/`, 'ada', PASSWORD)
      statuses.push(page.status, (await newcomer.fetch(`${tenant.edge()}/work`)).status)
    }
  })()
  const someTraffic = async () => {
    const until = statuses.length + 9
    while (statuses.length < until) await new Promise((resolve) => setImmediate(resolve))
  }

  await someTraffic()
  t.same(await published(), ['current'])
  t.match(await rotate('promote'), { status: 409 }, 'nothing to promote yet')
  t.match(await rotate('prepare'), { status: 200 })
  t.same(await published(), ['current', 'next'])
  await someTraffic()
  t.match(await rotate('promote'), { status: 200 })
  t.same(await published(), ['current', 'retired'])
  await someTraffic()
  t.match(await rotate('retire'), { status: 409 }, 'a session of the old key can still live')
  isDone = true
  await traffic
  t.same([...new Set(statuses)], [200])

  t.match(await rotate('retire', { force: true }), { status: 200 })
  await fleet.settled()
  t.same(await published(), ['current'])
  t.match(await old.fetch(`${tenant.edge()}/work`), { status: 401 }, 'forced out')
  t.match(await old.signIn(`${tenant.edge()}/`, 'ada', PASSWORD), { status: 200 })
})
