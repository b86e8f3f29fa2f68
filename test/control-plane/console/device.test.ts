/** The page where a command-line tool is allowed a tenant's analyzer key. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, movableClock, tenantNamed } from '../../support/control-plane.ts'
import { giveRole, startConsole, takeRole, type Person } from '../../support/console.ts'

const LAPTOP = { machine: 'kims-laptop', application: 'shop', address: '192.0.2.7' }
const POLL = { address: '192.0.2.7', requestId: 'poll' }

async function start(t: Parameters<typeof startConsole>[0]) {
  const clock = movableClock()
  const world = await startConsole(t, { clock })
  const { deviceCodes } = world.services.consoleAccess
  return {
    ...world,
    clock,
    deviceCodes,
    open: (asked = LAPTOP) => deviceCodes.open(asked),
    redeem: (deviceCode: string) => deviceCodes.redeem(deviceCode, POLL),
  }
}

const see = (someone: Person, code: string, more = '') =>
  someone.get(`/console/device?code=${code}${more}`)
const allow = (someone: Person, code: string, tenant_id: string, more = {}) =>
  someone.post('/console/device/allow', { code, tenant_id, ...more })

void t.test('an administrator sees who asks, allows it, and the tool gets the key', async (t) => {
  const { person, open, redeem, services } = await start(t)
  const kim = await person('acme', 'Kim')
  const { deviceCode, userCode } = await open()
  const shown = await see(kim, userCode.toLowerCase())
  t.equal(shown.status, 200)
  for (const part of [userCode, 'kims-laptop', 'shop', '192.0.2.7', 'just now', '2026-01-01 00:10'])
    t.match(shown.text, part)
  t.match(shown.text, 'Check that this is the code in your terminal')
  t.match(shown.text, 'Did someone send you this link? Deny it.')
  t.match(shown.text, '192.0.2.7 (this browser: 127.0.0.1)')
  t.match(shown.text, /<option value="acme" selected>/, 'the only tenant is chosen')
  t.notMatch(shown.text, /value="other"|New tenant|client secret as well|Choose a tenant/)

  const allowed = await allow(kim, userCode, 'acme')
  t.match(allowed, { status: 303, location: /^\/console\/device\/allowed\?tenant_id=acme&done=/ })
  const after = await kim.get(allowed.location)
  t.match(after.text, 'Return to your terminal')
  t.match(after.text, 'kims-laptop may fetch the analyzer key of acme.')
  t.match(after.text, 'href="/console/tenants/acme"')
  const { analyzerKey, clientSecret } = await redeem(deviceCode)
  t.equal((await services.tenants.byAnalyzerKey(analyzerKey))?.tenantId, 'acme')
  t.equal(clientSecret, undefined)
  const trail = await kim.get('/console/tenants/acme/audit')
  for (const part of [
    'Allowed a command-line tool to sign in',
    'Gave the analyzer key to a command-line tool',
    'kims-laptop',
  ])
    t.match(trail.text, part)
})

void t.test('denied, and nothing is handed out', async (t) => {
  const { person, open, redeem } = await start(t)
  const kim = await person('acme')
  const { deviceCode, userCode } = await open()
  const denied = await kim.post('/console/device/deny', { code: userCode })
  t.match(denied, { status: 303, location: /^\/console\/device\/denied\?done=/ })
  t.match((await kim.get(denied.location)).text, 'Request denied')
  await t.rejects(redeem(deviceCode), { code: 'access_denied' })
  t.match(await allow(kim, userCode, 'acme'), {
    status: 422,
    text: /device|waiting with this code/,
  })
})

void t.test('what was allowed in a session that was ended since is not handed out', async (t) => {
  const { person, signedIn, open, redeem, services, clock } = await start(t)
  const kim = await person('acme')
  const { deviceCode, userCode } = await open()
  t.equal((await allow(kim, userCode, 'acme')).status, 303)
  await services.consoleAccess.persons.signOut(kim.userId, ACTOR)
  await t.rejects(redeem(deviceCode), { code: 'access_denied' })
  clock.advance(1000)
  const again = await open()
  t.equal((await allow(await signedIn(kim.userId), again.userCode, 'acme')).status, 303)
  t.ok(await redeem(again.deviceCode), 'she has signed in again')
})

void t.test('before signing in one is led there, and back to the very code', async (t) => {
  const { ask, person, open, clock } = await start(t)
  const { userCode } = await open()
  const page = `/console/device?code=${userCode}`
  const back = `return_to=${encodeURIComponent(page)}`
  t.equal((await ask(page, '')).location, `/console/sign-in?${back}`)
  const kim = await person('acme')
  clock.advance(LIMITS.consoleFreshMs + 1)
  t.equal((await kim.get(page)).location, `/console/sign-in?${back}&fresh=yes`)
  t.equal((await allow(kim, userCode, 'acme')).status, 403, 'and not without it')
})

void t.test('somebody who took too long to confirm finds the choice again', async (t) => {
  const { person, signedIn, open, redeem, clock } = await start(t)
  const kim = await person('acme')
  const { deviceCode, userCode } = await open()
  clock.advance(LIMITS.consoleFreshMs + 1)
  const refused = await allow(kim, userCode, 'acme')
  const [, keptAt = ''] = /return_to=([^"&]*unsent[^"&]*)/.exec(refused.text) ?? []
  const again = await (await signedIn(kim.userId)).get(decodeURIComponent(keptAt))
  t.match(again, { status: 200, text: /Thanks for confirming it’s you/ })
  t.notMatch(again.text, 'role="alert"', 'which is no error')
  t.match(again.text, userCode)
  t.equal((await allow(await signedIn(kim.userId), userCode, 'acme')).status, 303)
  t.ok(await redeem(deviceCode))
})

void t.test('a wrong code is said kindly, and guessed so often', async (t) => {
  const { person, open, clock } = await start(t)
  const kim = await person('acme')
  const { userCode } = await open()
  t.match(await kim.get('/console/device'), { status: 200, text: /Enter the code/ })
  t.match(await see(kim, 'AEIOU'), { status: 422, text: /value="AEIOU"/ }, 'kept as it was typed')
  const { burst } = LIMITS.rateDeviceCodeGuesses
  for (let times = 0; times < burst; times++)
    t.match(
      await see(kim, 'BBBB-BBBB'),
      { status: 422, text: /No command-line tool is waiting with this code/ },
      `${times}`,
    )
  t.match(await see(kim, 'BBBB-BBBB'), { status: 429, text: /too many wrong codes/ })
  t.equal((await see(kim, userCode)).status, 429, 'nor is a good one tried')
  t.equal((await allow(kim, userCode, 'acme')).status, 429)
  const lee = await person('acme')
  t.equal((await see(lee, userCode)).status, 200, 'it is one person’s')
  clock.advance(60_000)
  for (let times = 0; times < 3; times++)
    t.equal((await see(kim, userCode)).status, 200, 'a good one costs nothing')
})

void t.test('one chooses among the tenants that one administers', async (t) => {
  const { person, open, redeem, services } = await start(t)
  const kim = await person('acme')
  await giveRole(services, kim.userId, 'other', true)
  const { deviceCode, userCode } = await open()
  t.notMatch((await see(kim, userCode)).text, 'value="other"', 'not what is only looked at')
  t.equal((await allow(kim, userCode, 'other')).status, 403)
  const asked = (await see(kim, userCode, '&tenant_id=other')).text
  t.notMatch(asked, 'value="other"', 'nor what the address names')
  await giveRole(services, kim.userId, 'other')
  const both = (await see(kim, userCode)).text
  t.match(both, /<option value="" selected>Choose a tenant</)
  t.match(both, /value="acme".*value="other"/s)
  for (const tenantId of ['', 'nobody', 'console', 'A b'])
    t.match(await allow(kim, userCode, tenantId), { status: 422, text: /id="tenant_id-error"/ })
  await takeRole(services, kim.userId, 'other')
  t.equal((await allow(kim, userCode, 'other')).status, 422)
  t.equal((await allow(kim, userCode, 'acme')).status, 303)
  t.equal((await redeem(deviceCode)).tenant.tenantId, 'acme')
})

void t.test('who may not hand out a key is told how to get there', async (t) => {
  const { person, open, services, deviceCodes } = await start(t)
  const { userCode } = await open()
  const nobody = await person(undefined)
  t.match((await see(nobody, userCode)).text, /You don’t administer a tenant yet/)
  t.match((await see(nobody, userCode)).text, 'Deny')
  const reader = await person(undefined)
  await giveRole(services, reader.userId, 'acme', true)
  const watcher = await person(undefined)
  await giveRole(services, watcher.userId, '', true)
  for (const someone of [reader, watcher]) {
    t.match((await see(someone, userCode)).text, /Your role is read-only/)
    t.notMatch((await see(someone, userCode)).text, /device\/allow|New tenant/)
    t.match(await allow(someone, userCode, 'acme'), { status: 403, text: /read-only/ })
  }
  t.ok(await deviceCodes.look(userCode, 'ada'), 'and it still waits')
})

void t.test('an operator searches all tenants, or makes the one that is missing', async (t) => {
  const { person, open, redeem, services } = await start(t)
  const grace = await person('operator')
  const { deviceCode, userCode } = await open()
  t.notMatch((await see(grace, userCode)).text, 'Find a tenant', 'two need no search')
  const { deviceTenantsListedMax: most } = LIMITS
  for (let place = 0; place < most; place++)
    await services.tenants.create(tenantNamed(`shop-${place}`), ACTOR)
  const many = (await see(grace, userCode)).text
  t.match(many, 'Find a tenant')
  t.equal(many.match(/<option value="[^"]/g)?.length, most)
  const found = (await see(grace, userCode, '&q=shop-49')).text
  t.match(found, /<option value="shop-49" selected>/)
  t.equal(found.match(/<option value="[^"]/g)?.length, 1)
  t.match((await see(grace, userCode, '&q=zebra')).text, 'No tenant matches “zebra”')

  const [, link = ''] = /href="(\/console\/tenants\/new[^"]*)"/.exec(many) ?? []
  t.match((await grace.get(link)).text, `name="device_code" value="${userCode}"`)
  const created = await grace.post('/console/tenants/new', {
    tenant_id: 'zebra',
    mode: 'sdk',
    plan: 'free',
    origin: 'http://127.0.0.1:9000',
    health: '/health',
    device_code: userCode,
  })
  t.match(created.location, `/console/device?code=${userCode}&tenant_id=zebra&done=`)
  t.equal(
    (await services.tenants.get('zebra')).status,
    'published',
    'the tool has what to go on with',
  )
  const back = (await grace.get(created.location)).text
  t.match(back, /<option value="zebra" selected>/, 'it is chosen already')
  t.match(back, 'Hand out the client secret as well')
  t.equal((await allow(grace, userCode, 'zebra', { secret_as_well: 'on' })).status, 303)
  const { clientSecret } = await redeem(deviceCode)
  t.match(clientSecret, /^scs_/)
})

void t.test('without tenants an operator is led to the first one', async (t) => {
  const { person, open, services } = await start(t)
  for (const tenantId of ['acme', 'other']) await services.tenants.remove(tenantId, ACTOR)
  const grace = await person('operator')
  const { userCode } = await open()
  const { text } = await see(grace, userCode)
  t.match(text, 'There are no tenants yet')
  t.match(text, `/console/tenants/new?device_code=${userCode}`)
})

void t.test('what a tool calls itself is text, whatever it says', async (t) => {
  const { person, open } = await start(t)
  const kim = await person('acme')
  const evil = { machine: '<b>x</b>', application: '"><script>', address: '127.0.0.1' }
  const { userCode } = await open(evil)
  const { text } = await see(kim, userCode)
  t.match(text, '&lt;b&gt;x&lt;/b&gt;')
  t.notMatch(text, '<script>')
  t.match(text, '127.0.0.1 (the same computer or network as this browser)')
  const silent = await open({ machine: '', application: '', address: '127.0.0.1' })
  t.equal((await see(kim, silent.userCode)).text.match(/not given/g)?.length, 2)
})
