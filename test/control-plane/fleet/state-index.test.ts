import t from 'tap'
import { versionOf, writeChange } from '../../../control-plane/fleet/outgoing.ts'
import { createStateIndex } from '../../../control-plane/fleet/state-index.ts'
import { StateDigest } from '../../../shared/fleet/digest.ts'
import { createMemorySource } from '../../support/fleet-source.ts'
import { createTestLog } from '../../support/fleet.ts'

const { log } = createTestLog()

t.test('the index is the hash over the versions of what a gateway has been sent', async (t) => {
  const source = createMemorySource()
  source.put('ada')
  source.put('bob')
  const index = createStateIndex(source, log)
  t.equal(index.current(), undefined)
  await index.rebuild()
  const digest = new StateDigest()
  for (const [revision, id] of ['ada', 'bob'].entries())
    digest.set(id, versionOf(revision + 1, source.fingerprint))
  t.same(index.current(), { hash: digest.hex(), revision: 2 })
})

t.test('what changes while everything is read is not undone by what was read before', async (t) => {
  const source = createMemorySource()
  for (let count = 0; count < 100; count += 1) source.put(`t${count}`)
  const index = createStateIndex(source, log)
  const building = index.rebuild()
  // `all` has taken its view; these come later and are told at once.
  for (const [tenantId, isGone] of [
    ['t99', false],
    ['t98', true],
  ] as const) {
    if (isGone) source.remove(tenantId)
    else source.put(tenantId, { name: 'New' })
    index.follow(writeChange((await source.snapshot(tenantId))!, source.fingerprint))
  }
  await building
  const built = index.current()
  await index.rebuild()
  t.same(built?.hash, index.current()?.hash)
})

t.test('reading ten thousand tenants lets everybody else have their turn', async (t) => {
  const source = createMemorySource()
  for (let count = 0; count < 2_000; count += 1) source.put(`t${count}`)
  let turns = 0
  let isDone = false
  const count = () => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  await createStateIndex(source, log).rebuild()
  isDone = true
  t.ok(turns >= 150, `${turns} turns`)
})

t.test('a source that fails leaves the index as it was', async (t) => {
  const source = createMemorySource()
  source.put('ada')
  const index = createStateIndex(source, log)
  await index.rebuild()
  const before = index.current()
  source.all = async function* () {
    yield* []
    throw new Error('the database is locked')
  }
  await index.rebuild()
  t.same(index.current(), before)
})
