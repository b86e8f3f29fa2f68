/** What an answer of a provider has to meet beside a right token: each of these was let pass once, somewhere. */
import t from 'tap'
import { updateConnection } from '../../../../control-plane/store/queries/connections.ts'
import { updateUser } from '../../../../control-plane/store/queries/users.ts'
import { ACTOR, ADA } from '../realm-world.ts'
import { isAskingForPassword } from '../steps.ts'
import {
  activeConnection,
  atProvider,
  GRACE,
  identitiesOf,
  startConnected,
  usersOf,
} from './connected.ts'
import { clockOf } from '../../../support/clocks.ts'

const MINE = { ...GRACE, email: 'ada@example.test' }

t.test(
  'the userinfo is about who is in the token, and says of its address whose it is',
  async (t) => {
    const { peer, world, tenant, connection } = await startConnected(t)
    peer.publish({ userinfo_endpoint: `${peer.issuer}/userinfo` })
    const thin = { sub: 'grace-1', email_verified: true }
    const come = async (userinfo: object) => {
      peer.answerWith((path, response) => {
        if (path !== '/userinfo') return false
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify(userinfo))
        return true
      })
      const person = await atProvider(world, tenant, connection)
      return { person, back: await person.browser.visit(peer.signIn(person.to, thin)) }
    }
    const other = await come({ ...GRACE, sub: 'mallory' })
    t.equal(other.back.response.status, 400)
    const unproven = await come({ ...GRACE, email_verified: false })
    t.equal(unproven.back.response.status, 403, 'what the token says is about no address')
    t.equal((await usersOf(world)).length, 1)
    const { person, back } = await come({
      ...GRACE,
      iss: 'https://id.mallory.example',
      acr: 'high',
    })
    t.match(await person.claims(back.url), { email: GRACE.email, name: GRACE.name })
    t.match(await identitiesOf(world), [{ issuer: peer.issuer, subject: 'grace-1' }])
  },
)

t.test('a state that begins like the right one is none', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  const { browser, to } = await atProvider(world, tenant, connection)
  const state = new URL(to).searchParams.get('state') ?? ''
  const back = await browser.visit(peer.signIn(to, GRACE, { state: state.slice(0, -1) }))
  t.equal(back.response.status, 400)
  t.notOk(peer.asked.includes('/token'))
})

t.test('an answer with an error is none, whatever code is in it', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  const { browser, to } = await atProvider(world, tenant, connection)
  const back = await browser.visit(peer.signIn(to, GRACE, { error: 'access_denied' }))
  t.equal(back.response.status, 400)
  t.notOk(peer.asked.includes('/token'))
})

t.test('whoever comes back late, after a change, or when all is done', async (t) => {
  let aheadMs = 0
  const clock = clockOf(() => Date.now() + aheadMs)
  const { peer, world, tenant, connection } = await startConnected(t, { clock })
  const { connectionId } = connection
  const late = await atProvider(world, tenant, connection)
  aheadMs += 3_600_000
  t.equal((await late.browser.visit(peer.signIn(late.to, GRACE))).response.status, 400)
  const changed = await atProvider(world, tenant, connection)
  await world.connections.patch('acme', connectionId, { mfaValues: ['pwd'] }, ACTOR)
  t.equal((await changed.browser.visit(peer.signIn(changed.to, GRACE))).response.status, 400)
  t.notOk(peer.asked.includes('/token'))
  aheadMs = 0

  const person = await atProvider(world, tenant, connection)
  const second = (await person.browser.once(person.start)).headers.get('location') ?? ''
  await person.browser.visit(peer.signIn(person.to, GRACE))
  const tokens = peer.asked.filter((path) => path === '/token').length
  t.equal((await person.browser.once(peer.signIn(second, GRACE))).status, 410)
  t.equal((await person.browser.once(person.start)).status, 410)
  t.equal(peer.asked.filter((path) => path === '/token').length, tokens)
})

t.test('a sign-in comes back so often and no more', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  const { browser, start, to } = await atProvider(world, tenant, connection)
  const denied = { error: 'access_denied' }
  await browser.once(peer.signIn(to, GRACE, denied))
  const statuses: number[] = []
  for (let count = 1; count < 21; count++) {
    const again = (await browser.once(start)).headers.get('location') ?? ''
    statuses.push((await browser.once(peer.signIn(again, GRACE, denied))).status)
  }
  t.strictSame(statuses, [...Array.from({ length: 19 }, () => 400), 410])
})

t.test(
  'nobody comes in where a licence has ended, and nobody new where none are made',
  async (t) => {
    const { peer, world, tenant, connection } = await startConnected(
      t,
      {},
      { createsPeople: false },
    )
    const person = await atProvider(world, tenant, connection)
    t.equal((await person.browser.visit(peer.signIn(person.to, GRACE))).response.status, 403)
    t.equal((await usersOf(world)).length, 1)
    const before = await atProvider(world, tenant, connection)
    await world.tenants.setLicence('acme', { state: 'expired', blocksSignin: true }, ACTOR)
    t.equal((await before.browser.once(before.start)).status, 403)
  },
)

t.test('an account whose name is the address has to be proven as well', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  const email = GRACE.email as string
  const named = { ...ADA, username: email, email, name: 'G' }
  const { userId } = await world.users.create('acme', named, ACTOR)
  // as a directory of theirs may have it
  const moved = { email: 'g@example.test', emailKey: 'g@example.test' }
  await world.store.change(({ queries }) => updateUser(queries, 'acme', userId, moved))
  const { browser, to } = await atProvider(world, tenant, connection)
  const page = await browser.visit(peer.signIn(to, GRACE))
  t.ok(isAskingForPassword(page.html))
  t.strictSame(await identitiesOf(world), [])
})

t.test(
  'an account is connected by the sign-in that it was asked in, to what is still there',
  async (t) => {
    const { peer, world, tenant, connection } = await startConnected(t)
    const { connectionId } = connection
    const asked = async () => {
      const person = await atProvider(world, tenant, connection)
      return { ...person, page: await person.browser.visit(peer.signIn(person.to, MINE)) }
    }
    const other = await atProvider(world, tenant, connection)
    const held = await asked()
    const link = held.browser.cookies.filter(({ name }) => name.includes('link'))
    other.browser.remember([...other.browser.cookies, ...link])
    await other.browser.submit(other.page.url, ADA)
    t.strictSame(await identitiesOf(world), [], 'another sign-in has that cookie')

    await world.connections.deactivate('acme', connectionId, ACTOR)
    await held.browser.submit(held.page.url, ADA)
    t.strictSame(await identitiesOf(world), [], 'the connection is no more')

    await world.connections.activate('acme', connectionId, ACTOR)
    const moving = await asked()
    await world.store.change(async (change) => {
      await updateConnection(change.queries, 'acme', connectionId, {
        issuer: 'https://id.else.example',
      })
    })
    await moving.browser.submit(moving.page.url, ADA)
    t.strictSame(await identitiesOf(world), [], 'it is another provider')
  },
)

t.test('of two who prove the same identity at once one has it', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  const both = await Promise.all([1, 2].map(() => atProvider(world, tenant, connection)))
  const pages = []
  for (const { browser, to } of both) pages.push(await browser.visit(peer.signIn(to, MINE)))
  for (const [at, { browser, claims }] of both.entries()) {
    const done = await browser.submit(pages[at]!.url, ADA)
    t.equal((await claims(done.url)).sub, tenant.ada.userId)
  }
  t.equal((await identitiesOf(world)).length, 1)
})

t.test('a test counts for the settings that it was made with', async (t) => {
  const { peer, world } = await startConnected(t)
  const made = await activeConnection(world, 'acme', peer, { name: 'Other' })
  const draft = await world.connections.patch('acme', made.connectionId, { clientId: 'b' }, ACTOR)
  t.equal(draft.state, 'draft')
  await world.connections.noteTested('acme', made.connectionId, draft.updatedAt - 1, ACTOR)
  t.match(await world.connections.get('acme', made.connectionId), { state: 'draft' })
})

t.test('whoever was at the provider when the licence ended does not come in', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  const { browser, to } = await atProvider(world, tenant, connection)
  await world.tenants.setLicence('acme', { state: 'expired', blocksSignin: true }, ACTOR)
  t.equal((await browser.visit(peer.signIn(to, GRACE))).response.status, 403)
  t.notOk(peer.asked.includes('/token'))
  t.equal((await usersOf(world)).length, 1)
})

t.test('an account is named as any of ours, whatever a provider writes', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  const come = async (claims: object) => {
    const person = await atProvider(world, tenant, connection)
    return person.browser.visit(peer.signIn(person.to, { ...GRACE, ...claims }))
  }
  // a mail program reads two of them, and a person another one
  for (const email of [
    'x,grace@company.example',
    '<grace@company.example>',
    'g\u202e@evil.example',
  ])
    t.equal((await come({ email })).response.status, 403, JSON.stringify(email))
  t.equal((await usersOf(world)).length, 1)
  await come({ name: 'Grace\r\nBcc: x\u202e reppoH' })
  t.match(await usersOf(world), [{}, { email: GRACE.email, name: 'GraceBcc: x reppoH' }])
})
