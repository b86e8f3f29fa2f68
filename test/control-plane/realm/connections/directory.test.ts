/** Where a tenant's own database says who its people are, no provider says it beside it. */
import t from 'tap'
import { upsertUserDirectory } from '../../../../control-plane/store/queries/user-directories.ts'
import { numberOf } from '../../../../control-plane/store/queries/tenants.ts'
import { keepShadow } from '../../../../control-plane/user-directory/shadow-users.ts'
import { isAskingForPassword } from '../steps.ts'
import { atProvider, GRACE, identitiesOf, startConnected, usersOf } from './connected.ts'

t.test('the address of a person of the directory makes nobody else', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  const { store } = world
  const number = await numberOf(store.read, 'acme')
  await store.change(({ queries, nowMs }) =>
    upsertUserDirectory(queries, {
      ...{ tenantId: 'acme', settings: {}, passwordSealed: 'x', updatedAt: nowMs },
    }),
  )
  /** As a sign-in from the directory ends. */
  const fromDirectory = (externalId: string, email: string) =>
    keepShadow(
      store,
      'acme',
      { externalId, username: email, email, name: 'N', isDisabled: false },
      number,
      () => {},
    )
  const come = async (claims: object) => {
    const person = await atProvider(world, tenant, connection)
    return person.browser.visit(peer.signIn(person.to, { ...GRACE, ...claims }))
  }
  await fromDirectory('7', 'grace@company.example')
  const before = await usersOf(world)

  const known = await come({})
  t.equal(known.response.status, 403, 'who has signed in from there before')
  const unseen = await come({ sub: 'kim-1', email: 'kim@company.example' })
  t.equal(unseen.response.status, 403, 'who has not')
  t.strictSame(await usersOf(world), before)
  t.strictSame(await identitiesOf(world), [])
  const { userId } = await fromDirectory('8', 'kim@company.example')
  t.match(userId, /^usr_/, 'and nobody stands in the way of the person whose address it is')

  const own = await come({ sub: 'ada-1', email: 'ada@example.test' })
  t.ok(isAskingForPassword(own.html), 'an account of our own is asked for as ever')
})
