import t from 'tap'
import { createTenantRegistry } from '../../../gateway/tenants/registry.ts'
import { systemClock } from '../../../shared/clock.ts'
import { snapshotOf } from '../../support/fleet-source.ts'
import { compileForTest, servedAt, statusOf, type TestTenant } from '../../support/fleet.ts'

const NOW = Math.floor(Date.now() / 1000)

function startDirectory() {
  const retired: [number, number | undefined][] = []
  const registry = createTenantRegistry<TestTenant>({
    clock: systemClock,
    compile: compileForTest,
    onRetire: (old, next) => void retired.push([old.revision, next?.revision]),
  })
  registry.setStatus({ isConfigured: true, isDamaged: false })
  return { registry, retired }
}

const at = (tenantId: string, revision: number, ...hosts: string[]) =>
  snapshotOf(tenantId, {
    revision,
    edge_urls: Object.fromEntries(hosts.map((host) => [host, `https://${host}`])),
  })

t.test('a tenant is found at each of its hosts and nowhere else', async (t) => {
  const { registry } = startDirectory()
  registry.apply(at('ada', 1, 'a.example', 'b.example'), 0)
  t.equal(servedAt(registry, 'a.example')?.tenant_id, 'ada')
  t.equal(servedAt(registry, 'b.example')?.tenant_id, 'ada')
  for (const host of ['', 'c.example', 'A.example', '__proto__', 'constructor', 'a.example.'])
    t.equal(statusOf(registry, host), 404, host)
})

t.test('an older or equal revision changes nothing', async (t) => {
  const { registry, retired } = startDirectory()
  t.equal(registry.apply(at('ada', 5, 'a.example'), 0), true)
  t.equal(registry.apply(at('ada', 5, 'b.example'), 0), false)
  t.equal(registry.apply(at('ada', 4, 'b.example'), 0), false)
  t.equal(statusOf(registry, 'b.example'), 404)
  t.same(retired, [])
  t.equal(registry.apply(at('ada', 1, 'b.example'), 1), true, 'another full synchronisation')
  t.equal(statusOf(registry, 'a.example'), 404)
  t.equal(statusOf(registry, 'b.example'), 200)
  t.same(retired, [[5, 1]])
})

t.test('a snapshot that does not compile leaves what is served', async (t) => {
  const { registry } = startDirectory()
  registry.apply(at('ada', 1, 'a.example'), 0)
  t.throws(() => registry.apply({ ...at('ada', 2, 'b.example'), name: 'uncompilable' }, 0))
  t.equal(servedAt(registry, 'a.example')?.revision, 1)
  t.equal(statusOf(registry, 'b.example'), 404)
})

t.test('a request keeps the snapshot that it has found', async (t) => {
  const { registry } = startDirectory()
  registry.apply(at('ada', 1, 'a.example'), 0)
  const found = registry.byHost('a.example')
  registry.apply(at('ada', 2, 'a.example'), 0)
  t.match(found, { kind: 'served', served: { tenant: { revision: 1 } } })
  t.match(registry.byHost('a.example'), { served: { tenant: { revision: 2 } } })
})

t.test(
  'a host that moves belongs to the newer claim, in whatever order the news comes',
  async (t) => {
    // h moves from ada (1) to bob (3); ada gave it up at 2.
    const gaveUp = at('ada', 2, 'ada.example')
    const tookOver = at('bob', 3, 'bob.example', 'h.example')
    for (const order of [
      [gaveUp, tookOver],
      [tookOver, gaveUp],
    ]) {
      const { registry } = startDirectory()
      registry.apply(at('ada', 1, 'ada.example', 'h.example'), 0)
      for (const snapshot of order) registry.apply(snapshot, 0)
      t.equal(servedAt(registry, 'h.example')?.tenant_id, 'bob')
      t.equal(servedAt(registry, 'ada.example')?.tenant_id, 'ada')
    }
  },
)

t.test('an older claim does not take a host from a newer one', async (t) => {
  const { registry } = startDirectory()
  registry.apply(at('bob', 7, 'h.example'), 0)
  registry.apply(at('ada', 5, 'h.example', 'ada.example'), 0)
  t.equal(servedAt(registry, 'h.example')?.tenant_id, 'bob')
  t.equal(servedAt(registry, 'ada.example')?.tenant_id, 'ada')
})

t.test(
  'a claim that was overtaken does not come back when the newer one is given up',
  async (t) => {
    const { registry } = startDirectory()
    registry.apply(at('ada', 5, 'h.example', 'ada.example'), 0)
    registry.apply(at('bob', 7, 'h.example'), 0)
    registry.apply(at('bob', 8, 'bob.example'), 0)
    t.equal(statusOf(registry, 'h.example'), 404)
    registry.remove('ada')
    t.equal(statusOf(registry, 'ada.example'), 404)
    registry.apply(at('cleo', 9, 'h.example'), 0)
    t.equal(servedAt(registry, 'h.example')?.tenant_id, 'cleo')
  },
)

t.test('a claim of a newer full synchronisation beats any older one', async (t) => {
  const { registry } = startDirectory()
  registry.apply(at('ada', 500, 'h.example'), 0)
  registry.apply(at('bob', 3, 'h.example'), 1)
  t.equal(servedAt(registry, 'h.example')?.tenant_id, 'bob')
  registry.apply(at('ada', 2, 'ada.example'), 1)
  t.equal(servedAt(registry, 'h.example')?.tenant_id, 'bob')
})

t.test('removing a tenant frees its hosts and nobody else’s', async (t) => {
  const { registry, retired } = startDirectory()
  registry.apply(at('ada', 1, 'a.example', 'h.example'), 0)
  registry.apply(at('bob', 2, 'h.example'), 0)
  registry.remove('ada')
  t.equal(statusOf(registry, 'a.example'), 404)
  t.equal(servedAt(registry, 'h.example')?.tenant_id, 'bob')
  t.same(retired, [[1, undefined]])
  registry.remove('nobody')
  t.equal(registry.size(), 1)
})

t.test('a gateway that was never configured knows no host and says so', async (t) => {
  const registry = createTenantRegistry({ clock: systemClock, compile: compileForTest })
  t.same(registry.byHost('a.example'), { kind: 'held', reason: 'not_ready' })
  t.equal(registry.isConfigured(), false)
  registry.apply(at('ada', 1, 'a.example'), 0)
  t.equal(statusOf(registry, 'a.example'), 200, 'a tenant that has come is served')
  t.equal(statusOf(registry, 'b.example'), 503)
  registry.setStatus({ isConfigured: true, isDamaged: true })
  t.same(registry.byHost('b.example'), { kind: 'held', reason: 'state_lost' })
  registry.setStatus({ isConfigured: true, isDamaged: false })
  t.same(registry.byHost('b.example'), { kind: 'unknown' })
})

t.test('reserved hosts answer 503 until their tenant comes', async (t) => {
  const { registry } = startDirectory()
  registry.reserve('ada', ['a.example'], { sync: 0, revision: 5 })
  t.same(registry.byHost('a.example'), { kind: 'held', reason: 'state_lost' })
  registry.apply(at('bob', 3, 'a.example'), 0)
  t.equal(statusOf(registry, 'a.example'), 503, 'an older claim is void here too')
  registry.reserve('ada', ['a.example', 'new.example'], { sync: 0, revision: 6 })
  t.equal(statusOf(registry, 'new.example'), 503)
  registry.reserve('ada', [], { sync: 0, revision: 5 })
  t.equal(statusOf(registry, 'new.example'), 503)
  registry.apply(at('ada', 7, 'a.example'), 0)
  registry.reserve('ada', [], { sync: 0, revision: 8 })
  t.equal(statusOf(registry, 'a.example'), 200)
  t.equal(statusOf(registry, 'new.example'), 404)
})

t.test('a tenant on hold answers 503, whatever arrives, until it is released', async (t) => {
  const { registry } = startDirectory()
  registry.apply(at('ada', 1, 'a.example'), 0)
  registry.hold('ada')
  registry.hold('bob')
  registry.apply(at('ada', 2, 'a.example'), 0)
  registry.apply(at('bob', 3, 'b.example'), 0)
  for (const host of ['a.example', 'b.example']) t.equal(statusOf(registry, host), 503)
  t.equal(registry.byId('ada'), undefined)
  registry.release('ada')
  registry.release('bob')
  t.equal(servedAt(registry, 'a.example')?.revision, 2)
  t.equal(servedAt(registry, 'b.example')?.revision, 3)
})

t.test('revocations outlive recompilation, and come before or after their tenant', async (t) => {
  const heard: unknown[] = []
  const registry = createTenantRegistry({
    clock: systemClock,
    compile: compileForTest,
    onRevoked: (tenantId, revoked) => void heard.push([tenantId, revoked]),
  })
  registry.mergeRevoked('ada', { all: NOW + 5, subjects: {}, sids: { s: NOW + 7 } })
  registry.apply(at('ada', 1, 'a.example'), 0)
  const before = registry.byId('ada')!.revoked
  registry.apply(at('ada', 2, 'a.example'), 0)
  registry.mergeRevoked('ada', {
    all: NOW + 3,
    subjects: { u: NOW + 9 },
    sids: { s: NOW + 6, covered: NOW + 5 },
  })
  const { revoked } = registry.byId('ada')!
  t.equal(revoked, before)
  t.same(revoked.whole(), { all: NOW + 5, subjects: { u: NOW + 9 }, sids: { s: NOW + 7 } })
  t.same(heard, [
    ['ada', { all: NOW + 5, subjects: {}, sids: { s: NOW + 7 } }],
    ['ada', { all: 0, subjects: { u: NOW + 9 }, sids: {} }],
  ])
})

t.test('a change costs one tenant, however many there are', async (t) => {
  const { registry } = startDirectory()
  let compiled = 0
  const counting = createTenantRegistry({
    clock: systemClock,
    compile(snapshot) {
      compiled += 1
      return compileForTest(snapshot)
    },
  })
  for (let count = 0; count < 1_000; count += 1)
    for (const one of [registry, counting]) one.apply(at(`t${count}`, 1, `${count}.example`), 0)
  compiled = 0
  counting.apply(at('t500', 2, '500.example'), 0)
  t.equal(compiled, 1)
})

t.test('hosts of one that is only indexed go by the newest claim, too', (t) => {
  const { registry } = startDirectory()
  const kindOf = (host: string) => registry.byHost(host).kind
  const idAt = (host: string) => {
    const found = registry.byHost(host)
    return found.kind === 'indexed' ? found.tenantId : servedAt(registry, host)?.tenant_id
  }
  registry.index('ada', ['a.example', 'moves.example'], { sync: 0, revision: 2 })
  registry.apply(at('bob', 1, 'b.example', 'moves.example'), 0)
  t.equal(idAt('moves.example'), 'ada', 'an older one does not take it')
  registry.apply(at('bob', 3, 'b.example', 'moves.example'), 0)
  t.equal(idAt('moves.example'), 'bob')
  registry.index('cleo', ['moves.example'], { sync: 0, revision: 4 })
  t.equal(idAt('moves.example'), 'cleo')
  registry.index('cleo', ['c.example'], { sync: 0, revision: 5 })
  t.equal(kindOf('moves.example'), 'unknown', 'older claims are void')
  t.equal(kindOf('a.example'), 'indexed')
  registry.index('ada', ['elsewhere.example'], { sync: 0, revision: 1 })
  t.equal(kindOf('a.example'), 'indexed', 'older than what is known')

  t.notOk(registry.apply(at('ada', 1, 'a.example'), 0), 'older than what it is told of')
  t.ok(registry.apply(at('ada', 2, 'a.example'), 0), 'the very state')
  registry.index('ada', ['elsewhere.example'], { sync: 0, revision: 9 })
  t.equal(kindOf('a.example'), 'served', 'until its newer state is here')
  registry.unload('ada')
  t.equal(idAt('a.example'), 'ada')
  t.equal(kindOf('moves.example'), 'unknown')
  registry.hold('ada')
  t.equal(kindOf('a.example'), 'held')
  registry.release('ada')
  registry.reserve('ada', ['a.example'], { sync: 0, revision: 2 })
  t.equal(kindOf('a.example'), 'held')
  registry.index('ada', ['a.example'], { sync: 0, revision: 3 })
  t.equal(kindOf('a.example'), 'indexed')
  t.equal(registry.size(), 3)
  registry.remove('ada')
  t.equal(kindOf('a.example'), 'unknown')
  t.equal(registry.size(), 2)
  t.end()
})
