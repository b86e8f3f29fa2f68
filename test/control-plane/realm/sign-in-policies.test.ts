/** Each policy at the door: what the person is told, and what the operator hears. */
import t from 'tap'
import type { Mail } from '../../../control-plane/mail/mails.ts'
import { ADA, Browser, PASSWORD, signIn, sidOf, startWorld } from './realm-world.ts'
import { begin, eventsOf, isAskingForPassword, recordedSignIns, setPolicy } from './steps.ts'

const NEW_PASSWORD = 'mellon of the deep river'

t.test('a network that is denied is told so before any password counts', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'network', { deny: ['127.0.0.0/8'] })
  const person = await begin(world, acme)
  t.ok(isAskingForPassword(person.page.html))
  for (const password of [PASSWORD, 'wrong']) {
    const answer = await person.send({ ...ADA, password })
    t.equal(answer.response.status, 403)
    t.match(answer.html, /You cannot sign in from this network/)
  }
  t.match(await eventsOf(world, 'signin.denied'), [{ reason: 'network_denied' }])
  t.strictSame(
    (await recordedSignIns(world)).map(({ isFailure, repeated }) => ({ isFailure, repeated })),
    [{ isFailure: false, repeated: 1 }],
    'one row a minute, and how often',
  )
  await setPolicy(world, 'network', { allow: ['::1/128'] })
  t.equal((await person.send(ADA)).response.status, 403)
  await setPolicy(world, 'network', { allow: ['127.0.0.1'] })
  t.equal((await person.claims((await person.send(ADA)).url)).sub, acme.ada.userId)
})

t.test(
  'only enrolled devices: nobody gets in, and a wrong password says nothing of it',
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    await setPolicy(world, 'device', { require: 'enrolled' })
    const person = await begin(world, acme)
    t.match((await person.send({ ...ADA, password: 'wrong' })).html, /Wrong username or password/)
    t.match((await person.send(ADA)).html, /Check this device/)
    const answer = await person.send({ device: 'none' })
    t.equal(answer.response.status, 403)
    t.match(answer.html, /This device isn’t enrolled/)
    t.match(await eventsOf(world, 'signin.denied'), [
      { subject: acme.ada.userId, reason: 'device_not_enrolled', ip: '127.0.0.1' },
    ])
  },
)

t.test('a new browser has to show a factor where known ones are demanded', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'mfa', { mode: 'off' })
  const home = new Browser(world.baseUrl)
  await signIn(home, acme)
  await setPolicy(world, 'device', { require: 'known' })
  const known = await begin(world, acme, { prompt: 'login' }, home)
  t.equal((await known.claims((await known.send(ADA)).url)).acr, 'aal1')
  const stranger = await begin(world, acme)
  t.match((await stranger.send(ADA)).html, /Set up a second factor/)
})

t.test('a full house refuses, but not who signs in again in the same browser', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'session', { concurrent_max: 1, when_full: 'refuse' })
  const home = new Browser(world.baseUrl)
  const first = await signIn(home, acme)
  const elsewhere = await begin(world, acme)
  const answer = await elsewhere.send(ADA)
  t.equal(answer.response.status, 403)
  t.match(answer.html, /You are signed in on too many devices/)
  t.match(await eventsOf(world, 'signin.denied'), [{ reason: 'too_many_sessions' }])
  const again = await begin(world, acme, { prompt: 'login' }, home)
  t.ok((await again.claims((await again.send(ADA)).url)).sid)
  const ended = await world.sessions.find('acme', sidOf(first.tokens))
  t.equal(ended?.endReason, 'surplus', 'its session makes room')
  t.equal((await world.sessions.aliveOf('acme', acme.ada.userId)).length, 1)
})

t.test('the oldest session ends where it has to make room', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'session', { concurrent_max: 2, when_full: 'end_oldest' })
  const sids = []
  for (let count = 0; count < 4; count++)
    sids.push(sidOf((await signIn(new Browser(world.baseUrl), acme)).tokens))
  t.strictSame(await world.sessions.aliveOf('acme', acme.ada.userId), sids.slice(2))
  t.equal((await world.sessions.find('acme', sids[0] ?? ''))?.endReason, 'surplus')
})

t.test('whoever signs in twice at the same moment has one session too many nowhere', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'session', { concurrent_max: 1, when_full: 'refuse' })
  const people = [await begin(world, acme), await begin(world, acme), await begin(world, acme)]
  const callbacks: string[] = []
  for (const person of people) callbacks.push((await person.send(ADA)).url)
  const results = await Promise.allSettled(
    people.map((person, place) => person.claims(callbacks[place] ?? '')),
  )
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  t.equal((await world.sessions.aliveOf('acme', acme.ada.userId)).length, 1)
})

t.test('a password that is too old is replaced at the end of the way in', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'password', { max_age_days: 1, history: 3 })
  await makeOld(world, acme.ada.userId)
  const person = await begin(world, acme)
  const page = await person.password()
  t.equal(page.response.status, 200)
  t.match(page.html, /Choose a new password/)
  t.match((await person.send({ new_password: 'ada' })).html, /too short/)
  t.match((await person.send({ new_password: 'password1' })).html, /easy to guess/)
  t.match((await person.send({ new_password: PASSWORD })).html, /used this password before/)
  const twice = await Promise.all([
    person.sendOnce({ new_password: NEW_PASSWORD }),
    person.sendOnce({ new_password: NEW_PASSWORD }),
  ])
  t.strictSame(
    twice.map(({ response }) => response.status),
    [303, 303],
    'a double click is one change',
  )
  const { url } = await person.browser.visit(twice[1]?.url ?? '')
  t.match(await person.claims(url), { sub: acme.ada.userId, acr: 'aal1' })
  const next = await begin(world, acme)
  t.match((await next.password()).html, /Wrong username or password/)
  const right = await next.send({ ...ADA, password: NEW_PASSWORD })
  t.equal((await next.claims(right.url)).sub, acme.ada.userId)
  await world.mails.deliver()
  t.match(
    world.sentMails.filter(({ subject }) => /password .* was changed/.test(subject)),
    { length: 1 },
    'the person hears of it by mail, once',
  )
})

t.test('a second click that comes while the first sets the password goes on with it', async (t) => {
  const CLICKS = ['', '', ', not']
  const allHaveCome = Promise.withResolvers<void>()
  const isSet = Promise.withResolvers<void>()
  let come = 0
  let hasFirst = false
  const world = await startWorld(t, {
    adapt: ({ users }) => ({
      users: {
        ...users,
        async choosePassword(...given) {
          if (++come === CLICKS.length) allHaveCome.resolve()
          await allHaveCome.promise
          const isFirst = !hasFirst && given[2] === NEW_PASSWORD
          if (!isFirst) await isSet.promise
          hasFirst = true
          return users.choosePassword(...given).finally(() => void isSet.resolve())
        },
      },
    }),
  })
  const acme = await world.tenant('acme')
  await setPolicy(world, 'password', { max_age_days: 1 })
  await makeOld(world, acme.ada.userId)
  const person = await begin(world, acme)
  await person.password()
  const clicks = CLICKS.map((more) => person.sendOnce({ new_password: `${NEW_PASSWORD}${more}` }))
  const answers = await Promise.all(clicks)
  const first = answers.filter(({ response }) => response.status === 303)
  t.equal(answers.length - first.length, 1, 'only with the same password')
  const { url } = await person.browser.visit(first[0]?.url ?? '')
  t.equal((await person.claims(url)).sub, acme.ada.userId)
})

t.test('a browser that is new is told of by mail, once', async (t) => {
  const mails: Mail[] = []
  const mailTransport = {
    send: async (mail: Mail) => void mails.push(mail),
    close: () => undefined,
  }
  const world = await startWorld(t, { mailTransport })
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  for (let count = 0; count < 2; count++) {
    const person = await begin(world, acme, { prompt: 'login' }, browser)
    await person.claims((await person.send(ADA, { 'user-agent': 'Netscape/4.0' })).url)
  }
  await world.mails.deliver()
  t.match(mails, [
    {
      to: 'ada@example.test',
      text: /a new browser: an unknown browser, IP address/,
    },
  ])
  t.equal(mails.length, 1)
  const [device] = await world.devices.list('acme', acme.ada.userId)
  t.match(device, { userAgent: 'Netscape/4.0', ip: '127.0.0.1' })
  const cookie = browser.cookies.find(({ name }) => name === 'realm_acme_device')
  t.equal(cookie?.path, '/auth/realms/acme')
  t.match(cookie?.attributes, /expires=.*httponly/i)
  t.match(cookie?.attributes, /samesite=lax/i)

  await setPolicy(world, 'device', { notify_new: false })
  await signIn(new Browser(world.baseUrl), acme)
  await world.mails.deliver()
  t.equal(mails.length, 1)
})

t.test('a device cookie of our own making is nobody’s', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'mfa', { mode: 'off' })
  await setPolicy(world, 'device', { require: 'known' })
  const home = new Browser(world.baseUrl)
  await setPolicy(world, 'device', { require: 'any' })
  await signIn(home, acme)
  await setPolicy(world, 'device', { require: 'known' })
  const thief = new Browser(world.baseUrl)
  const real = home.cookies.find(({ name }) => name === 'realm_acme_device')
  if (real === undefined) throw new Error('no device cookie')
  thief.remember([{ ...real, value: 'x'.repeat(43) }])
  const person = await begin(world, acme, {}, thief)
  t.match((await person.send(ADA)).html, /Set up a second factor/)
})

async function makeOld(world: Awaited<ReturnType<typeof startWorld>>, userId: string) {
  const { updateUser } = await import('../../../control-plane/store/queries/users.ts')
  const passwordChangedAt = world.clock.nowMs() - 3 * 86_400_000
  await world.store.change(({ queries }) =>
    updateUser(queries, 'acme', userId, { passwordChangedAt }),
  )
}
