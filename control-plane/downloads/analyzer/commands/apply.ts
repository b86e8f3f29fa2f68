import type { EditProblem } from '../../../../shared/integration/edit-rules.ts'
import { EXIT, Problem } from '../exit.ts'
import { prepare, type Prepared } from '../journal/prepare.ts'
import { recover, viewUndo } from '../journal/undo.ts'
import { journalWorld, type JournalWorld } from '../journal/world.ts'
import { writeEdits } from '../journal/write.ts'
import type { Plan } from '../plan.ts'
import { plainText, visibleText, wrap } from '../terminal/words.ts'
import type { Command, NextStep, Outcome, Task } from './command.ts'
import { installPackages, NOTHING_INSTALLED, type Installed } from './install-packages.ts'
import { chooseApplications, lookAt, nameOf } from './look-at.ts'
import { foreignJournal, planHere, problemLines } from './plan-here.ts'
import { diffsOf, manualSteps, notesOf, planFields } from './plan-view.ts'
import { askService } from './wishes-here.ts'

export const apply: Command = {
  name: 'apply',
  summary: 'shows every change, asks, and writes all of them together; undo takes them back',
  help: [
    'With a key, the guide that the service holds for your tenant is used, if there is one; else the rules. Either way each change has to pass the same checks: no changes outside the project, to hooks, scripts or settings of package managers, none over a dirty git work tree, none through links.',
    'What cannot be changed for sure is shown with the code and the place, to be done by hand. A second run finds nothing left to do.',
  ],
  options: ['dry-run', 'install', 'app', 'mode', 'rules', 'full'],
  takesFolder: true,
  documented: {
    applications: 'the folders that it is about',
    plan: '{framework, source, guide_id, edits: [{path, action, why, added, removed, diff}], manual: [{path, line, text, code}], commands, notes}',
    written: 'the paths that have been written; empty with --dry-run',
    installed: 'the command that was run with --install, or null',
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

    const rules = { sdkUrl: answer.wishes.sdkUrl }
    const prepared = await prepare(project.root, plan.edits, rules, world)
    // as it will be on the disk, with the line ends that are there
    const shown = prepared.kind === 'prepared' ? prepared.files : plan.edits
    const { text, isCut } = diffsOf(task, shown)
    task.show(`\n${text}\n`)
    if (prepared.kind === 'refused') throw refusedEdits(prepared.problems)
    for (const remark of prepared.remarks) task.warn(remark)
    if (isDry) return dryOutcome(task, plan, fields)
    await agree(task, prepared, isCut)
    const written = await task.world.uninterrupted(() => write(prepared, world))
    const installed = await installPackages(task, project, applications, plan)
    const { columns, paint } = task.terminal
    const count = `${written.length} ${written.length === 1 ? 'file' : 'files'}`
    const back = `To take all of it back: ${task.line('undo')}`
    return outcomeOf(task, plan, fields, {
      said: paint('green', wrap(`Written: ${count}. ${back}`, columns)),
      written,
      installed,
      next: nextOf(task, plan, installed),
    })
  },
}

/** An apply that was cut off is taken back before anything else is done, by consent. */
async function recoverFirst(task: Task, root: string, world: JournalWorld) {
  const view = await viewUndo(root, world)
  if (view?.isCutOff === true && !view.isOurs) throw foreignJournal(view.would)
  if (view?.isCutOff === true && view.would.length > 0) await agreeToRecover(task, view.would)
  const undone = await task.world.uninterrupted(() => recover(root, world))
  if (undone.kind === 'foreign') throw foreignJournal(undone.would)
  if (undone.kind === 'refused') throw refusedEdits(undone.problems)
  if (undone.kind === 'failed') throw refusedEdits([undone.problem])
  const count = undone.kind === 'undone' ? undone.restored.length + undone.removed.length : 0
  if (count > 0)
    throw new Problem(
      'edits_refused',
      'An earlier apply had been cut off; it has been taken back, and everything is as it was before it.',
      'Run the same again.',
    )
}

async function agreeToRecover({ isAgreed, terminal }: Task, would: readonly EditProblem[]) {
  const said = 'An earlier apply was cut off, and is to be taken back first:'
  const lines = problemLines(would)
  if (isAgreed) return
  if (!terminal.isInteractive)
    throw new Problem(
      'confirmation_needed',
      said,
      ...lines,
      'To agree: service-analyzer undo, or --yes',
    )
  for (const line of [said, ...lines]) terminal.remark(line)
  if (!(await terminal.confirm('Take it back?')))
    throw new Problem('declined', 'Nothing has been taken back, and nothing written.')
}

function titleOf(task: Task, { source }: Plan, names: readonly string[]): string {
  const by = source.kind === 'guide' ? `by guide ${plainText(source.guideId)}` : 'by the rules'
  return wrap(`${task.terminal.paint('bold', names.join(', '))}, ${by}`, task.terminal.columns)
}

function refusedEdits(problems: readonly EditProblem[]): Problem {
  return new Problem(
    'edits_refused',
    'Refused: nothing has been written.',
    ...problemLines(problems),
  )
}

async function agree({ isAgreed, terminal }: Task, { files }: Prepared, isCut: boolean) {
  if (isAgreed) return
  if (!terminal.isInteractive)
    throw new Problem(
      'confirmation_needed',
      'Nobody is there to be asked, so nothing has been written.',
      'To agree beforehand: --yes. To see it only: --dry-run',
    )
  if (isCut) terminal.remark('Some lines are not shown; --dry-run --full shows all of them.')
  const count = files.length === 1 ? 'this file' : `these ${files.length} files`
  if (!(await terminal.confirm(`Write ${count}?`)))
    throw new Problem('declined', 'Nothing has been written.')
}

async function write(prepared: Prepared, world: JournalWorld): Promise<readonly string[]> {
  const written = await writeEdits(prepared, world)
  if (written.kind === 'written') return written.paths
  if (written.kind === 'refused') throw refusedEdits(written.problems)
  const { problem, isAsBefore } = written
  throw new Problem(
    'write_failed',
    ...problemLines([problem]),
    isAsBefore
      ? 'Everything is as it was before.'
      : 'Once the reason is gone, run: service-analyzer undo',
  )
}

interface Done {
  readonly said: string
  readonly written?: readonly string[]
  readonly installed?: Installed
  readonly next: NextStep
}

/** What is left to do and to know follows what was done. */
function outcomeOf(
  task: Task,
  plan: Plan,
  fields: Outcome['fields'],
  { said, written = [], installed = NOTHING_INSTALLED, next }: Done,
): Outcome {
  return {
    exit: installed.isFailed ? EXIT.notSo : EXIT.done,
    text: [
      said,
      ...manualSteps(task, plan),
      ...commandLines(task, plan, [installed.command ?? '', installed.wanted ?? '']),
      ...(plan.notes.length === 0 ? [] : ['', 'Good to know:', ...notesOf(task, plan)]),
    ].join('\n'),
    fields: { ...fields, written, installed: installed.command },
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
