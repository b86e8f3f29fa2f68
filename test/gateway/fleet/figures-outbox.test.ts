import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openFiguresFile } from '../../../gateway/fleet/figures-file.ts'
import { createFiguresOutbox } from '../../../gateway/fleet/figures-outbox.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { DecisionCount, DecisionFigures, UpMessage } from '../../../shared/fleet/snapshot.ts'
import { movableClock } from '../../support/control-plane.ts'
import { createTestLog, temporaryFolder, until } from '../../support/fleet.ts'

interface StartOptions {
  readonly folder?: string
  readonly clock?: ReturnType<typeof movableClock>
  readonly run?: string
}

function startOutbox(t: Test, options: StartOptions = {}) {
  const { folder = temporaryFolder(t), clock = movableClock(), run = 'run-1' } = options
  const { log, lines } = createTestLog()
  const sent: UpMessage[] = []
  let isConnected = true
  const outbox = createFiguresOutbox({
    log,
    clock,
    run,
    everyMs: 1,
    file: openFiguresFile(folder, log),
    send(message) {
      if (isConnected) sent.push(message)
      return isConnected
    },
  })
  t.teardown(() => outbox.close())
  const batches = () => sent as unknown as DecisionFigures[]
  return {
    outbox,
    clock,
    folder,
    lines,
    batches,
    setConnected: (is: boolean) => (isConnected = is),
    /** Waits for the next one that is sent, and answers it as the control plane does. */
    async take(): Promise<DecisionFigures> {
      const place = batches().length
      const last = batches().at(-1)
      if (last !== undefined) outbox.received(last.run, last.batch)
      await until(() => batches().length > place)
      return batches()[place]!
    },
  }
}

const sealed = (count = 1, tenantId = 'acme'): DecisionCount => [
  tenantId,
  'refuse',
  'sealed',
  count,
]
const many = (count: number): DecisionCount[] =>
  Array.from({ length: count }, (_, at) => sealed(1, `t${at}`))
const total = (batches: readonly DecisionFigures[]) =>
  batches.flatMap(({ counts }) => counts).reduce((sum, [, , , count]) => sum + count, 0)

t.test(
  'what is decided meanwhile is added up, and goes when the batch before is taken',
  async (t) => {
    const { outbox, take, batches } = startOutbox(t)
    outbox.add([sealed()])
    t.same((await take()).counts, [sealed()])
    outbox.add([sealed(2), sealed(1, 'beta')])
    outbox.add([sealed(3)])
    t.equal(batches().length, 1)
    outbox.received('run-0', 1)
    outbox.received('run-1', 7)
    outbox.connected()
    t.same(batches()[1], batches()[0], 'another batch, or another run, was meant')
    const next = await take()
    t.match(next, { run: 'run-1', batch: 2, counts: [sealed(5), sealed(1, 'beta')] })
  },
)

t.test('a batch that was not taken goes again under its name, with its age', async (t) => {
  const { outbox, take, batches, setConnected, clock, folder } = startOutbox(t)
  setConnected(false)
  outbox.add([sealed()])
  await until(() => existsSync(join(folder, 'figures.json')))
  t.equal(batches().length, 0, 'made and written, with nobody to take it')
  clock.advance(90_000)
  setConnected(true)
  outbox.connected()
  t.match(batches()[0], { batch: 1, age_seconds: 90, counts: [sealed()] })
  clock.advance(3_600_000)
  outbox.connected()
  const [first, again] = batches()
  t.same({ ...again, age_seconds: 0 }, { ...first, age_seconds: 0 })
  t.equal(again!.age_seconds - first!.age_seconds, 3600, 'counted when it happened')
  outbox.add([sealed(4)])
  t.match(await take(), { batch: 2, counts: [sealed(4)] })
})

t.test('a crash loses no batch, and gives none another name', async (t) => {
  const folder = temporaryFolder(t)
  const clock = movableClock()
  const before = startOutbox(t, { folder, clock })
  before.outbox.add([sealed(2)])
  await before.take()
  before.outbox.add([sealed(3)]) // after the last writing: seconds, at most
  clock.advance(600_000)

  const after = startOutbox(t, { folder, clock, run: 'run-2' })
  after.outbox.add([sealed(7)])
  after.outbox.connected()
  t.match(after.batches()[0], { run: 'run-1', batch: 1, age_seconds: 600, counts: [sealed(2)] })
  t.match(await after.take(), { run: 'run-2', batch: 1, counts: [sealed(7)] })
})

t.test('a stop writes down what nobody has taken', async (t) => {
  const folder = temporaryFolder(t)
  const before = startOutbox(t, { folder })
  before.setConnected(false)
  before.outbox.add([sealed(2)])
  before.outbox.close()
  const after = startOutbox(t, { folder, run: 'run-2' })
  after.outbox.connected()
  t.match(after.batches(), [{ run: 'run-1', batch: 1, counts: [sealed(2)] }])
})

t.test('a file that cannot be read, or written, costs no more than itself', async (t) => {
  const folder = temporaryFolder(t)
  for (const text of [
    '',
    '{',
    '{"underway":1}',
    '{"underway":null,"waiting":[{"counts":[["A"]]}]}',
  ]) {
    writeFileSync(join(folder, 'figures.json'), text)
    const { outbox, take, lines } = startOutbox(t, { folder })
    t.match(lines, [{ level: 40, msg: /begins anew/ }])
    outbox.add([sealed()])
    t.match(await take(), { counts: [sealed()] })
  }
  const { outbox, take, lines } = startOutbox(t, { folder: '/nowhere' })
  outbox.add([sealed()])
  t.match(await take(), { counts: [sealed()] })
  t.match(lines, [{ level: 50, msg: 'counts cannot be written down' }])
})

t.test('a message holds so many counts, and the rest goes in the next', async (t) => {
  const { outbox, take } = startOutbox(t)
  outbox.add(many(LIMITS.fleetFiguresSentMax + 1))
  t.equal((await take()).counts.length, LIMITS.fleetFiguresSentMax)
  t.equal((await take()).counts.length, 1)
})

t.test('without a link so much is held, and what repeats itself is still added up', async (t) => {
  const { outbox, setConnected, lines, clock, batches } = startOutbox(t)
  setConnected(false)
  const half = LIMITS.fleetFiguresHeldMax / 2
  for (let minute = 0; minute < 5; minute++) {
    outbox.add(many(half))
    clock.advance(60_000)
  }
  t.same(lines, [], 'minutes became one')
  outbox.add(many(LIMITS.fleetFiguresHeldMax))
  t.same(lines, [])
  outbox.add([sealed(1, 'one-too-many'), sealed()])
  t.match(lines, [{ level: 50, msg: /dropping new ones/ }])
  setConnected(true)
  outbox.connected()
  await until(() => {
    const last = batches().at(-1)
    if (last !== undefined) outbox.received(last.run, last.batch)
    return total(batches()) >= 5 * half + LIMITS.fleetFiguresHeldMax
  })
  t.equal(total(batches()), 5 * half + LIMITS.fleetFiguresHeldMax)
})

t.test('nothing is written where there is nothing to tell', async (t) => {
  const { outbox, folder } = startOutbox(t)
  outbox.add([])
  outbox.connected()
  t.throws(() => readFileSync(join(folder, 'figures.json')), { code: 'ENOENT' })
})
