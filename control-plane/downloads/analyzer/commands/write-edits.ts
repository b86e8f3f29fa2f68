/** A plan on its way into a project: shown, agreed to, and written whole or not at all. */
import type { EditProblem } from '../../../../shared/integration/edit-rules.ts'
import { Problem } from '../../command-line/exit.ts'
import { prepare, type Prepared } from '../journal/prepare.ts'
import { recover, viewUndo } from '../journal/undo.ts'
import type { JournalWorld } from '../journal/world.ts'
import { writeEdits } from '../journal/write.ts'
import type { Plan } from '../plan.ts'
import type { Task } from './command.ts'
import { foreignJournal, problemLines } from './plan-here.ts'
import { diffsOf } from './plan-view.ts'

/** An apply that was cut off is taken back before anything else is done, by consent; whether one was. */
export async function recoverFirst(
  task: Task,
  root: string,
  world: JournalWorld,
): Promise<boolean> {
  const view = await viewUndo(root, world)
  if (view?.isCutOff === true && !view.isOurs) throw foreignJournal(view.would)
  if (view?.isCutOff === true && view.would.length > 0) await agreeToRecover(task, view.would)
  const undone = await task.world.uninterrupted(() => recover(root, world))
  if (undone.kind === 'foreign') throw foreignJournal(undone.would)
  if (undone.kind === 'refused') throw refusedEdits(undone.problems)
  if (undone.kind === 'failed') throw refusedEdits([undone.problem])
  return undone.kind === 'undone' && undone.restored.length + undone.removed.length > 0
}

/** What was looked at before is not what lies there now. */
export const recovered = () =>
  new Problem(
    'edits_refused',
    'An earlier apply was interrupted. It has been reverted, and every file is as it was before.',
    'Run the command again.',
  )

async function agreeToRecover({ isAgreed, terminal }: Task, would: readonly EditProblem[]) {
  const said = 'An earlier apply was interrupted and has to be reverted first:'
  const lines = problemLines(would)
  if (isAgreed) return
  if (!terminal.isInteractive)
    throw new Problem(
      'confirmation_needed',
      said,
      ...lines,
      'To revert it: service-analyzer undo, or add --yes',
    )
  for (const line of [said, ...lines]) terminal.remark(line)
  if (!(await terminal.confirm('Revert it?')))
    throw new Problem('declined', 'Nothing was reverted or written.')
}

/** Every line, as it will be on the disk; what may not be written is refused here. */
export async function showEdits(
  task: Task,
  root: string,
  plan: Plan,
  sdkUrl: string,
  world: JournalWorld,
): Promise<{ readonly prepared: Prepared; readonly isCut: boolean }> {
  const prepared = await prepare(root, plan.edits, { sdkUrl }, world)
  // as it will be on the disk, with the line ends that are there
  const { text, isCut } = diffsOf(task, prepared.kind === 'prepared' ? prepared.files : plan.edits)
  task.show(`\n${text}\n`)
  if (prepared.kind === 'refused') throw refusedEdits(prepared.problems)
  for (const remark of prepared.remarks) task.warn(remark)
  return { prepared, isCut }
}

function refusedEdits(problems: readonly EditProblem[]): Problem {
  return new Problem('edits_refused', 'Refused: nothing was written.', ...problemLines(problems))
}

/** `more`: what else is agreed to by the same answer. */
export async function agreeToWrite(
  { isAgreed, terminal }: Task,
  { prepared: { files }, isCut }: { readonly prepared: Prepared; readonly isCut: boolean },
  more = '',
) {
  if (isAgreed) return
  if (!terminal.isInteractive)
    throw new Problem(
      'confirmation_needed',
      'There is no terminal to ask for confirmation, so nothing was written.',
      'To write without asking: --yes. To only look: --dry-run',
    )
  if (isCut) terminal.remark('Some lines are hidden; --dry-run --full shows all of them.')
  const count = files.length === 1 ? 'this file' : `these ${files.length} files`
  if (!(await terminal.confirm(`Write ${count}${more}?`)))
    throw new Problem('declined', 'Nothing was written.')
}

export async function writePrepared(
  task: Task,
  prepared: Prepared,
  world: JournalWorld,
): Promise<readonly string[]> {
  const written = await task.world.uninterrupted(() => writeEdits(prepared, world))
  if (written.kind === 'written') return written.paths
  if (written.kind === 'refused') throw refusedEdits(written.problems)
  const { problem, isAsBefore } = written
  throw new Problem(
    'write_failed',
    ...problemLines([problem]),
    isAsBefore
      ? 'Every file is as it was before.'
      : 'Once that is fixed, run: service-analyzer undo',
  )
}
