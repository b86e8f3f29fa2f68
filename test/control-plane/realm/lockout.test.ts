/** Guessing: what it is answered with, what it costs, and whom it cannot keep out. */
import t from 'tap'
import { createApp } from '../../../control-plane/app.ts'
import { createPasswordHasher } from '../../../control-plane/accounts/passwords/hasher.ts'
import { createReplay, type PastSignIn } from '../../../control-plane/policy/replay.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { ADA, Browser, signIn, startWorld, type TestTenant, type World } from './realm-world.ts'
import { signIns } from '../../support/sign-ins.ts'
import { begin, eventsOf, recordedSignIns, setPolicy } from './steps.ts'
import { createLiveKey } from '../../../control-plane/keys/live-key.ts'

const WRONG = { ...ADA, password: 'wrong' }

/** In a browser that has never been here. */
async function guess(world: World, tenant: TestTenant, fields: Record<string, string>) {
  return (await begin(world, tenant)).send(fields)
}

/** Without what differs between any two answers: the sign-in, the request, the typed name. */
function comparable(html: string): string {
  return html
    .replace(/sign-in\/[A-Za-z0-9_-]+/g, 'sign-in/…')
    .replace(/[0-9a-f-]{36}/g, '…')
    .replace(/value="[^"]*"/g, '')
}

t.test('an account is paused after so many failures, and one that nobody has alike', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'lockout', { user_failures: 3 })
  const answers = new Map<string, string[]>()
  for (const username of ['ada', 'nobody']) {
    const pages = []
    for (let failure = 0; failure < 4; failure++)
      pages.push(await guess(world, acme, { username, password: 'wrong' }))
    t.strictSame(
      pages.map(({ response }) => response.status),
      [422, 422, 422, 429],
    )
    t.ok(Number(pages[3]?.response.headers.get('retry-after')) > 800)
    answers.set(
      username,
      pages.map(({ html }) => comparable(html)),
    )
  }
  t.strictSame(answers.get('ada'), answers.get('nobody'), 'nothing tells who exists')
  t.match(answers.get('ada')?.[3], /Try again in 15 minutes/)
  t.equal((await guess(world, acme, ADA)).response.status, 429, 'nor the right password')
})

t.test('who is paused costs no hash', async (t) => {
  const real = createPasswordHasher()
  let hashes = 0
  const passwords = {
    ...real,
    verify: (...given: Parameters<typeof real.verify>) => {
      hashes++
      return real.verify(...given)
    },
  }
  const world = await startWorld(t, { passwords })
  const acme = await world.tenant('acme')
  await setPolicy(world, 'lockout', { user_failures: 1 })
  for (const username of ['ada', 'nobody']) {
    await guess(world, acme, { username, password: 'wrong' })
    const before = hashes
    t.equal((await guess(world, acme, { ...ADA, username })).response.status, 429)
    t.equal(hashes, before)
  }
})

/**
 * The failures of many who guess at the same moment are not there yet when each begins: whoever
 * only looks before the hash lets them all in.
 */
t.test('thirty guesses at once are no more than the policy allows', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'lockout', { user_failures: 5 })
  const people = []
  for (let count = 0; count < 30; count++) people.push(await begin(world, acme))
  const wrong = people.slice(1).map((person) => person.sendOnce(WRONG))
  const late = Promise.withResolvers<void>()
  let refused = 0
  for (const answer of wrong)
    void answer.then(({ response }) => response.status === 422 && ++refused === 5 && late.resolve())
  await Promise.race([late.promise, Promise.all(wrong)])
  const answers = await Promise.all([...wrong, people[0]!.sendOnce(ADA)])
  const count = (status: number) =>
    answers.filter(({ response }) => response.status === status).length
  t.equal(count(422), 5)
  t.equal(count(429), 25)
  t.equal(answers.at(-1)?.response.status, 429, 'also for whoever guesses right in the end')
})

t.test('strangers do not lock out who comes from their own browser', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'lockout', { user_failures: 3 })
  const home = new Browser(world.baseUrl)
  await signIn(home, acme)
  for (let failure = 0; failure < 4; failure++) await guess(world, acme, WRONG)
  t.equal((await guess(world, acme, ADA)).response.status, 429)
  const ada = await begin(world, acme, { prompt: 'login' }, home)
  t.equal((await ada.claims((await ada.send(ADA)).url)).sub, acme.ada.userId)
  const typing = await begin(world, acme, { prompt: 'login' }, home)
  for (let failure = 0; failure < 3; failure++)
    t.equal((await typing.send(WRONG)).response.status, 422)
  t.equal((await typing.send(ADA)).response.status, 429, 'but its own failures count')
})

t.test('a success neither counts nor forgives', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'lockout', { user_failures: 3 })
  await guess(world, acme, WRONG)
  await guess(world, acme, WRONG)
  for (let success = 0; success < 4; success++) await signIn(new Browser(world.baseUrl), acme)
  await guess(world, acme, WRONG)
  t.equal((await guess(world, acme, ADA)).response.status, 429)
})

t.test('a pause ends by itself', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  await setPolicy(world, 'lockout', { user_failures: 1, pause_seconds: 20 })
  await guess(world, acme, WRONG)
  t.equal((await guess(world, acme, ADA)).response.status, 429)
  clock.advance(20_000)
  const person = await begin(world, acme)
  t.ok((await person.send(ADA)).url.startsWith(acme.redirectUri))
})

t.test('a disabled account is paused like any other', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'lockout', { user_failures: 2 })
  const actor = { name: 'operator', requestId: 'test' }
  await world.users.patch('acme', acme.ada.userId, { isDisabled: true }, actor)
  for (let failure = 0; failure < 2; failure++)
    t.equal((await guess(world, acme, ADA)).response.status, 422)
  t.equal((await guess(world, acme, ADA)).response.status, 429)
})

t.test('an address is blocked for all accounts, seen by the operator, and lifted', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const beta = await world.tenant('beta')
  await setPolicy(world, 'lockout', { address_failures: 3 })
  for (const username of ['ann', 'ben', 'cem'])
    await guess(world, acme, { username, password: 'wrong' })
  const blocked = await guess(world, acme, ADA)
  t.equal(blocked.response.status, 429)
  t.match(blocked.html, /Your network is temporarily blocked/)
  t.ok((await guess(world, beta, ADA)).url.startsWith(beta.redirectUri), 'not at other tenants')

  const call = operator(world)
  const path = '/tenants/acme/address-blocks'
  const { items } = (await (await call('GET', path)).json()) as { items: object[] }
  t.match(items, [{ address: '127.0.0.1', failures: 3, blocked_until: String }])
  t.equal((await call('DELETE', `${path}/192.0.2.1`)).status, 404)
  t.equal((await call('DELETE', `${path}/127.0.0.1`)).status, 204)
  t.match(await eventsOf(world, 'ip.block.lifted'), [{ address: '127.0.0.1', failures: 3 }])
  t.same(await (await call('GET', path)).json(), { items: [], next: null })
  t.ok((await guess(world, acme, ADA)).url.startsWith(acme.redirectUri), 'nothing is left of it')
  await guess(world, acme, WRONG)
  t.ok((await guess(world, acme, ADA)).url.startsWith(acme.redirectUri), 'counted anew')
})

t.test('a network of IPv6 is named by any of its addresses', async (t) => {
  const world = await startWorld(t)
  await world.tenant('acme')
  const block = { tenantId: 'acme', address: '2001:db8:1:2::/64', failures: 9, createdAt: 0 }
  const { upsertAddressBlock } = await import('../../../control-plane/store/queries/attempts.ts')
  for (const name of ['2001:db8:1:2::/64', '2001:DB8:1:2::99']) {
    const blockedUntil = world.clock.nowMs() + 60_000
    await world.store.change(({ queries }) =>
      upsertAddressBlock(queries, { ...block, blockedUntil }),
    )
    const path = `/tenants/acme/address-blocks/${encodeURIComponent(name)}`
    t.equal((await operator(world)('DELETE', path)).status, 204, name)
  }
})

t.test('whoever changes networks within a site is counted by the site as well', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'lockout', { address_failures: 2, user_failures: 1000 })
  const who = { tenantId: 'acme', userId: acme.ada.userId }
  const reasons = async (ip: string, isKnown = false, password: 'right' | 'wrong' = 'wrong') => {
    const device = { isKnown, isNetworkKnown: false }
    const states = await signIns(world, who, 1, { ip, facts: { password, device } })
    return states.map((state) => (state.kind === 'signed_in' ? 'in' : state.reason))
  }
  const most = 2 * LIMITS.rateSiteFactor
  for (let network = 1; network <= most; network++)
    t.same(await reasons(`2001:db8:1:${network}::1`), ['credentials_wrong'])
  t.same(await reasons('2001:db8:1:ff::1'), ['address_blocked'], 'one from which nobody came')
  t.same(await reasons('2001:db8:1:ff::1', true, 'right'), ['in'], 'in a browser that is known')
  for (const ip of ['2001:db8:11::1', '192.0.2.1'])
    t.same(await reasons(ip), ['credentials_wrong'], 'another site')
  t.same(await reasons('2001:db8:1:fe::1', true), ['credentials_wrong'])
  const figures = await world.store.read.select().from(schema.figures)
  const blocks = figures.filter((one) => one.step === 'minute' && one.reason === 'address_blocked')
  t.match(
    blocks.filter(({ outcome }) => outcome === 'lockout'),
    [{ count: 1 }],
    'begun once',
  )

  const path = '/tenants/acme/address-blocks'
  const listed = await (await operator(world)('GET', path)).json()
  t.match(listed, { items: [{ address: '2001:db8:1::/48', failures: most }] })
  const rows = await recordedSignIns(world)
  t.same([...new Set(rows.map(({ site }) => site))].sort(), [
    '2001:db8:11::/48',
    '2001:db8:1::/48',
    null,
  ])
  const past = rows.map((row) => ({ ...row, id: '', at: Math.floor(row.at / 1000) }))
  const now = await world.policies.of('acme')
  const replay = createReplay(now, { ...now, lockout: { ...now.lockout, address_failures: 1 } })
  for (const row of past) replay.add(row as unknown as PastSignIn, true)
  t.match(replay.result().differences, [{ before: 'credentials_wrong', after: 'address_blocked' }])

  t.equal((await operator(world)('DELETE', `${path}/2001:db8:1:77::1`)).status, 204)
  t.same(await reasons('2001:db8:1:ff::2'), ['credentials_wrong'], 'nothing is left of it')
})

t.test('refusals are events, once a minute, and say nothing of what was typed', async (t) => {
  const world = await startWorld(t, { clock: movableClock(Date.now()) })
  const acme = await world.tenant('acme')
  await setPolicy(world, 'lockout', { user_failures: 1 })
  for (const username of ['ada', 'hunter2']) await guess(world, acme, { ...WRONG, username })
  t.strictSame(await eventsOf(world, 'signin.denied'), [], 'a wrong password is no refusal')
  for (let knock = 0; knock < 3; knock++)
    for (const username of ['ada', 'hunter2']) await guess(world, acme, { ...ADA, username })
  const denied = await eventsOf(world, 'signin.denied')
  t.strictSame(denied, [
    { subject: acme.ada.userId, reason: 'user_paused', ip: '127.0.0.1' },
    { reason: 'user_paused', ip: '127.0.0.1' },
  ])
  const rows = await recordedSignIns(world)
  t.same(
    rows.map(({ reason, repeated }) => [reason, repeated]),
    [
      ['credentials_wrong', 0],
      ['credentials_wrong', 0],
      ['user_paused', 2],
      ['user_paused', 2],
    ],
    'every attempt is recorded, what is refused again at once by its number',
  )
  t.notMatch(JSON.stringify(rows), /hunter2|wrong password|failures/)
})

t.test('recorded sign-ins and old blocks are tidied up', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  await setPolicy(world, 'lockout', { address_failures: 1 })
  await guess(world, acme, WRONG)
  for (const { prune } of [world.attempts, world.addressBlocks, world.devices])
    t.equal(await prune(10), 0)
  clock.advance(36 * 86_400_000)
  t.equal(await world.attempts.prune(10), 1)
  t.equal(await world.addressBlocks.prune(10), 1)
  t.strictSame(await recordedSignIns(world), [])
})

function operator(world: World) {
  const app = createApp(world, { operatorKey: createLiveKey('operator-key') })
  return (method: string, path: string) =>
    app.request(`/api/v1/operator${path}`, {
      method,
      headers: { authorization: 'Bearer operator-key' },
    })
}

t.test('which names are one account? a pause of one says nothing of the other', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'lockout', { user_failures: 4 })
  const statuses = async (names: readonly string[]) => {
    const answers = []
    for (let round = 0; round < 6; round++) {
      const username = names[round % names.length] ?? ''
      answers.push((await guess(world, acme, { username, password: 'wrong' })).response.status)
    }
    return answers
  }
  const known = await statuses(['ada', 'ada@example.test'])
  const unknown = await statuses(['nobody', 'nobody@example.test'])
  t.strictSame(known, unknown)
})

t.test('names are invented at a network that is denied: one event a minute', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  await setPolicy(world, 'network', { deny: ['127.0.0.0/8'] })
  const count = async () => (await eventsOf(world, 'signin.denied')).length
  for (let name = 0; name < 5; name++)
    await guess(world, acme, { username: `name${name}`, password: 'wrong' })
  t.equal(await count(), 1)
  clock.advance(61_000)
  await guess(world, acme, { username: 'another', password: 'wrong' })
  t.equal(await count(), 2)
})

t.test('a blocked address makes one row a minute, and the rest is counted', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  await setPolicy(world, 'lockout', { address_failures: 1, pause_seconds: 900 })
  await guess(world, acme, { username: 'nobody', password: 'wrong' })
  const knock = async (count: number) => {
    for (let name = 0; name < count; name++)
      await guess(world, acme, { username: `name${name}`, password: 'wrong' })
  }
  const refused = async () => {
    const rows = await recordedSignIns(world)
    return rows.filter(({ reason }) => reason === 'address_blocked').map((row) => row.repeated)
  }
  await knock(5)
  t.same(await refused(), [4])
  clock.advance(61_000)
  await knock(3)
  t.same((await refused()).sort(), [2, 4])
  const [latest] = await world.refusals.latest('acme', 1)
  t.match(latest, { outcome: 'denied', reason: 'address_blocked', repeated: 2 })
})
