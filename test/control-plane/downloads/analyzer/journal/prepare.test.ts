/** What is refused before anything is written, with every reason at once. */
import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { prepare } from '../../../../../control-plane/downloads/analyzer/journal/prepare.ts'
import {
  shownPath,
  type JournalWorld,
} from '../../../../../control-plane/downloads/analyzer/journal/world.ts'
import type { FileEdit } from '../../../../../control-plane/downloads/analyzer/plan.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'
import { failure, machine, plant, treeOf, watchedFiles } from '../../../../support/journal-trees.ts'

const RULES = { sdkUrl: null }
const edit = (path: string, before: string | null, after = 'new'): FileEdit => ({
  path,
  before,
  after,
  why: '',
})

/** The reasons; and whatever they are, nothing was written. */
async function problems(
  t: Test,
  root: string,
  edits: readonly FileEdit[],
  world: JournalWorld = machine(),
) {
  const before = treeOf(root)
  const outcome = await prepare(root, edits, RULES, world)
  t.same(treeOf(root), before)
  return outcome.kind === 'refused' ? outcome.problems : []
}

void t.test('links, devices and folders are not written through', async (t) => {
  const root = temporaryFolder(t)
  const outside = temporaryFolder(t)
  plant(outside, [{ path: 'app.js', bytes: 'old' }])
  plant(root, [{ path: 'real/app.js', bytes: 'old' }])
  symlinkSync(join(outside, 'app.js'), join(root, 'link.js'))
  symlinkSync('real/app.js', join(root, 'inside.js'))
  symlinkSync(join(root, 'nowhere'), join(root, 'dangling.js'))
  symlinkSync(outside, join(root, 'folder'))
  symlinkSync('real', join(root, 'other'))
  linkSync(join(outside, 'app.js'), join(root, 'hard.js'))
  mkdirSync(join(root, 'app.js'))
  execFileSync('mkfifo', [join(root, 'pipe.js')])
  const cases = [
    ['link.js', 'old', /is a symbolic link/],
    ['inside.js', 'old', /is a symbolic link/],
    ['dangling.js', null, /is a symbolic link/],
    ['folder/app.js', 'old', /lies behind folder, which is a symbolic link/],
    ['folder/new/x.js', null, /lies behind folder/],
    ['other/app.js', 'old', /lies behind other/],
    ['hard.js', 'old', /hard link/],
    ['app.js', 'old', /not a regular file/],
    ['pipe.js', 'old', /not a regular file/],
    ['real/app.js/x.js', null, /lies in real\/app\.js, which is not a folder/],
  ] as const
  for (const [path, before, detail] of cases)
    t.match(await problems(t, root, [edit(path, before)]), [{ path, detail }], path)
  const all = cases.map(([path, before]) => edit(path, before))
  const together = await problems(t, root, all)
  for (const [path] of cases)
    t.ok(
      together.some((problem) => problem.path === path),
      `${path} too`,
    )
})

void t.test('the rules hold here as well, whoever made the edits', async (t) => {
  const root = temporaryFolder(t)
  const bad = ['../x.js', '/etc/passwd', '.git/hooks/pre-commit', 'node_modules/a.js', '.npmrc']
  const found = await problems(
    t,
    root,
    bad.map((path) => edit(path, null)),
  )
  t.same(
    found.map(({ path }) => path),
    bad,
  )
  const manifest = '{"name":"a"}'
  plant(root, [{ path: 'package.json', bytes: manifest }])
  const scripts = edit('package.json', manifest, '{"name":"a","scripts":{"prepare":"x"}}')
  t.match(await problems(t, root, [scripts]), [{ path: 'package.json' }])
})

void t.test('a file that is not as it was read is named', async (t) => {
  const root = temporaryFolder(t)
  plant(root, [
    { path: 'a.js', bytes: 'mine' },
    { path: 'b.js', bytes: Buffer.from([0xff, 0xfe, 0x61]) },
    { path: 'new.js', bytes: '' },
  ])
  t.match(
    await problems(t, root, [
      edit('a.js', 'old'),
      edit('b.js', 'old'),
      edit('c.js', 'old'),
      edit('new.js', null),
    ]),
    [
      { path: 'a.js', detail: /has changed since it was read/ },
      { path: 'b.js', detail: /not text in UTF-8/ },
      { path: 'c.js', detail: /no longer exists/ },
      { path: 'new.js', detail: /already exists/ },
    ],
  )
})

void t.test('a name that differs from one that is there in capitals only is refused', async (t) => {
  const root = temporaryFolder(t)
  plant(root, [{ path: 'src/App.js', bytes: 'x' }])
  t.match(await problems(t, root, [edit('src/app.js', null)]), [
    { detail: /differs from the existing App\.js/ },
  ])
  t.match(await problems(t, root, [edit('SRC/new/x.js', null)]), [
    { detail: /differs from the existing src/ },
  ])
})

void t.test('a file larger than the limit is left alone', async (t) => {
  const root = temporaryFolder(t)
  const text = 'x'.repeat(LIMITS.editedFileBytesMax)
  plant(root, [{ path: 'a.js', bytes: text }])
  t.same(await problems(t, root, [edit('a.js', text)]), [])
  plant(root, [{ path: 'a.js', bytes: `${text}x` }])
  t.match(await problems(t, root, [edit('a.js', `${text}x`)]), [
    { detail: /is larger than 1048576/ },
  ])
  plant(root, [{ path: 'a.js', bytes: '\ufeffa' }])
  t.match(
    await problems(t, root, [edit('a.js', 'a', text)]),
    [{ detail: /would be larger/ }],
    'with its mark',
  )
})

void t.test('what cannot be written is said before', async (t) => {
  const root = temporaryFolder(t)
  plant(root, [{ path: 'a.js', bytes: 'old' }])
  const denied = (code: string) =>
    machine({
      files: watchedFiles((name) => {
        if (name === 'access') throw failure(code)
      }),
    })
  t.match(await problems(t, root, [edit('a.js', 'old')], denied('EACCES')), [
    { path: 'a.js', detail: 'cannot be written: permission is denied' },
  ])
  t.match(await problems(t, root, [edit('b.js', null)], denied('EROFS')), [
    { path: 'b.js', detail: 'cannot be created: the file system is read-only' },
  ])
  t.same(await problems(t, root, [edit('a.js', 'old')]), [])
  const nowhere = await prepare(join(root, 'nowhere'), [edit('a.js', 'old')], RULES, machine())
  t.match(nowhere, { kind: 'refused', problems: [{ detail: /does not exist/ }] })
})

void t.test('paths are shown as the machine writes them', async (t) => {
  t.equal(shownPath('src/app.js', 'win32'), 'src\\app.js')
  t.equal(shownPath('src/app.js', 'linux'), 'src/app.js')
})
