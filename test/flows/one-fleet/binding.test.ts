import { globSync } from 'node:fs'
import t from 'tap'
import { PASSWORD, startApplication, startTenant } from '../../support/application.ts'
import { wholeFleet } from '../../support/whole-fleet.ts'

const ELSEWHERE = 'Mozilla/5.0 (Windows NT 10.0) Firefox/140.0'

t.test('a session that moves to another client is not continued by any way in', async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startApplication(t)
  for (const binding of ['step_up', 'terminate'] as const) {
    const id = binding.replace('_', '-')
    const tenant = await startTenant(fleet, id, application.origin, { session_binding: binding })
    for (const door of ['/work', '/service/login?returnTo=/work']) {
      const ada = fleet.browser()
      t.match(await ada.signIn(`${tenant.edge()}/work`, 'ada', PASSWORD), { status: 200 })
      ada.userAgent = ELSEWHERE
      const asked = await ada.open(`${tenant.edge()}${door}`)
      t.match(asked.url, `/auth/realms/${id}/`, `${binding} by ${door}: the password is asked for`)
      const again = await ada.submit(asked, { username: 'ada', password: PASSWORD })
      t.match(again, { status: 200, url: `${tenant.edge()}/work` }, 'and then it goes on')
    }
    const thief = fleet.browser()
    await thief.signIn(`${tenant.edge()}/work`, 'ada', PASSWORD)
    thief.userAgent = ELSEWHERE
    thief.forget(tenant.host) // no session cookie, but the realm's own session
    const asked = await thief.open(`${tenant.edge()}/work`)
    t.match(asked.url, `/auth/realms/${id}/`, `${binding} without the cookie: asked as well`)
  }
})

t.test(
  'who signs out while the control plane is away is out in every worker and after a restart',
  async (t) => {
    const fleet = await wholeFleet(t)
    const application = await startApplication(t)
    const tenant = await startTenant(fleet, 'away', application.origin)
    const ada = fleet.browser()
    await ada.signIn(`${tenant.edge()}/`, 'ada', PASSWORD)
    const copy = fleet.browser()
    for (const name of ['service_session', 'service_seen'])
      copy.setCookie(tenant.host, name, ada.cookie(tenant.host, name) ?? '')
    t.match(await copy.fetch(`${tenant.edge()}/`), { status: 200 })
    await fleet.controlPlane.stop('SIGKILL')
    await ada.once(`${tenant.edge()}/service/logout`)
    let refusedInARow = 0
    for (let tries = 0; tries < 200 && refusedInARow < 20; tries++) {
      // a connection of its own each time, so that both workers are met
      const fresh = fleet.browser()
      for (const name of ['service_session', 'service_seen'])
        fresh.setCookie(tenant.host, name, copy.cookie(tenant.host, name) ?? '')
      const { status } = await fresh.fetch(`${tenant.edge()}/`)
      refusedInARow = status === 401 ? refusedInARow + 1 : 0
    }
    t.equal(refusedInARow, 20)
    const kept = () => globSync(`${fleet.folder}/data/gateway/gateway-0/revoked/away*`).length
    for (let tries = 0; tries < 1000 && kept() === 0; tries++)
      await new Promise((resolve) => setTimeout(resolve, 10))
    t.ok(kept() > 0, 'the gateway has it on disk')
    await fleet.gateways[0]?.stop('SIGKILL')
    await fleet.startGateway(0)
    t.match(
      await copy.fetch(`${tenant.edge()}/`),
      { status: 401 },
      'and a restart does not bring it back',
    )
  },
)
