/** Apply and undo: what is written is what was shown, and the way back ends where it began. */
import { mkdirSync, readFileSync, statSync, writeFileSync, chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  prepare,
  type Prepared,
} from '../../../../../control-plane/downloads/analyzer/journal/prepare.ts'
import { undo } from '../../../../../control-plane/downloads/analyzer/journal/undo.ts'
import { writeEdits } from '../../../../../control-plane/downloads/analyzer/journal/write.ts'
import type { FileEdit } from '../../../../../control-plane/downloads/analyzer/plan.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'
import {
  machine,
  plant,
  treeOf,
  watchedFiles,
  type TreeFile,
} from '../../../../support/journal-trees.ts'

const RULES = { sdkUrl: null }
const edit = (path: string, before: string | null, after: string): FileEdit => ({
  path,
  before,
  after,
  why: '',
})

async function prepared(t: Test, root: string, edits: readonly FileEdit[]): Promise<Prepared> {
  const outcome = await prepare(root, edits, RULES, machine())
  if (outcome.kind === 'refused') {
    t.fail('refused', { found: outcome.problems })
    throw new Error('refused')
  }
  return outcome
}

async function apply(t: Test, root: string, edits: readonly FileEdit[], world = machine()) {
  const written = await writeEdits(await prepared(t, root, edits), world)
  t.match(written, { kind: 'written' })
}

void t.test('writes modes, byte order marks and line ends as they were', async (t) => {
  const root = temporaryFolder(t)
  plant(root, [
    { path: 'bin/www', bytes: '#!/usr/bin/env node\nstart()\n', mode: 0o755 },
    { path: 'secret.js', bytes: 'a\n', mode: 0o600 },
    { path: 'windows.js', bytes: '\ufeffa\r\nb\r\n' },
    { path: 'mixed.js', bytes: 'a\r\nb\n' },
    { path: 'end.js', bytes: 'a' },
    { path: 'empty.js', bytes: '' },
  ])
  const before = treeOf(root)
  await apply(t, root, [
    edit('bin/www', '#!/usr/bin/env node\nstart()\n', '#!/usr/bin/env node\nuse()\nstart()\n'),
    edit('secret.js', 'a\n', 'b\n'),
    edit('windows.js', 'a\r\nb\r\n', 'a\r\nc\nb\r\n'),
    edit('mixed.js', 'a\r\nb\n', 'a\r\nc\nb\n'),
    edit('end.js', 'a', 'b'),
    edit('empty.js', '', 'now\n'),
    edit('src/new/folder/file.js', null, 'new\n'),
    edit('same.js', 'x', 'x'),
  ])
  const text = (path: string) => readFileSync(join(root, path), 'utf8')
  const mode = (path: string) => statSync(join(root, path)).mode & 0o777
  t.equal(mode('bin/www'), 0o755)
  t.equal(mode('secret.js'), 0o600)
  t.equal(text('windows.js'), '\ufeffa\r\nc\r\nb\r\n')
  t.equal(text('mixed.js'), 'a\r\nc\nb\n')
  t.equal(text('end.js'), 'b')
  t.equal(text('empty.js'), 'now\n')
  t.equal(mode('src/new/folder/file.js') & 0o111, 0, 'nothing new can be executed')
  t.equal(text('.service/.gitignore'), '*\n')

  t.match(await undo(root, machine()), {
    kind: 'undone',
    removed: ['src/new/folder/file.js'],
    kept: [],
  })
  t.same(treeOf(root), before)
  t.same(await undo(root, machine()), { kind: 'nothing' })
})

void t.test('any tree is the same after apply and undo', async (t) => {
  const quick = machine({ files: watchedFiles(() => undefined) })
  for (let seed = 1; seed <= 40; seed++) {
    const root = temporaryFolder(t)
    const random = randomOf(seed)
    const files = randomTree(random)
    plant(root, files)
    mkdirSync(join(root, 'empty folder'))
    const before = treeOf(root)
    const edits = randomEdits(random, files)
    await apply(t, root, edits, quick)
    t.not(JSON.stringify(treeOf(root)), JSON.stringify(before), `seed ${seed}: something changed`)
    t.match(await undo(root, quick), { kind: 'undone' })
    t.same(treeOf(root), before, `seed ${seed}`)
  }
})

type Random = (below: number) => number

function randomOf(seed: number): Random {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const NAMES = [
  'app.js',
  'größe.ts',
  '日本語.js',
  'a b.js',
  'bin/www',
  'src/deep/er/x.js',
  'src/y.js',
]
const ENDS = ['\n', '\r\n']
const MODES = [0o600, 0o644, 0o755, 0o640]
const of = <T>(random: Random, items: readonly T[]): T => items[random(items.length)] as T

function randomTree(random: Random): TreeFile[] {
  return NAMES.slice(0, 1 + random(NAMES.length)).map((path) => {
    const end = of(random, ENDS)
    const lines = Array.from({ length: random(6) }, () => 'línea '.repeat(random(4)))
    const mixed = random(5) === 0 ? '\nmixed\r\n' : ''
    const bytes = of(random, ['', '\ufeff']) + lines.join(end) + of(random, ['', end]) + mixed
    return { path, bytes, mode: of(random, MODES) }
  })
}

function randomEdits(random: Random, files: readonly TreeFile[]): FileEdit[] {
  const changed = files.filter((_, index) => index === 0 || random(2) === 0)
  const created = ['new.js', 'src/deep/new/a.js', 'src/deep/new/b.js', 'neu/ö/ü/z.js']
  return [
    ...changed.map(({ path, bytes }) => {
      const before = String(bytes).replace(/^\ufeff/, '')
      return edit(path, before, `${before}added${of(random, ['', '\n', '\r\n'])}`)
    }),
    ...created.slice(0, random(created.length + 1)).map((path) => edit(path, null, 'new')),
  ]
}

void t.test('what is shown is what is written, line ends and all', async (t) => {
  const root = temporaryFolder(t)
  plant(root, [{ path: 'a.js', bytes: '\ufeffa\r\n' }])
  const { files } = await prepared(t, root, [edit('a.js', 'a\r\n', 'a\nb\n')])
  t.match(files, [{ before: 'a\r\n', after: 'a\r\nb\r\n' }])
})

void t.test(
  'a file that changes between preparing and writing is left alone, with all others',
  async (t) => {
    const root = temporaryFolder(t)
    plant(root, [
      { path: 'a.js', bytes: 'a' },
      { path: 'b.js', bytes: 'b' },
    ])
    const plan = await prepared(t, root, [edit('a.js', 'a', 'A'), edit('b.js', 'b', 'B')])
    writeFileSync(join(root, 'b.js'), 'mine')
    const before = treeOf(root)
    let renames = 0
    const files = watchedFiles((name) => void (renames += Number(name === 'rename')))
    t.match(await writeEdits(plan, machine({ files })), {
      kind: 'refused',
      problems: [{ path: 'b.js', detail: /has changed since/ }],
    })
    t.equal(renames, 0, 'nothing had to be taken back')
    t.same(treeOf(root), before)
  },
)

void t.test('nothing to write makes no journal', async (t) => {
  const root = temporaryFolder(t)
  t.match(await writeEdits(await prepared(t, root, []), machine()), { kind: 'written', paths: [] })
  t.same(treeOf(root), {})
})

void t.test(
  'undo leaves what was changed since, unless a person wants it, and then keeps it',
  async (t) => {
    const root = temporaryFolder(t)
    plant(root, [
      { path: 'a.js', bytes: 'a', mode: 0o755 },
      { path: 'b.js', bytes: 'b' },
      { path: 'c.js', bytes: 'c' },
    ])
    const edits = [edit('a.js', 'a', 'A'), edit('b.js', 'b', 'B'), edit('c.js', 'c', 'C')]
    await apply(t, root, [...edits, edit('new/d.js', null, 'D')])
    writeFileSync(join(root, 'a.js'), 'A and mine')
    rmSync(join(root, 'b.js'))
    writeFileSync(join(root, 'new/d.js'), 'D and mine')
    const now = treeOf(root)
    const refused = await undo(root, machine())
    t.match(refused, {
      kind: 'refused',
      isChanged: true,
      problems: [
        { path: 'a.js', detail: 'has changed since' },
        { path: 'b.js', detail: 'has been deleted since' },
        { path: 'new/d.js', detail: 'has changed since' },
      ],
    })
    t.same(treeOf(root), now, 'and nothing is touched')

    writeFileSync(join(root, 'a.js.kept'), 'somebody’s')
    const undone = await undo(root, machine(), { force: true })
    t.match(undone, { kind: 'undone', kept: ['a.js.kept-2', 'new/d.js.kept'] })
    const text = (path: string) => readFileSync(join(root, path), 'utf8')
    t.same(['a.js', 'b.js', 'c.js'].map(text), ['a', 'b', 'c'])
    t.equal(text('a.js.kept'), 'somebody’s')
    t.equal(text('a.js.kept-2'), 'A and mine')
    t.equal(text('new/d.js.kept'), 'D and mine')
    t.notOk(Object.keys(treeOf(root)).some((path) => path.startsWith('.service')))
  },
)

void t.test('what a person put back by hand is no obstacle to undo', async (t) => {
  const root = temporaryFolder(t)
  plant(root, [{ path: 'a.js', bytes: 'a' }])
  const before = treeOf(root)
  await apply(t, root, [edit('a.js', 'a', 'A'), edit('n/b.js', null, 'B')])
  writeFileSync(join(root, 'a.js'), 'a')
  rmSync(join(root, 'n'), { recursive: true })
  t.match(await undo(root, machine()), { kind: 'undone', restored: [], removed: [] })
  t.same(treeOf(root), before)
})

void t.test('a folder that was made stays when somebody put something into it', async (t) => {
  const root = temporaryFolder(t)
  await apply(t, root, [edit('a/b/c.js', null, 'C')])
  writeFileSync(join(root, 'a/mine.txt'), 'mine')
  t.match(await undo(root, machine()), { kind: 'undone' })
  t.same(Object.keys(treeOf(root)), ['a/', 'a/mine.txt'])
})

void t.test(
  'a second apply waits for undo of the first, and says what else can be done',
  async (t) => {
    const root = temporaryFolder(t)
    plant(root, [{ path: 'a.js', bytes: 'a' }])
    await apply(t, root, [edit('a.js', 'a', 'A')])
    const again = await prepare(root, [edit('a.js', 'A', 'AA')], RULES, machine())
    t.match(again, {
      kind: 'refused',
      problems: [{ detail: /undo first; to keep them .* delete the folder \.service/ }],
    })
    t.match(
      await prepare(root, [], RULES, machine()),
      { kind: 'prepared' },
      'nothing to do is no apply',
    )
    await undo(root, machine())
    await apply(t, root, [edit('a.js', 'a', 'AA')])
  },
)

void t.test('what was prepared before another apply is not written on top of it', async (t) => {
  const root = temporaryFolder(t)
  const one = await prepared(t, root, [edit('a.js', null, 'A')])
  const two = await prepared(t, root, [edit('b.js', null, 'B')])
  t.match(await writeEdits(one, machine()), { kind: 'written' })
  t.match(await writeEdits(two, machine()), {
    kind: 'refused',
    problems: [{ detail: /Another apply just finished/ }],
  })
  await undo(root, machine())
  t.same(treeOf(root), {})
})

void t.test('two prepared at once: one is written, the other learns of it', async (t) => {
  const root = temporaryFolder(t)
  plant(root, [{ path: 'a.js', bytes: 'a' }])
  const one = await prepared(t, root, [edit('a.js', 'a', 'one')])
  const two = await prepared(t, root, [edit('a.js', 'a', 'two')])
  const running = { isRunning: () => true }
  const outcomes = await Promise.all([
    writeEdits(one, machine({ pid: 11, ...running })),
    writeEdits(two, machine({ pid: 12, ...running })),
  ])
  t.same(outcomes.map(({ kind }) => kind).sort(), ['refused', 'written'])
  const winner = outcomes[0].kind === 'written' ? 'one' : 'two'
  t.equal(readFileSync(join(root, 'a.js'), 'utf8'), winner)
  chmodSync(join(root, 'a.js'), 0o644)
})
