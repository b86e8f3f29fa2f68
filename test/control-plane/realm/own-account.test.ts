/** A person's own account over HTTP: who may see it, who may change it, and nobody else's. */
import t from 'tap'
import { isStrangers } from '../../../control-plane/store/precedence.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { untilFound } from '../../support/fleet.ts'
import { accountOf, fieldIn, personAt, signInWithCode, wrongFieldsIn } from './account-visit.ts'
import { ACTOR, Browser, PASSWORD, startWorld, userNamed } from './realm-world.ts'
import { begin, enrolApp, eventsOf, recordedSignIns, setPolicy } from './steps.ts'

const NEW = 'lamp otter viaduct 88 quince'
const ELEVEN_MINUTES = 11 * 60_000

t.test('the account at a glance: the person, their sessions and browsers', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const here = await personAt(world, acme)
  const there = await personAt(world, acme)
  const { html, response } = await here.open()
  t.equal(response.status, 200)
  t.match(html, /Ada Lovelace/)
  t.match(html, /ada@example\.test/)
  t.match(html, /this device/)
  t.match(html, `name="sid" value="${there.sid}"`)
  t.notMatch(html, `name="sid" value="${here.sid}"`)
  t.equal(html.match(/name="device"/g)?.length, 2)
  t.equal(response.headers.get('cache-control'), 'no-store')
  t.notMatch(html, /eyJ/, 'no token')
  t.match(
    (await here.browser.visit(here.url(''), { headers: { 'accept-language': 'de' } })).html,
    /Ihr Konto/,
  )
})

t.test('without a session one is led to the application, never to a dead end', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const stranger = accountOf(new Browser(world.baseUrl), acme)
  const pages = ['', '/profile', '/email', '/password', '/authenticator', '/passkey']
  for (const path of pages) {
    const { html, response } = await stranger.open(path)
    t.equal(response.status, 403, path)
    t.match(html, 'href="http://acme.example:8000/service/login?returnTo=%2Fservice%2Fme"')
  }
  for (const path of [
    '/sessions',
    '/devices',
    '/factor',
    '/recovery-codes',
    '/password',
    '/confirm',
  ])
    t.equal((await stranger.browser.submit(stranger.url(path), { csrf: '' })).response.status, 403)

  const revoked = await personAt(world, acme)
  await world.revocations.revoke('acme', { sid: revoked.sid }, ACTOR)
  t.equal((await revoked.open()).response.status, 403, 'revoked')
  const disabled = await personAt(world, acme)
  await world.users.patch('acme', acme.ada.userId, { isDisabled: true }, ACTOR)
  t.equal((await disabled.open()).response.status, 403, 'disabled')
})

t.test('a session that nobody has used for long is none', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  const idle = await personAt(world, acme)
  t.equal((await idle.open()).response.status, 200)
  clock.advance(901_000)
  t.equal((await idle.open()).response.status, 403)
})

t.test('a session that is bound is another browser’s nowhere', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme', { sessionBinding: 'step_up' })
  const ada = await personAt(world, acme)
  t.equal((await ada.open()).response.status, 200)
  const thief = new Browser(world.baseUrl)
  thief.remember(ada.browser.cookies)
  const headers = { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0) Firefox/140.0' }
  t.equal((await thief.visit(ada.url(''), { headers })).response.status, 403)
})

t.test('a session without a token is among all the others that end', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const here = await personAt(world, acme)
  const { browser, flow, password } = await begin(world, acme)
  const { url } = await password()
  t.match(await here.send('/sessions', { others: '1' }), { html: /All other sessions/ })
  t.match(await flow.finish(url).catch((error: unknown) => error), { error: 'invalid_grant' })
  t.equal((await accountOf(browser, acme).open()).response.status, 403)
  t.equal((await here.open()).response.status, 200)
})

t.test('what people change of their own goes before what strangers ask for', async (t) => {
  const lanes: [string, boolean][] = []
  const world = await startWorld(t, {
    adapt: ({ revocations, users, devices }) => ({
      revocations: {
        ...revocations,
        endEach: async (...which) => {
          lanes.push(['end', isStrangers()])
          return revocations.endEach(...which)
        },
      },
      users: {
        ...users,
        choosePassword: async (...which) => {
          lanes.push(['password', isStrangers()])
          return users.choosePassword(...which)
        },
      },
      devices: {
        ...devices,
        forget: async (...which) => {
          lanes.push(['device', isStrangers()])
          return devices.forget(...which)
        },
      },
    }),
  })
  const acme = await world.tenant('acme')
  const here = await personAt(world, acme)
  await personAt(world, acme)
  await here.send('/sessions', { others: '1' })
  await here.send('/devices', { device: 'dev_other' })
  const chosen = { password: NEW, repeated: NEW }
  await here.send('/password', { current: PASSWORD, ...chosen })
  t.same(lanes, [
    ['end', false],
    ['device', false],
    ['password', false],
  ])
})

t.test('one session is ended, then all others; the realm refuses them at once', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const here = await personAt(world, acme)
  const others = [
    await personAt(world, acme),
    await personAt(world, acme),
    await personAt(world, acme),
  ]
  const [first] = others
  const ended = await here.send('/sessions', { sid: first?.sid ?? '' })
  t.match(ended, { url: here.url('?done=session'), html: /Session ended/ })
  t.equal((await first?.open())?.response.status, 403)
  t.equal((await others[1]?.open())?.response.status, 200)
  t.match(await eventsOf(world, 'session.revoked'), [{ sid: first?.sid, reason: 'ended_by_user' }])

  t.match(await here.send('/sessions', { others: '1' }), { html: /All other sessions/ })
  for (const other of others) t.equal((await other.open()).response.status, 403)
  t.equal((await here.open()).response.status, 200)
  const { items } = await world.sessions.list('acme', { cursor: undefined, limit: 10 })
  t.equal(items.filter(({ endReason }) => endReason === 'ended_by_user').length, 3)
})

t.test('nothing of another person is in reach, by any id', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const other = await world.tenant('other')
  const bob = await world.users.create('acme', userNamed('bob'), ACTOR)
  const app = await enrolApp(world, acme, bob.userId)
  const adas = await personAt(world, acme)
  const foreign = await personAt(world, other)
  const bobs = await signInWithCode(world, acme, 'bob', app.code())
  const owner = { tenantId: 'acme', userId: bob.userId }
  const [factor] = await world.factors.list(owner)
  const [device] = await world.devices.list('acme', bob.userId)
  const [foreignDevice] = await world.devices.list('other', other.ada.userId)
  for (const [path, fields] of [
    ['/sessions', { sid: bobs.sid }],
    ['/sessions', { sid: foreign.sid }],
    ['/devices', { device: device?.deviceId ?? '-' }],
    ['/devices', { device: foreignDevice?.deviceId ?? '-' }],
    ['/factor', { factor: factor?.factorId ?? '-' }],
    ['/factor', { factor: 'fac_unknown' }],
  ] as const)
    t.match(
      await adas.send(path, fields),
      { response: { status: 404 }, html: /already ended|already forgotten|already removed/ },
      path,
    )
  t.equal((await bobs.open()).response.status, 200)
  t.equal((await foreign.open()).response.status, 200)
  t.equal((await world.factors.list(owner)).length, 11)
  t.equal((await world.devices.list('acme', bob.userId)).length, 1)
  await adas.send('/sessions', { others: '1' })
  t.equal((await bobs.open()).response.status, 200, 'all others are one’s own')
  // a page of one realm holds nothing for another
  const csrf = fieldIn((await adas.open('/profile')).html, 'csrf')
  t.equal((await foreign.send('/profile', { csrf, name: 'Eve' })).response.status, 403)
})

t.test('another site sends the forms (CSRF): nothing changes', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const ada = await personAt(world, acme)
  const there = await personAt(world, acme)
  const csrf = await ada.csrf()
  const elsewhere = await there.csrf()
  const forms = {
    '/sessions': { sid: there.sid },
    '/profile': { name: 'Eve' },
    '/email': { email: 'eve@example.test' },
    '/password': { current: PASSWORD, password: NEW, repeated: NEW },
    '/recovery-codes': {},
    '/confirm': { next: 'email' },
  }
  for (const [path, fields] of Object.entries(forms)) {
    const submit = (more: Record<string, string>, headers: Record<string, string> = {}) =>
      ada.browser.submit(ada.url(path), { ...fields, ...more }, headers)
    for (const [more, headers] of [
      [{}, {}],
      [{ csrf: 'x' }, {}],
      [{ csrf: elsewhere }, {}],
      [{ csrf }, { origin: 'http://evil.example' }],
      [{ csrf }, { origin: 'null' }],
      [{ csrf }, { 'sec-fetch-site': 'cross-site' }],
    ] as const)
      t.equal((await submit(more, headers)).response.status, 403, path)
  }
  t.equal((await there.open()).response.status, 200)
  t.match(await world.users.get('acme', acme.ada.userId), { name: 'Ada Lovelace' })
  t.equal(world.sentMails.filter(({ text }) => text.includes('/new-email')).length, 0)
  t.equal((await ada.send('/profile', { name: 'Ada King' })).response.status, 200)
})

t.test('the name changes; what is none is refused in a sentence', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const ada = await personAt(world, acme)
  for (const name of ['', '   ', 'a\u0000b', 'x'.repeat(LIMITS.nameCharactersMax + 1)])
    t.match(await ada.send('/profile', { name }), {
      response: { status: 422 },
      html: /up to 200 characters/,
    })
  const longest = 'x'.repeat(LIMITS.nameCharactersMax)
  t.equal((await ada.send('/profile', { name: longest })).response.status, 200)
  t.match(await ada.send('/profile', { name: ' Ada <King> ' }), { html: /Ada &lt;King&gt;/ })
  t.match(await world.users.get('acme', acme.ada.userId), { name: 'Ada <King>' })
})

t.test('a new address has to prove itself, and the old one is told', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  await world.users.create('acme', userNamed('bob'), ACTOR)
  const ada = await personAt(world, acme)
  t.match(await ada.send('/email', { email: 'nothing' }), { response: { status: 422 } })
  const taken = await ada.send('/email', { email: 'bob@example.test' })
  const asked = await ada.send('/email', { email: 'new@example.test' })
  t.equal(taken.html.replaceAll('bob@', 'new@'), asked.html, 'a taken address looks the same')
  t.match(await world.users.get('acme', acme.ada.userId), { email: 'ada@example.test' })
  const mail = await untilFound(() => world.sentMails.find(({ to }) => to === 'new@example.test'))
  const link = /https?:\/\/\S+/.exec(mail.text)?.[0] ?? ''
  t.match(await ada.browser.submit(link, {}), { response: { status: 200 } })
  t.match(await world.users.get('acme', acme.ada.userId), { email: 'new@example.test' })
  t.match((await ada.open()).html, /new@example\.test/)
  await ada.send('/email', { email: 'third@example.test' })
  t.match(await ada.send('/email', { email: 'fourth@example.test' }), {
    response: { status: 422 },
    html: /too many emails/,
  })
  clock.advance(ELEVEN_MINUTES)
  const late = await ada.open('/email')
  t.match(late.html, /Confirm it&#39;s you/)
  t.match(await ada.send('/email', { email: 'x@example.test' }), { html: /Confirm it&#39;s you/ })
  const wrong = await ada.send('/confirm', { next: 'email', proof_password: 'wrong' })
  t.match(wrong, { response: { status: 422 }, html: /current password is not correct/ })
  t.same(wrongFieldsIn(wrong.html), ['proof_password'])
  const right = await ada.send('/confirm', { next: 'email', proof_password: PASSWORD })
  t.match(right, { url: ada.url('/email'), html: /name="email"/ })
  t.match((await ada.open('/email')).html, /name="email"/, 'and it is remembered')
  for (const next of ['//evil.example', '../../authorize', 'https://evil.example', '', '__proto__'])
    t.equal((await ada.send('/confirm', { next, proof_password: PASSWORD })).url, ada.url(''))
})

t.test(
  'a proof is of its session: another browser’s, or an old one, is worth nothing',
  async (t) => {
    const clock = movableClock(Date.now())
    const world = await startWorld(t, { clock })
    const acme = await world.tenant('acme', { idleSeconds: 7200 })
    const [ada, other] = [await personAt(world, acme), await personAt(world, acme)]
    clock.advance(ELEVEN_MINUTES)
    await ada.send('/confirm', { next: 'email', proof_password: PASSWORD })
    const proof = ada.browser.cookies.filter(({ name }) => name.includes('proof'))
    t.equal(proof.length > 0, true)
    t.match(proof[0]?.attributes, /httponly/i)
    other.browser.remember([...other.browser.cookies, ...proof])
    t.match((await other.open('/email')).html, /Confirm it&#39;s you/)
    t.notMatch((await ada.open('/email')).html, /Confirm it&#39;s you/)
    clock.advance(ELEVEN_MINUTES)
    t.match((await ada.open('/email')).html, /Confirm it&#39;s you/)
  },
)

t.test('the password: the current one is needed, and everything else ends', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const [ada, other] = [await personAt(world, acme), await personAt(world, acme)]
  const both = { password: NEW, repeated: NEW }
  const wrong = await ada.send('/password', { current: 'wrong', ...both })
  t.match(wrong, { response: { status: 422 }, html: /current password is not correct/ })
  t.same(wrongFieldsIn(wrong.html), ['current'])
  for (const [fields, sentence] of [
    [{ password: NEW, repeated: 'x' }, /passwords do not match/],
    [{ password: 'short', repeated: 'short' }, /too short/],
  ] as const) {
    const { html } = await ada.send('/password', { current: PASSWORD, ...fields })
    t.match(html, sentence)
    t.same(wrongFieldsIn(html), ['password', 'repeated'], 'the cursor is where it goes on')
  }
  const changed = await ada.send('/password', { current: PASSWORD, ...both })
  t.match(changed, { response: { status: 200 }, html: /Password changed/ })
  t.equal((await ada.open()).response.status, 403)
  t.equal((await other.open()).response.status, 403)
  t.match(await world.users.authenticate('acme', 'ada', NEW), { kind: 'ok' })
  await untilFound(() => world.sentMails.find(({ subject }) => /password/i.test(subject)))
  t.notMatch(world.logged.join(''), NEW)
})

t.test('whoever guesses the password at an open browser is paused like anywhere', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'lockout', { user_failures: 3 })
  const ada = await personAt(world, acme)
  const guess = (current: string) =>
    ada.send('/password', { current, password: NEW, repeated: NEW })
  for (let round = 0; round < 3; round++)
    t.match((await guess('wrong')).html, /current password is not correct/)
  const paused = await guess(PASSWORD)
  t.match(paused, { response: { status: 422 }, html: /Too many failed attempts/ })
  t.same(wrongFieldsIn(paused.html), ['current'], 'nothing that was typed was wrong')
  t.notMatch(paused.html, 'aria-invalid="true"')
  t.match(await world.users.authenticate('acme', 'ada', PASSWORD), { kind: 'ok' }, 'unchanged')
  const rows = await recordedSignIns(world)
  t.equal(rows.filter(({ isFailure }) => isFailure).length, 3)
})

t.test('fifty guesses at once, the right one among them: the pause comes first', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'lockout', { user_failures: 3 })
  const ada = await personAt(world, acme)
  const csrf = await ada.csrf()
  const guess = (current: string) =>
    ada.browser.submit(ada.url('/password'), { csrf, current, password: NEW, repeated: NEW })
  const wrong = Array.from({ length: 20 }, (_item, index) => guess(`wrong ${index}`))
  await Promise.all(wrong)
  t.match(await guess(PASSWORD), { html: /Too many failed attempts/ })
  const rows = await recordedSignIns(world)
  t.equal(rows.filter(({ isFailure }) => isFailure).length, 3, 'no more was judged')
})

t.test('who is kept in a directory changes nothing of it here', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const ada = await personAt(world, acme)
  await world.store.change(async ({ queries }) => {
    await queries.update(schema.users).set({ source: 'directory' })
  })
  t.match((await ada.open()).html, /Your organization manages/)
  for (const path of ['/profile', '/email', '/password'])
    t.equal((await ada.open(path)).url, ada.url(''), path)
  const csrf = fieldIn((await ada.open()).html, 'csrf')
  await ada.browser.submit(ada.url('/profile'), { csrf, name: 'Eve' })
  t.match(await world.users.get('acme', acme.ada.userId), { name: 'Ada Lovelace' })
})
