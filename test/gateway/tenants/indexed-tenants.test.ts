import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { IndexedTenants } from '../../../gateway/tenants/indexed-tenants.ts'

setFlagsFromString('--expose-gc')
setFlagsFromString('--no-concurrent-array-buffer-sweeping')
const collectGarbage = runInNewContext('gc') as () => void

const usedBytes = () => {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Deterministic, so that what it has found once it finds again. */
function numbersFrom(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

t.test('after any changes it knows what a table of objects knows', (t) => {
  const HOSTS = Array.from({ length: 2_000 }, (_, at) => `h${at}.example`)
  for (let seed = 1; seed <= 5; seed += 1) {
    const next = numbersFrom(seed)
    const indexed = new IndexedTenants()
    const known = new Map<string, { synced: object; hosts: Set<string> }>()
    const holderOf = new Map<string, string>()
    for (let step = 0; step < 20_000; step += 1) {
      const tenantId = `t${next(600)}`
      indexed.delete(tenantId)
      for (const host of known.get(tenantId)?.hosts ?? []) holderOf.delete(host)
      known.delete(tenantId)
      const lost = HOSTS[next(HOSTS.length)]!
      if (next(4) === 0) {
        indexed.dropHost(lost)
        known.get(holderOf.get(lost) ?? '')?.hosts.delete(lost)
        holderOf.delete(lost)
      }
      if (next(3) === 0) continue
      const asked = Array.from({ length: next(5) }, () => HOSTS[next(HOSTS.length)]!)
      const own = asked.filter((host) => !holderOf.has(host))
      const synced = { sync: step, revision: 2 ** 40 + step }
      indexed.add(tenantId, own, synced)
      known.set(tenantId, { synced, hosts: new Set(own) })
      for (const host of own) holderOf.set(host, tenantId)
    }
    t.equal(indexed.size, known.size)
    for (let at = 0; at < 600; at += 1)
      t.same(indexed.syncedOf(`t${at}`), known.get(`t${at}`)?.synced)
    for (const host of HOSTS) {
      const tenantId = holderOf.get(host)
      t.equal(indexed.tenantAt(host), tenantId)
      t.same(indexed.syncedAt(host), known.get(tenantId ?? '')?.synced)
    }
  }
  t.end()
})

t.test('a hundred thousand lie in ten megabytes, with hosts as long as hosts may be', (t) => {
  const indexed = new IndexedTenants()
  const before = usedBytes()
  for (let at = 0; at < 100_000; at += 1)
    indexed.add(`t-${at}`, [`t-${at}.example`], { sync: 1, revision: at })
  const mebibytes = (usedBytes() - before) / 2 ** 20
  t.ok(mebibytes < 11, `${mebibytes.toFixed(1)} MiB`)
  const long = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`
  const id = 'i'.repeat(63)
  const hosts = Array.from({ length: 300 }, (_, at) => `${at}${long.slice(3)}`)
  indexed.add(id, hosts, { sync: 1, revision: 1 })
  t.same([...new Set(hosts.map((host) => indexed.tenantAt(host)))], [id])
  for (const other of ['', 'i', 'ı.example', 't-1.exampl', '\u0174-1.example', long])
    t.equal(indexed.tenantAt(other), undefined, other)
  t.equal(indexed.tenantAt('t-99999.example'), 't-99999')
  t.end()
})
