import t from 'tap'
import { ReplicatedTenants } from '../../../gateway/fleet/replicated-tenants.ts'

function startTenants(): ReplicatedTenants {
  const tenants = new ReplicatedTenants()
  for (const tenantId of ['ada', 'bob', 'cleo']) {
    const synced = { sync: 0, revision: 1 }
    const hostnames = [`${tenantId}.example`]
    const kept = { synced, hash: '', version: '', hostnames, isPushed: false, bytes: 2, text: '{}' }
    tenants.keep(tenantId, kept, 3_600)
  }
  return tenants
}

t.test('a new worker is told what is revoked, and of tenants without that nothing', (t) => {
  const tenants = startTenants()
  tenants.revokedOf('bob').merge({ all: 0, subjects: { eve: 7 }, sids: {} }, 7)
  const changes = [...tenants.changes()]
  t.same(
    changes.filter(({ type }) => type === 'revoked'),
    [{ type: 'revoked', tenantId: 'bob', revoked: { all: 0, subjects: { eve: 7 }, sids: {} } }],
  )
  t.equal(changes.filter(({ type }) => type === 'tenant').length, 3)
  t.end()
})

t.test('one that makes room while a new worker is told is known to it by name', (t) => {
  const tenants = startTenants()
  const told = tenants.changes()[Symbol.iterator]()
  t.match(told.next().value, { type: 'tenant', tenantId: 'ada' })
  tenants.unload('bob')
  const rest = [...{ [Symbol.iterator]: () => told }]
  t.match(rest, [{ type: 'tenant', tenantId: 'cleo' }, { type: 'index' }])
  t.match(JSON.stringify(rest), 'bob.example')
  t.end()
})
