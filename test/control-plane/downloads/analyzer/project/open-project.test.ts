/** A folder of a stranger's, walked and read: bounded, and never beside the folder. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import {
  openProject,
  ProjectProblem,
} from '../../../../../control-plane/downloads/analyzer/project/open-project.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'

function folderOf(t: Test, files: Readonly<Record<string, string | Buffer>>): string {
  const root = temporaryFolder(t)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return root
}

const numbered = (count: number, path: (n: number) => string) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [path(n), '']))

t.test('lists what lies there in order of path, with its size', async (t) => {
  const root = folderOf(t, { 'src/b.ts': '12', 'src/a.ts': '1', 'package.json': '{}', '.env': '' })
  const project = await openProject(root)
  t.same(project.files, [
    { path: '.env', bytes: 0 },
    { path: 'package.json', bytes: 2 },
    { path: 'src/a.ts', bytes: 1 },
    { path: 'src/b.ts', bytes: 2 },
  ])
  t.match(project, { isCut: false, unread: [] })
  t.ok(project.has('src/a.ts'))
  t.notOk(project.has('src') || project.has('src/c.ts') || project.has('../package.json'))
})

t.test('leaves out packages, version control, builds, caches and environments', async (t) => {
  const others = ['node_modules/x', 'vendor/x', '.git', 'venv/x', '__pycache__', 'dist', '.next']
  const root = folderOf(t, {
    ...Object.fromEntries(
      others.flatMap((path) => [
        [`${path}/f`, ''],
        [`api/${path}/f`, ''],
      ]),
    ),
    'surroundings/pyvenv.cfg': '',
    'surroundings/lib/site.py': '',
    'shop/Shop.csproj': '',
    'shop/bin/Debug/Program.cs': '',
    'shop/obj/Program.cs': '',
    'java/pom.xml': '',
    'java/target/App.java': '',
    // the same names are somebody's code where nothing says otherwise
    'bin/www': '',
    'src/target/mod.go': '',
  })
  const { files } = await openProject(root)
  t.same(
    files.map(({ path }) => path),
    ['bin/www', 'java/pom.xml', 'shop/Shop.csproj', 'src/target/mod.go'],
  )
})

t.test('reads the build of a package that was published without its sources', async (t) => {
  const main = JSON.stringify({ main: 'dist/index.js' })
  const paths = async (files: Readonly<Record<string, string>>) => {
    const { files: found } = await openProject(folderOf(t, files))
    return found.map(({ path }) => path)
  }
  t.same(await paths({ 'package.json': main, 'dist/index.js': '' }), [
    'dist/index.js',
    'package.json',
  ])
  const bin = JSON.stringify({ scripts: { start: 'node build/app' } })
  t.ok((await paths({ 'package.json': bin, 'build/app.js': '' })).includes('build/app.js'))
  for (const beside of ['src/index.ts', '.git/HEAD'])
    t.notOk(
      (await paths({ 'package.json': main, 'dist/index.js': '', [beside]: '' })).includes(
        'dist/index.js',
      ),
      `it is built from ${beside}`,
    )
  const compiled = { 'package.json': main, 'dist/index.js': '', 'tsconfig.json': '{}' }
  t.ok((await paths(compiled)).includes('dist/index.js'), 'a compiler’s settings are no sources')
  t.ok((await paths({ ...compiled, 'types/a.d.ts': '' })).includes('dist/index.js'))
  for (const source of ['index.ts', 'app/deep/index.ts'])
    t.notOk((await paths({ ...compiled, [source]: '' })).includes('dist/index.js'), source)
  t.ok(
    (await paths({ 'package.json': main, 'dist/index.js': '', 'src/sql/a.sql': '' })).includes(
      'dist/index.js',
    ),
    'of sources without code nothing is built',
  )
  const nested = JSON.stringify({ main: './server/dist/index.js' })
  t.ok(
    (await paths({ 'package.json': nested, 'server/dist/index.js': '' })).includes(
      'server/dist/index.js',
    ),
    'a build in a folder that the manifest names',
  )
  t.notOk(
    (await paths({ 'package.json': main, 'server/dist/index.js': '' })).includes(
      'server/dist/index.js',
    ),
  )
  const files = JSON.stringify({ files: ['dist'] })
  t.notOk((await paths({ 'package.json': files, 'dist/index.js': '' })).includes('dist/index.js'))
  t.notOk((await paths({ 'package.json': '{', 'dist/index.js': '' })).includes('dist/index.js'))
})

t.test('stops at each of its limits, and says so', async (t) => {
  const flat = folderOf(
    t,
    numbered(10, (n) => `f${n}`),
  )
  const count = async (root: string, limits: object) => {
    const { files, isCut } = await openProject(root, { limits })
    return [files.length, isCut]
  }
  t.same(await count(flat, { projectFilesMax: 10 }), [10, false])
  t.same(await count(flat, { projectFilesMax: 9 }), [9, true])
  t.same(await count(flat, { projectFilesPerFolderMax: 10 }), [10, false])
  t.same(await count(flat, { projectFilesPerFolderMax: 9 }), [9, true])
  t.same(await count(flat, { projectEntriesMax: 10 }), [10, false])
  t.same(await count(flat, { projectEntriesMax: 9 }), [9, true])
  const { unread } = await openProject(flat, { limits: { projectFilesPerFolderMax: 9 } })
  t.same(unread, [{ path: '.', reason: 'has more than 9 files; 1 were skipped' }])

  const wide = folderOf(
    t,
    numbered(10, (n) => `d${n}/f`),
  )
  t.same(await count(wide, { projectFoldersMax: 11 }), [10, false], 'the root is one of them')
  t.same(await count(wide, { projectFoldersMax: 10 }), [9, true])
  const deep = folderOf(t, { 'a/b/c/f': '' })
  t.same(await count(deep, { projectDepthMax: 3 }), [1, false])
  t.same(await count(deep, { projectDepthMax: 2 }), [0, true])
})

t.test('what lies high up is seen before a heap further down', async (t) => {
  const heap = numbered(50, (n) => `a/heap/${n}`)
  const root = folderOf(t, { ...heap, 'z/package.json': '{}', 'package.json': '{}' })
  const { files } = await openProject(root, { limits: { projectFilesMax: 20 } })
  const paths = files.map(({ path }) => path)
  t.ok(paths.includes('package.json') && paths.includes('z/package.json'))
})

t.test('tells how far it is while it walks, and at the end', async (t) => {
  const root = folderOf(
    t,
    numbered(2500, (n) => `f${n}`),
  )
  const seen: unknown[] = []
  await openProject(root, { onProgress: (progress) => seen.push({ ...progress }) })
  t.equal(seen.length, 3)
  t.same(seen.at(-1), { files: 2500, folders: 1, entries: 2500 })
})

t.test('no link leads out of the project, and none in a circle', async (t) => {
  const outside = folderOf(t, { 'secret.txt': 'secret', 'folder/secret.txt': 'secret' })
  const root = folderOf(t, { 'real.txt': 'text', 'folder/f': '' })
  symlinkSync('real.txt', join(root, 'inside'))
  symlinkSync(join(outside, 'secret.txt'), join(root, 'out.txt'))
  symlinkSync(join(outside, 'folder'), join(root, 'out'))
  symlinkSync('..', join(root, 'folder/up'))
  symlinkSync('loop', join(root, 'loop'))
  symlinkSync('nowhere', join(root, 'broken'))
  const project = await openProject(root)
  t.same(
    project.files.map(({ path }) => path),
    ['folder/f', 'inside', 'real.txt'],
  )
  t.equal(await project.read('inside'), 'text')
  t.equal(await project.read('out.txt'), null)
  t.same(
    [...project.unread].sort((a, b) => (a.path < b.path ? -1 : 1)),
    [
      { path: 'broken', reason: 'does not exist (a broken link, or a name that is not UTF-8)' },
      { path: 'loop', reason: 'is a link to itself' },
      { path: 'out', reason: 'is a link to outside the project' },
      { path: 'out.txt', reason: 'is a link to outside the project' },
    ],
  )

  // what was a file when it was listed
  for (const path of ['real.txt', 'folder']) rmSync(join(root, path), { recursive: true })
  symlinkSync(join(outside, 'secret.txt'), join(root, 'real.txt'))
  symlinkSync(join(outside, 'folder'), join(root, 'folder'))
  t.equal(await project.read('real.txt'), null)
  t.equal(await project.read('folder/f'), null)
})

t.test('a root that is a link is the folder it leads to', async (t) => {
  const root = folderOf(t, { f: 'text' })
  const link = join(temporaryFolder(t), 'link')
  symlinkSync(root, link)
  const project = await openProject(link)
  t.equal(project.root, realpathSync(root))
  t.equal(await project.read('f'), 'text')
})

t.test('pipes, sockets and devices are neither listed nor opened', async (t) => {
  const root = folderOf(t, { f: 'text', g: 'text' })
  execFileSync('mkfifo', [join(root, 'package.json')])
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(join(root, 'socket'), resolve))
  t.teardown(() => void server.close())
  symlinkSync('/dev/zero', join(root, 'zero'))
  const project = await openProject(root)
  t.same(
    project.files.map(({ path }) => path),
    ['f', 'g'],
  )
  t.equal(await project.read('package.json'), null)

  rmSync(join(root, 'g'))
  execFileSync('mkfifo', [join(root, 'g')])
  t.equal(await project.read('g'), null, 'one that takes the place of a file holds nothing up')
  t.match(project.unread.at(-1), { path: 'g', reason: 'is not a file' })
})

t.test('text is UTF-8 or nothing, and of bounded size', async (t) => {
  const root = folderOf(t, {
    plain: 'é',
    marked: Buffer.from('\ufeffmarked'),
    utf16: Buffer.from('\ufefftext', 'utf16le'),
    latin: Buffer.from('caf\xe9', 'latin1'),
    binary: Buffer.from('a\0b'),
    empty: '',
    fits: 'x'.repeat(100),
    large: 'x'.repeat(101),
  })
  const project = await openProject(root, { limits: { projectFileBytesMax: 100 } })
  t.equal(await project.read('plain'), 'é')
  t.equal(await project.read('marked'), 'marked', 'without its byte order mark')
  t.equal(await project.read('empty'), '')
  t.equal(await project.read('fits'), 'x'.repeat(100))
  for (const path of ['utf16', 'latin', 'binary', 'large', 'absent'])
    t.equal(await project.read(path), null, path)
  t.same(project.unread, [
    { path: 'utf16', reason: 'is UTF-16, not UTF-8' },
    { path: 'latin', reason: 'is not UTF-8' },
    { path: 'binary', reason: 'is not text' },
    { path: 'large', reason: 'is larger than 100 bytes' },
  ])
})

t.test('a file of five gigabytes costs no more than any other', async (t) => {
  const root = folderOf(t, { 'package.json': '' })
  truncateSync(join(root, 'package.json'), 5 * 2 ** 30)
  const project = await openProject(root)
  t.same(project.files, [{ path: 'package.json', bytes: 5 * 2 ** 30 }])
  t.equal(await project.read('package.json'), null)
  t.match(project.unread[0]?.reason, `larger than ${LIMITS.projectFileBytesMax} bytes`)
})

t.test('a text is remembered as it was first read, as far as there is room', async (t) => {
  const root = folderOf(t, { small: 'before', large: 'x'.repeat(50) })
  const project = await openProject(root, { limits: { projectRememberedBytesMax: 20 } })
  t.equal(await project.read('small'), 'before')
  t.equal((await project.read('large'))?.length, 50)
  writeFileSync(join(root, 'small'), 'after!')
  writeFileSync(join(root, 'large'), 'y'.repeat(50))
  t.equal(await project.read('small'), 'before')
  t.match(await project.read('large'), /^y/, 'what finds no room is read again')
})

t.test('what may not be read is told and passed over', async (t) => {
  const root = folderOf(t, { 'closed/f': '', 'closed.py': 'x', 'open.py': 'x' })
  for (const path of ['closed', 'closed.py']) chmodSync(join(root, path), 0)
  chmodSync(root, 0o755)
  t.teardown(() => chmodSync(join(root, 'closed'), 0o700))
  await asNobody(async () => {
    const project = await openProject(root)
    t.same(
      project.files.map(({ path }) => path),
      ['closed.py', 'open.py'],
    )
    t.equal(await project.read('closed.py'), null)
    t.equal(await project.read('open.py'), 'x')
    t.same(project.unread, [
      { path: 'closed', reason: 'cannot be read: permission denied' },
      { path: 'closed.py', reason: 'cannot be read: permission denied' },
    ])
  })
})

t.test('odd names are told in letters that a terminal can show', async (t) => {
  const root = folderOf(t, { 'a\nb.py': '', 'c\u001b[31m/f': '', 'naïve name.py': 'x' })
  writeFileSync(Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9])]), '')
  t.equal(readdirSync(root).length, 4)
  const project = await openProject(root)
  t.same(
    project.files.map(({ path }) => path),
    ['naïve name.py'],
  )
  t.same(
    project.unread.map(({ path }) => path).sort(),
    ['a\\u{a}b.py', 'caf\ufffd', 'c\\u{1b}[31m'].sort(),
  )
})

t.test('no more is told of what could not be read than a person reads', async (t) => {
  const count = LIMITS.projectUnreadMax + 1
  const root = temporaryFolder(t)
  for (let n = 0; n < count; n++) symlinkSync('nowhere', join(root, `l${n}`))
  const { unread } = await openProject(root)
  t.equal(unread.length, LIMITS.projectUnreadMax)
})

t.test('says what is wrong with a folder that is none', async (t) => {
  const root = folderOf(t, { f: '' })
  const error: unknown = await openProject(join(root, 'absent')).catch((error: unknown) => error)
  t.ok(error instanceof ProjectProblem)
  await t.rejects(openProject(join(root, 'absent')), /folder .*absent does not exist/)
  await t.rejects(openProject(join(root, 'f')), /f is not a folder/)
})

/** Root reads everything. */
async function asNobody(story: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(65534)
  try {
    await story()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}
