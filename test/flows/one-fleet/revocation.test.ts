import t from 'tap'
import { addUser, PASSWORD, startApplication, startTenant } from '../../support/application.ts'
import { wholeFleet } from '../../support/whole-fleet.ts'

t.test('a revoked session is dead at every gateway, and signing in again works', async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'revoked', application.origin)
  await addUser(fleet, 'revoked', 'bob')

  const bob = fleet.browser()
  t.match(await bob.signIn(`${tenant.edge()}/`, 'bob', PASSWORD), { status: 200 })

  for (const kind of ['sid', 'subject', 'all'] as const) {
    const ada = fleet.browser()
    const page = await ada.signIn(`${tenant.edge()}/work?x=1`, 'ada', PASSWORD)
    t.match(page, { status: 200, url: `${tenant.edge()}/work?x=1` }, 'signed in')
    const me = await ada.fetch(`${tenant.edge()}/service/me`)
    const { sid, user_id: subject } = JSON.parse(me.text) as { sid: string; user_id: string }
    t.equal(subject, tenant.ada)

    const body = kind === 'all' ? { all: true } : { [kind]: kind === 'sid' ? sid : subject }
    const revoked = await fleet.operator('POST', '/tenants/revoked/revocations', body)
    t.match(revoked, { status: 200 }, `revoked by ${kind}`)
    // the promise is 250 ms; polled, so that the measured time is told and not waited for
    for (const gateway of [0, 1]) {
      const startedMs = performance.now()
      let status = 200
      for (let tries = 0; tries < 250 && status === 200; tries++)
        ({ status } = await ada.fetch(`${tenant.edge(gateway)}/work`))
      t.equal(status, 401, `gateway ${gateway} refuses the session`)
      t.comment(
        `${kind}: dead at gateway ${gateway} after ${Math.round(performance.now() - startedMs)} ms`,
      )
    }
    const bobs = await bob.fetch(`${tenant.edge()}/work`)
    t.equal(bobs.status, kind === 'all' ? 401 : 200, 'others are met only by all')
    const again = await ada.signIn(`${tenant.edge()}/again`, 'ada', PASSWORD)
    t.match(again, { status: 200, url: `${tenant.edge()}/again` }, 'signing in again works')
    t.match(await ada.fetch(`${tenant.edge(1)}/again`), { status: 200 })
  }
})

t.test('signing out ends the session everywhere', async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'left', application.origin)
  const ada = fleet.browser()
  await ada.signIn(`${tenant.edge()}/`, 'ada', PASSWORD)
  const session = ada.cookie(tenant.host, 'service_session') ?? ''
  const seen = ada.cookie(tenant.host, 'service_seen') ?? ''
  t.match(await ada.fetch(`${tenant.edge(1)}/`), { status: 200 })

  const page = await ada.open(`${tenant.edge()}/service/logout`)
  t.match(page, { status: 200, url: /\/service\/logout\?signed_out$/ }, 'and is told so')
  t.equal(ada.cookie(tenant.host, 'service_session'), undefined)

  const thief = fleet.browser()
  thief.setCookie(tenant.host, 'service_session', session)
  thief.setCookie(tenant.host, 'service_seen', seen)
  for (const gateway of [0, 1]) {
    let status = 200
    for (let tries = 0; tries < 250 && status === 200; tries++)
      ({ status } = await thief.fetch(`${tenant.edge(gateway)}/`))
    t.equal(status, 401, `the copied cookie is dead at gateway ${gateway}`)
  }
})
