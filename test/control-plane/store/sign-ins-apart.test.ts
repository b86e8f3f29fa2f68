/** What a realm writes of a sign-in, on Postgres: no tenant waits for what another has under way. */
import t from 'tap'
import { createAttempts, type OwnFacts } from '../../../control-plane/accounts/attempts.ts'
import { DEFAULT_POLICIES } from '../../../control-plane/policy/policies.ts'
import { systemClock } from '../../../shared/clock.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { newUrl, storeAt } from '../../support/postgres-store.ts'

const FACTS: OwnFacts = {
  at: 0,
  address: '192.0.2.1',
  password: 'right',
  passwordChangedAt: null,
  factors: [],
  device: { isKnown: true, isNetworkKnown: true },
  proof: 'none',
  isStepUp: false,
  sessions: 0,
}

const TENANTS = ['acme', 'other', 'third', 'fourth']
const TENANT: Omit<typeof schema.tenants.$inferInsert, 'tenantId' | 'analyzerKeyHash' | 'number'> =
  {
    ...{ name: 'Tenant', mode: 'gateway', plan: 'premium', status: 'published', protection: 'on' },
    ...{ licence: 'active', licenceBlocksSignin: false, sealed: [], excluded: [] },
    ...{
      origin: 'http://127.0.0.1:9000',
      health: '/',
      maxSessionSeconds: 28_800,
      idleSeconds: 900,
    },
    ...{ sessionBinding: 'off', clientSecretSealed: '', clientSecretHash: '', revision: 0 },
    ...{ analyzerKeySealed: '', createdAt: 0, updatedAt: 0 },
  }

t.test('sign-ins of several tenants are written side by side', async (t) => {
  const url = await newUrl()
  const stores = [await storeAt(t, url), await storeAt(t, url)]
  const rows = TENANTS.map((id, number) => ({
    ...TENANT,
    tenantId: id,
    analyzerKeyHash: id,
    number,
  }))
  await stores[0]?.change(({ queries }) => queries.insert(schema.tenants).values(rows))
  for (const password of ['right', 'wrong'] as const) {
    const everyone = Promise.withResolvers<void>()
    let written = 0
    const signIn = (tenantId: string, at: number) => {
      const store = stores[at % 2]!
      const attempts = createAttempts({
        store,
        vault: { hash: (text) => text },
        clock: systemClock,
      })
      return store.changeOf(tenantId, async (change) => {
        const who = { tenantId, userId: undefined, ip: '192.0.2.1', userAgent: 'test' }
        const attempt = { ...who, loginHash: 'somebody', countedAs: '192.0.2.1' }
        await attempts.settle(change, attempt, { ...FACTS, password }, DEFAULT_POLICIES)
        if (++written === TENANTS.length) everyone.resolve()
        await everyone.promise // before its own is kept
      })
    }
    await Promise.all(TENANTS.map(signIn))
    t.equal(written, TENANTS.length, `a password that is ${password}`)
  }
})
