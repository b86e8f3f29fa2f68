/** Provisioning: a token that is shown once, what to paste where, and what a provider has asked for. */
import t, { type Test } from 'tap'
import { createApp } from '../../../control-plane/app.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { startConsole } from '../../support/console.ts'
import { createLiveKey } from '../../../control-plane/keys/live-key.ts'

const PAGE = '/console/tenants/acme/provisioning'
const FORM = {
  name: 'Entra 2026',
  expires_in: String(LIMITS.scimTokenSecondsDefault),
  connection_id: '',
}

async function startPage(t: Test) {
  const world = await startConsole(t, { clock: movableClock() })
  const app = createApp(world.services, { operatorKey: createLiveKey('x'.repeat(32)) })
  const ada = await world.person('acme')
  async function made(form: Record<string, string> = FORM) {
    const answer = await ada.post(`${PAGE}/tokens`, form)
    const [token = ''] = /scim_[\w-]{43}/.exec(answer.text) ?? []
    return { ...answer, token }
  }
  const ask = async (token: string, path: string) =>
    app.request(`/scim/v2/acme${path}`, { headers: { authorization: `Bearer ${token}` } })
  return { ...world, ada, made, ask }
}

t.test('a page says what to paste where, and lists are empty with a reason', async (t) => {
  const { ada } = await startPage(t)
  const { text } = await ada.get(PAGE)
  t.match(text, /Base address/)
  t.match(text, /https?:[^<"]*\/scim\/v2\/acme/)
  t.match(text, /Tenant URL.*Secret token.*SCIM connector base URL/s)
  t.match(text, /No tokens yet.*No requests yet/s)
  t.notMatch(text, /name="connection_id"/, 'there is no connection to choose')
  t.match(
    (await ada.get('/console/tenants/acme')).text,
    /href="[^"]+provisioning"[^>]*>Provisioning</,
  )
})

t.test('a token is shown once, works, and is refused once it is revoked', async (t) => {
  const { ada, made, ask, services } = await startPage(t)
  const { status, text, token } = await made()
  t.equal(status, 200)
  t.match(text, /Copy it now: it won’t be shown again/)
  t.equal((await ask(token, '/Users')).status, 200)
  const listed = (await ada.get(PAGE)).text
  t.notMatch(listed, token)
  t.match(listed, /Entra 2026.*spt_.*2026-06-30/s)
  const [revoke = ''] = /\/console\/\S+\/revoke/.exec(listed) ?? []
  t.match((await ada.get(revoke)).text, /Revoke the token Entra 2026\?/)
  t.match(await ada.post(revoke), { status: 303 })
  t.equal((await ask(token, '/Users')).status, 401)
  t.equal((await ada.get(revoke)).status, 404)
  const { items } = await services.auditTrail.search({ limit: 10 }, { tenantId: 'acme' })
  const actions = items.map(({ action }) => action)
  t.ok(actions.includes('scim_token.created') && actions.includes('scim_token.deleted'))
})

t.test('what is wrong with a token stands beside its field', async (t) => {
  const { made } = await startPage(t)
  t.match(await made({ ...FORM, name: '' }), { status: 422, text: /name="name"[^>]*aria-invalid/ })
  const longer = String(LIMITS.scimTokenSecondsMax + 1)
  t.match(await made({ ...FORM, expires_in: longer }), { status: 422 })
})

t.test('requests are listed with why they were refused, and hostile text is text', async (t) => {
  const { ada, made, ask } = await startPage(t)
  const { token } = await made()
  await ask(token, '/Users')
  await ask(token, `/Users?filter=${encodeURIComponent('<script>alert(1)</script>')}`)
  const { text } = await ada.get(PAGE)
  t.match(text, /GET \/Users<.*200/s)
  t.match(text, /GET \/Users\?filter=&lt;script&gt;.*400.*Compare attributes with eq/s)
  t.notMatch(text, /<script>alert/)
  const refused = (await ada.get(`${PAGE}?show=refused`)).text
  t.match(refused, /filter=/)
  t.notMatch(refused, /GET \/Users</)
  t.notMatch(text + refused, token)
})

t.test('the page of a user says that a provider keeps them', async (t) => {
  const { ada, made, services } = await startPage(t)
  await made()
  const [token] = await services.scimTokens.list('acme')
  const actor = { name: 'test', requestId: 'r1' }
  const { user } = await services.scimPeople.create(
    { token: token!, actor },
    { userName: 'bob@acme.onmicrosoft.example', emails: [{ value: 'bob@acme.example' }] },
  )
  const { text } = await ada.get(`/console/tenants/acme/users/${user.userId}`)
  t.match(text, /your provider, as bob@acme\.onmicrosoft\.example \(provisioning\)/)
})

t.test('a user of before is handed over, once that was asked', async (t) => {
  const { ada, made, services } = await startPage(t)
  const bob = { username: 'bob', email: 'bob@acme.example', name: 'Bob', password: '' }
  const { userId } = await services.users.create('acme', bob, { name: 'test', requestId: 'r1' })
  const path = `/console/tenants/acme/users/${userId}`
  t.notMatch((await ada.get(path)).text, /Hand over to your provider/, 'there is no provider')
  await made()
  t.match((await ada.get(path)).text, new RegExp(`href="${path}/hand-over"`))
  t.match((await ada.get(`${path}/hand-over`)).text, /Hand Bob over to your provider\?/)
  t.match(await ada.post(`${path}/hand-over`), { status: 303 })
  const { text } = await ada.get(path)
  t.match(text, /your provider, as bob@acme\.example/)
  t.notMatch(text, new RegExp(`href="${path}/hand-over"`))
})
