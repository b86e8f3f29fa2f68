import { EXIT } from '../../command-line/exit.ts'
import type { Application } from '../detection/application.ts'
import type { Wishes } from '../edits/wishes.ts'
import type { DryRun } from '../first-start/dry-run.ts'
import { journalWorld } from '../journal/world.ts'
import type { Plan } from '../plan.ts'
import type { Project } from '../project/project.ts'
import { plainText, visibleText, wrap } from '../../command-line/words.ts'
import type { Command, NextStep, Outcome, Task } from './command.ts'
import { dryRunHere } from './dry-run-here.ts'
import { installPackages, NOTHING_INSTALLED, type Installed } from './install-packages.ts'
import { chooseApplications, lookAt, nameOf } from './look-at.ts'
import { planHere } from './plan-here.ts'
import { manualSteps, notesOf, planFields } from './plan-view.ts'
import { isSecretSet } from './setup/client-secret.ts'
import { askService } from './wishes-here.ts'
import { agreeToWrite, recovered, recoverFirst, showEdits, writePrepared } from './write-edits.ts'

export const apply: Command = {
  name: 'apply',
  summary: 'shows every change, asks, then writes them all together; undo reverts them',
  help: [
    'With a key, it uses the guide stored for your tenant, if any; otherwise the built-in rules. Either way each change has to pass the same checks: nothing outside the project, no hooks, scripts or package manager settings, no changes over a dirty git work tree, none through links.',
    'Afterwards Node.js parses the written files and loads the middleware once, in a process that reads the project and its packages, opens no port, reaches no network and writes nothing; your own code does not run. If that fails, you see why and can revert.',
    'What it cannot change safely is shown as a manual step, with the code and the place. A second run finds nothing left to do.',
  ],
  options: ['dry-run', 'install', 'app', 'mode', 'rules', 'full'],
  takesFolder: true,
  documented: {
    applications: 'the folders of the applications',
    plan: '{framework, source, guide_id, edits: [{path, action, why, added, removed, diff}], manual: [{path, line, text, code}], commands, notes}',
    written: 'the paths written; empty with --dry-run',
    installed: 'the command run with --install, or null',
    dry_run:
      'pass, or skip if the package is not installed yet or cannot be loaded safely; on failure the problem is start_fails',
  },
  async run(task) {
    const { project, detection } = await lookAt(task)
    const world = journalWorld(task.world.environment, task.world.homeFolder)
    const isDry = task.given.flags.has('dry-run')
    if (!isDry && (await recoverFirst(task, project.root, world))) throw recovered()
    const applications = await chooseApplications(task, { project, detection })
    const answer = await askService(task)
    const plan = await planHere(project, applications, answer)
    const fields = {
      applications: applications.map(({ folder }) => folder),
      plan: planFields(plan),
    }
    task.show(titleOf(task, plan, applications.map(nameOf)))
    if (plan.edits.length === 0) return nothingToWrite(task, plan, fields)

    const shown = await showEdits(task, project.root, plan, answer.wishes.sdkUrl, world)
    if (isDry) return dryOutcome(task, plan, fields)
    await agreeToWrite(task, shown)
    const written = await writePrepared(task, shown.prepared, world)
    const installed = await installPackages(task, project, applications, plan)
    const loaded = await dryRunHere(task, { project, applications, answer, plan, installed })
    if (loaded.reason !== undefined) task.terminal.remark(`Dry run skipped: ${loaded.reason}`)
    const { columns, paint } = task.terminal
    const count = `${written.length} ${written.length === 1 ? 'file' : 'files'}`
    const back = `To revert everything: ${task.line('undo')}`
    return outcomeOf(task, plan, fields, {
      said: paint('green', wrap(`Written: ${count}. ${back}`, columns)),
      written,
      installed,
      loaded,
      next: nextOf(
        task,
        plan,
        installed,
        await lacksSecret(task, project, applications, answer.wishes.mode),
      ),
    })
  },
}

function titleOf(task: Task, { source }: Plan, names: readonly string[]): string {
  const by =
    source.kind === 'guide' ? `from guide ${plainText(source.guideId)}` : 'from the built-in rules'
  return wrap(`${task.terminal.paint('bold', names.join(', '))}, ${by}`, task.terminal.columns)
}

interface Done {
  readonly said: string
  readonly written?: readonly string[]
  readonly installed?: Installed
  readonly loaded?: DryRun
  readonly next: NextStep
}

/** What is left to do and to know follows what was done. */
function outcomeOf(
  task: Task,
  plan: Plan,
  fields: Outcome['fields'],
  { said, written = [], installed = NOTHING_INSTALLED, loaded, next }: Done,
): Outcome {
  return {
    exit: installed.isFailed ? EXIT.notSo : EXIT.done,
    text: [
      said,
      ...manualSteps(task, plan),
      ...commandLines(task, plan, [installed.command ?? '', installed.wanted ?? '']),
      ...(plan.notes.length === 0 ? [] : ['', 'Good to know:', ...notesOf(task, plan)]),
    ].join('\n'),
    fields: {
      ...fields,
      written,
      installed: installed.command,
      dry_run: loaded?.status ?? 'skip',
    },
    next,
  }
}

/** To be run by a person, who reads them before: anybody may have written a guide. */
function commandLines(task: Task, { source, commands }: Plan, shown: readonly string[]): string[] {
  const left = commands.filter((command) => !shown.includes(command))
  if (left.length === 0) return []
  const said =
    source.kind === 'guide'
      ? 'The guide suggests these commands; none has been run:'
      : 'Run this yourself:'
  return [
    '',
    wrap(said, task.terminal.columns),
    ...left.map((command) => `  ${visibleText(command)}`),
  ]
}

/** In sdk mode an application that starts without its secret lets nobody in. */
async function lacksSecret(
  task: Task,
  project: Project,
  applications: readonly Application[],
  mode: Wishes['mode'],
): Promise<boolean> {
  if (mode !== 'sdk') return false
  const set = await Promise.all(applications.map((one) => isSecretSet(task, project, one)))
  return set.includes(false)
}

function nextOf(
  task: Task,
  { manual }: Plan,
  installed: Installed,
  isSecretLacking: boolean,
): NextStep {
  const inOrder = (text: string) =>
    isSecretLacking
      ? `Set SERVICE_CLIENT_SECRET, ${text.charAt(0).toLowerCase()}${text.slice(1)}`
      : text
  if (installed.wanted !== null)
    return {
      text: inOrder('Install the package, then restart the application:'),
      command: installed.wanted,
    }
  const byHand =
    manual.length === 0 ? '' : 'Do the manual steps, restart the application, then verify:'
  return {
    text: inOrder(byHand || 'Restart the application, then verify it:'),
    command: task.line('verify'),
  }
}

function nothingToWrite(task: Task, plan: Plan, fields: Outcome['fields']): Outcome {
  const isByHand = plan.manual.length > 0
  const { columns, paint } = task.terminal
  const said = isByHand
    ? 'Nothing can be written safely here. Please do the manual steps.'
    : 'Already integrated: nothing left to do.'
  return outcomeOf(task, isByHand ? plan : { ...plan, commands: [], notes: [] }, fields, {
    said: paint(isByHand ? 'yellow' : 'green', wrap(said, columns)),
    next: {
      text: isByHand ? 'When you are done, verify it:' : 'To verify it:',
      command: task.line('verify'),
    },
  })
}

function dryOutcome(task: Task, plan: Plan, fields: Outcome['fields']): Outcome {
  const apps = task.given.apps.map((app) => `--app ${visibleText(app)}`)
  return outcomeOf(task, plan, fields, {
    said: wrap(
      'Dry run: this is what would be written. Nothing was changed.',
      task.terminal.columns,
    ),
    next: { text: 'To write it:', command: task.line('apply', ...apps) },
  })
}
