/** What a person is sent who is invited to the console, once more, or too often. */
import t from 'tap'
import { HOUR_MS } from '../../../shared/clock.ts'
import { startApi } from '../../support/api.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'
import { CONSOLE_PASSWORD, startConsole } from '../../support/console.ts'

const PEOPLE = '/console/people'
const BOB = { email: 'bob@example.test', name: 'Bob', tenant_id: 'acme' }
const NOT_A_LANGUAGE = ['constructor', '__proto__', 'toString', 'valueOf', 'xx;q=2', '*']

interface Sent {
  readonly to: string
  readonly subject: string
  readonly text: string
}

function mailbox() {
  const mails: Sent[] = []
  return { mails, send: async (mail: Sent) => void mails.push(mail), close: () => undefined }
}

void t.test('a mail is in a language that we speak, whatever a browser says', async (t) => {
  const mailTransport = mailbox()
  const { services, person } = await startConsole(t, { mailTransport })
  const grace = await person('operator')
  for (const [index, language] of [...NOT_A_LANGUAGE, 'de-DE,de;q=0.9'].entries()) {
    const headers = { 'accept-language': language }
    const form = { ...BOB, email: `bob${index}@example.test` }
    t.match(await grace.post(PEOPLE, form, { headers }), { status: 303 }, language)
    await services.mails.deliver()
  }
  const { mails } = mailTransport
  t.equal(mails.length, NOT_A_LANGUAGE.length + 1)
  const [english, ...others] = mails
  const german = others.pop()
  for (const { subject } of others) t.equal(subject, english?.subject)
  t.match(german?.text, /Passwort/)
  t.notMatch(english?.text, /Passwort/)
})

void t.test('the API does the same with any language', async (t) => {
  const { services, call, tenant } = await startApi(t)
  await services.consoleAccess.ensureRealm()
  await tenant('acme')
  for (const [index, language] of NOT_A_LANGUAGE.entries()) {
    const body = { ...BOB, email: `bob${index}@example.test` }
    const headers = { 'accept-language': language }
    const answer = await call('POST', `/api/v1/operator${PEOPLE}`, body, { headers })
    t.equal(answer.status, 201, language)
  }
})

void t.test('who has not come yet is sent another link, and the page says what was', async (t) => {
  const mailTransport = mailbox()
  const { services, person } = await startConsole(t, { mailTransport })
  const { mails } = mailTransport
  const grace = await person('operator')
  const invite = async (tenantId: string) => {
    const { location } = await grace.post(PEOPLE, { ...BOB, tenant_id: tenantId })
    await services.mails.deliver()
    return (await grace.get(location)).text
  }
  t.match(await invite('acme'), /An invitation is on its way to bob@example\.test/)
  t.match(
    await invite('acme'),
    /An invitation is on its way to bob@example\.test/,
    'lost, so once more',
  )
  t.equal(mails.length, 2)
  const bob = await services.users.byLogin('console', BOB.email)
  const userId = bob?.userId ?? ''
  await services.users.choosePassword('console', userId, CONSOLE_PASSWORD, ACTOR)
  t.match(await invite('other'), /Bob now has this role\. No email was sent/)
  t.equal(mails.length, 2, 'they know the way in')
  t.same((await services.consoleAccess.roles.of(userId)).tenantIds, ['acme', 'other'])
})

void t.test('a disabled account is let in by nobody who does not know of it', async (t) => {
  const { services, person } = await startConsole(t)
  const grace = await person('operator')
  const ada = await person(undefined, 'ada')
  await services.users.patch('console', ada.userId, { isDisabled: true }, ACTOR)
  const form = { ...BOB, email: 'ada@example.test' }
  const answer = await grace.post(PEOPLE, form)
  t.match(answer, { status: 422, text: /id="email-error".*disabled/s })
  t.same((await services.consoleAccess.roles.of(ada.userId)).tenantIds, [], 'no role either')
})

void t.test('within an hour a person is sent three invitations at most', async (t) => {
  const mailTransport = mailbox()
  const clock = movableClock()
  const { services, person, signedIn } = await startConsole(t, { mailTransport, clock })
  const { mails } = mailTransport
  const ada = await person('acme')
  const account = { username: 'eve', email: 'eve@example.test', name: 'Eve', password: '' }
  const { userId } = await services.users.create('acme', account, ACTOR)
  const path = `/console/tenants/acme/users/${userId}/invite`
  for (let sent = 0; sent < 3; sent++) t.match(await ada.post(path), { status: 303 })
  t.match(await ada.post(path), { status: 429, text: /three links within an hour/ })
  await services.mails.deliver()
  t.equal(mails.length, 3)

  const grace = await person('operator')
  for (let sent = 0; sent < 3; sent++) t.match(await grace.post(PEOPLE, BOB), { status: 303 })
  const refused = await grace.post(PEOPLE, { ...BOB, tenant_id: 'other' })
  t.match(refused, { status: 429, text: /three links within an hour/ })
  const bob = await services.users.byLogin('console', BOB.email)
  const { tenantIds } = await services.consoleAccess.roles.of(bob?.userId ?? '')
  t.same(tenantIds, ['acme'], 'mail and role come together or not at all')

  clock.advance(HOUR_MS + 1)
  const later = await signedIn(ada.userId)
  t.match(await later.post(path), { status: 303 }, 'and then again')
})
