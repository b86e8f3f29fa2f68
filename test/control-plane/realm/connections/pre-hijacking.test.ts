/**
 * An account is waiting under the victim's address before the victim comes: the five kinds of
 * Sudhodanan and Paverd (USENIX Security 2022), and that an account which nobody can have opened is
 * connected without a password where its domain is proven, and in no other case.
 */
import t, { type Test } from 'tap'
import { hash } from 'node:crypto'
import { insertIdentity } from '../../../../control-plane/store/queries/connections.ts'
import { schema } from '../../../../control-plane/store/schema.ts'
import { untilFound } from '../../../support/fleet.ts'
import { ACTOR, Browser, PASSWORD, signIn } from '../realm-world.ts'
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

const EMAIL = 'grace@company.example'
const NEW = 'a password of her own 42'

async function start(t: Test) {
  const names = startNames()
  const connected = await startConnected(t, { resolveTxt: names.resolveTxt })
  const { world, tenant, connection, peer } = connected
  const comes = async (person: Record<string, unknown> = GRACE, by = connection) => {
    const one = await atProvider(world, tenant, by)
    const back = await one.browser.visit(peer.signIn(one.to, person))
    return { ...one, back }
  }
  const invited = (wished = {}) =>
    world.users.create(
      'acme',
      { username: 'grace', email: EMAIL, name: 'Grace', password: '', ...wished },
      ACTOR,
    )
  return { ...connected, names, comes, invited, prove: () => names.prove(world, connection) }
}

t.test('classic: the attacker has an account with a password under the address', async (t) => {
  const { comes, invited, prove, world } = await start(t)
  await invited({ password: PASSWORD })
  await prove()
  const { back } = await comes()
  t.ok(isAskingForPassword(back.html), 'also where the domain is proven')
  t.match(back.html, /There is already an account/)
  t.strictSame(await identitiesOf(world), [])
})

t.test('a session that is still open: it ends when the victim proves the mailbox', async (t) => {
  const { tenant, invited, world } = await start(t)
  const { userId } = await invited({ password: PASSWORD })
  const attacker = await signIn(
    new Browser(world.baseUrl),
    tenant,
    {},
    { username: 'grace', password: PASSWORD },
  )
  t.ok(attacker)
  const chosen = { isMailProven: true }
  await world.users.choosePassword('acme', userId, NEW, ACTOR, chosen)
  t.same(await world.sessions.aliveOf('acme', userId), [])
})

t.test(
  'trojan identifier: an identity from before the mailbox was proven opens nothing',
  async (t) => {
    const { comes, world, tenant, prove } = await start(t)
    const trojan = await comes({ ...GRACE, sub: 'mallory' })
    const { sub } = await trojan.claims(trojan.back.url)
    await prove()
    const victim = await comes()
    t.ok(isAskingForPassword(victim.back.html), 'an account with an identity is nobody else’s')
    await world.users.choosePassword('acme', sub, NEW, ACTOR, { isMailProven: true })
    t.strictSame(await identitiesOf(world), [])
    const again = await comes({ ...GRACE, sub: 'mallory' })
    t.ok(isAskingForPassword(again.back.html))
    t.ok(await signIn(new Browser(world.baseUrl), tenant, {}, { username: EMAIL, password: NEW }))
  },
)

t.test('a change of address that was asked for before is void once the victim is in', async (t) => {
  const { comes, invited, prove, world } = await start(t)
  const user = await invited()
  await world.accountMail.invite('acme', user.userId, ACTOR, 'en')
  await untilFound(() => world.sentMails.find(({ to }) => to === EMAIL))
  await prove()
  const { claims, back } = await comes()
  t.equal((await claims(back.url)).sub, user.userId)
  const open = (await world.store.read.select().from(schema.accountTickets)).filter(
    ({ usedAt }) => usedAt === null,
  )
  t.same(open, [], 'no link that was sent before opens the account')
  await world.users.choosePassword('acme', user.userId, NEW, ACTOR)
})

t.test('a provider that does not verify addresses connects nobody', async (t) => {
  const { comes, invited, prove, world } = await start(t)
  await invited()
  await prove()
  for (const email_verified of [false, undefined, 'true', 1]) {
    const { back } = await comes({ ...GRACE, email_verified })
    t.equal(back.response.status, 403, String(email_verified))
  }
  t.strictSame(await identitiesOf(world), [])
})

t.test('who was invited and has no credentials comes in, where the domain is proven', async (t) => {
  const { comes, invited, prove, world, connection } = await start(t)
  const { userId } = await invited()
  const before = await comes()
  t.ok(isAskingForPassword(before.back.html), 'not before')
  await prove()
  const { claims, back } = await comes({ ...GRACE, email: 'Grace@Company.EXAMPLE' })
  t.equal((await claims(back.url)).sub, userId)
  t.match(await identitiesOf(world), [{ userId, connectionId: connection.connectionId }])
  t.equal((await identitiesOf(world)).length, 1)
  const second = await comes({ ...GRACE, sub: 'another' })
  t.ok(isAskingForPassword(second.back.html), 'and nobody else under the same address')
  t.equal((await usersOf(world)).length, 2)
})

t.test('anything that opens the account already has to be shown', async (t) => {
  const has: Record<
    string,
    (world: Awaited<ReturnType<typeof start>>, userId: string) => Promise<unknown>
  > = {
    'a second factor': ({ world }, userId) =>
      world.store.change((change) =>
        world.factors.addTotp(change, { tenantId: 'acme', userId }, 'JBSWY3DPEHPK3PXP', 0),
      ),
    'an identity at another connection': ({ world, connection }, userId) =>
      world.store.change(({ queries, nowMs }) =>
        insertIdentity(queries, {
          ...{
            connectionId: `${connection.connectionId.slice(0, -1)}x`,
            issuer: 'https://x.example',
          },
          ...{ subject: 's', tenantId: 'acme', userId, createdAt: nowMs },
        }),
      ),
    'an open session': ({ world }, userId) =>
      world.sessions.record({
        ...{
          tenantId: 'acme',
          sid: hash('sha256', userId),
          userId,
          ip: '192.0.2.1',
          userAgent: '',
        },
        ...{ issuedAtMs: world.clock.nowMs(), expiresAtMs: world.clock.nowMs() + 3_600_000 },
      }),
  }
  for (const [name, give] of Object.entries(has)) {
    const world = await start(t)
    const { userId } = await world.invited()
    await world.prove()
    await give(world, userId)
    const { back } = await world.comes()
    t.ok(isAskingForPassword(back.html), name)
    t.notOk(
      (await identitiesOf(world.world)).some(({ subject }) => subject === 'grace-1'),
      name,
    )
  }
})

t.test(
  'the domain has to be proven for this very connection, and be that of the address',
  async (t) => {
    const { comes, invited, prove, world, peer } = await start(t)
    await invited()
    await world.users.create(
      'acme',
      { username: 'eve', email: 'eve@elsewhere.example', name: 'Eve', password: '' },
      ACTOR,
    )
    await prove()
    const other = await activeConnection(world, 'acme', peer, { name: 'Other' })
    t.ok(isAskingForPassword((await comes(GRACE, other)).back.html), 'another connection')
    const foreign = await comes({ ...GRACE, sub: 'eve', email: 'eve@elsewhere.example' })
    t.ok(isAskingForPassword(foreign.back.html), 'another domain')
    t.strictSame(await identitiesOf(world), [])
  },
)
