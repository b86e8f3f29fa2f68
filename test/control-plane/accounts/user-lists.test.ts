/** Somebody is found among very many, in every order, and others have their turn meanwhile. */
import t from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import { insertRows } from '../../../control-plane/store/statements.ts'
import { usersListed, type UserOrder } from '../../../control-plane/store/queries/user-lists.ts'
import { findUser } from '../../../control-plane/store/queries/users.ts'
import { ACTOR, startServices, tenantNamed } from '../../support/control-plane.ts'

/** More than are looked at in a turn. */
const PEOPLE = 11_000
const DISABLED = [0, 10, 4999, 5000, 10_999]
const idOf = (at: number) => `usr_${String(at).padStart(32, '0')}`

async function startMany(t: Parameters<typeof startServices>[0]) {
  const { tenants, users, store } = await startServices(t)
  await tenants.create(tenantNamed('acme'), ACTOR)
  const first = { username: 'zz', email: 'zz@acme.example', name: 'Zz', password: '' }
  const { userId } = await users.create('acme', first, ACTOR)
  const model = await findUser(store.read, 'acme', userId)
  const people = Array.from({ length: PEOPLE }, (_, at) => {
    const key = `p${String(at).padStart(6, '0')}`
    const names = { username: key, usernameKey: key, email: key, emailKey: key }
    // some of them at the same moment
    const times = { createdAt: Math.floor(at / 3), lastSignInAt: at % 7 }
    return { ...model!, ...names, ...times, userId: idOf(at), isDisabled: DISABLED.includes(at) }
  })
  await store.change(({ queries }) => insertRows(queries, schema.users, people))
  const list = (order: UserOrder, behind: string | { at: number; userId: string } | undefined) =>
    usersListed(store.read, 'acme', { filter: { status: 'disabled' }, order, behind, limit: 2 })
  return { people, list }
}

void t.test('whoever is meant is found in every order, page by page', async (t) => {
  const { people, list } = await startMany(t)
  const off = people.filter(({ isDisabled }) => isDisabled)
  const ORDERS = {
    username: () => off,
    created: () =>
      off.toSorted((a, b) => b.createdAt - a.createdAt || (a.userId < b.userId ? 1 : -1)),
    last_sign_in: () =>
      off.toSorted((a, b) => b.lastSignInAt - a.lastSignInAt || (a.userId < b.userId ? 1 : -1)),
    inactive: () =>
      off.toSorted((a, b) => a.lastSignInAt - b.lastSignInAt || (a.userId < b.userId ? -1 : 1)),
  } as const
  for (const order of Object.keys(ORDERS) as UserOrder[]) {
    const found: string[] = []
    let behind: string | { at: number; userId: string } | undefined
    let [turns, isOver] = [0, false]
    const next = () => {
      turns++
      if (!isOver) setImmediate(next)
    }
    setImmediate(next)
    for (;;) {
      const page = await list(order, behind)
      found.push(...page.map(({ userId }) => userId))
      const last = page.at(-1)
      if (last === undefined || page.length < 2) break
      const at = order === 'created' ? last.createdAt : last.lastSignInAt
      behind = order === 'username' ? last.usernameKey : { at, userId: last.userId }
    }
    isOver = true
    t.same(
      found,
      ORDERS[order]().map(({ userId }) => userId),
      order,
    )
    t.ok(turns >= 1, `${turns} turns`)
  }
})
