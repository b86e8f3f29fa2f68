/** What a provider may make of accounts here: nobody of another's domain, and nothing once it is closed. */
import t from 'tap'
import { SignJWT } from 'jose'
import {
  insertGroup,
  insertMember,
  membershipsOf,
} from '../../../../control-plane/store/queries/access.ts'
import {
  attributesOf,
  insertAttributes,
} from '../../../../control-plane/store/queries/attributes.ts'
import { insertIdentity } from '../../../../control-plane/store/queries/connections.ts'
import { schema } from '../../../../control-plane/store/schema.ts'
import { ACTOR, PASSWORD } from '../realm-world.ts'
import { isAskingForPassword } from '../steps.ts'
import {
  activeConnection,
  atProvider,
  GRACE,
  identitiesOf,
  startConnected,
  startNames,
  usersOf,
} from './connected.ts'
import { startPeer } from './provider-peer.ts'

const CEO = { sub: 'evil-1', email: 'ceo@company.example', email_verified: true, name: 'The CEO' }

t.test('a domain that is proven for one connection is no other provider’s to fill', async (t) => {
  const names = startNames()
  const { world, tenant, connection, peer } = await startConnected(t, {
    resolveTxt: names.resolveTxt,
  })
  const partner = await startPeer(t, ['id.partner.example'])
  const other = await activeConnection(world, 'acme', partner, { name: 'Partner' })
  await names.prove(world, connection)
  const before = (await usersOf(world)).length
  const comes = async (person: typeof CEO) => {
    const one = await atProvider(world, tenant, other)
    return { ...one, back: await one.browser.visit(partner.signIn(one.to, person)) }
  }
  for (const email of [CEO.email, 'CEO@Company.EXAMPLE', 'ceo@ｃompany.example']) {
    const { back } = await comes({ ...CEO, email })
    t.equal(back.response.status, 403, email)
    t.equal((await usersOf(world)).length, before, email)
  }
  t.match((await comes(CEO)).back.html, /domain_of_another/, 'in words that administrators find')
  const own = await comes({ ...CEO, email: 'ada@partner.example' })
  t.ok((await own.claims(own.back.url)).sub, 'its own people come')

  await world.connections.deactivate('acme', connection.connectionId, ACTOR)
  t.equal((await comes({ ...CEO, sub: 'evil-2' })).back.response.status, 403, 'also while it rests')
  await world.connections.activate('acme', connection.connectionId, ACTOR)
  const real = await atProvider(world, tenant, connection)
  const back = await real.browser.visit(peer.signIn(real.to, { ...CEO, sub: 'ceo-1' }))
  t.ok((await real.claims(back.url)).sub, 'and the domain’s own connection makes them')
})

for (const what of ['deactivate', 'remove'] as const)
  t.test(`an answer on its way makes nobody once its connection is gone (${what})`, async (t) => {
    const { world, tenant, connection, peer } = await startConnected(t)
    const before = (await usersOf(world)).length
    peer.change({
      idToken: async (claims) => {
        await world.connections[what]('acme', connection.connectionId, ACTOR)
        const header = { alg: 'RS256', kid: 'one' }
        return new SignJWT(claims).setProtectedHeader(header).sign(peer.privateKey)
      },
    })
    const one = await atProvider(world, tenant, connection)
    const back = await one.browser.visit(peer.signIn(one.to, GRACE))
    t.match(back.html, /the connection was changed meanwhile/)
    t.equal((await usersOf(world)).length, before)
    t.strictSame(await identitiesOf(world), [])
  })

t.test(
  'who was to show their password connects nothing of a connection that changed',
  async (t) => {
    const { world, tenant, connection, peer } = await startConnected(t)
    const wished = {
      username: 'grace',
      email: String(GRACE.email),
      name: 'Grace',
      password: PASSWORD,
    }
    await world.users.create('acme', wished, ACTOR)
    const shows = async (meanwhile: () => Promise<unknown>) => {
      const one = await atProvider(world, tenant, connection)
      const back = await one.browser.visit(peer.signIn(one.to, GRACE))
      t.ok(isAskingForPassword(back.html))
      await meanwhile()
      await one.browser.submit(back.url, { username: 'grace', password: PASSWORD })
      return (await identitiesOf(world)).length
    }
    const rename = () =>
      world.connections.patch('acme', connection.connectionId, { mfaValues: ['hwk'] }, ACTOR)
    t.equal(await shows(rename), 0)
    t.equal(await shows(async () => undefined), 1)
  },
)

t.test('what a provider said of somebody else goes when the mailbox is proven', async (t) => {
  const { world } = await startConnected(t)
  const wished = { username: 'mallory', email: 'm@company.example', name: 'M', password: PASSWORD }
  const { userId } = await world.users.create('acme', wished, ACTOR)
  const whose = { tenantId: 'acme', userId }
  await world.store.change(async ({ queries, nowMs }) => {
    const row = { ...whose, createdAt: nowMs }
    const identity = { connectionId: 'con_1', issuer: 'https://x.example', subject: 'm' }
    await insertIdentity(queries, { ...row, ...identity })
    for (let at = 0; at < 130; at++) {
      const group = `group-${at}`
      await insertGroup(queries, {
        tenantId: 'acme',
        name: group,
        description: '',
        createdAt: nowMs,
      })
      await insertMember(queries, { ...row, group, source: 'connection' })
    }
    await insertMember(queries, { ...row, group: 'group-0', source: 'local' })
    await insertAttributes(queries, [
      { ...row, name: 'department', value: 'audit', source: 'connection' },
    ])
  })
  const login = 'm@company.example'
  await world.accountMail.forgotten('acme', login, ACTOR, 'en')
  const tickets = await world.store.read.select().from(schema.accountTickets)
  t.same(tickets, [], 'no link to an address that only a provider has named')

  const chosen = { isMailProven: true }
  await world.users.choosePassword('acme', userId, 'nine purple lanterns float', ACTOR, chosen)
  t.strictSame(await identitiesOf(world), [])
  const left = await membershipsOf(world.store.read, 'acme', userId)
  t.match(left, [{ group: 'group-0', source: 'local' }])
  t.equal(left.length, 1)
  t.same(await attributesOf(world.store.read, 'acme', userId), [])
})
