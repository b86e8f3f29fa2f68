/** What git has to say before anything is written, and that asking it runs nothing. */
import { execFileSync } from 'node:child_process'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { prepare } from '../../../../../control-plane/downloads/analyzer/journal/prepare.ts'
import {
  journalWorld,
  type JournalWorld,
} from '../../../../../control-plane/downloads/analyzer/journal/world.ts'
import { undo } from '../../../../../control-plane/downloads/analyzer/journal/undo.ts'
import { writeEdits } from '../../../../../control-plane/downloads/analyzer/journal/write.ts'
import type { FileEdit } from '../../../../../control-plane/downloads/analyzer/plan.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'
import { machine, plant, treeOf } from '../../../../support/journal-trees.ts'

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

function git(root: string, ...args: string[]) {
  const env = {
    PATH: process.env['PATH'],
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.test',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.test',
  }
  return execFileSync('git', ['-C', root, ...args], { env, stdio: 'pipe' }).toString()
}

function committed(t: Test): string {
  const root = temporaryFolder(t)
  plant(root, [
    { path: 'app.js', bytes: 'old' },
    { path: 'lib/größe x.js', bytes: 'old' },
  ])
  git(root, 'init', '-q')
  git(root, 'add', '.')
  git(root, 'commit', '-q', '-m', 'first')
  return root
}

void t.test(
  'changes to tracked files refuse, staged or not; other untracked ones do not',
  async (t) => {
    const root = committed(t)
    const edits = [edit('app.js', 'old'), edit('service.js', null)]
    t.same(await problems(t, root, edits), [])
    plant(root, [{ path: 'notes.txt', bytes: 'mine' }])
    t.same(await problems(t, root, edits), [])

    plant(root, [{ path: 'lib/größe x.js', bytes: 'changed' }])
    const dirty = [
      { path: null, detail: /changes \(lib\/größe x\.js\): commit or stash them first/ },
    ]
    t.match(await problems(t, root, edits), dirty)
    t.match(await problems(t, root, edits, machine({ platform: 'win32' })), [
      { detail: /\(lib\\größe x\.js\)/ },
    ])
    git(root, 'add', '.')
    t.match(await problems(t, root, edits), [{ detail: /commit or stash/ }])
    git(root, 'commit', '-q', '-m', 'second')
    t.same(await problems(t, root, edits), [])
    chmodSync(join(root, 'app.js'), 0o755)
    t.match(await problems(t, root, edits), [{ detail: /\(app\.js\)/ }], 'a mode is a change')
  },
)

void t.test(
  'what an install has left in a lock file holds nothing back, and is said',
  async (t) => {
    const root = committed(t)
    for (const path of ['package-lock.json', 'apps/web/yarn.lock'])
      plant(root, [{ path, bytes: 'old' }])
    git(root, 'add', '.')
    git(root, 'commit', '-q', '-m', 'locks')
    for (const path of ['package-lock.json', 'apps/web/yarn.lock'])
      plant(root, [{ path, bytes: 'installed' }])
    const outcome = await prepare(root, [edit('app.js', 'old')], RULES, machine())
    t.equal(outcome.kind, 'prepared')
    const said = 'apps/web/yarn.lock, package-lock.json: uncommitted changes, left as they are.'
    t.match(outcome, { remarks: [said] })
    const own = [{ path: 'package-lock.json', detail: /is out of bounds/ }]
    t.match(await problems(t, root, [edit('package-lock.json', 'installed')]), own)
    plant(root, [{ path: 'app.js', bytes: 'changed' }])
    t.match(await problems(t, root, [edit('app.js', 'changed')]), [{ detail: /\(app\.js\)/ }])
  },
)

void t.test('a file that git does not know is not edited', async (t) => {
  const root = committed(t)
  plant(root, [{ path: 'mine.js', bytes: 'old' }])
  const untracked = [{ path: 'mine.js', detail: /is not under version control; commit it first/ }]
  t.match(await problems(t, root, [edit('mine.js', 'old')]), untracked)
})

void t.test('the whole work tree counts, from a folder of it as well', async (t) => {
  const root = committed(t)
  plant(root, [{ path: 'apps/web/a.js', bytes: 'old' }])
  git(root, 'add', '.')
  git(root, 'commit', '-q', '-m', 'second')
  const folder = join(root, 'apps/web')
  t.same(await problems(t, folder, [edit('a.js', 'old')]), [])
  plant(root, [{ path: 'app.js', bytes: 'changed' }])
  t.match(await problems(t, folder, [edit('a.js', 'old')]), [{ detail: /commit or stash/ }])
})

void t.test('a repository around the project that knows nothing of it has no say', async (t) => {
  const root = committed(t)
  plant(root, [
    { path: 'app.js', bytes: 'changed' },
    { path: 'scratch/a.js', bytes: 'old' },
  ])
  const folder = join(root, 'scratch')
  const outcome = await prepare(folder, [edit('a.js', 'old')], RULES, machine())
  t.match(outcome, { kind: 'prepared', remarks: [/tracks none of its files/] })
  git(root, 'init', '-q', 'scratch')
  t.match(await problems(t, folder, [edit('a.js', 'old')]), [{ detail: /commit it first/ }])
})

void t.test('a name that moves a cursor is not shown as it is', async (t) => {
  const root = committed(t)
  plant(root, [{ path: 'a\x1b[2K\u202e.js', bytes: 'old' }])
  git(root, 'add', '.')
  const [problem] = await problems(t, root, [edit('app.js', 'old')])
  t.match(problem?.detail, '(a\ufffd[2K\ufffd.js)')
})

void t.test('a repository within the project is asked for by itself', async (t) => {
  const root = committed(t)
  plant(root, [
    { path: 'sub/a.js', bytes: 'old' },
    { path: 'sub/.git', bytes: 'gitdir: ../x' },
  ])
  t.match(await problems(t, root, [edit('sub/a.js', 'old'), edit('sub/new/b.js', null)]), [
    { path: 'sub/a.js', detail: /separate git repository; run this in sub/ },
    { path: 'sub/new/b.js', detail: /run this in sub/ },
  ])
})

void t.test('a linked work tree, whose .git is a file, is judged like any other', async (t) => {
  const root = committed(t)
  const linked = join(temporaryFolder(t), 'linked')
  git(root, 'worktree', 'add', '-q', linked)
  t.same(await problems(t, linked, [edit('app.js', 'old')]), [])
  plant(linked, [{ path: 'lib/größe x.js', bytes: 'changed' }])
  t.match(await problems(t, linked, [edit('app.js', 'old')]), [{ detail: /commit or stash/ }])
})

void t.test(
  'an earlier apply that is committed makes room for the next, and for its undo',
  async (t) => {
    const root = committed(t)
    const write = async (edits: readonly FileEdit[]) => {
      const outcome = await prepare(root, edits, RULES, machine())
      if (outcome.kind === 'refused') return t.fail('refused', { found: outcome.problems })
      t.match(await writeEdits(outcome, machine()), { kind: 'written' })
    }
    await write([edit('app.js', 'old', 'first'), edit('one.js', null)])
    const next = [edit('lib/größe x.js', 'old', 'second'), edit('two.js', null)]
    const stands = {
      path: null,
      detail: /An earlier apply is still in place.* Commit its changes or run/,
    }
    t.match(await problems(t, root, next), [{ detail: /commit or stash/ }, stands])
    git(root, 'add', 'app.js')
    git(root, 'commit', '-q', '-m', 'a part of it')
    t.match(await problems(t, root, next), [{ path: 'one.js', detail: /commit it first/ }, stands])
    git(root, 'add', '.')
    git(root, 'commit', '-q', '-m', 'all of it')
    const before = withoutJournal(root)
    await write(next)
    t.match(await undo(root, machine()), { kind: 'undone', removed: ['two.js'] })
    t.same(withoutJournal(root), before, 'what was committed stays')
    t.equal(git(root, 'status', '--porcelain'), '')
  },
)

const withoutJournal = (root: string) =>
  Object.entries(treeOf(root)).filter(([path]) => !/^\.(?:service|git)\//.test(path))

void t.test('nothing that a repository names is run by asking about it', async (t) => {
  const root = committed(t)
  const ran = join(temporaryFolder(t), 'ran')
  const script = join(temporaryFolder(t), 'run.sh')
  writeFileSync(script, `#!/bin/sh\ntouch ${ran}\ncat\n`, { mode: 0o755 })
  plant(root, [{ path: '.gitattributes', bytes: '* filter=evil\n' }])
  git(root, 'add', '.')
  git(root, 'commit', '-q', '-m', 'attributes')
  for (const [key, value] of [
    ['core.fsmonitor', script],
    ['core.hooksPath', join(script, '..')],
    ['core.pager', script],
    ['core.sshCommand', script],
    ['diff.external', script],
    ['filter.evil.clean', script],
    ['filter.evil.process', script],
    ['filter.evil.required', 'true'],
    ['alias.status', `!${script}`],
    ['credential.helper', script],
  ] as const)
    git(root, 'config', key, value)
  for (const hook of ['post-index-change', 'pre-commit', 'fsmonitor-watchman'])
    writeFileSync(join(root, '.git/hooks', hook), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 })
  plant(root, [{ path: 'app.js', bytes: 'old' }]) // its time changes, so git has to read it again
  t.same(await problems(t, root, [edit('app.js', 'old')]), [])
  t.throws(() => treeOf(ran), /ENOENT/)
})

void t.test('a filter without a name is not run either', async (t) => {
  const root = committed(t)
  plant(root, [{ path: '.gitattributes', bytes: '* filter=\n' }])
  git(root, 'add', '.')
  git(root, 'commit', '-q', '-m', 'attributes')
  const ran = join(temporaryFolder(t), 'ran')
  git(root, 'config', 'filter..clean', `touch ${ran}; cat`)
  plant(root, [{ path: 'app.js', bytes: 'old' }])
  t.same(await problems(t, root, [edit('app.js', 'old')]), [])
  t.throws(() => treeOf(ran), /ENOENT/)
})

void t.test('what a repository lacks is not fetched, by no git', async (t) => {
  const root = committed(t)
  const folder = temporaryFolder(t)
  const ran = join(folder, 'ran')
  for (const [key, value] of [
    ['core.repositoryformatversion', '1'],
    ['extensions.partialClone', 'evil'],
    ['remote.evil.url', root],
    ['remote.evil.promisor', 'true'],
    ['remote.evil.partialclonefilter', 'blob:none'],
    ['remote.evil.uploadpack', `touch ${ran}; git-upload-pack`],
    ['protocol.file.allow', 'always'],
  ] as const)
    git(root, 'config', key, value)
  const tree = git(root, 'rev-parse', 'HEAD^{tree}').trim()
  rmSync(join(root, '.git/objects', tree.slice(0, 2), tree.slice(2)))
  // as one from before it could be told not to
  const real = execFileSync('sh', ['-c', 'command -v git']).toString().trim()
  const old = `#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec ${real} "$@"\n`
  writeFileSync(join(folder, 'git'), old, { mode: 0o755 })
  const { git: asked } = journalWorld({ PATH: `${folder}:${process.env['PATH']}` })
  await problems(t, root, [edit('app.js', 'old')], machine({ git: asked }))
  t.throws(() => treeOf(ran), /ENOENT/)
})

void t.test('what git cannot say is no permission', async (t) => {
  const root = committed(t)
  const answers = (code: number | null, err = '', out = '') => {
    const answer = { code, err, out, isCut: false }
    return machine({ git: { settings: async () => answer, ask: async () => answer } })
  }
  const edits = [edit('app.js', 'old')]
  t.match(await problems(t, root, edits, answers(null)), [{ detail: /Install git/ }])
  const dubious = "fatal: detected dubious ownership in repository at '/x'\nmore"
  t.match(await problems(t, root, edits, answers(128, dubious)), [
    { detail: /could not report .*: fatal: detected dubious/ },
  ])
  const broken = machine({
    git: {
      settings: async () => ({ code: 0, out: '', err: '', isCut: false }),
      ask: async () => ({ code: 128, out: '', err: 'fatal: index file corrupt', isCut: false }),
    },
  })
  t.match(await problems(t, root, [edit('new.js', null)], broken), [
    { detail: /index file corrupt/ },
  ])
  const strange = 'filter.a=b.clean\nx\0'
  t.match(await problems(t, root, edits, answers(0, '', strange)), [{ detail: /filter with "="/ }])
  const cut = machine({
    git: {
      settings: async () => ({ code: 0, out: '', err: '', isCut: false }),
      ask: async () => ({ code: null, out: ' M a.js\0 M b', err: '', isCut: true }),
    },
  })
  t.match(await problems(t, root, edits, cut), [{ detail: /a\.js.* and more\)/ }])
})

void t.test('without git there is a remark', async (t) => {
  const root = temporaryFolder(t)
  plant(root, [{ path: 'a.js', bytes: 'old' }])
  const outcome = await prepare(root, [edit('a.js', 'old')], RULES, machine())
  t.match(outcome, { kind: 'prepared', remarks: [/not in a git repository/] })
})

void t.test('the environment steers git nowhere else', async (t) => {
  const root = committed(t)
  const other = committed(t)
  plant(root, [{ path: '.gitattributes', bytes: '* filter=evil\n' }])
  git(root, 'add', '.')
  git(root, 'commit', '-q', '-m', 'attributes')
  const ran = join(temporaryFolder(t), 'ran')
  git(root, 'config', 'filter.evil.clean', `touch ${ran}; cat`)
  plant(root, [{ path: 'app.js', bytes: 'old' }])
  plant(other, [{ path: 'app.js', bytes: 'changed' }])
  const world = journalWorld({
    PATH: process.env['PATH'],
    GIT_DIR: join(other, '.git'),
    GIT_WORK_TREE: other,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.worktree',
    GIT_CONFIG_VALUE_0: other,
  })
  t.same(await problems(t, root, [edit('app.js', 'old')], machine({ git: world.git })), [])
  t.throws(() => treeOf(ran), /ENOENT/, 'what is switched off is what this repository names')
})
