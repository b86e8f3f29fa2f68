/** Machines of a tenant: their secrets, and how their access ends. */
import { generateKeyPairSync } from 'node:crypto'
import t, { type Test } from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'
import { giveRole, startConsole } from '../../support/console.ts'

const PAGE = '/console/tenants/acme/machines'

async function startPage(t: Test) {
  const clock = movableClock()
  const world = await startConsole(t, { clock })
  await world.services.tenants.publish('acme', ACTOR)
  const ada = await world.person('acme')
  const add = async (name: string) => {
    const { serviceId } = await world.services.machines.create('acme', name, ACTOR)
    return `${PAGE}/${serviceId}`
  }
  return { ...world, clock, ada, add }
}
const FOR_A_MONTH = { expires_in: String(30 * 86_400) }

void t.test('an empty list says what would be in it, and how the first one comes', async (t) => {
  const { ada } = await startPage(t)
  const { text } = await ada.get(PAGE)
  t.match(text, /No machines yet.*one for each program.*href="#add"/s)
  const added = await ada.post(PAGE, { name: 'CI' })
  t.match(added.location, new RegExp(`^${PAGE}\\?done=.*#svc_[0-9a-f]{16}$`))
  const listed = (await ada.get(PAGE)).text
  t.match(listed, /No secret yet.*svc_[0-9a-f]{16}.*No access rule names it/s)
  const empty = await ada.post(PAGE, { name: '' })
  t.match(empty, { status: 422, text: /aria-invalid="true"/ })
})

void t.test('Sessions has a row for each machine that was seen, and a way to end it', async (t) => {
  const { ada, services, clock, person } = await startPage(t)
  const sessions = '/console/tenants/acme/sessions'
  const { serviceId } = await services.machines.create('acme', 'Nightly CI', ACTOR)
  const { secretId } = await services.machines.addSecret('acme', serviceId, 86_400, ACTOR)
  t.notMatch((await ada.get(sessions)).text, 'Nightly CI', 'never seen')
  const use = { tenantId: 'acme', serviceId, secretId, ip: '192.0.2.7' }
  await services.machines.used([{ ...use, atMs: clock.nowMs(), requests: 1234 }])
  const { text } = await ada.get(sessions)
  t.match(text, /Nightly CI.*Enabled.*192\.0\.2\.7.*1,234/s)
  t.match(text, `/machines/${serviceId}/disable`)
  for (const wanted of ['nightly', serviceId, '192.0.2.7'])
    t.match((await ada.get(`${sessions}?q=${wanted}`)).text, 'Nightly CI', wanted)
  for (const wanted of ['192.0.2.8', 'other'])
    t.notMatch((await ada.get(`${sessions}?q=${wanted}`)).text, 'Nightly CI', wanted)
  t.match((await ada.get(PAGE)).text, /Last seen.*192\.0\.2\.7.*1,234 requests/s)
  await services.machines.update('acme', serviceId, { isDisabled: true }, ACTOR)
  t.match((await ada.get(sessions)).text, /Nightly CI.*Disabled/s)
  clock.advance(86_400_000)
  await services.machines.update('acme', serviceId, { isDisabled: false }, ACTOR)
  t.match((await (await person('acme')).get(sessions)).text, /Nightly CI.*No working secret/s)
})

void t.test('a secret is shown once, with what to send', async (t) => {
  const { ada, add, clock, person } = await startPage(t)
  const one = await add('CI')
  const made = await ada.post(`${one}/secrets`, FOR_A_MONTH)
  t.equal(made.status, 200)
  const [secret = ''] = /sms_[\w-]{43}/.exec(made.text) ?? []
  t.match(made.text, /Copy it now.*curl -H .*Service-Client-Id: svc_.*secret-header\.txt/s)
  t.match(made.text, /client_credentials.*client_id=svc_.*\/auth\/realms\/acme\/token/s)
  t.not(secret, '')
  const listed = (await ada.get(PAGE)).text
  t.notMatch(listed, secret)
  t.match(listed, /Enabled.*ssk_[0-9a-f]{16}.*2026-01-31.*Create secret/s)
  await ada.post(`${one}/secrets`, FOR_A_MONTH)
  t.match((await ada.get(PAGE)).text, /Both work.*revoke the old one/s)
  t.match((await ada.post(`${one}/secrets`, FOR_A_MONTH)).text, /two secrets already/)
  const tooLong = { expires_in: String(LIMITS.serviceSecretSecondsMax + 1) }
  t.notMatch((await ada.post(`${one}/secrets`, tooLong)).text, /sms_/)
  clock.advance(20 * 86_400_000)
  t.match((await (await person('acme')).get(PAGE)).text, /Secret expires soon/)
  clock.advance(20 * 86_400_000)
  t.match((await (await person('acme')).get(PAGE)).text, /Secret expired/)
})

void t.test('its access ends where that is asked for, and says what it means', async (t) => {
  const { ada, add, services } = await startPage(t)
  const one = await add('CI')
  const serviceId = one.slice(PAGE.length + 1)
  await ada.post(`${one}/secrets`, FOR_A_MONTH)
  const [{ secretId } = { secretId: '' }] = (await services.machines.one('acme', serviceId)).secrets
  const question = await ada.get(`${one}/secrets/${secretId}/revoke`)
  t.match(question.text, /Revoke a secret of CI\?.*ends within a second.*the only one/s)
  await ada.post(`${one}/secrets/${secretId}/revoke`)
  t.same((await services.machines.one('acme', serviceId)).secrets, [])
  t.match(
    (await ada.get(`${one}/disable`)).text,
    /Disable CI\?.*refuses it and its tokens at once/s,
  )
  await ada.post(`${one}/disable`)
  t.match((await ada.get(PAGE)).text, /Disabled.*Enable</s)
  await ada.post(`${one}/enable`)
  t.match(await services.machines.one('acme', serviceId), { isDisabled: false })
  const rules = [{ path: '/hooks', allow: [{ service: serviceId }] }]
  await services.accessRules.put('acme', { rules }, ACTOR)
  t.match((await ada.post(`${one}/delete`)).text, /Access rules name this machine/)
  t.notMatch((await ada.get(PAGE)).text, /No access rule names it/)
  await services.accessRules.put('acme', { rules: [] }, ACTOR)
  await ada.post(`${one}/delete`)
  t.same(await services.machines.list('acme'), [])
  const trail = (await ada.get('/console/tenants/acme/audit')).text
  for (const said of ['Revoked a secret of a machine', 'Deleted a machine']) t.match(trail, said)
})

void t.test('who may only look sees them, and nothing to press', async (t) => {
  const { add, person, services } = await startPage(t)
  await add('CI')
  const eve = await person(undefined)
  await giveRole(services, eve.userId, 'acme', true)
  const { text } = await eve.get(PAGE)
  t.match(text, /CI/)
  t.notMatch(text, /Create secret|Add a machine|\/disable|\/delete/)
})

void t.test('a public key is pasted, listed and revoked; a private one is refused', async (t) => {
  const { ada, add, services } = await startPage(t)
  const path = await add('CI')
  t.match((await ada.get(PAGE)).text, `href="${path}/keys"`)
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pasted = (key: object) => ({ public_key: JSON.stringify(key), ...FOR_A_MONTH })
  const secret = await ada.post(`${path}/keys`, pasted(privateKey.export({ format: 'jwk' })))
  t.equal(secret.status, 422)
  t.match(secret.text, /private: treat it as leaked/)
  t.notMatch(secret.text, privateKey.export({ format: 'jwk' }).d, 'nor is it shown again')
  for (const text of ['', 'ssh-ed25519 AAAA', '{"kty":"EC","kty":"EC"}', '[]'])
    t.equal((await ada.post(`${path}/keys`, { public_key: text, ...FOR_A_MONTH })).status, 422)
  const added = await ada.post(`${path}/keys`, pasted(publicKey.export({ format: 'jwk' })))
  t.equal(added.status, 303)
  const [machine] = await services.machines.list('acme')
  const [key] = machine?.secrets ?? []
  t.match(key, { keyAlg: 'ES256' })
  t.match((await ada.get(PAGE)).text, /key, ES256/)
  t.equal((await ada.post(`${path}/secrets/${key?.secretId}/revoke`)).status, 303)
  t.same((await services.machines.list('acme'))[0]?.secrets, [])
})
