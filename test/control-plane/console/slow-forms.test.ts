/** Whoever sends a form slowly may not do at its end what they may not any more. */
import t from 'tap'
import { CSRF_FIELD, FORM_ID_FIELD } from '../../../control-plane/console/form-values.ts'
import { CONSOLE_REALM } from '../../../control-plane/store/reserved.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { giveRole, startConsole, takeRole, type Person } from '../../support/console.ts'
import { slowBody } from '../../support/slow-body.ts'

const USERS = '/console/tenants/acme/users/new'
const BOB = { email: 'bob@acme.test', name: 'Bob', username: '', password: 'a walk along the pier' }

async function startSlow(t: Parameters<typeof startConsole>[0]) {
  const world = await startConsole(t)
  const { app, services } = world
  const { baseUrl, consoleAccess, users } = services
  const proofs = ({ userId }: Person) => ({
    [CSRF_FIELD]: consoleAccess.proofs.csrf(userId),
    [FORM_ID_FIELD]: consoleAccess.proofs.newFormId(userId),
  })

  /** The head and the first byte are there; the rest comes once something has happened. */
  async function slowly(person: Person, fields: object, happens: () => Promise<unknown>) {
    const text = new URLSearchParams({ ...BOB, ...fields, ...proofs(person) }).toString()
    const { body, begun, goOn } = slowBody(text)
    const headers = {
      accept: 'text/html',
      cookie: person.cookie,
      'content-type': 'application/x-www-form-urlencoded',
    }
    const request = new Request(baseUrl + USERS, { method: 'POST', headers, body, duplex: 'half' })
    const answered = Promise.resolve(app.request(request, {}, { address: '127.0.0.1' }))
    await begun
    await happens()
    goOn()
    const { status } = await answered
    return { status, made: (await users.byLogin('acme', BOB.email)) !== undefined }
  }

  return { ...world, slowly }
}

void t.test('a form that nothing happens to is taken, however slow it is', async (t) => {
  const { person, slowly } = await startSlow(t)
  t.strictSame(await slowly(await person('acme'), {}, async () => {}), { status: 303, made: true })
})

void t.test('a session that is ended while its form is on the way does nothing', async (t) => {
  const { services, person, slowly } = await startSlow(t)
  const { consoleAccess, revocations, users } = services
  const ends: Readonly<Record<string, (thief: Person) => Promise<unknown>>> = {
    'signed out by an operator': ({ userId }) => consoleAccess.persons.signOut(userId, ACTOR),
    'ended alone': ({ sid }) => revocations.revoke(CONSOLE_REALM, { sid }, ACTOR),
    disabled: ({ userId }) => users.patch(CONSOLE_REALM, userId, { isDisabled: true }, ACTOR),
  }
  for (const [how, end] of Object.entries(ends)) {
    const thief = await person('acme')
    t.strictSame(await slowly(thief, {}, () => end(thief)), { status: 401, made: false }, how)
  }
})

void t.test('a role that is taken while a form is on the way changes nothing', async (t) => {
  const { services, person, slowly } = await startSlow(t)
  const gone = await person('acme')
  t.strictSame(await slowly(gone, {}, () => takeRole(services, gone.userId, 'acme')), {
    status: 404,
    made: false,
  })
  const reader = await person('acme')
  t.strictSame(await slowly(reader, {}, () => giveRole(services, reader.userId, 'acme', true)), {
    status: 403,
    made: false,
  })
  const operator = await person('operator')
  await giveRole(services, operator.userId, 'other')
  t.strictSame(await slowly(operator, {}, () => takeRole(services, operator.userId, '')), {
    status: 404,
    made: false,
  })
})
