/** How often one person comes in, and that nobody else uses it up. */
import t from 'tap'
import { personRate, SignsInTooOften } from '../../../control-plane/realm/sign-in/person-rate.ts'
import { openStore } from '../../../control-plane/store/store.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { openDatabase } from '../../support/databases.ts'
import { ACTOR, ADA, startWorld, userNamed, type World, type TestTenant } from './realm-world.ts'
import { begin, enrolApp, eventsOf, isAskingForCode, recordedSignIns } from './steps.ts'

const one = { burst: 1, perSecond: 1 / 60 }
const two = { burst: 2, perSecond: 1 / 60 }

async function signsIn(world: World, tenant: TestTenant, username = 'ada', headers = {}) {
  const person = await begin(world, tenant)
  return person.send({ ...ADA, username }, headers)
}

t.test('a person who signs in again and again has to wait, and nobody else', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock, rates: { signInOfPerson: two } })
  const [acme, bolt] = [await world.tenant('acme'), await world.tenant('bolt')]
  await world.users.create('acme', userNamed('bob'), ACTOR)
  for (let count = 0; count < 2; count++)
    t.ok((await signsIn(world, acme)).url.startsWith(acme.redirectUri))
  const before = await recordedSignIns(world)

  const { response, html } = await signsIn(world, acme)
  t.equal(response.status, 429)
  t.equal(response.headers.get('retry-after'), '60')
  t.match(html, /Too many sign-ins/)
  t.match(html, /Try again in one minute/)
  const german = await signsIn(world, acme, 'ada', { 'accept-language': 'de' })
  t.match(german.html, /Zu viele Anmeldungen/)
  t.match(german.html, /Versuchen Sie es in einer Minute erneut/)
  const program = await signsIn(world, acme, 'ada', { accept: 'application/json' })
  t.match(program.html, /"error":"too_many_sign_ins"/)
  const [row, ...more] = (await recordedSignIns(world)).slice(before.length)
  t.match(row, { userId: acme.ada.userId, outcome: 'refused', reason: 'too_many_sign_ins' })
  t.match(row, { isFailure: false, repeated: 2, ip: '127.0.0.1' })
  t.same(more, [], 'one row a minute, and the rest counted')
  const seen = await world.attempts.newestOf('acme', acme.ada.userId)
  t.match(
    seen.find(({ outcome }) => outcome === 'refused'),
    { signInId: row?.signInId, repeated: 2 },
  )
  t.match(await eventsOf(world, 'signin.denied'), [{ reason: 'too_many_sign_ins' }])
  t.match(world.logged.join(''), /"outcome":"too_often"/)

  await world.tenants.patch('acme', { name: 'Another name' }, ACTOR) // its realm is built anew
  t.equal((await signsIn(world, acme)).response.status, 429)
  t.ok((await signsIn(world, acme, 'bob')).url.startsWith(acme.redirectUri))
  t.ok((await signsIn(world, bolt)).url.startsWith(bolt.redirectUri))
  clock.advance(60_000)
  t.ok((await signsIn(world, acme)).url.startsWith(acme.redirectUri))
  t.equal((await signsIn(world, acme)).response.status, 429)
})

t.test('who only knows the name uses nothing up of it', async (t) => {
  const world = await startWorld(t, { rates: { signInOfPerson: one } })
  const acme = await world.tenant('acme')
  const stranger = await begin(world, acme)
  for (let count = 0; count < 3; count++)
    t.equal((await stranger.send({ ...ADA, password: 'wrong' })).response.status, 422)
  t.ok((await signsIn(world, acme)).url.startsWith(acme.redirectUri))
})

t.test(
  'who has only the password keeps its owner out of no browser that they have used',
  async (t) => {
    const clock = movableClock(Date.now())
    const world = await startWorld(t, { clock, rates: { signInOfPerson: two } })
    const acme = await world.tenant('acme')
    const { recoveryCodes } = await enrolApp(world, acme)
    const [code = '', other = ''] = recoveryCodes
    const own = await begin(world, acme)
    await own.password()
    t.ok((await own.send({ code })).url.startsWith(acme.redirectUri))
    own.browser.forgetCookies(({ name }) => !/device/.test(name))

    t.ok(isAskingForCode((await signsIn(world, acme)).html))
    for (let count = 0; count < 3; count++)
      t.equal((await signsIn(world, acme)).response.status, 429, 'a stranger, with the password')
    const again = await begin(world, acme, {}, own.browser)
    t.ok(isAskingForCode((await again.password()).html))
    t.ok((await again.send({ code: other })).url.startsWith(acme.redirectUri))
    const refused = await world.attempts.newestOf('acme', acme.ada.userId)
    t.match(
      refused.filter(({ outcome }) => outcome === 'refused'),
      [{ reason: 'too_many_sign_ins', repeated: 2 }],
    )
  },
)

t.test('one password does not open one session after the other', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock, rates: { signInOfPerson: one } })
  const acme = await world.tenant('acme')
  const { recoveryCodes } = await enrolApp(world, acme)
  const [code = '', other = ''] = recoveryCodes
  const first = await begin(world, acme)
  const second = await begin(world, acme)
  await first.password()
  t.equal((await second.password()).response.status, 429, 'asked for its factor as well')
  clock.advance(60_000)
  await second.password()
  t.ok((await first.send({ code })).url.startsWith(acme.redirectUri))
  first.browser.forgetCookies(({ name }) => name.includes('session')) // else it is the same one
  t.equal((await first.send({ code })).response.status, 429, 'the same click once more')
  t.equal((await second.send({ code: other })).response.status, 429)
  t.equal((await second.browser.visit(second.page.url)).response.status, 200)
  clock.advance(60_000)
  const late = await second.send({ code: other })
  t.ok(late.url.startsWith(acme.redirectUri), 'what was shown in vain is not used up')
})

t.test('as it is, it suffices for a crowd of tests', async (t) => {
  const clock = movableClock()
  const store = await openStore(await openDatabase(':memory:'), clock)
  t.teardown(() => store.close())
  const rate = personRate()
  const { burst } = LIMITS.rateSignInOfPerson
  const take = (isKnown = false) =>
    store.change((change) => rate.takePassword(change, 'acme', 'ada', isKnown))
  const takeSignIn = () => store.change((change) => rate.takeSignIn(change, 'acme', 'ada'))
  await store.change(async (change) => {
    for (let count = 0; count < burst; count++) {
      await rate.takePassword(change, 'acme', 'ada', false)
      await rate.takeSignIn(change, 'acme', 'ada')
    }
  })
  await t.rejects(take(), new SignsInTooOften(60))
  await take(true)
  await t.rejects(takeSignIn(), new SignsInTooOften(60))
  clock.advance(60_000)
  await takeSignIn()
})
