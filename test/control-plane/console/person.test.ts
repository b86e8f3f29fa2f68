/** The page of a person of the console: everything about them, and what an operator does for them. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { addFactor } from '../../support/factors.ts'
import { startApi } from '../../support/api.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'
import { CONSOLE_PASSWORD, startConsole, giveRole } from '../../support/console.ts'
import { failSignIns, signIns } from '../../support/sign-ins.ts'

const at = ({ userId }: { userId: string }, rest = '') => `/console/people/${userId}${rest}`
const ACTIONS = ['resend-invitation', 'unlock', 'sign-out', 'reset-factors', 'revoke-access']

function mailbox() {
  const mails: { to: string; text: string }[] = []
  const send = async (mail: { to: string; text: string }) => void mails.push(mail)
  return { mails, send, close: () => undefined }
}

void t.test('a page says what a person may do, has, and did', async (t) => {
  const { services, person } = await startConsole(t)
  const { consoleAccess, users } = services
  const grace = await person('operator', 'Grace')
  const ada = await person('acme', 'Ada')
  await giveRole(services, ada.userId, 'other')
  await users.choosePassword('console', ada.userId, CONSOLE_PASSWORD, ACTOR)
  await signIns(services, { tenantId: 'console', userId: ada.userId }, 1, { ip: '192.0.2.77' })
  await addFactor(services, { tenantId: 'console', userId: ada.userId })
  await services.tenants.create(
    { ...(await services.tenants.get('acme')), tenantId: 'third', hostnames: ['third.localhost'] },
    ACTOR,
  )
  await consoleAccess.invitations.invite('third', 'Ada@example.test', {
    userId: grace.userId,
    actor: ACTOR,
    language: '',
  })
  t.match((await grace.get('/console/people?tenant_id=acme')).text, `href="${at(ada)}"`)
  const { status, text } = await grace.get(at(ada))
  t.equal(status, 200)
  t.match(text, /id="access".*Administrator.*acme.*Administrator.*other/s)
  t.match(text, /Last sign-in.*192\.0\.2\.77/s)
  t.match(text, /id="factors".*Authenticator app/s)
  t.match(text, /id="invitations".*Administer.*third.*Open/s)
  t.match(text, /id="audit".*Granted console access/s)
  t.notMatch(text, /factors\/fac_/, 'none is taken alone here')
  const own = await grace.get(at(grace))
  t.match(own.text, /This is you/)
  t.match(own.text, /Test|192\.0\.2\.1/i, 'their session')
  t.notMatch(own.text, 'Reset second factors</a>')
  await grace.post('/console/people', { email: 'bob@example.test', name: '', tenant_id: '' })
  t.match((await grace.get(at(grace))).text, /id="audit".*Sent an invitation/s, 'what they did')
  const dan = { email: 'dan@acme.test', name: 'Dan Danger', username: 'dan' }
  await grace.post('/console/tenants/acme/users/new', { ...dan, password: CONSOLE_PASSWORD })
  const { userId } = (await users.byLogin('acme', 'dan'))!
  t.match(
    (await grace.get(at(grace))).text,
    new RegExp(`id="audit".*title="${userId}">Dan Danger<`, 's'),
    'by name, whom it was done to',
  )
})

void t.test('a lockout of a person of the console is recorded and shown', async (t) => {
  const clock = movableClock()
  const { services, person } = await startConsole(t, { clock })
  const grace = await person('operator', 'Grace')
  const ada = await person('acme', 'Ada')
  const who = { tenantId: 'console', userId: ada.userId }
  const { lockout } = await services.policies.of('console')
  await failSignIns(services, who, lockout.user_failures - 1, { ip: '203.0.113.9' })
  const entries = async () =>
    (await services.auditTrail.list({ limit: 100 })).items.filter(
      ({ action }) => action === 'console.account_locked',
    )
  t.same(await entries(), [], 'not before it is one')
  await failSignIns(services, who, 1, { ip: '203.0.113.9' })
  await failSignIns(services, who, 5, { ip: '203.0.113.9' })
  const atSeconds = Math.floor(clock.nowMs() / 1000)
  const until = new Date((atSeconds + lockout.pause_seconds) * 1000).toISOString()
  const [entry, ...others] = await entries()
  t.match(entry, { actor: 'lockout', tenantId: null })
  t.same(entry?.content, { user_id: ada.userId, address: '203.0.113.9', until })
  t.same(others, [], 'once for a pause, however many knock')
  t.match((await grace.get('/console/audit')).text, /lockout policy.*Account locked/s)
  const locked = await grace.get(at(ada))
  t.match(locked.text, /role="alert".*Account locked/s)
  t.match(locked.text, /id="audit".*Account locked/s)
  t.match(await grace.post(at(ada, '/unlock')), { status: 303 })
  const open = await grace.get(at(ada))
  t.notMatch(open.text, 'role="alert"')
  t.match(open.text, /id="audit".*Unlocked an account/s)

  const bob = await services.users.create(
    'acme',
    { username: 'bob', email: 'bob@acme.test', name: 'Bob', password: '' },
    ACTOR,
  )
  await failSignIns(services, bob, 10)
  t.equal((await entries()).length, 1, 'a tenant’s users are counted in its figures')
})

void t.test('second factors are reset, told by mail, and no session outlives them', async (t) => {
  const mailTransport = mailbox()
  const { services, person } = await startConsole(t, { mailTransport })
  const grace = await person('operator')
  const ada = await person('acme', 'Ada')
  const owner = { tenantId: 'console', userId: ada.userId }
  t.match(await grace.post(at(ada, '/reset-factors')), { status: 404 }, 'there are none')
  await addFactor(services, owner)
  t.match((await grace.get(at(ada, '/reset-factors'))).text, /password alone is enough/)
  t.match(await grace.post(at(ada, '/reset-factors')), { status: 303 })
  t.same(await services.factors.list(owner), [])
  t.equal((await ada.get('/console')).status, 302, 'signed out')
  await services.mails.deliver()
  t.match(mailTransport.mails, [{ to: /^Ada@/, text: /all second factors were removed/ }])
  const [entry] = (await services.auditTrail.list({ limit: 10 }, { tenantId: 'console' })).items
  t.match(entry, { action: 'factors.reset', content: { user_id: ada.userId, kinds: ['totp'] } })

  await addFactor(services, { tenantId: 'console', userId: grace.userId })
  const own = await grace.post(at(grace, '/reset-factors'))
  t.match(own, { status: 409, text: /own_account/ }, 'a browser left open is not enough')
})

void t.test('a person is signed out, and comes back', async (t) => {
  const clock = movableClock()
  const { person, signedIn } = await startConsole(t, { clock })
  const grace = await person('operator')
  const ada = await person('acme')
  t.match(await grace.post(at(ada, '/sign-out')), { status: 303 })
  t.equal((await ada.get('/console/tenants/acme')).status, 302)
  clock.advance(1000)
  t.equal((await (await signedIn(ada.userId)).get('/console/tenants/acme')).status, 200)
})

void t.test('access is revoked at once, but not of the last who can run the service', async (t) => {
  const clock = movableClock()
  const { services, person, signedIn } = await startConsole(t, { clock })
  const { users, consoleAccess } = services
  const { userId } = await person('operator')
  const ada = await person('acme', 'Ada')
  await giveRole(services, ada.userId, 'other')
  const inviter = { userId: ada.userId, actor: ACTOR, language: '' }
  await consoleAccess.invitations.invite('acme', 'bob@example.test', inviter)
  await users.choosePassword('console', userId, CONSOLE_PASSWORD, ACTOR)
  clock.advance(1000)
  const grace = await signedIn(userId)
  t.match((await grace.get(at(ada, '/revoke-access'))).text, /permanently deleted/)
  t.match(await grace.post(at(ada, '/revoke-access')), { status: 303, location: /\/people\?/ })
  t.equal(await users.find('console', ada.userId), undefined)
  t.equal((await ada.get('/console')).status, 302)
  t.same(await consoleAccess.invitations.list('acme'), [], 'nor do their invitations stay')
  const [removed, other, acme] = (await services.auditTrail.list({ limit: 3 })).items
  t.match(removed, { action: 'user.removed', content: { user_id: ada.userId } })
  t.match([other?.action, acme?.action], ['console.role_taken', 'console.role_taken'])
  t.equal((await grace.get(at(ada))).status, 404)
})

void t.test('the last operator is not revoked, nor half', async (t) => {
  const clock = movableClock()
  const { services, person, signedIn } = await startConsole(t, { clock })
  const { users, consoleAccess } = services
  const grace = await person('operator')
  await giveRole(services, grace.userId, 'acme')
  await users.choosePassword('console', grace.userId, CONSOLE_PASSWORD, ACTOR)
  clock.advance(1000)
  const back = await signedIn(grace.userId)
  const answer = await back.post(at(grace, '/revoke-access'))
  t.match(answer, { status: 409, text: /last_operator/ })
  t.match(await consoleAccess.roles.of(grace.userId), { isOperator: true, tenantIds: ['acme'] })
})

void t.test('an invitation is sent again until it is accepted, and never after', async (t) => {
  const mailTransport = mailbox()
  const { services, person } = await startConsole(t, { mailTransport })
  const grace = await person('operator')
  const ada = await person('acme', 'Ada')
  t.match((await grace.get(at(ada))).text, /<button[^>]*>\s*Resend invitation/)
  t.match(await grace.post(at(ada, '/resend-invitation')), { status: 303 })
  await services.mails.deliver()
  t.match(mailTransport.mails, [{ text: /account\/invitation\?ticket=/ }])
  await services.users.choosePassword('console', ada.userId, CONSOLE_PASSWORD, ACTOR)
  t.match(await grace.post(at(ada, '/resend-invitation')), { status: 409 })
  t.equal(mailTransport.mails.length, 1, 'it would be a way round the password')
  t.notMatch((await grace.get(at(ada))).text, /<button[^>]*>\s*Resend invitation/)
})

void t.test('no administrator sees the page of anybody, nor does anything there', async (t) => {
  const { services, person } = await startConsole(t)
  const grace = await person('operator')
  const ada = await person('acme')
  const colleague = await person('acme')
  const stranger = await person('other')
  for (const someone of [grace, stranger, colleague, ada]) {
    t.equal((await ada.get(at(someone))).status, 404)
    for (const action of ACTIONS) {
      t.equal((await ada.get(at(someone, `/${action}`))).status, 404, action)
      t.equal((await ada.post(at(someone, `/${action}`))).status, 404, action)
    }
  }
  const nobody = await ada.get(at({ userId: 'usr_nobody' }))
  const there = await ada.get(at(grace))
  const same = (text: string) => text.replaceAll(/request [\w-]+|value="[\w.-]+"/g, '')
  t.equal(same(nobody.text), same(there.text), 'alike')
  const acts = (await services.auditTrail.list({ limit: 100 })).items
  t.notOk(
    acts.some(({ actor }) => actor.startsWith('console:')),
    'and nothing was done',
  )
})

void t.test('a user of a tenant is no person of the console', async (t) => {
  const { services, person } = await startConsole(t)
  const grace = await person('operator')
  const account = { username: 'bob', email: 'bob@acme.test', name: 'Bob', password: '' }
  const bob = await services.users.create('acme', account, ACTOR)
  t.equal((await grace.get(at(bob))).status, 404)
  for (const action of ACTIONS)
    t.equal((await grace.post(at(bob, `/${action}`))).status, 404, action)
})

void t.test('of somebody else’s time with the same address nothing is theirs', async (t) => {
  const clock = movableClock()
  const { services, person } = await startConsole(t, { clock })
  const grace = await person('operator')
  const before = await person('acme', 'Ada')
  await before.post('/console/tenants/acme/users/new', {
    email: 'eve@acme.test',
    username: '',
    name: 'Eve',
    password: '',
  })
  await services.users.remove('console', before.userId, ACTOR)
  clock.advance(1000)
  const ada = await person('acme', 'Ada')
  const { text } = await grace.get(at(ada))
  t.notMatch(text, before.userId)
  const { audit } = await services.consoleAccess.persons.view(ada.userId)
  t.ok(audit.length > 0)
  t.notOk(
    audit.some(({ actor }) => actor === 'console:Ada@example.test'),
    'what they did',
  )
})

void t.test('the same by API', async (t) => {
  const mailTransport = mailbox()
  const { operator, services } = await startApi(t, { mailTransport })
  await services.consoleAccess.ensureRealm()
  const body = { email: 'grace@example.test', name: 'Grace' }
  const { body: invited } = await operator('POST', '/console/people', body)
  const userId = String(invited['user_id'])
  const one = `/console/people/${userId}`
  t.match((await operator('GET', one)).body, {
    user_id: userId,
    accepted: false,
    locked_until: null,
    roles: [{ role: 'operator', tenant_id: null }],
    last_sign_in: null,
    links: [{ used_at: null }],
  })
  t.match(await operator('POST', `${one}/resend-invitation`), { status: 200 })
  await services.users.choosePassword('console', userId, CONSOLE_PASSWORD, ACTOR)
  const late = await operator('POST', `${one}/resend-invitation`)
  t.match(late, { status: 409, body: { error: 'invitation_accepted' } })
  t.match(await operator('POST', `${one}/unlock`), { status: 200 })
  t.match(await operator('POST', `${one}/sign-out`), { status: 200, body: { sessions: 0 } })
  const none = await operator('POST', `${one}/reset-factors`)
  t.match(none, { status: 404, body: { error: 'factor_not_found' } })
  await addFactor(services, { tenantId: 'console', userId })
  t.match((await operator('GET', one)).body, { factors: [{ kind: 'totp' }] })
  t.match(await operator('POST', `${one}/reset-factors`), { status: 200 })
  const last = await operator('POST', `${one}/revoke-access`)
  t.match(last, { status: 409, body: { error: 'last_operator' } })
  const second = await operator('POST', '/console/people', { email: 'b@example.test' })
  await services.users.choosePassword(
    'console',
    String(second.body['user_id']),
    CONSOLE_PASSWORD,
    ACTOR,
  )
  t.match(await operator('POST', `${one}/revoke-access`), { status: 200 })
  t.match(await operator('GET', one), { status: 404 })
})

void t.test('the trail on a page is bounded', async (t) => {
  const { services, person } = await startConsole(t)
  const ada = await person('acme')
  for (let made = 0; made <= LIMITS.personAuditListedMax; made++)
    await services.users.unlock('console', ada.userId, ACTOR)
  const { audit } = await services.consoleAccess.persons.view(ada.userId)
  t.equal(audit.length, LIMITS.personAuditListedMax)
})
