import { EXIT } from '../exit.ts'
import type { DryRun } from '../first-start/dry-run.ts'
import { journalWorld } from '../journal/world.ts'
import type { Plan } from '../plan.ts'
import { plainText, visibleText, wrap } from '../terminal/words.ts'
import type { Command, NextStep, Outcome, Task } from './command.ts'
import { dryRunHere } from './dry-run-here.ts'
import { installPackages, NOTHING_INSTALLED, type Installed } from './install-packages.ts'
import { chooseApplications, lookAt, nameOf } from './look-at.ts'
import { planHere } from './plan-here.ts'
import { manualSteps, notesOf, planFields } from './plan-view.ts'
import { askService } from './wishes-here.ts'
import { agreeToWrite, recoverFirst, showEdits, writePrepared } from './write-edits.ts'

export const apply: Command = {
  name: 'apply',
  summary: 'shows every change, asks, and writes all of them together; undo takes them back',
  help: [
    'With a key, the guide that the service holds for your tenant is used, if there is one; else the rules. Either way each change has to pass the same checks: no changes outside the project, to hooks, scripts or settings of package managers, none over a dirty git work tree, none through links.',
    'Afterwards the files that were written are read by Node.js, and the middleware is loaded once from where they lie, in a process that opens no port and writes nothing; your own code is not run. Where that fails you are told why, and asked whether to take it back.',
    'What cannot be changed for sure is shown with the code and the place, to be done by hand. A second run finds nothing left to do.',
  ],
  options: ['dry-run', 'install', 'app', 'mode', 'rules', 'full'],
  takesFolder: true,
  documented: {
    applications: 'the folders that it is about',
    plan: '{framework, source, guide_id, edits: [{path, action, why, added, removed, diff}], manual: [{path, line, text, code}], commands, notes}',
    written: 'the paths that have been written; empty with --dry-run',
    installed: 'the command that was run with --install, or null',
    dry_run:
      'pass, or skip where the package is not installed yet; where it fails, the problem is start_fails',
  },
  async run(task) {
    const { project, detection } = await lookAt(task)
    const world = journalWorld(task.world.environment, task.world.homeFolder)
    const isDry = task.given.flags.has('dry-run')
    if (!isDry) await recoverFirst(task, project.root, world)
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
    const { columns, paint } = task.terminal
    const count = `${written.length} ${written.length === 1 ? 'file' : 'files'}`
    const back = `To take all of it back: ${task.line('undo')}`
    return outcomeOf(task, plan, fields, {
      said: paint('green', wrap(`Written: ${count}. ${back}`, columns)),
      written,
      installed,
      loaded,
      next: nextOf(task, plan, installed),
    })
  },
}

function titleOf(task: Task, { source }: Plan, names: readonly string[]): string {
  const by = source.kind === 'guide' ? `by guide ${plainText(source.guideId)}` : 'by the rules'
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
    source.kind === 'guide' ? 'The guide names commands; none has been run:' : 'To be run by you:'
  return [
    '',
    wrap(said, task.terminal.columns),
    ...left.map((command) => `  ${visibleText(command)}`),
  ]
}

function nextOf(task: Task, { manual }: Plan, installed: Installed): NextStep {
  if (installed.wanted !== null)
    return {
      text: 'To bring in the package, then start the application again:',
      command: installed.wanted,
    }
  const byHand =
    manual.length === 0 ? '' : 'Do by hand what is left; then start the application and check it:'
  return {
    text: byHand || 'Start the application again; to check it, here and from outside:',
    command: task.line('verify'),
  }
}

function nothingToWrite(task: Task, plan: Plan, fields: Outcome['fields']): Outcome {
  const isByHand = plan.manual.length > 0
  const { columns, paint } = task.terminal
  const said = isByHand
    ? 'There is nothing that can be written for sure; what is left is to be done by hand.'
    : 'Nothing is left to do: it is integrated.'
  return outcomeOf(task, isByHand ? plan : { ...plan, commands: [], notes: [] }, fields, {
    said: paint(isByHand ? 'yellow' : 'green', wrap(said, columns)),
    next: {
      text: isByHand ? 'Once that is done, to check it:' : 'To check it, here and from outside:',
      command: task.line('verify'),
    },
  })
}

function dryOutcome(task: Task, plan: Plan, fields: Outcome['fields']): Outcome {
  const apps = task.given.apps.map((app) => `--app ${visibleText(app)}`)
  return outcomeOf(task, plan, fields, {
    said: wrap('This is what would be written. Nothing has been.', task.terminal.columns),
    next: { text: 'To write it:', command: task.line('apply', ...apps) },
  })
}
