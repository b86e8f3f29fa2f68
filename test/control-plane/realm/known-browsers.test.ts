/** The cookie by which a browser is known: new at each sign-in, and nobody's who has seen it. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { ACTOR, ADA, Browser, PASSWORD, startWorld, userNamed, type World } from './realm-world.ts'
import { begin, setPolicy } from './steps.ts'

const MINUTE_MS = 60_000
const BOB = { username: 'bob', password: PASSWORD }
const CHOSEN = 'lamp otter viaduct 88 quince'

const isDevice = ({ name }: { name: string }) => name === 'realm_acme_device'
const deviceOf = (browser: Browser) => browser.cookies.find(isDevice)?.value ?? ''

async function start(t: Tap) {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  await setPolicy(world, 'mfa', { mode: 'off' })
  const signIn = async (browser: Browser, credentials: Record<string, string> = ADA) => {
    const person = await begin(world, acme, { prompt: 'login' }, browser)
    return person.send(credentials)
  }
  /** Whether the browser is known to the account: others are asked for more. */
  const isKnown = async (device: string, credentials: Record<string, string> = ADA) => {
    await setPolicy(world, 'device', { require: 'known' })
    const { html } = await signIn(withDevice(world, device), credentials)
    await setPolicy(world, 'device', { require: 'any' })
    return !/Set up a second factor/.test(html)
  }
  return { clock, world, acme, signIn, isKnown }
}
type Tap = Parameters<typeof startWorld>[0]

function withDevice(world: World, value: string, path = '/auth/realms/acme') {
  const browser = new Browser(world.baseUrl)
  browser.remember([{ name: 'realm_acme_device', value, path, attributes: '' }])
  return browser
}

t.test('each sign-in makes a new one, and the one before counts for a moment', async (t) => {
  const { clock, world, acme, signIn, isKnown } = await start(t)
  const home = new Browser(world.baseUrl)
  await signIn(home)
  const first = deviceOf(home)
  await signIn(home)
  const second = deviceOf(home)
  t.match(second, /^[\w-]{43}$/)
  t.not(second, first)
  t.ok(await isKnown(first), 'a tab that was opened before')
  clock.advance(5 * MINUTE_MS + 1)
  t.notOk(await isKnown(first), 'a copy of it')
  t.ok(await isKnown(second))
  t.equal((await world.devices.list('acme', acme.ada.userId)).length, 1, 'one browser')
})

t.test('tabs that sign in at the same moment leave the browser known', async (t) => {
  const { clock, world, signIn, isKnown } = await start(t)
  const home = new Browser(world.baseUrl)
  await signIn(home)
  const [one, two] = [withDevice(world, deviceOf(home)), withDevice(world, deviceOf(home))]
  await Promise.all([signIn(one), signIn(two)])
  clock.advance(6 * MINUTE_MS)
  t.equal(deviceOf(one), deviceOf(two))
  t.ok(await isKnown(deviceOf(one)))
})

t.test('a cookie that was planted makes nobody’s browser known', async (t) => {
  const { world, signIn, isKnown } = await start(t)
  await world.users.create('acme', userNamed('bob', 'Bob'), ACTOR)
  const attacker = new Browser(world.baseUrl)
  await signIn(attacker, BOB)
  const known = deviceOf(attacker)
  const victim = withDevice(world, known)
  await signIn(victim)
  t.notOk(await isKnown(known), 'what the attacker still holds')
  t.ok(await isKnown(deviceOf(victim)))
  const made = 'x'.repeat(43)
  const lured = withDevice(world, made)
  await signIn(lured)
  t.notOk(await isKnown(made))
})

t.test('one that was planted beside it hides none of ours', async (t) => {
  const { world, signIn } = await start(t)
  const home = new Browser(world.baseUrl)
  await signIn(home)
  const own = home.cookies.find(isDevice)
  const planted = { name: 'realm_acme_device', value: 'y'.repeat(43), attributes: '' }
  home.remember([{ ...planted, path: '/auth/realms/acme/sign-in' }, ...(own ? [own] : [])])
  await setPolicy(world, 'device', { require: 'known' })
  t.match((await signIn(home)).url, /\?code=/)
})

t.test('a browser stays known for each account that it is used for', async (t) => {
  const { clock, world, signIn, isKnown } = await start(t)
  await world.users.create('acme', userNamed('bob', 'Bob'), ACTOR)
  const shared = new Browser(world.baseUrl)
  await signIn(shared)
  await signIn(shared, BOB)
  clock.advance(6 * MINUTE_MS)
  await signIn(shared)
  t.match(deviceOf(shared), /^[\w-]{43}~[\w-]{43}$/)
  t.ok(await isKnown(deviceOf(shared)))
  t.ok(await isKnown(deviceOf(shared), BOB))
  const crowd = ['ann', 'ben', 'cat', 'dan', 'eve']
  for (const name of crowd) {
    await world.users.create('acme', userNamed(name, name), ACTOR)
    await signIn(shared, { username: name, password: PASSWORD })
  }
  t.equal(deviceOf(shared).split('~').length, LIMITS.deviceTokensMax, 'the newest of them')
})

t.test('a new password by a link in a mail, or by an administrator, forgets them', async (t) => {
  const { world, acme, signIn, isKnown } = await start(t)
  const { userId } = acme.ada
  const thief = new Browser(world.baseUrl)
  await signIn(thief)
  await world.accountMail.forgotten('acme', 'ada', ACTOR, 'en')
  await world.mails.deliver()
  const [link = ''] = /http\S+ticket=\S+/.exec(world.sentMails.at(-1)?.text ?? '') ?? []
  await new Browser(world.baseUrl).submit(link, { password: CHOSEN, repeated: CHOSEN })
  await world.mails.deliver()
  t.match(world.sentMails.at(-1)?.text, /Browsers you used before are no longer recognized/)
  const chosen = { username: 'ada', password: CHOSEN }
  t.notOk(await isKnown(deviceOf(thief), chosen))

  await signIn(thief, chosen)
  t.ok(await isKnown(deviceOf(thief), chosen))
  await world.users.patch('acme', userId, { password: PASSWORD }, ACTOR)
  t.notOk(await isKnown(deviceOf(thief)))
  t.same(await world.devices.list('acme', userId), [])
})
