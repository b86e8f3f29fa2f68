/** Users of a tenant: found, invited, changed, unlocked, disabled, removed; each by its own page. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { startPeople } from '../../support/console-people.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { FIREFOX, failSignIns, signIns } from '../../support/sign-ins.ts'

const USERS = '/console/tenants/acme/users'
const HOSTILE = '"><script>alert(1)</script>'

void t.test('users are listed by key and found by any part of what they are called', async (t) => {
  const { admin, create } = await startPeople(t)
  t.match((await admin.get(USERS)).text, /No users yet.*Invite a user/s)
  for (const name of ['ada', 'adam', 'bob', 'carol']) await create(name)
  await create('mallory', HOSTILE)
  const first = await admin.get(`${USERS}?limit=2`)
  t.match(first.text, /ada@acme\.test.*adam@acme\.test/s)
  t.notMatch(first.text, 'bob@acme.test')
  const next = /href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  t.match((await admin.get(next)).text, /bob@acme\.test.*carol@acme\.test/s)
  const found = await admin.get(`${USERS}?q=ADA&limit=2`)
  t.match(found.text, /ada@acme\.test.*adam@acme\.test/s)
  t.notMatch(found.text, 'bob@acme.test')
  t.match((await admin.get(`${USERS}?q=zoe`)).text, 'No matching users')
  t.equal((await admin.get(`${USERS}?q=${'x'.repeat(101)}`)).status, 400)
  t.notMatch((await admin.get(`${USERS}?q=mallory`)).text, '<script>alert')
})

void t.test('somebody is invited by mail once, however often the form is sent', async (t) => {
  const { services, admin, mails } = await startPeople(t)
  const { text } = await admin.get(`${USERS}/new`)
  const [, formId = ''] =
    /action="[^"]*users\/new"[^]*?name="form_id" value="([^"]+)"/.exec(text) ?? []
  const form = { email: 'bob@acme.test', name: 'Bob', username: '', password: '', form_id: formId }
  const made = await admin.post(`${USERS}/new`, form)
  t.match(made, { status: 303, location: /^\/console\/tenants\/acme\/users\/usr_\w+\?done=/ })
  t.equal((await admin.post(`${USERS}/new`, form)).location, made.location)
  await services.mails.deliver()
  t.match(mails, [{ to: 'bob@acme.test', text: /realms\/acme\/account\/invitation\?ticket=/ }])
  const shown = await admin.get(made.location)
  t.match(shown.text, /Bob created\. An invitation is on its way/)
  t.match(shown.text, /Invited.*not chosen yet/s)

  const wrong = await admin.post(`${USERS}/new`, {
    email: HOSTILE,
    name: '',
    username: 'x',
    password: 'tiny',
  })
  t.match(wrong, { status: 422, text: /id="email-error">Must be an email address/ })
  t.match(wrong.text, 'id="password-error"')
  t.notMatch(wrong.text, /tiny|<script>alert/, 'a password is never shown back')
  const taken = await admin.post(`${USERS}/new`, {
    email: 'bob@acme.test',
    name: '',
    username: 'bobby',
    password: '',
  })
  t.match(taken, { status: 409, text: /id="email-error"/ })

  const password = 'a harbour wall at dawn'
  await admin.post(`${USERS}/new`, {
    email: 'carol@acme.test',
    name: '',
    username: 'carol',
    password,
  })
  t.match(await services.users.authenticate('acme', 'carol', password), { kind: 'ok' })
  await services.mails.deliver()
  t.equal(mails.length, 1, 'and no mail to whom a password was given')
})

void t.test('the page of a user tells what they have and what they have tried', async (t) => {
  const { services, clock, admin, create, session } = await startPeople(t)
  const ada = await create('ada', HOSTILE, { password: 'a harbour wall at dawn' })
  const path = `${USERS}/${ada.userId}`
  const bare = (await admin.get(path)).text
  t.match(bare, 'No active sessions: ')
  t.match(bare, 'No known browsers yet.')
  t.match(bare, 'No recent sign-ins')
  await session(ada.userId, 'sid-ada')
  await signIns(services, ada, 1, { ip: '192.0.2.7' })
  clock.advance(1)
  await failSignIns(services, ada, 1, { ip: '192.0.2.8' })
  await services.store.change((change) =>
    services.devices.renew(change, { ...ada, tokens: [], userAgent: FIREFOX, ip: '192.0.2.9' }),
  )
  const { text } = await admin.get(path)
  t.match(text, /Active sessions.*Firefox, Linux.*192\.0\.2\.1/s)
  t.match(text, /Known browsers.*192\.0\.2\.9/s)
  t.match(text, /Recent sign-ins.*wrong password.*192\.0\.2\.8.*signed in.*192\.0\.2\.7/s)
  t.notMatch(text, /<script>alert|argon2/)
  t.equal((await admin.get(`${USERS}/usr_nobody`)).status, 404)
  const trial = await services.trialPeople.create('acme')
  t.equal((await admin.get(`${USERS}/${trial.userId}`)).status, 404, 'of a check of the sign-in')
})

void t.test(
  'a user is changed after a fresh sign-in, and a taken address stands beside its field',
  async (t) => {
    const { services, clock, admin, create, signedIn } = await startPeople(t)
    const [ada] = [await create('ada'), await create('bob')]
    const path = `${USERS}/${ada.userId}/edit`
    t.match((await admin.get(path)).text, 'value="ada@acme.test"')
    const taken = await admin.post(path, { name: 'Ada', username: 'ada', email: 'bob@acme.test' })
    t.match(taken, { status: 409, text: /id="email-error"/ })
    t.match(taken.text, 'value="bob@acme.test"', 'what was typed stays')
    const saved = await admin.post(path, { name: 'Ada L.', username: 'ada', email: 'al@acme.test' })
    t.match(saved, { status: 303 })
    t.match(await services.users.get('acme', ada.userId), { name: 'Ada L.', email: 'al@acme.test' })
    const old = await signedIn(admin.userId, clock.nowMs() - LIMITS.consoleFreshMs - 1)
    t.match(await old.get(path), { status: 302, location: /fresh=yes/ })
    t.match(await old.post(path, { name: 'x', username: 'x', email: 'x@x.test' }), { status: 403 })
  },
)

void t.test('a link for a new password, and a pause that is ended', async (t) => {
  const { services, admin, create, mails } = await startPeople(t)
  const ada = await create('ada', 'Ada', { password: 'a harbour wall at dawn' })
  const path = `${USERS}/${ada.userId}`
  t.match(await admin.post(`${path}/invite`), { status: 303 })
  await services.mails.deliver()
  t.match(mails, [{ to: 'ada@acme.test', text: /ticket=/ }])
  t.notMatch((await admin.get(path)).text, 'Unlock now')
  await failSignIns(services, ada, 10, { login: 'ada' })
  t.match((await admin.get(path)).text, /role="alert".*until .*2026-01-01 00:15 UTC.*Unlock now/s)
  const done = await admin.post(`${path}/unlock`)
  t.match((await admin.get(done.location)).text, 'Ada is unlocked and can sign in again.')
  t.notMatch((await admin.get(path)).text, 'Unlock now')
})

void t.test('disabling says whose sessions end, ends them, and can be taken back', async (t) => {
  const { services, admin, create, session } = await startPeople(t)
  const ada = await create('ada', 'Ada')
  const path = `${USERS}/${ada.userId}`
  t.match((await admin.get(`${path}/disable`)).text, 'There are no active sessions to end.')
  await session(ada.userId, 'one')
  await session(ada.userId, 'two')
  t.match(
    (await admin.get(`${path}/disable`)).text,
    /Disable Ada\?.*2 active sessions end immediately/s,
  )
  t.notOk((await services.users.get('acme', ada.userId)).isDisabled, 'asking changes nothing')
  const done = await admin.post(`${path}/disable`)
  t.match((await admin.get(done.location)).text, /Ada is disabled\..*No gateway is connected/s)
  t.same(await services.sessions.aliveOf('acme', ada.userId), [])
  t.match((await admin.get(path)).text, /Disabled.*Enable account/s)
  await admin.post(`${path}/enable`)
  t.notOk((await services.users.get('acme', ada.userId)).isDisabled)
})

void t.test('removing says what goes and what stays', async (t) => {
  const { services, admin, create, session } = await startPeople(t)
  const ada = await create('ada', 'Ada')
  const path = `${USERS}/${ada.userId}`
  await session(ada.userId, 'one')
  t.match(
    (await admin.get(`${path}/remove`)).text,
    /Delete Ada\?.*1 active session ends.*audit trail/s,
  )
  const done = await admin.post(`${path}/remove`)
  t.match(done.location, /^\/console\/tenants\/acme\/users\?done=/)
  t.equal(await services.users.find('acme', ada.userId), undefined)
  t.same(await services.sessions.aliveOf('acme', ada.userId), [])
  t.match(await admin.post(`${path}/remove`), { status: 404 })
})

void t.test(
  'a lost second factor is taken away after a fresh proof, and its owner is told',
  async (t) => {
    const { services, clock, admin, create, mails, signedIn } = await startPeople(t)
    const ada = await create('ada', 'Ada')
    await services.store.change((change) =>
      services.factors.addTotp(change, ada, 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP', 0),
    )
    const [factor] = await services.factors.list(ada)
    const path = `${USERS}/${ada.userId}/factors/${factor?.factorId ?? ''}/remove`
    t.match((await admin.get(`${USERS}/${ada.userId}`)).text, 'Authenticator app')
    t.match(
      (await admin.get(path)).text,
      /Remove a second factor of Ada\?.*the only one.*is notified/s,
    )
    const old = await signedIn(admin.userId, clock.nowMs() - LIMITS.consoleFreshMs - 1)
    t.match(await old.post(path), { status: 403 })
    t.equal((await services.factors.list(ada)).length, 1)
    t.match(await admin.post(path), { status: 303 })
    t.same(await services.factors.list(ada), [])
    await services.mails.deliver()
    t.match(mails, [{ to: 'ada@acme.test' }])
    t.match(await admin.get(path), { status: 404 })
  },
)

void t.test('the block of an address is seen and lifted', async (t) => {
  const { services, admin, create } = await startPeople(t)
  const blocks = '/console/tenants/acme/address-blocks'
  t.match((await admin.get(blocks)).text, 'No blocked addresses')
  await services.policies.put('acme', 'lockout', { address_failures: 3 }, ACTOR)
  await failSignIns(services, await create('ada'), 3, { ip: '192.0.2.66' })
  t.match((await admin.get(blocks)).text, /192\.0\.2\.66.*Unblock/s)
  const done = await admin.post(`${blocks}/lift`, { address: '192.0.2.66' })
  t.match((await admin.get(done.location)).text, '192.0.2.66 is unblocked.')
  t.match((await admin.get(blocks)).text, 'No blocked addresses')
  t.match(await admin.post(`${blocks}/lift`, { address: '192.0.2.66' }), { status: 404 })
  t.match(await admin.post(`${blocks}/lift`, { address: '' }), { status: 400 })
})
