import t from 'tap'
import { ReplicatedTenants } from '../../../gateway/fleet/replicated-tenants.ts'

t.test('a new worker is told what is revoked, and of tenants without that nothing', (t) => {
  const tenants = new ReplicatedTenants()
  for (const tenantId of ['ada', 'bob', 'cleo']) {
    const synced = { sync: 0, revision: 1 }
    const hostnames = [`${tenantId}.example`]
    const kept = { synced, hash: '', version: '', hostnames, isPushed: false, bytes: 2, text: '{}' }
    tenants.keep(tenantId, kept, 3_600)
  }
  tenants.revokedOf('bob').merge({ all: 0, subjects: { eve: 7 }, sids: {} }, 7)
  const changes = [...tenants.changes()]
  t.same(
    changes.filter(({ type }) => type === 'revoked'),
    [{ type: 'revoked', tenantId: 'bob', revoked: { all: 0, subjects: { eve: 7 }, sids: {} } }],
  )
  t.equal(changes.filter(({ type }) => type === 'tenant').length, 3)
  t.end()
})
