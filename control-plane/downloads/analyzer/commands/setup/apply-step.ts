/** The changes, their package, and whether what they make of the application would start. */
import * as files from 'node:fs/promises'
import type { Facts } from '../../api.ts'
import type { Application } from '../../detection/application.ts'
import { installCommand } from '../../edits/install-command.ts'
import { isNode } from '../../edits/notes.ts'
import { Problem } from '../../../command-line/exit.ts'
import { writtenEdits } from '../../journal/written-edits.ts'
import { journalWorld } from '../../journal/world.ts'
import type { Plan } from '../../plan.ts'
import type { Task } from '../command.ts'
import { dryRunHere } from '../dry-run-here.ts'
import { installFor } from '../install-packages.ts'
import { lookAt, type LookedAt } from '../look-at.ts'
import { planHere } from '../plan-here.ts'
import { manualSteps, planInShort } from '../plan-view.ts'
import { checkHere } from '../verify.ts'
import { askService } from '../wishes-here.ts'
import { agreeToWrite, showEdits, writePrepared } from '../write-edits.ts'
import type { Steps } from './steps.ts'

export async function applyStep(
  task: Task,
  steps: Steps,
  looked: LookedAt,
  application: Application,
  facts: Facts,
): Promise<readonly string[]> {
  const { project } = looked
  steps.begin('apply')
  const answer = await askService(task)
  const plan = await planHere(project, [application], answer)
  const world = journalWorld(task.world.environment, task.world.homeFolder)
  let written: readonly string[] = []
  if (plan.edits.length > 0) {
    task.show(planInShort(task, { ...plan, manual: [] }).join('\n'))
    const shown = await showEdits(task, project.root, plan, answer.wishes.sdkUrl, world)
    const isNamed = plan.edits.some(({ path }) => /(?:^|\/)package\.json$/.test(path))
    const more = isNamed && isNode(application) ? installing(looked, application) : ''
    await agreeToWrite(task, shown, more)
    written = await writePrepared(task, shown.prepared, world)
    steps.done('apply', `${written.join(', ')} written; undo reverts it`)
  }
  const checks = await statusesOf(task, application, facts)
  byHandFirst(task, plan, checks)
  if (written.length === 0) steps.done('apply', 'already in place')

  const installed = await install(task, steps, looked, application, { checks, isAgreed: written.length > 0 }) // prettier-ignore
  steps.begin('dry_run')
  const edits = written.length > 0 ? plan.edits : await writtenEdits(project.root, files)
  const whole = { ...plan, edits: edits.map((edit) => ({ why: '', ...edit })) }
  const { status, reason = 'nothing to load' } = await dryRunHere(task, {
    project,
    applications: [application],
    answer,
    plan: whole,
    installed,
  })
  steps.done('dry_run', status === 'pass' ? 'the middleware loads' : `skipped: ${reason}`)
  return written
}

const installing = ({ project }: LookedAt, application: Application) =>
  ` and run ${installCommand(project, application)}`

type Statuses = ReadonlyMap<string, { readonly status: string; readonly nextAction: string }>

/** As the project lies there now. */
async function statusesOf(task: Task, application: Application, facts: Facts): Promise<Statuses> {
  const checks = await checkHere(task, await lookAt(task), application, facts)
  return new Map(checks.map((check) => [check.check, check]))
}

/** What a person has to do is shown once; where nothing would be protected without it, it comes first. */
function byHandFirst(task: Task, plan: Plan, checks: Statuses): void {
  const steps = manualSteps(task, plan)
  if (steps.length > 0) task.show(`${steps.join('\n')}\n`)
  const mounted = checks.get('middleware_mounted')
  if (mounted?.status !== 'fail' || plan.manual.length === 0) return
  throw new Problem(
    'by_hand',
    'Some steps have to be done by hand; see above.',
    'Then run: service-analyzer setup',
  )
}

async function install(
  task: Task,
  steps: Steps,
  { project }: LookedAt,
  application: Application,
  { checks, isAgreed }: { readonly checks: Statuses; readonly isAgreed: boolean },
) {
  const check = checks.get('dependency_installed')
  const isThere = check?.status !== 'fail'
  if (isThere) {
    steps.done('install', 'already installed')
    return { command: null, isFailed: false, wanted: null }
  }
  steps.begin('install')
  const flags = new Set([...task.given.flags, ...(isAgreed || task.isAgreed ? (['install'] as const) : [])]) // prettier-ignore
  const installed = await installFor({ ...task, given: { ...task.given, flags } }, project, [
    application,
  ])
  if (installed.command === null || installed.isFailed)
    throw new Problem(
      'install_fails',
      'The middleware package is not installed.',
      `Run: ${installed.wanted ?? check.nextAction}`,
      'Then run: service-analyzer setup',
    )
  steps.done('install', installed.command)
  return installed
}
