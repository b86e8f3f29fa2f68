/** Administrators invite colleagues: for their own tenant, with no more than they have themselves. */
import t from 'tap'
import { HOUR_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startApi } from '../../support/api.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'
import { CONSOLE_PASSWORD, startConsole, takeRole } from '../../support/console.ts'

const ACME = '/console/tenants/acme/administrators'
const OTHER = '/console/tenants/other/administrators'
const BOB = 'bob@example.test'

function mailbox() {
  const mails: { to: string; subject: string; text: string }[] = []
  const send = async (mail: (typeof mails)[number]) => void mails.push(mail)
  const linkIn = (text = '') => /\/console\/invitation\?link=([\w-]+)/.exec(text)?.[1] ?? ''
  return { mails, send, close: () => undefined, newest: () => linkIn(mails.at(-1)?.text) }
}

async function startInvited(t: Parameters<typeof startConsole>[0]) {
  const mailTransport = mailbox()
  const clock = movableClock()
  const world = await startConsole(t, { mailTransport, clock })
  const { services, person } = world
  const ada = await person('acme', 'Ada')
  const invite = async (who: { post: typeof ada.post }, email = BOB, path = ACME) => {
    const answer = await who.post(path, { email })
    await services.mails.deliver()
    return answer
  }
  const { invitations, roles } = services.consoleAccess
  const open = (link: string) => `/console/invitation?link=${link}`
  return { ...world, ada, invite, invitations, roles, open, clock, ...mailTransport }
}

void t.test('a colleague without an account makes one by the link, once', async (t) => {
  const { services, ada, ask, invite, mails, newest, open, roles } = await startInvited(t)
  const sent = await invite(ada)
  t.match(sent, { status: 303, location: /^\/console\/tenants\/acme\/administrators\?done=/ })
  t.match((await ada.get(sent.location)).text, /An invitation is on its way to bob@example\.test/)
  t.match((await ada.get(ACME)).text, /id="invitations".*bob@example\.test/s)
  t.match(mails, [
    { to: BOB, subject: /administer acme/, text: /Ada @ example\. test invites you/ },
  ])
  t.equal(await services.users.byLogin('console', BOB), undefined, 'nothing of it before that')

  const link = newest()
  const page = await ask(open(link), '')
  t.match(page, { status: 200, text: /Administer acme.*Create account/s })
  t.match(await ask(open(link), ''), { status: 200 }, 'opening it uses nothing up')
  const form = { link, name: 'Bob', password: 'tiny' }
  const weak = await ask('/console/invitation', '', { method: 'POST', form })
  t.match(weak, { status: 422, text: /password-error/ })
  t.match(weak.text, 'value="Bob"')
  const good = { method: 'POST', form: { ...form, password: CONSOLE_PASSWORD } }
  t.match(await ask('/console/invitation', '', good), { status: 200, text: /Account created/ })
  const bob = await services.users.byLogin('console', BOB)
  t.same(await roles.of(bob?.userId ?? ''), {
    isOperator: false,
    tenantIds: ['acme'],
    changes: ['acme'],
  })
  t.not(bob?.emailProvenAt, null, 'the link went there')
  t.match(await ask('/console/invitation', '', good), { status: 410 }, 'once')
  t.match(await ask(open(link), ''), { status: 410 })
  t.match((await ada.get(ACME)).text, /Bob.*bob@example\.test.*Active/s)
  const trail = (await services.auditTrail.list({ limit: 10 }, { tenantId: 'acme' })).items
  t.match(
    trail.map(({ action, actor }) => [action, actor]),
    [
      ['console.role_given', `console:${BOB}`],
      ['console.invited', 'console:Ada@example.test'],
    ],
  )
})

void t.test('of many at once one accepts', async (t) => {
  const { services, ada, ask, invite, newest, person } = await startInvited(t)
  await invite(ada)
  const form = { link: newest(), name: 'Bob', password: CONSOLE_PASSWORD }
  const all = await Promise.all(
    Array.from({ length: 5 }, () => ask('/console/invitation', '', { method: 'POST', form })),
  )
  t.equal(all.filter(({ status }) => status === 200).length, 1)
  const bob = await person(undefined, 'bobby')
  await invite(ada, 'bobby@example.test')
  const link = newest()
  const accepted = await Promise.all(
    Array.from({ length: 5 }, () => bob.post('/console/invitation/accept', { link })),
  )
  t.equal(accepted.filter(({ status }) => status === 303).length, 1)
  const trail = (await services.auditTrail.list({ limit: 50 }, { tenantId: 'acme' })).items
  t.equal(trail.filter(({ action }) => action === 'console.role_given').length, 3)
})

void t.test('who has an account accepts with it, and nobody else can', async (t) => {
  const { services, ada, ask, invite, newest, open, person, signedIn, roles, clock } =
    await startInvited(t)
  const eve = await person('other', 'Eve')
  await invite(ada, 'EVE@example.test')
  const link = newest()
  t.same((await roles.of(eve.userId)).tenantIds, ['other'], 'not before they say so')
  t.notMatch((await ada.get(ACME)).text, '>Eve<', 'nor is their name told')
  t.match((await ask(open(link), '')).text, /have a console account.*Sign in/s)
  const made = { link, name: 'Mallory', password: CONSOLE_PASSWORD }
  const anew = await ask('/console/invitation', '', { method: 'POST', form: made })
  t.match(anew, { status: 410 }, 'no second account, no other password')

  const mallory = await person('other', 'Mallory')
  t.match((await mallory.get(open(link))).text, /signed in as Mallory@.*Sign out/s)
  t.match(await mallory.post('/console/invitation/accept', { link }), { status: 410 })
  t.match((await eve.get(open(link))).text, /Accept to administer/)
  clock.advance(LIMITS.consoleFreshMs + 1)
  t.match(await eve.post('/console/invitation/accept', { link }), { status: 403 }, 'freshly')
  const fresh = await signedIn(eve.userId)
  const accepted = await fresh.post('/console/invitation/accept', { link })
  t.match(accepted, { status: 303, location: /^\/console\/tenants\/acme\?/ })
  t.same((await roles.of(eve.userId)).tenantIds, ['acme', 'other'])
  t.same(await services.consoleAccess.invitations.list('acme'), [])
})

void t.test('whoever invites learns nothing of accounts elsewhere', async (t) => {
  const { services, ada, invite, person } = await startInvited(t)
  const grace = await person('operator', 'Grace')
  await person('other', 'Eve')
  const gone = await person('other', 'Gone')
  await services.users.patch('console', gone.userId, { isDisabled: true }, ACTOR)
  const answers: string[] = []
  for (const name of ['Grace', 'Eve', 'Gone', 'Nobody']) {
    const email = `${name}@example.test`
    const { status, location } = await invite(ada, email)
    t.equal(status, 303, name)
    const said = /An invitation is[^<]*/.exec((await ada.get(location)).text)?.[0]
    answers.push((said ?? '').replaceAll(email, 'X'))
  }
  t.match(answers[0], /An invitation is on its way to X/)
  t.equal(new Set(answers).size, 1)
  const { text } = await ada.get(ACME)
  for (const name of ['Grace', 'Eve', 'Gone']) t.notMatch(text, `>${name}<`)
  t.ok(grace)
  const again = await ada.post(ACME, { email: 'Ada@example.test' })
  t.match(again, { status: 422, text: /already administers the tenant/ }, 'of their own they know')
})

void t.test('nobody gives more than they have', async (t) => {
  const { services, ada, ask, invite, newest, open, person, invitations, mails } =
    await startInvited(t)
  const eve = await person('other', 'Eve')
  const nobody = await person(undefined)
  for (const someone of [eve, nobody]) {
    t.equal((await someone.get(ACME)).status, 404)
    t.equal((await someone.post(ACME, { email: BOB })).status, 404)
  }
  t.equal((await ada.post(OTHER, { email: BOB })).status, 404)
  t.equal((await ada.post('/console/people', { email: BOB })).status, 404, 'nor an operator')
  t.match(await ada.post(ACME, { email: BOB, tenant_id: 'other' }), { status: /303|422/ })
  t.match(await ada.post(ACME, { email: BOB, tenant_id: '' }), { status: /303|422/ })
  t.same(await invitations.list('other'), [], 'whatever the form says besides')

  await invite(ada)
  const [one] = await invitations.list('acme')
  const path = `${ACME}/invitations/${one?.invitationId}`
  const astray = `${OTHER}/invitations/${one?.invitationId}`
  for (const what of ['resend', 'withdraw']) {
    t.equal((await eve.post(`${path}/${what}`)).status, 404, `${what} of another tenant`)
    t.equal((await eve.post(`${astray}/${what}`)).status, 404, `${what} under their own`)
  }
  t.equal((await invitations.list('acme')).length, 1)

  const inviter = { userId: eve.userId, actor: ACTOR, language: '' }
  for (const tenantId of ['acme', 'console', 'nowhere', ''])
    await t.rejects(invitations.invite(tenantId, 'x@example.test', inviter), {
      code: 'tenant_not_found',
    })
  const link = newest()
  const before = mails.length
  await services.consoleAccess.people.letGo(ada.userId, 'acme', ACTOR)
  t.match(await ask(open(link), ''), { status: 410 }, 'who was removed has invited nobody')
  t.equal(mails.length, before)
})

void t.test('an invitation ends with the right to give it', async (t) => {
  const { services, ada, ask, clock, invite, newest, open, signedIn } = await startInvited(t)
  await invite(ada)
  await services.users.patch('console', ada.userId, { isDisabled: true }, ACTOR)
  t.match(await ask(open(newest()), ''), { status: 410 }, 'who is disabled invites nobody')
  await services.users.patch('console', ada.userId, { isDisabled: false }, ACTOR)
  t.match(await ask(open(newest()), ''), { status: 410 }, 'it ended with the sessions from before')
  clock.advance(1000)
  await invite(await signedIn(ada.userId))
  t.match(await ask(open(newest()), ''), { status: 200 })
  await takeRole(services, ada.userId, 'acme')
  const form = { link: newest(), name: 'Bob', password: CONSOLE_PASSWORD }
  t.match(await ask('/console/invitation', '', { method: 'POST', form }), { status: 410 })
  t.equal(await services.users.byLogin('console', BOB), undefined)
})

void t.test('a link ends by itself, by a newer one, and by being withdrawn', async (t) => {
  const { ada, ask, clock, invite, newest, open, signedIn, invitations } = await startInvited(t)
  await invite(ada)
  const first = newest()
  const [one] = await invitations.list('acme')
  const path = `${ACME}/invitations/${one?.invitationId}`
  t.match(await ada.post(`${path}/resend`), { status: 303 })
  t.match(await ask(open(first), ''), { status: 410 }, 'the one before')
  await invite(ada)
  t.equal((await invitations.list('acme')).length, 1, 'once more is no second one')
  const link = newest()
  t.match(await ask(open(link), ''), { status: 200 })
  clock.advance(LIMITS.consoleInvitationMs - 1)
  t.match(await ask(open(link), ''), { status: 200 })
  clock.advance(1)
  t.match(await ask(open(link), ''), { status: 410 }, 'seven days')
  t.same(await invitations.list('acme'), [])
  clock.advance(1)
  t.equal(await invitations.prune(10), 1)
  const later = await signedIn(ada.userId)
  await invite(later)
  const [another] = await invitations.list('acme')
  const withdrawn = `${ACME}/invitations/${another?.invitationId}/withdraw`
  t.match(await later.post(withdrawn), { status: 303 })
  t.match(await ask(open(newest()), ''), { status: 410 })
  t.match(await later.post(withdrawn), { status: 404 })
  for (const link of ['', 'x', 'A'.repeat(32), '__proto__'])
    t.match(await ask(open(link), ''), { status: 410 })
  t.match(await ask(open('x'.repeat(201)), ''), { status: 400 })
})

void t.test('mails are few: to one address, and from one tenant', async (t) => {
  const { ada, clock, invite, invitations, mails, signedIn } = await startInvited(t)
  const { burst: perAddress } = LIMITS.rateConsoleInvitationsOfAddress
  for (let sent = 0; sent < perAddress; sent++) t.equal((await invite(ada)).status, 303)
  t.match(await invite(ada), { status: 429 })
  const [one] = await invitations.list('acme')
  t.match(await ada.post(`${ACME}/invitations/${one?.invitationId}/resend`), { status: 429 })
  t.equal(mails.length, perAddress)
  const { burst } = LIMITS.rateConsoleInvitations
  let taken = 0
  for (let asked = 0; asked < 2 * burst; asked++)
    if ((await invite(ada, `bob${asked}@example.test`)).status === 303) taken++
  t.ok(perAddress + taken <= burst, 'withdrawing them changes nothing')

  for (let round = 0; (await invitations.list('acme')).length < 20 && round < 10; round++) {
    clock.advance(HOUR_MS)
    const later = await signedIn(ada.userId)
    for (let asked = 0; asked < burst; asked++)
      await invite(later, `r${round}${asked}@example.test`)
  }
  t.equal((await invitations.list('acme')).length, LIMITS.consoleInvitationsPerTenantMax)
  clock.advance(HOUR_MS)
  const full = await invite(await signedIn(ada.userId), 'one.more@example.test')
  t.match(full, { status: 409, text: /Too many invitations are pending/ })
})

void t.test('a colleague is removed, but not the last who could sign in', async (t) => {
  const { services, ada, person, roles, signedIn, clock } = await startInvited(t)
  const { users } = services
  const bob = await person('acme', 'Bob')
  const eve = await person('other', 'Eve')
  const remove = ({ userId }: { userId: string }, path = ACME) => `${path}/${userId}/remove`
  t.equal((await ada.get(remove(eve))).status, 404, 'who is no colleague is nobody')
  t.equal((await ada.post(remove(eve))).status, 404)
  t.equal((await eve.post(remove(ada))).status, 404)
  t.equal((await eve.post(remove(ada, OTHER))).status, 404)
  t.equal((await ada.post(remove(await person('operator')))).status, 404, 'nor an operator')
  const alone = await ada.post(remove(bob))
  t.match(alone, { status: 409, text: /last_administrator/ }, 'nobody has a password yet')
  await users.choosePassword('console', ada.userId, CONSOLE_PASSWORD, ACTOR)
  clock.advance(1000)
  const back = await signedIn(ada.userId)
  t.match((await back.get(remove(bob))).text, /Remove Bob\?/)
  t.match(await back.post(remove(bob)), { status: 303 })
  t.equal(await users.find('console', bob.userId), undefined, 'with the last role the account')
  t.match(await back.post(remove(ada)), { status: 409, text: /last_administrator/ })
  t.same((await roles.of(ada.userId)).tenantIds, ['acme'])
  const grace = await person('operator')
  t.match(await grace.post(remove(ada)), { status: 303 }, 'whoever runs the service may')
})

void t.test('roles, and who is invited, are changed by who has just signed in', async (t) => {
  const { ada, clock, invite, invitations, person } = await startInvited(t)
  const bob = await person('acme')
  await invite(ada)
  const [one] = await invitations.list('acme')
  clock.advance(LIMITS.consoleFreshMs + 1)
  const paths = ['resend', 'withdraw'].map(
    (what) => `${ACME}/invitations/${one?.invitationId}/${what}`,
  )
  for (const path of [ACME, ...paths, `${ACME}/${bob.userId}/remove`])
    t.match(await ada.post(path, { email: BOB }), { status: 403, text: /Sign in again/ }, path)
  t.equal((await ada.get(ACME)).status, 200, 'reading needs nothing more')
})

void t.test('a removed tenant takes its invitations along', async (t) => {
  const { services, ada, ask, invite, invitations, newest, open } = await startInvited(t)
  await invite(ada)
  await services.tenants.remove('acme', ACTOR)
  t.match(await ask(open(newest()), ''), { status: 410 })
  t.same(await invitations.list('acme'), [], 'nor for its next owner')
})

void t.test('an operator invites as well, and is not told of to tenants', async (t) => {
  const { person, invite, mails, newest, ask, open } = await startInvited(t)
  const grace = await person('operator', 'Grace')
  t.match(await invite(grace), { status: 303 })
  t.notMatch(mails[0]?.text, /Grace/)
  t.match(await ask(open(newest()), ''), { status: 200 })
})

void t.test('the same by API', async (t) => {
  const { operator, tenant, services } = await startApi(t)
  await services.consoleAccess.ensureRealm()
  await tenant('acme')
  const path = '/tenants/acme/console-invitations'
  const { status, body } = await operator('POST', path, { email: BOB })
  t.equal(status, 201)
  const id = String(body['invitation_id'])
  t.match((await operator('GET', path)).items, [
    { invitation_id: id, email: BOB, tenant_id: 'acme' },
  ])
  t.match(await operator('POST', `${path}/${id}/resend`), { status: 200 })
  t.match(await operator('POST', `${path}/inv_none/resend`), {
    status: 404,
    body: { error: 'invitation_not_found' },
  })
  t.match(await operator('DELETE', `${path}/${id}`), { status: 204 })
  t.match(await operator('DELETE', `${path}/${id}`), { status: 404 })
  for (const nobody of ['nowhere', 'console']) {
    const there = `/tenants/${nobody}/console-invitations`
    t.match(await operator('POST', there, { email: BOB }), { status: 404 })
    t.match(await operator('GET', there), { status: 404 })
  }
})
