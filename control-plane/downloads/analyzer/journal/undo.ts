/** The way back: every file as it was before the apply, byte for byte, and no trace of the journal. */
import { join } from 'node:path'
import type { EditProblem } from '../../../../shared/integration/edit-rules.ts'
import { withLock } from './lock.ts'
import type { Refused } from './prepare.ts'
import { foreignProblems } from './foreign.ts'
import { clearJournal, isOurs, readJournal, ROOM } from './record.ts'
import { judgeRestoring, removeTemporaries, restoreAll, type Restored } from './restore.ts'
import { statsOf } from './sight.ts'
import { reasonOf, type JournalWorld } from './world.ts'

export type Undone =
  | ({ readonly kind: 'undone' } & Restored)
  /** No apply stands here. */
  | { readonly kind: 'nothing' }
  /** `isChanged`: somebody's later work is all that is in the way; `force` keeps it beside. */
  | (Refused & { readonly isChanged: boolean })
  /** Nobody of ours wrote the journal: `would` says what it would do, and nothing is done. */
  | { readonly kind: 'foreign'; readonly would: readonly EditProblem[] }
  /** The journal still stands: once the reason is gone, undo goes on where it stopped. */
  | { readonly kind: 'failed'; readonly problem: EditProblem }

interface UndoWishes {
  /** Of a person who was asked: files that were changed since go back too, and are kept beside. */
  readonly force?: boolean
  /** Of a person who has seen what a journal would do that this user's tool did not write. */
  readonly isForeignBelieved?: boolean
}

/** What undo would do, and whether it would be by a journal of this user's. null: none stands. */
interface UndoView {
  readonly isCutOff: boolean
  readonly isOurs: boolean
  readonly would: readonly EditProblem[]
}

export async function viewUndo(givenRoot: string, world: JournalWorld): Promise<UndoView | null> {
  const root = await world.files.realpath(givenRoot).catch(() => givenRoot)
  const found = await readJournal(root, world.files)
  if (found.kind !== 'journal') return null
  const { journal } = found
  const { steps } = await judgeRestoring(root, journal, world.files)
  const would = steps.flatMap(({ kind, file: { path } }) =>
    kind === 'none'
      ? []
      : [{ path, detail: kind === 'remove' ? 'would be deleted' : 'would be restored' }],
  )
  return {
    isCutOff: journal.state === 'writing',
    isOurs: await isOurs(root, found, world),
    would,
  }
}

export async function undo(
  givenRoot: string,
  world: JournalWorld,
  wishes: UndoWishes = {},
): Promise<Undone> {
  const root = await world.files.realpath(givenRoot).catch(() => null)
  if (root === null) return refuse(`The folder ${givenRoot} does not exist or cannot be read.`)
  if ((await statsOf(join(root, ROOM), world.files)) === 'absent') return { kind: 'nothing' }
  const found = await readJournal(root, world.files)
  if (found.kind === 'problem') return refuse(found.detail)
  const view = wishes.isForeignBelieved === true ? null : await viewUndo(root, world)
  if (view?.isOurs === false) return { kind: 'foreign', would: view.would }
  const locked = await withLock(root, world, () => undoLocked(root, world, wishes))
  return locked.kind === 'done' ? locked.result : refuse(locked.detail)
}

/** Before anything else is done to a project: an apply that was cut off is taken back. */
export async function recover(root: string, world: JournalWorld): Promise<Undone> {
  const real = await world.files.realpath(root).catch(() => root)
  const found = await readJournal(real, world.files)
  const isCutOff = found.kind === 'journal' && found.journal.state === 'writing'
  return isCutOff || found.kind === 'none' ? undo(root, world) : { kind: 'nothing' }
}

const refuse = (detail: string): Undone => ({
  kind: 'refused',
  problems: [{ path: null, detail }],
  isChanged: false,
})

async function undoLocked(root: string, world: JournalWorld, wishes: UndoWishes): Promise<Undone> {
  const { files } = world
  try {
    const found = await readJournal(root, files)
    if (found.kind === 'problem') return refuse(found.detail)
    if (found.kind === 'none') {
      await clearJournal(root, files) // left by a process that was killed before it wrote anything
      return { kind: 'nothing' }
    }
    const isForeign = !(await isOurs(root, found, world))
    if (isForeign && wishes.isForeignBelieved !== true)
      return refuse('The journal has just changed. Review it again.')
    await removeTemporaries(root, found.journal, files)
    const judged = await judgeRestoring(root, found.journal, files)
    const { steps, changed } = judged
    const beyond = isForeign ? await foreignProblems(root, steps, files) : []
    const problems = [...judged.problems, ...beyond]
    if (problems.length > 0) return { kind: 'refused', problems, isChanged: false }
    if (changed.length > 0 && wishes.force !== true)
      return { kind: 'refused', problems: changed, isChanged: true }
    return { kind: 'undone', ...(await restoreAll(root, found.journal, steps, files)) }
  } catch (error) {
    const problem = {
      path: null,
      detail: `Undo was interrupted: ${reasonOf(error)}. Run it again.`,
    }
    return { kind: 'failed', problem }
  }
}
