/** Whose password or address somebody else has changed is told, where they read it until then. */
import t from 'tap'
import type { Mail } from '../../../control-plane/mail/mails.ts'
import { updateUser } from '../../../control-plane/store/queries/users.ts'
import { startApi } from '../../support/api.ts'
import { startConsole } from '../../support/console.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { until } from '../../support/fleet.ts'

const PASSWORD = 'a long walk along the harbour wall'
const ADA = { username: 'ada', email: 'ada@acme.test', name: 'Ada', password: PASSWORD }

function mailbox() {
  const mails: Mail[] = []
  const mailTransport = {
    send: async (mail: Mail) => void mails.push(mail),
    close: () => undefined,
  }
  return { mails, mailTransport }
}

for (const [language, words] of [
  ['en', /^Your password for acme[^]*[Aa]n administrator set a new password[^]*account\/forgotten/],
  ['de', /^Ihr Passwort für acme[^]*hat die Administration ein neues Passwort gesetzt/],
] as const)
  t.test(`a password that the API sets is told of: ${language}`, async (t) => {
    const { mails, mailTransport } = mailbox()
    const { services, operator, tenant } = await startApi(t, { mailTransport })
    await tenant('acme')
    const { userId } = await services.users.create('acme', ADA, ACTOR)
    const headers = { 'accept-language': language }
    const patch = (body: unknown) =>
      operator('PATCH', `/tenants/acme/users/${userId}`, body, { headers })
    await patch({ name: 'Ada Lovelace', disabled: true })
    await patch({ password: `${PASSWORD} 2` })
    await until(() => mails.length > 0)
    t.equal(mails.length, 1, 'and nothing of what they see for themselves')
    t.equal(mails[0]?.to, ADA.email)
    t.match(`${mails[0]?.subject}\n${mails[0]?.text}`, words)
    t.notMatch(mails[0]?.text, PASSWORD)
  })

t.test('both at once: the address from before hears of both, the new one of nothing', async (t) => {
  const { mails, mailTransport } = mailbox()
  const { services, operator, tenant } = await startApi(t, { mailTransport })
  await tenant('acme')
  const { userId } = await services.users.create('acme', ADA, ACTOR)
  const body = { password: `${PASSWORD} 2`, email: 'eve@evil.test' }
  await operator('PATCH', `/tenants/acme/users/${userId}`, body)
  await until(() => mails.length > 1)
  t.same(
    mails.map(({ to }) => to),
    [ADA.email, ADA.email],
  )
  t.match(mails.map(({ subject }) => subject).sort(), [/email address/, /password/])
})

t.test('an address that the console changes is told of; a change that fails is not', async (t) => {
  const { mails, mailTransport } = mailbox()
  const { services, person } = await startConsole(t, { mailTransport })
  const grace = await person('acme')
  const { userId } = await services.users.create('acme', ADA, ACTOR)
  await services.users.create(
    'acme',
    { ...ADA, username: 'bob', email: 'bob@acme.test', name: 'Bob' },
    ACTOR,
  )
  const edit = `/console/tenants/acme/users/${userId}/edit`
  const form = { username: 'ada', name: 'Ada' }
  t.equal((await grace.post(edit, { ...form, email: 'bob@acme.test' })).status, 409)
  t.equal((await grace.post(edit, { ...form, email: 'new@acme.test' })).status, 303)
  await until(() => mails.length > 0)
  t.match(mails, [{ to: ADA.email, text: /now uses new@?/ }])
})

/** The attack: mail to `ａda@` ends elsewhere than mail to `ada@`, and we find both as one. */
for (const email of ['ａda@acme.test', 'Ada@acme.test', 'ada@ａcme.test', 'ada@acme。test'])
  t.test(`an address that only reads the same is another one to mail: ${email}`, async (t) => {
    const { mails, mailTransport } = mailbox()
    const { services, operator, tenant } = await startApi(t, { mailTransport })
    const { store, tickets, users } = services
    await tenant('acme')
    const { userId } = await users.create('acme', ADA, ACTOR)
    const issued = await store.change(async (change) => {
      await updateUser(change.queries, 'acme', userId, { emailProvenAt: change.nowMs })
      return tickets.issue(change, { tenantId: 'acme', userId, purpose: 'reset' })
    })
    const patch = (body: unknown) => operator('PATCH', `/tenants/acme/users/${userId}`, body)
    await patch({ name: 'Ada Lovelace', email: ADA.email })
    t.ok((await users.get('acme', userId)).emailProvenAt, 'the same is not changed')
    t.ok(await tickets.look('acme', 'reset', issued?.secret ?? ''))

    t.equal((await patch({ email })).status, 200)
    await until(() => mails.length > 0)
    t.match(mails, [{ to: ADA.email, subject: /email address/ }])
    t.equal((await users.get('acme', userId)).emailProvenAt, null)
    t.equal(
      await tickets.look('acme', 'reset', issued?.secret ?? ''),
      undefined,
      'older links are gone',
    )
    t.equal((await users.byLogin('acme', ADA.email))?.userId, userId, 'and they are still found')
  })
