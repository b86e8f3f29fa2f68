/** A journal that somebody else wrote or changed, and locks that were left behind. */
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { prepare } from '../../../../../control-plane/downloads/analyzer/journal/prepare.ts'
import {
  hashOf,
  readJournal,
  writeJournal,
  type Journal,
} from '../../../../../control-plane/downloads/analyzer/journal/record.ts'
import { recover, undo } from '../../../../../control-plane/downloads/analyzer/journal/undo.ts'
import { writeEdits } from '../../../../../control-plane/downloads/analyzer/journal/write.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'
import {
  failure,
  machine,
  sealOf,
  plant,
  treeOf,
  watchedFiles,
} from '../../../../support/journal-trees.ts'

async function applied(t: Test): Promise<string> {
  const root = temporaryFolder(t)
  plant(root, [{ path: 'app.js', bytes: 'old' }])
  const edits = [
    { path: 'app.js', before: 'old', after: 'new', why: '' },
    { path: 'a/b.js', before: null, after: 'new', why: '' },
  ]
  const prepared = await prepare(root, edits, { sdkUrl: null }, machine())
  if (prepared.kind === 'prepared') await writeEdits(prepared, machine())
  return root
}

async function changeJournal(root: string, change: (journal: Journal) => unknown) {
  const file = join(root, '.service/journal.json')
  const journal = JSON.parse(readFileSync(file, 'utf8')) as Journal
  writeFileSync(file, JSON.stringify(change(journal) ?? journal))
}

/** Undo refuses, with or without force, and touches nothing. */
async function refused(t: Test, root: string, detail: RegExp, what = '') {
  const before = treeOf(root)
  for (const force of [false, true])
    t.match(
      await undo(root, machine(), { force }),
      { kind: 'refused', problems: [{ detail }] },
      what,
    )
  t.same(treeOf(root), before, what)
}

const BENT: Readonly<Record<string, (journal: Journal) => unknown>> = {
  'a path outside': (journal) => ({
    ...journal,
    files: [{ ...journal.files[0], path: '../x.js' }],
  }),
  'a hook': (journal) => ({
    ...journal,
    files: [{ ...journal.files[0], path: '.git/hooks/pre-commit' }],
  }),
  'an absolute path': (journal) => ({
    ...journal,
    files: [{ ...journal.files[0], path: '/tmp/x' }],
  }),
  'a folder outside': (journal) => ({ ...journal, folders: ['../x'] }),
  'a folder that was not made': (journal) => ({ ...journal, folders: ['a', 'src'] }),
  'a file twice': (journal) => ({ ...journal, files: [...journal.files, ...journal.files] }),
  'a token that is a path': (journal) => ({ ...journal, token: '../../../../x' }),
  'a mode with setuid': (journal) => ({
    ...journal,
    files: [{ ...journal.files[0], before: { sha256: 'a'.repeat(64), mode: 0o4755 } }],
  }),
  'another version': (journal) => ({ ...journal, version: 2 }),
  'one key more': (journal) => ({ ...journal, run: 'x' }),
  'no object': () => [],
}

for (const [what, change] of Object.entries(BENT))
  void t.test(`a journal is refused with ${what}`, async (t) => {
    const root = await applied(t)
    await changeJournal(root, change)
    await refused(t, root, /journal .* is damaged or was changed/)
    const again = await prepare(
      root,
      [{ path: 'x.js', before: null, after: 'x', why: '' }],
      { sdkUrl: null },
      machine(),
    )
    t.match(again, {
      kind: 'refused',
      problems: [{ detail: /journal .* is damaged or was changed/ }],
    })
  })

void t.test('a journal that is cut, huge or not text is refused', async (t) => {
  const root = await applied(t)
  const file = join(root, '.service/journal.json')
  const whole = readFileSync(file, 'utf8')
  for (const text of ['', whole.slice(0, 40), Buffer.from([0xff, 0xfe])]) {
    writeFileSync(file, text)
    await refused(t, root, /is damaged or was changed/)
  }
  writeFileSync(file, whole.padEnd(LIMITS.journalBytesMax + 1))
  await refused(t, root, /is larger than/)
  writeFileSync(file, whole.padEnd(LIMITS.journalBytesMax))
  t.match(await undo(root, machine()), { kind: 'undone' })
})

void t.test('the largest journal that can be written can be read', async (t) => {
  const root = temporaryFolder(t)
  plant(root, [{ path: '.service/.gitignore', bytes: '*\n' }])
  const { guideEditsMax, editPathSegmentsMax, guidePathCharactersMax } = LIMITS
  const name = '字'.repeat(Math.floor(guidePathCharactersMax / editPathSegmentsMax) - 3)
  const paths = Array.from({ length: guideEditsMax }, (_, index) =>
    Array.from({ length: editPathSegmentsMax }, () => `${index}${name}`),
  )
  const folders = paths.flatMap((names) =>
    names.slice(1).map((_, depth) => names.slice(0, depth + 1).join('/')),
  )
  const sha256 = 'a'.repeat(64)
  const files = paths.map((names) => ({
    path: names.join('/'),
    before: null,
    after: { sha256 },
  }))
  const written_at = '2026-11-21T00:00:00.000Z'
  const token = 'a'.repeat(16)
  const journal: Journal = { version: 1, state: 'written', written_at, token, folders, files }
  await writeJournal(root, journal, machine())
  t.match(await readJournal(root, machine().files), { kind: 'journal', journal })
})

void t.test('a copy that is not what was there is not put back', async (t) => {
  const root = await applied(t)
  const { journal } = (await readJournal(root, machine().files)) as { journal: Journal }
  const index = journal.files.findIndex(({ path }) => path === 'app.js')
  const copy = join(root, `.service/originals/${index}`)
  writeFileSync(copy, 'evil')
  await refused(t, root, /its backup .* has changed/)
  rmSync(copy)
  await refused(t, root, /its backup/)
  symlinkSync(join(root, 'app.js'), copy)
  await refused(t, root, /its backup/)
  rmSync(copy)
  writeFileSync(copy, 'old')
  t.match(await undo(root, machine()), { kind: 'undone' })
})

void t.test(
  'what another user wrote is not believed, nor is what was moved or changed',
  async (t) => {
    const elsewhere = machine({ seal: sealOf('somebody else') })
    const root = await applied(t)
    const before = treeOf(root)
    const would = [
      { path: 'a/b.js', detail: 'would be deleted' },
      { path: 'app.js', detail: 'would be restored' },
    ]
    t.same(await undo(root, elsewhere), { kind: 'foreign', would })
    t.match(await undo(root, elsewhere, { force: true }), { kind: 'foreign' })
    await changeJournal(root, (journal) => ({ ...journal, state: 'writing' }))
    t.match(await undo(root, machine()), { kind: 'foreign' })
    t.match(await recover(root, machine()), { kind: 'foreign' })
    await changeJournal(root, (journal) => ({ ...journal, state: 'written' }))
    t.same(Object.keys(treeOf(root)), Object.keys(before))
    const moved = `${root}-moved`
    t.teardown(() => rmSync(moved, { recursive: true }))
    renameSync(root, moved)
    t.match(await undo(moved, machine()), { kind: 'foreign' })
    const believed = await undo(moved, machine(), { isForeignBelieved: true })
    t.match(believed, { kind: 'undone', restored: ['app.js'], removed: ['a/b.js'] })
    t.same(Object.keys(treeOf(moved)), ['app.js'])
    mkdirSync(root)
  },
)

void t.test('a copy that was given setuid is put back with the mode that was there', async (t) => {
  const root = await applied(t)
  chmodSync(join(root, '.service/originals/1'), 0o4755)
  t.match(await undo(root, machine()), { kind: 'undone' })
  t.equal(statSync(join(root, 'app.js')).mode & 0o7777, 0o644)
})

void t.test('links that were planted since are not followed', async (t) => {
  const outside = temporaryFolder(t)
  plant(outside, [
    { path: 'b.js', bytes: 'new' },
    { path: 'app.js', bytes: 'new' },
  ])
  const before = treeOf(outside)

  const file = await applied(t)
  rmSync(join(file, 'app.js'))
  symlinkSync(join(outside, 'app.js'), join(file, 'app.js'))
  await refused(t, file, /is a symbolic link/)

  const folder = await applied(t)
  rmSync(join(folder, 'a'), { recursive: true })
  symlinkSync(outside, join(folder, 'a'))
  await refused(t, folder, /lies behind a, which is a symbolic link/)

  const room = await applied(t)
  const moved = join(temporaryFolder(t), 'moved')
  mkdirSync(moved)
  writeFileSync(join(moved, 'journal.json'), readFileSync(join(room, '.service/journal.json')))
  rmSync(join(room, '.service'), { recursive: true })
  symlinkSync(moved, join(room, '.service'))
  await refused(t, room, /symbolic link/)

  const journal = await applied(t)
  const kept = readFileSync(join(journal, '.service/journal.json'))
  writeFileSync(join(moved, 'journal.json'), kept)
  rmSync(join(journal, '.service/journal.json'))
  symlinkSync(join(moved, 'journal.json'), join(journal, '.service/journal.json'))
  await refused(t, journal, /symbolic link/)
  t.same(treeOf(outside), before)
})

void t.test(
  'a journal that came with a repository reaches nothing but what the rules allow',
  async (t) => {
    const root = temporaryFolder(t)
    plant(root, [{ path: '.git/config', bytes: '[core]\n' }])
    const forged = {
      version: 1,
      state: 'written',
      written_at: '2026-11-21T00:00:00.000Z',
      token: 'a'.repeat(16),
      folders: [],
      files: [
        {
          path: '.git/config',
          before: { sha256: hashOf(Buffer.from('evil')), mode: 0o644 },
          after: { sha256: hashOf(Buffer.from('[core]\n')) },
        },
      ],
    }
    plant(root, [
      { path: '.service/journal.json', bytes: JSON.stringify(forged) },
      { path: '.service/originals/0', bytes: 'evil' },
    ])
    await refused(t, root, /is damaged or was changed/)
  },
)

void t.test('a folder of that name that is somebody else’s is left alone', async (t) => {
  const root = temporaryFolder(t)
  plant(root, [
    { path: '.service/.gitignore', bytes: 'logs\n' },
    { path: '.service/mine', bytes: '' },
  ])
  const before = treeOf(root)
  const edits = [{ path: 'x.js', before: null, after: 'x', why: '' }]
  const prepared = await prepare(root, edits, { sdkUrl: null }, machine())
  if (prepared.kind === 'refused') return t.fail('refused')
  t.match(await writeEdits(prepared, machine()), {
    kind: 'refused',
    problems: [{ detail: /not written by this program/ }],
  })
  t.match(await undo(root, machine()), { kind: 'refused' })
  t.same(treeOf(root), before)
})

const lock = (pid: number, host = 'here') => JSON.stringify({ pid, host, token: 'b'.repeat(16) })

void t.test(
  'a lock is respected while its process runs, and taken over when it is gone',
  async (t) => {
    const root = await applied(t)
    const file = join(root, '.service/lock')
    const busy = machine({ isRunning: (pid) => pid === 42 })
    writeFileSync(file, lock(42))
    t.match(await undo(root, busy), {
      kind: 'refused',
      problems: [{ detail: /process 42\) is running/ }],
    })
    writeFileSync(file, lock(43, 'elsewhere'))
    t.match(await undo(root, busy), {
      kind: 'refused',
      problems: [{ detail: /process 43 on elsewhere/ }],
    })
    writeFileSync(file, 'garbage')
    t.match(await undo(root, busy), { kind: 'refused', problems: [{ detail: /delete it/ }] })
    t.equal(readFileSync(file, 'utf8'), 'garbage', 'and is not taken away by who was refused')
    writeFileSync(file, lock(43))
    t.match(await undo(root, busy), { kind: 'undone' })
    t.same(Object.keys(treeOf(root)), ['app.js'])
  },
)

void t.test('a lock that somebody took over meanwhile is theirs', async (t) => {
  const root = await applied(t)
  const file = join(root, '.service/lock')
  writeFileSync(file, lock(9))
  const theirs = JSON.stringify({ pid: 42, host: 'here', token: 'd'.repeat(16) })
  const files = watchedFiles((name) => {
    if (name === 'link' && readFileSync(file, 'utf8') === lock(9)) writeFileSync(file, theirs)
  })
  const busy = machine({ files, isRunning: (pid) => pid === 42 })
  t.match(await undo(root, busy), { kind: 'refused', problems: [{ detail: /just started here/ }] })
  t.equal(readFileSync(file, 'utf8'), theirs)
})

void t.test('of many who see a lock whose process is gone one at a time gets in', async (t) => {
  const root = await applied(t)
  writeFileSync(join(root, '.service/lock'), lock(9))
  const others = Array.from({ length: 8 }, (_, index) =>
    undo(root, machine({ pid: 100 + index, isRunning: (pid) => pid !== 9 })),
  )
  const kinds = (await Promise.all(others)).map(({ kind }) => kind)
  t.equal(kinds.filter((kind) => kind === 'undone').length, 1)
  t.notOk(kinds.includes('failed'))
  t.same(Object.keys(treeOf(root)), ['app.js'])
})

void t.test('who took a lock over and was killed as well is taken over in turn', async (t) => {
  const root = await applied(t)
  writeFileSync(join(root, '.service/lock'), lock(9))
  const heir = JSON.stringify({ pid: 10, host: 'here', token: 'c'.repeat(16) })
  writeFileSync(join(root, `.service/lock.heir-${'b'.repeat(16)}`), heir)
  t.match(await undo(root, machine()), { kind: 'undone' })
  t.same(Object.keys(treeOf(root)), ['app.js'])
})

void t.test('a file system without hard links, or with two of them, does as well', async (t) => {
  const files = watchedFiles((name) => {
    if (name === 'link') throw failure('EPERM')
  })
  const root = temporaryFolder(t)
  const edits = [{ path: 'a/x.js', before: null, after: 'x', why: '' }]
  const prepared = await prepare(root, edits, { sdkUrl: null }, machine())
  if (prepared.kind === 'refused') return t.fail('refused')
  t.match(await writeEdits(prepared, machine({ files })), { kind: 'written' })
  t.equal(readFileSync(join(root, 'a/x.js'), 'utf8'), 'x')
  t.match(await undo(root, machine({ files })), { kind: 'undone' })

  const other = await applied(t)
  let isFirst = true
  const across = watchedFiles((name) => {
    if (name === 'rename' && isFirst) {
      isFirst = false
      throw failure('EXDEV')
    }
  })
  t.match(await undo(other, machine({ files: across })), { kind: 'undone', restored: ['app.js'] })
  t.same(Object.keys(treeOf(other)), ['app.js'])
})
