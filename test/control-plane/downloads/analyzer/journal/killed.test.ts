// long: kills a program at each of its steps
/** A real process and a real SIGKILL: the way back is found by another process, with its lock there. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { undo } from '../../../../../control-plane/downloads/analyzer/journal/undo.ts'
import { journalWorld } from '../../../../../control-plane/downloads/analyzer/journal/world.ts'
import { COMPILE_CACHE_FOLDER } from '../../../../../shared/compile-cache.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'
import { plant, treeOf } from '../../../../support/journal-trees.ts'

const PROGRAM = fileURLToPath(new URL('../../../../support/apply-and-die.ts', import.meta.url))
const ENVIRONMENT = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: COMPILE_CACHE_FOLDER }
const EDITS = JSON.stringify([
  { path: 'bin/www', before: 'a\r\n', after: 'a\r\nb\r\n', why: '' },
  { path: 'src/app.js', before: 'x\n', after: 'y\n', why: '' },
  { path: 'src/new/deep/service.js', before: null, after: 'new\n', why: '' },
])

function project(t: Test): string {
  const root = temporaryFolder(t)
  plant(root, [
    { path: 'bin/www', bytes: '\ufeffa\r\n', mode: 0o755 },
    { path: 'src/app.js', bytes: 'x\n', mode: 0o600 },
  ])
  return root
}

const applyAndDie = (root: string, step: number, state: string) =>
  spawnSync(process.execPath, [PROGRAM, root, String(step), EDITS], {
    env: { ...ENVIRONMENT, XDG_STATE_HOME: state },
    encoding: 'utf8',
  })

void t.test('a killed process leaves what undo restores', async (t) => {
  const state = temporaryFolder(t)
  const world = journalWorld({ PATH: process.env['PATH'], XDG_STATE_HOME: state })
  const [kind, steps] = applyAndDie(project(t), 0, state).stdout.split(' ')
  t.equal(kind, 'written')
  const last = Number(steps)
  for (let step = 3; step <= last; step += 6) {
    const root = project(t)
    const before = treeOf(root)
    t.equal(applyAndDie(root, step, state).signal, 'SIGKILL', `step ${step} of ${last}`)
    t.match((await undo(root, world)).kind, /^(?:undone|nothing)$/)
    t.same(treeOf(root), before, `step ${step}`)
  }
})
