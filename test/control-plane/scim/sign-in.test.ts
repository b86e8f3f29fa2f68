/** People whom a provider has pushed come in by its connection: by its own id of them, and no address. */
import t from 'tap'
import { atProvider, GRACE, identitiesOf, startConnected } from '../realm/connections/connected.ts'
import { ACTOR } from '../realm/realm-world.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { readPath } from '../../../control-plane/scim/attribute-paths.ts'
import { isAskingForPassword } from '../realm/steps.ts'

const SUBJECT = String(GRACE.sub)
const grace = { userName: 'grace@company.example', externalId: SUBJECT, displayName: 'Grace' }

async function startPushed(...[t]: Parameters<typeof startConnected>) {
  const connected = await startConnected(t)
  const { world, connection } = connected
  const { connectionId } = connection
  const asked = { name: 'Company', expiresIn: 3600, connectionId }
  const token = await world.scimTokens.make('acme', asked, ACTOR)
  const asking = { token, actor: ACTOR }
  const push = (person: object) => world.scimPeople.create(asking, person)
  const signIn = async () => {
    const person = await atProvider(world, connected.tenant, connection)
    return { person, back: await person.browser.visit(connected.peer.signIn(person.to, GRACE)) }
  }
  return { ...connected, asking, push, signIn }
}

t.test('whoever was pushed comes in, and is out with active: false', async (t) => {
  const { push, signIn, world, asking } = await startPushed(t)
  const { user } = await push(grace)
  const { person, back } = await signIn()
  t.equal((await person.claims(back.url)).sub, user.userId)
  const off = [{ op: 'replace', path: readPath('active'), value: false }] as const
  await world.scimPeople.patch(asking, user.userId, off)
  t.ok((await world.revocations.revokedState('acme')).subjects[user.userId])
  const again = await signIn()
  t.match(again.back.html, /Your account is not ready yet/, 'a disabled account lets nobody in')
})

t.test('an address alone connects nobody, and nobody takes the id of somebody else', async (t) => {
  const { push, signIn, world } = await startPushed(t)
  await push({ ...grace, externalId: 'somebody-else' })
  const { back } = await signIn()
  t.ok(isAskingForPassword(back.html))
  const eve = { userName: 'eve@company.example', externalId: 'somebody-else' }
  const refused: unknown = await push(eve).catch((error: unknown) => error)
  t.match(refused, { status: 409, scimType: 'uniqueness' })
  t.match(await identitiesOf(world), [{ subject: 'somebody-else' }])
  t.equal((await identitiesOf(world)).length, 1)
})

t.test('an id that is changed at the provider is the one that counts', async (t) => {
  const { push, signIn, world, asking } = await startPushed(t)
  const { user } = await push({ ...grace, externalId: 'before' })
  const value = SUBJECT
  const operation = { op: 'replace', path: readPath('externalId'), value } as const
  await world.scimPeople.patch(asking, user.userId, [operation])
  t.match(await identitiesOf(world), [{ subject: SUBJECT, userId: user.userId }])
  const { person, back } = await signIn()
  t.equal((await person.claims(back.url)).sub, user.userId)
  await world.scimPeople.remove(asking, user.userId)
  t.same(await identitiesOf(world), [])
})

t.test('whoever came in by an id that the provider takes back is out', async (t) => {
  const { push, signIn, world, asking } = await startPushed(t)
  const { user } = await push(grace)
  const { person, back } = await signIn()
  await person.claims(back.url)
  const call = { op: 'replace', path: readPath('externalId'), value: 'another' } as const
  const { enforced } = await world.scimPeople.patch(asking, user.userId, [call])
  t.ok(enforced, 'the answer says who refuses them by now')
  t.ok((await world.revocations.revokedState('acme')).subjects[user.userId])
  t.same(await world.sessions.aliveOf('acme', user.userId), [])
})

t.test(
  'no link to choose a password goes to an address that only the provider has named',
  async (t) => {
    const { push, world } = await startPushed(t)
    await push({ ...grace, externalId: undefined })
    await world.accountMail.forgotten('acme', grace.userName, ACTOR, 'en')
    t.same(
      (await world.store.read.select().from(schema.accountTickets)).filter(
        (one) => one.purpose === 'reset',
      ),
      [],
    )
  },
)
