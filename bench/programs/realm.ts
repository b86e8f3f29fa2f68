/**
 * The realms of a control plane as a process of its own, so that a bench counts what they cost and
 * not what asking them costs. Asked by messages; see `bench/sign-in.ts`.
 */
import { updateTenant } from '../../control-plane/store/queries/tenants.ts'
import { startWorld, userNamed } from '../../test/control-plane/realm/realm-world.ts'
import { ACTOR, tenantNamed } from '../../test/support/control-plane.ts'
import { tellSpent } from './spent.ts'

const { HASH = 'yes', USERS = '1', TENANTS = '0' } = process.env
const MANY = 1_000_000

const noHash = { hash: async () => 'none', verify: async (plain: string) => plain !== 'wrong' }
const plenty = { burst: MANY, perSecond: MANY }
const world = await startWorld(
  { teardown: (work) => void process.once('exit', work), after: () => {} },
  {
    rates: { authorize: plenty, signIn: plenty, account: plenty, signInOfPerson: plenty },
    ...(HASH === 'no' && { passwords: noHash }),
    // One key for all: making a thousand takes minutes, and is not what is measured
    adapt: ({ keys }) => ({ keys: { ...keys, signingSet: () => keys.signingSet('acme') } }),
  },
)
const acme = await world.tenant('acme')
// The same address asks all the time
const lenient = { user_failures: 1000, address_failures: 1000 }
await world.policies.put('acme', 'lockout', lenient, ACTOR)
for (let count = 1; count < Number(USERS); count++)
  await world.users.create('acme', userNamed(`user-${count}`), ACTOR)
for (let count = 0; count < Number(TENANTS); count++) {
  const tenantId = `bench-${count}`
  await world.tenants.create(tenantNamed(tenantId, { hostnames: [`${tenantId}.example`] }), ACTOR)
  await world.store.change(({ queries }) =>
    updateTenant(queries, tenantId, { status: 'published' }),
  )
}

tellSpent()
process.send?.({ ...acme, baseUrl: world.baseUrl })
