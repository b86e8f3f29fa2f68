/** A process that is killed at any step, and a machine that fails at any step. */
// long: cut off at each of some hundred steps
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { prepare } from '../../../../../control-plane/downloads/analyzer/journal/prepare.ts'
import { recover, undo } from '../../../../../control-plane/downloads/analyzer/journal/undo.ts'
import type { JournalWorld } from '../../../../../control-plane/downloads/analyzer/journal/world.ts'
import { writeEdits } from '../../../../../control-plane/downloads/analyzer/journal/write.ts'
import type { FileEdit } from '../../../../../control-plane/downloads/analyzer/plan.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'
import {
  CHANGES,
  failure,
  killedAt,
  machine,
  plant,
  treeOf,
  watchedFiles,
} from '../../../../support/journal-trees.ts'

/** Without waiting for the disk. */
const sound = () => machine({ files: watchedFiles(() => undefined) })

const RULES = { sdkUrl: null }
const EDITS: readonly FileEdit[] = [
  { path: 'bin/www', before: 'a\r\n', after: 'a\r\nb\r\n', why: '' },
  { path: 'src/app.js', before: 'x\n', after: 'y\n', why: '' },
  { path: 'src/new/deep/service.js', before: null, after: 'new\n', why: '' },
]

function project(t: Test): string {
  const root = temporaryFolder(t)
  plant(root, [
    { path: 'bin/www', bytes: '\ufeffa\r\n', mode: 0o755 },
    { path: 'src/app.js', bytes: 'x\n', mode: 0o600 },
    { path: 'README.md', bytes: 'read me' },
  ])
  return root
}

/** Judged on a sound machine, so that the steps are those of writing. */
async function write(root: string, world: JournalWorld) {
  const prepared = await prepare(root, EDITS, RULES, sound())
  if (prepared.kind === 'refused') throw new Error(JSON.stringify(prepared.problems))
  return writeEdits(prepared, world)
}

const killed = { pid: 77 }

async function stepsOf(t: Test, run: (root: string, world: JournalWorld) => Promise<unknown>) {
  const { files, steps } = killedAt(Infinity)
  const root = project(t)
  await run(root, machine({ files }))
  return steps()
}

void t.test('killed at any step of an apply, undo restores byte for byte', async (t) => {
  const steps = await stepsOf(t, write)
  t.ok(steps > 40, `${steps} steps`)
  for (let step = 1; step <= steps; step++) {
    const root = project(t)
    const before = treeOf(root)
    await write(root, machine({ ...killed, files: killedAt(step).files })).catch(() => null)
    const undone = await undo(root, sound())
    t.match(undone.kind, /^(?:undone|nothing)$/, `step ${step}`)
    t.same(treeOf(root), before, `step ${step}`)
  }
})

void t.test(
  'killed at any step of an apply, the next apply begins from what was there',
  async (t) => {
    const whole = project(t)
    await write(whole, sound())
    const steps = await stepsOf(t, write)
    for (let step = 1; step <= steps; step += 3) {
      const root = project(t)
      const before = treeOf(root)
      await write(root, machine({ ...killed, files: killedAt(step).files })).catch(() => null)
      await recover(root, sound())
      const isWritten = readFileSync(join(root, 'src/app.js'), 'utf8') === 'y\n'
      if (!isWritten) {
        t.same(treeOf(root), before, `step ${step}`)
        t.match(await write(root, sound()), { kind: 'written' }, `step ${step}`)
      }
      t.same(applied(root), applied(whole), `step ${step}`)
      t.match(await undo(root, sound()), { kind: 'undone' })
      t.same(treeOf(root), before, `step ${step}`)
    }
  },
)

const applied = (root: string) =>
  Object.entries(treeOf(root)).filter(([path]) => !path.startsWith('.service/'))

void t.test('killed at any step of an undo, the next undo goes on', async (t) => {
  const steps = await stepsOf(t, async (root, world) => {
    await write(root, sound())
    return undo(root, world)
  })
  for (let step = 1; step <= steps; step++) {
    const root = project(t)
    const before = treeOf(root)
    await write(root, sound())
    await undo(root, machine({ ...killed, files: killedAt(step).files })).catch(() => null)
    await undo(root, sound())
    t.same(treeOf(root), before, `step ${step}`)
  }
})

/** What needs room on the disk. */
const WRITES = new Set(['mkdir', 'writeFile', 'link'])

/** Reading goes on. */
const LOSSES = new Set([...CHANGES].filter((name) => name !== 'open'))

/** From the nth of such operations on, none succeeds. */
function failingFrom(first: number, names: ReadonlySet<string>, code: string) {
  let count = 0
  return watchedFiles((name) => {
    if (names.has(name) && ++count >= first) throw failure(code)
  })
}

void t.test(
  'a disk that is full at any write leaves everything as it was, and says so',
  async (t) => {
    let isOver = false
    for (let first = 1; !isOver; first++) {
      const root = project(t)
      const before = treeOf(root)
      const files = failingFrom(first, WRITES, 'ENOSPC')
      const outcome = await write(root, machine({ files }))
      isOver = outcome.kind === 'written'
      if (isOver) {
        t.ok(first > 8, `${first - 1} writes`)
        break
      }
      const text = JSON.stringify(outcome)
      t.match(text, 'the disk is full', `write ${first}`)
      t.match(
        outcome.kind === 'refused' || outcome,
        outcome.kind === 'refused' || { isAsBefore: true },
      )
      t.same(withoutRoom(treeOf(root)), before, `write ${first}`)
      await undo(root, sound())
      t.same(treeOf(root), before, `write ${first}`)
    }
  },
)

/** On a full disk even a lock cannot be taken away sometimes; nothing but it may be left. */
const withoutRoom = (tree: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(tree).filter(([path]) => !path.startsWith('.service/')))

void t.test(
  'a file system that turns read-only at any change can be undone once it is not',
  async (t) => {
    for (const code of ['EROFS', 'EACCES', 'EIO']) {
      let isOver = false
      for (let first = 1; !isOver; first++) {
        const root = project(t)
        const before = treeOf(root)
        const files = failingFrom(first, LOSSES, code)
        const outcome = await write(root, machine({ ...killed, files })).catch(() => null)
        isOver = outcome?.kind === 'written'
        const isSaid = outcome?.kind === 'failed' && outcome.isAsBefore
        if (isSaid) t.same(withoutRoom(treeOf(root)), before, `${code} ${first}`)
        await undo(root, sound())
        t.same(treeOf(root), before, `${code} at change ${first}`)
      }
    }
  },
)

void t.test('copies and journal are on the disk before the first file changes', async (t) => {
  const root = project(t)
  const names: string[] = []
  await write(root, machine({ files: watchedFiles((name) => void names.push(name)) }))
  const renames = names.flatMap((name, index) => (name === 'rename' ? [index] : []))
  const synced = (from: number, to: number) =>
    names.slice(from, to).filter((name) => name === 'sync').length
  t.ok(
    synced(0, renames[0] ?? 0) >= 4,
    'both copies, their folder, and the journal before its name',
  )
  t.ok(synced(renames[0] ?? 0, renames[1] ?? 0) >= 3, 'the name of the journal, and the new file')
  t.equal(names[renames.at(-1) ?? 0], 'rename')
})
