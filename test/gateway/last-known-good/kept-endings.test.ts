/** Ends of sessions on the disk: what one more costs, and what is left of them when a process dies. */
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openLastKnownGood } from '../../../gateway/last-known-good/last-known-good.ts'
import { createSealedFiles } from '../../../gateway/last-known-good/sealed-file.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { EnforcementEvent } from '../../../shared/fleet/snapshot.ts'
import { createTestLog, temporaryFolder } from '../../support/fleet.ts'

const KEY = 'a fleet key that is long enough'
const OTHER = 'another fleet key that is long enough'

const ended = (count: number, from = 0): EnforcementEvent[] =>
  Array.from({ length: count }, (_, at) => ({
    tenant_id: 'acme',
    outcome: 'logout',
    sid: `sid-${from + at}`,
    subject: 'ada',
  }))

const filesIn = (directory: string) =>
  readdirSync(directory)
    .filter((name) => name.startsWith('endings'))
    .toSorted()

function open(t: Test, directory: string, keys: { fleetKey: string; previousKey?: string }) {
  const { log, lines } = createTestLog()
  const disk = openLastKnownGood({ directory, log, previousKey: null, ...keys })
  t.teardown(() => disk.close())
  return { disk, lines, ...disk.load() }
}

const start = (t: Test, directory = temporaryFolder(t)) => ({
  directory,
  ...open(t, directory, { fleetKey: KEY }),
})

t.test('one more is written with a few others, however many wait', async (t) => {
  const { directory, disk } = start(t)
  const all = ended(LIMITS.fleetReportsHeldMax)
  t.ok(await disk.saveEndings(all))
  const before = new Map(filesIn(directory).map((name) => [name, statSync(join(directory, name))]))
  t.equal(before.size, LIMITS.fleetReportsHeldMax / 200)
  const more = [...all, ...ended(1, all.length)]
  t.ok(await disk.saveEndings(more))
  const changed = filesIn(directory).filter(
    (name) => statSync(join(directory, name)).ino !== before.get(name)?.ino,
  )
  t.same(changed, ['endings.51'])
  t.ok(statSync(join(directory, 'endings.51')).size < 500)
  t.same(start(t, directory).endings, more, 'in their order')
  t.ok(await disk.saveEndings(more.slice(LIMITS.fleetReportItemsMax)), 'a batch is acknowledged')
  t.equal(filesIn(directory).length, 46)
  t.same(start(t, directory).endings, more.slice(LIMITS.fleetReportItemsMax))
  t.ok(await disk.saveEndings([]))
  t.same(filesIn(directory), [])
})

t.test('what is acknowledged, dropped and new at the same time', async (t) => {
  const { directory, disk } = start(t)
  let [all, next] = [ended(450), 450]
  await disk.saveEndings(all)
  for (const [from, dropAt, count] of [
    [130, 100, 7],
    [0, 0, 400],
    [250, 300, 1],
    [1, 2, 0],
  ] as const) {
    all = all.slice(from)
    all.splice(dropAt, 3)
    all = [...all, ...ended(count, next)]
    next += count
    t.ok(await disk.saveEndings(all))
    const read = start(t, directory)
    t.same(read.endings, all)
    t.ok(await read.disk.saveEndings([...read.endings]), 'and whoever starts goes on with them')
    t.same(start(t, directory).endings, all)
  }
})

t.test('those of the version before are read, and leave as they are acknowledged', async (t) => {
  const directory = temporaryFolder(t)
  const old = ended(1200)
  await createSealedFiles(KEY, null).replace(join(directory, 'endings'), 'endings', '', old)
  const { disk, endings } = start(t, directory)
  t.same(endings, old)
  const later = [...endings.slice(1000), ...ended(2, 1200)]
  t.ok(await disk.saveEndings(later))
  t.same(filesIn(directory), ['endings', 'endings.1'])
  t.same(start(t, directory).endings, later)
  t.ok(await disk.saveEndings(later.slice(200)))
  t.same(filesIn(directory), ['endings.1'])
})

t.test('a file that is cut anywhere costs what is in it, and nothing of the others', async (t) => {
  const { directory, disk } = start(t)
  const all = ended(203)
  await disk.saveEndings(all)
  const path = join(directory, 'endings.2')
  const whole = readFileSync(path)
  for (let length = 0; length < whole.length; length++) {
    writeFileSync(path, whole.subarray(0, length))
    const { endings, lines } = start(t, directory)
    if (endings.length !== 200) t.fail(`${endings.length} of a file of ${length} bytes`)
    if (!lines.some(({ path: told }) => told === path)) t.fail('nobody is told')
  }
  const read = start(t, directory)
  t.same(read.endings, all.slice(0, 200))
  t.ok(await read.disk.saveEndings([...read.endings, ...ended(1, 203)]))
  t.same(start(t, directory).endings, [...all.slice(0, 200), ...ended(1, 203)])
})

t.test('a process that dies between two files has lost none', async (t) => {
  const { directory, disk } = start(t)
  const all = ended(600)
  await disk.saveEndings(all)
  const before = temporaryFolder(t)
  cpSync(directory, before, { recursive: true })
  const later = [...all.slice(450), ...ended(300, 600)]
  await disk.saveEndings(later)
  // each of the files as it was, or as it became
  const names = [...new Set([...filesIn(before), ...filesIn(directory)])]
  for (let at = 0; at < names.length; at++) {
    const between = temporaryFolder(t)
    for (const [place, name] of names.entries()) {
      const from = place < at ? directory : before
      if (filesIn(from).includes(name)) cpSync(join(from, name), join(between, name))
    }
    const sids = new Set(start(t, between).endings.map(({ sid }) => sid))
    const lost = all.slice(450).filter(({ sid }) => !sids.has(sid))
    t.same(lost, [])
  }
})

t.test(
  'they are sealed anew under another key, and worth nothing in each other’s place',
  async (t) => {
    const { directory, disk } = start(t)
    const all = ended(250)
    await disk.saveEndings(all)
    await disk.turnTo(OTHER)
    t.same(open(t, directory, { fleetKey: OTHER }).endings, all)
    cpSync(join(directory, 'endings.1'), join(directory, 'endings.2'))
    t.same(open(t, directory, { fleetKey: OTHER }).endings, all.slice(0, 200))
    t.same(start(t, directory).endings, [])
  },
)
