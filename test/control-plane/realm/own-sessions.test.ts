/** What gateways ask of a realm for `/service/me`, and what nobody else gets by asking. */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { fetch } from 'undici'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { makePosture } from '../../support/devices.ts'
import { enrolDevice } from '../../support/enrolled-devices.ts'
import {
  ACTOR,
  Browser,
  sidOf,
  signIn,
  startWorld,
  userNamed,
  PASSWORD,
  type TestTenant,
} from './realm-world.ts'
import { eventsOf } from './steps.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'

async function ask(
  tenant: Pick<TestTenant, 'issuer' | 'clientId' | 'clientSecret'>,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
) {
  const credentials = Buffer.from(`${tenant.clientId}:${tenant.clientSecret}`).toString('base64')
  const answer = await fetch(`${tenant.issuer}/own-sessions`, {
    method: 'POST',
    headers: { authorization: `Basic ${credentials}`, ...headers },
    body: new URLSearchParams(fields),
  })
  const body = (await answer.json()) as {
    error?: string
    sessions: { sid: string; current: boolean; browser: string; ip: string }[]
    devices: { device_id: string; browser: string }[]
    machines: { device_id: string }[]
    account_url: string
  }
  return { status: answer.status, body }
}

async function signedIn(
  world: Awaited<ReturnType<typeof startWorld>>,
  tenant: TestTenant,
  username = 'ada',
) {
  const browser = new Browser(world.baseUrl)
  const { idToken, tokens } = await signIn(browser, tenant, {}, { username, password: PASSWORD })
  return { browser, token: idToken, sid: sidOf(tokens) }
}

t.test('whoever holds a session sees their own, and ends one of them', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const [here, there] = [await signedIn(world, acme), await signedIn(world, acme)]
  const { status, body } = await ask(acme, { session_token: here.token })
  t.equal(status, 200)
  t.same(new Set(body.sessions.map(({ sid }) => sid)), new Set([here.sid, there.sid]))
  t.same(
    body.sessions.filter(({ current }) => current).map(({ sid }) => sid),
    [here.sid],
  )
  t.match(body.sessions[0], { ip: '127.0.0.1', started_at: /^\d{4}-/, last_seen_at: /^\d{4}-/ })
  t.equal(body.devices.length, 2)
  t.equal(body.account_url, `${acme.issuer}/account`)

  const ended = await ask(acme, { session_token: here.token, end_sid: there.sid })
  t.equal(ended.status, 200)
  t.same(
    ended.body.sessions.map(({ sid }) => sid),
    [here.sid],
  )
  t.match(await ask(acme, { session_token: there.token }), {
    status: 403,
    body: { error: 'session_invalid' },
  })
  const listed = await world.sessions.list('acme', { cursor: undefined, limit: 10 })
  const row = listed.items.find(({ sid }) => sid === there.sid)
  t.equal(row?.endReason, 'ended_by_user', 'the operator sees it')
  t.match(await eventsOf(world, 'session.revoked'), [{ sid: there.sid, reason: 'ended_by_user' }])
  t.equal((await ask(acme, { session_token: here.token, end_sid: there.sid })).status, 200)
  t.equal((await eventsOf(world, 'session.revoked')).length, 1, 'once, however often it is asked')

  const deviceId = body.devices[0]?.device_id ?? ''
  const forgotten = await ask(acme, { session_token: here.token, end_device: deviceId })
  t.equal(forgotten.body.devices.length, 1)
})

t.test('the devices with our agent are listed with what they report, and removed', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await world.users.create('acme', userNamed('bob'), ACTOR)
  const ada = await signedIn(world, acme)
  const bob = await signedIn(world, acme, 'bob')
  const { userId } = acme.ada
  const posture = makePosture({ firewall: false })
  const { deviceId } = await enrolDevice(world, { userId, posture, said: { hostname: 'desk' } })
  const silent = await enrolDevice(world, { userId, posture: null })
  const listed = async (token: string) => (await ask(acme, { session_token: token })).body.machines
  t.match(await listed(ada.token), [
    { device_id: silent.deviceId, facts: [] },
    { device_id: deviceId, hostname: 'desk', platform: 'linux', state: 'pending' },
  ])
  t.match((await listed(ada.token))[1], { facts: [{}, {}, { fact: 'firewall', value: false }] })
  t.strictSame(await listed(bob.token), [])
  const end_machine = deviceId
  t.match(await ask(acme, { session_token: bob.token, end_machine }), { status: 404 })
  const ended = await ask(acme, { session_token: ada.token, end_machine })
  t.match(ended, { status: 200, body: { machines: [{ device_id: silent.deviceId }] } })
  t.equal((await listed(ada.token)).length, 1)
  t.match(await ask(acme, { session_token: ada.token, end_machine }), { status: 404 })
  t.match(await ask(acme, { session_token: ada.token, end_machine, end_sid: ada.sid }), {
    status: 400,
  })
})

t.test('what belongs to another person or another realm is not there', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const other = await world.tenant('other')
  await world.users.create('acme', userNamed('bob'), ACTOR)
  const ada = await signedIn(world, acme)
  const bob = await signedIn(world, acme, 'bob')
  const elsewhere = await signedIn(world, other)
  const { body } = await ask(acme, { session_token: bob.token })
  const bobsDevice = body.devices[0]?.device_id ?? ''
  const session_token = ada.token
  for (const fields of [
    { end_sid: bob.sid },
    { end_sid: elsewhere.sid },
    { end_sid: 'unknown' },
    { end_sid: '' },
    { end_device: bobsDevice },
    { end_device: 'unknown' },
  ])
    t.match(
      await ask(acme, { session_token, ...fields }),
      { status: 404, body: { error: 'session_or_device_not_found' } },
      JSON.stringify(fields),
    )
  t.equal((await ask(acme, { session_token: bob.token })).body.devices.length, 1)
  t.equal((await ask(acme, { session_token })).body.sessions.length, 1)
  t.equal((await ask(acme, { session_token: elsewhere.token })).status, 403, 'a foreign token')
})

t.test('a gateway that has not heard of the new secret yet still gets its answer', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const fields = { session_token: (await signedIn(world, acme)).token }
  const { secret } = await world.tenants.rotateClientSecret('acme', 60, ACTOR)
  t.equal((await ask(acme, fields)).status, 200)
  t.equal((await ask({ ...acme, clientSecret: secret }, fields)).status, 200)
  await world.tenants.rotateClientSecret('acme', 0, ACTOR)
  t.equal((await ask(acme, fields)).status, 401)
})

t.test('the client has to show its secret, and a token that holds', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  const other = await world.tenant('other')
  const { token, sid } = await signedIn(world, acme)
  const fields = { session_token: token }
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  for (const authorization of [
    '',
    'Basic',
    'Basic !',
    `Bearer ${token}`,
    basic(`${acme.clientId}:`),
    basic(`${acme.clientId}:${other.clientSecret}`),
    basic(`${other.clientId}:${other.clientSecret}`),
    basic(`x:${acme.clientSecret}`),
  ])
    t.match(await ask(acme, fields, { authorization }), {
      status: 401,
      body: { error: 'invalid_client' },
    })
  const [head = '', , signature = ''] = token.split('.')
  const forged = Buffer.from(JSON.stringify({ sub: acme.ada.userId, sid })).toString('base64url')
  for (const session_token of ['', 'x', `${token}x`, `${head}.${forged}.${signature}`])
    t.match(await ask(acme, { session_token }), {
      status: 403,
      body: { error: 'session_invalid' },
    })
  t.equal((await ask(acme, {})).status, 400)
  t.equal((await ask(acme, { ...fields, end_sid: 'a', end_device: 'b' })).status, 400)
  t.equal((await ask(acme, { ...fields, x: 'x'.repeat(17_000) })).status, 400)

  t.equal((await ask(acme, fields)).status, 200)
  await world.users.patch('acme', acme.ada.userId, { isDisabled: true }, ACTOR)
  t.equal((await ask(acme, fields)).status, 403, 'disabled')
  await world.users.patch('acme', acme.ada.userId, { isDisabled: false }, ACTOR)
  clock.advance(2000)
  await sleep(1100) // codes carry the time of the wall, which has to pass the not-before as well
  const again = await signedIn(world, acme)
  t.equal((await ask(acme, { session_token: again.token })).status, 200)
  clock.advance(3_600_000 * 24)
  t.equal((await ask(acme, { session_token: again.token })).status, 403, 'expired')
  t.notMatch(world.logged.join(''), token.split('.')[2] ?? '-')
})

t.test('a browser is named as people know it', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const { token, sid } = await signedIn(world, acme)
  await world.sessions.record({
    tenantId: 'acme',
    sid: 'another',
    userId: acme.ada.userId,
    ip: '2001:db8::1',
    userAgent: FIREFOX,
    issuedAtMs: world.clock.nowMs(),
    expiresAtMs: world.clock.nowMs() + 60_000,
  })
  const { body } = await ask(acme, { session_token: token })
  t.equal(body.sessions.find((one) => one.sid === 'another')?.browser, 'Firefox, Linux')
  t.equal(body.sessions.find((one) => one.sid === sid)?.current, true)
})

t.test('so many sessions are listed, the ones that were used last', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const { token, sid } = await signedIn(world, acme)
  const nowMs = world.clock.nowMs()
  const another = (index: number) =>
    world.sessions.record({
      tenantId: 'acme',
      sid: `another-${index}`,
      userId: acme.ada.userId,
      ip: '192.0.2.1',
      userAgent: FIREFOX,
      issuedAtMs: nowMs,
      expiresAtMs: nowMs + 60_000,
    })
  for (let index = 1; index < LIMITS.ownSessionsListedMax; index++) await another(index)
  const full = (await ask(acme, { session_token: token })).body.sessions
  t.equal(full.length, LIMITS.ownSessionsListedMax)
  t.ok(full.some((one) => one.sid === sid))
  await another(0)
  const atMs = world.clock.nowMs()
  await world.sessions.seen([{ tenantId: 'acme', sid: 'another-1', atMs }])
  const { body } = await ask(acme, { session_token: token })
  t.equal(body.sessions.length, LIMITS.ownSessionsListedMax)
  t.ok(JSON.stringify(body).length < LIMITS.ownSessionsBytesMax)
})
