import t from 'tap'
import { addUser, PASSWORD, startApplication, startTenant } from '../../support/application.ts'
import { wholeFleet } from '../../support/whole-fleet.ts'

const PAGE = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }

t.test('a rule opens a path to a group, from its change to its end', async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'ruled', application.origin)
  const api = (method: string, path: string, body?: object) =>
    fleet.operator(method, `/tenants/ruled${path}`, body)
  const ada = fleet.browser()
  t.match(await ada.signIn(`${tenant.edge()}/`, 'ada', PASSWORD), { status: 200 })
  const before = ada.cookie(tenant.host, 'service_session') ?? ''
  t.notMatch(claimsOf(before), { gv: Number }, 'without rules a token says nothing of groups')

  t.match(await api('POST', '/groups', { name: 'finance' }), { status: 201 })
  const rules = [{ path: '/reports', allow: [{ group: 'finance' }] }]
  t.match(await api('PUT', '/access-rules', { rules }), { status: 200, body: { rules } })
  for (const gateway of [0, 1]) {
    const denied = await ada.fetch(`${tenant.edge(gateway)}/reports/x`)
    t.match(denied, { status: 403 }, `gateway ${gateway}`)
    t.match(JSON.parse(denied.text), { error: 'rule_denied', missing: [{ group: 'finance' }] })
    t.match(await ada.fetch(`${tenant.edge(gateway)}/%72eports/x`), { status: 403 })
    t.match(await ada.fetch(`${tenant.edge(gateway)}/other`), { status: 200 })
  }
  const page = await ada.fetch(`${tenant.edge()}/reports`, { headers: PAGE })
  t.match(page, { status: 403, text: /membership in finance/ })

  t.match(await api('PUT', `/groups/finance/members/${tenant.ada}`), { status: 200 })
  t.match(await ada.fetch(`${tenant.edge()}/reports`), { status: 401 }, 'her token is outdated')
  t.match(await ada.open(`${tenant.edge()}/reports`), { status: 200 }, 'and renewed silently')
  const after = ada.cookie(tenant.host, 'service_session') ?? ''
  t.match(claimsOf(after), { gv: 1, gb: 'AQ', sid: claimsOf(before)['sid'] }, 'in one session')
  const told = await ada.fetch(`${tenant.edge()}/reports`, {
    headers: { 'x-service-groups': 'admins', x_service_groups: 'admins' },
  })
  t.match(told, { status: 200 })
  const { headers } = application.received.at(-1)!
  t.equal(headers['x-service-groups'], 'finance', 'what comes from outside is gone')
  t.equal(headers['x_service_groups'], undefined)

  await addUser(fleet, 'ruled', 'bob')
  const bob = fleet.browser()
  await bob.signIn(`${tenant.edge()}/`, 'bob', PASSWORD)
  t.match(await bob.fetch(`${tenant.edge()}/reports`), { status: 403 })

  t.match(await api('DELETE', `/groups/finance/members/${tenant.ada}`), { status: 204 })
  for (const gateway of [0, 1])
    t.match(await ada.fetch(`${tenant.edge(gateway)}/reports`), { status: 401 }, `${gateway}`)
  t.match(await ada.open(`${tenant.edge()}/other`), { status: 200 }, 'her session goes on')
  t.match(await ada.fetch(`${tenant.edge()}/reports`), { status: 403 })

  t.match(await api('DELETE', '/groups/finance'), { status: 409 }, 'a rule speaks of it')
  t.match(await api('PUT', '/access-rules', { rules: [] }), { status: 200 })
  t.match(await bob.fetch(`${tenant.edge()}/reports`), { status: 200 })
  t.match(await api('DELETE', '/groups/finance'), { status: 204 })
})

t.test('where only strength is missing, a stronger sign-in is asked for', async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'strong', application.origin)
  const ada = fleet.browser()
  await ada.signIn(`${tenant.edge()}/`, 'ada', PASSWORD)
  const rules = [{ path: '/vault', allow: [{ strength: 'mfa', max_age: 900 }] }]
  t.match(await fleet.operator('PUT', '/tenants/strong/access-rules', { rules }), { status: 200 })
  // she has just signed in, and has no second factor: to ask again would go round in circles
  const page = await ada.fetch(`${tenant.edge()}/vault`, { headers: PAGE })
  t.match(page, { status: 403, text: /a second factor/ })
})

t.test('a rule for a method holds for headers that name it', async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'methods', application.origin)
  const ada = fleet.browser()
  await ada.signIn(`${tenant.edge()}/`, 'ada', PASSWORD)
  const rules = [
    { path: '/papers', methods: ['POST'], allow: [{ signed_in: true }] },
    { path: '/papers', methods: ['DELETE'], allow: [{ network: 'nowhere' }] },
  ]
  const change = { networks: { nowhere: ['192.0.2.0/24'] }, rules }
  t.match(await fleet.operator('PUT', '/tenants/methods/access-rules', change), { status: 200 })
  const post = (headers: Record<string, string> = {}) =>
    ada.fetch(`${tenant.edge()}/papers/1`, { method: 'POST', headers })
  t.match(await post(), { status: 200 })
  t.match(await post({ 'x-http-method-override': 'POST' }), { status: 200 })
  for (const name of ['x-http-method-override', 'X-HTTP-Method', 'x-method-override'])
    t.match(await post({ [name]: 'delete' }), { status: 403 }, name)
  t.notOk(application.received.some(({ headers }) => headers['x-http-method'] !== undefined))
})

function claimsOf(token: string): Record<string, unknown> {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()
  return JSON.parse(payload) as Record<string, unknown>
}
