/** After something was written: would the application still start? If not, it is offered to take it back. */
import type { Application } from '../detection/application.ts'
import { isNode } from '../edits/notes.ts'
import { packageOf } from '../edits/node-sources.ts'
import { Problem } from '../../command-line/exit.ts'
import { dryRun, type DryRun } from '../first-start/dry-run.ts'
import { undo } from '../journal/undo.ts'
import { journalWorld } from '../journal/world.ts'
import type { Plan } from '../plan.ts'
import type { Project } from '../project/project.ts'
import type { Task } from './command.ts'
import type { Installed } from './install-packages.ts'
import { problemLines } from './plan-here.ts'
import type { ServiceAnswer } from './wishes-here.ts'

interface WrittenHere {
  readonly project: Project
  readonly applications: readonly Application[]
  readonly answer: ServiceAnswer
  readonly plan: Plan
  readonly installed: Installed
}

export async function dryRunHere(
  task: Task,
  { project, applications, answer, plan, installed }: WrittenHere,
): Promise<DryRun> {
  const [first] = applications.filter(isNode)
  if (first === undefined) return { status: 'skip', faults: [] }
  const { type } = await packageOf(project, first)
  const { baseUrl, tenantId } = answer.wishes
  const done = await task.terminal.during('Loading the changes in a dry run', () =>
    dryRun({
      root: project.root,
      edits: plan.edits,
      packageType: type,
      baseUrl,
      tenantId,
      isInstalled: installed.command !== null && !installed.isFailed,
      environment: task.world.environment,
    }),
  )
  if (done.status !== 'fail') return done
  const lines = problemLines(done.faults)
  throw new Problem(
    'start_fails',
    'With these changes the application would not start:',
    ...lines,
    ...((await isTakenBack(task, lines))
      ? ['Every file is as it was before.']
      : ['To revert the changes: service-analyzer undo']),
  )
}

async function isTakenBack(task: Task, lines: readonly string[]): Promise<boolean> {
  const { terminal, world, isAgreed, folder } = task
  if (isAgreed || !terminal.isInteractive) return false
  for (const line of ['With these changes the application would not start:', ...lines])
    terminal.remark(line)
  if (!(await terminal.confirm('Revert the changes?'))) return false
  const journal = journalWorld(world.environment, world.homeFolder)
  const undone = await world.uninterrupted(() => undo(folder, journal))
  return undone.kind === 'undone'
}
