import t from 'tap'
import { followChanges, pageAfter } from '../../../control-plane/fleet/change-tail.ts'
import type { FleetSource, TenantChange } from '../../../control-plane/fleet/source.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { createMemorySource } from '../../support/fleet-source.ts'
import { createTestLog, until } from '../../support/fleet.ts'

const PAGE = LIMITS.fleetPageItemsMax

function changesAt(...revisions: number[]): TenantChange[] {
  return revisions.map((revision, at) => ({ tenant_id: `t${at}`, revision, snapshot: null }))
}

function sourceOf(changes: readonly TenantChange[]): FleetSource {
  return {
    ...createMemorySource(),
    changedSince: async (after, limit) =>
      changes.filter(({ revision }) => revision > after).slice(0, limit),
  }
}

t.test('a page that is not full holds everything up to the newest known revision', async (t) => {
  const page = await pageAfter(sourceOf(changesAt(3, 5)), 2, 7)
  t.same(page, { changes: changesAt(3, 5), revision: 7 })
})

t.test('a full page ends before its last revision, which may have more tenants', async (t) => {
  const revisions = Array.from({ length: PAGE + 5 }, (_, at) => Math.min(at + 1, PAGE))
  const page = await pageAfter(sourceOf(changesAt(...revisions)), 0, 1_000)
  t.equal(page.revision, PAGE - 1)
  t.equal(page.changes.length, PAGE - 1)
})

t.test('a page that one transaction fills is read again with more room', async (t) => {
  const revisions = Array.from({ length: PAGE * 3 }, () => 4)
  const page = await pageAfter(sourceOf(changesAt(...revisions)), 3, 4)
  t.equal(page.changes.length, PAGE * 3)
  t.equal(page.revision, 4)
})

t.test(
  'a tenant that changed while the page was read does not hide what came between',
  async (t) => {
    // Read as 1 … 200, but the last one has become 999 meanwhile; 201 … are still to be read.
    const revisions = [...Array.from({ length: PAGE - 1 }, (_, at) => at + 1), 999]
    const page = await pageAfter(sourceOf(changesAt(...revisions)), 0, PAGE + 50)
    t.equal(page.revision, PAGE - 2)
    t.equal(page.changes.at(-1)?.revision, 999)
    t.ok(page.changes.every(({ revision }) => revision <= PAGE - 2 || revision === 999))
  },
)

t.test('no change is lost while tenants change under the reader', async (t) => {
  const source = createMemorySource()
  const read = source.changedSince.bind(source)
  let isRacing = false
  source.changedSince = async (after, limit) => {
    const rows = await read(after, limit)
    if (!isRacing) return rows
    isRacing = false
    source.put('late')
    const newer = source.put('ada')
    return rows.map((row) => (row.tenant_id === 'ada' ? { ...row, revision: newer } : row))
  }
  const seen: string[] = []
  const revisions: number[] = []
  const tail = followChanges({
    source,
    log: createTestLog().log,
    pollMs: 60_000,
    onChange(change, revision) {
      seen.push(`${change.tenant_id}@${change.revision}`)
      revisions.push(revision)
    },
    onRestart: () => t.fail('nothing was restored'),
  })
  t.teardown(() => tail.close())
  await tail.started
  source.put('bob')
  source.put('ada')
  isRacing = true
  tail.wake()
  await until(() => tail.position().revision === 2)
  tail.wake()
  await until(() => tail.position().revision === 4)
  t.same(seen, ['bob@1', 'ada@4', 'late@3', 'ada@4'])
  t.same(revisions, [1, 2, 3, 4])
})

t.test('a source that fails is asked again', async (t) => {
  const source = createMemorySource()
  const position = source.position.bind(source)
  let failures = 3
  source.position = async () => {
    if (failures-- > 0) throw new Error('no connection')
    return position()
  }
  const { log, lines } = createTestLog()
  const tail = followChanges({ source, log, pollMs: 1, onChange() {}, onRestart() {} })
  t.teardown(() => tail.close())
  await tail.started
  t.equal(lines.length, 3)
})
