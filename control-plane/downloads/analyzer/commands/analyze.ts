import { EXIT } from '../../command-line/exit.ts'
import { planFor } from '../edits/plan-for.ts'
import type { Application, Finding } from '../detection/application.ts'
import type { Plan } from '../plan.ts'
import { plainText, visibleText, wrap, wrapUnder } from '../../command-line/words.ts'
import type { Command, NextStep, Outcome, Task } from './command.ts'
import { askForGuide } from './ask-for-guide.ts'
import { appName, lookAt, nameOf, nothingFound, type LookedAt } from './look-at.ts'
import { planFields, planInShort } from './plan-view.ts'
import { wishesOf } from './wishes-here.ts'

export const analyze: Command = {
  name: 'analyze',
  summary: 'finds the applications here and their sign-in, and shows what apply would do',
  help: [
    'Works offline, needs no key, writes nothing and runs no code of the project.',
    'With --use-ai, an AI model of the service writes a guide for this project. Only files related to sign-in are sent, with secrets masked; you see the list with sizes and confirm it first. “apply” shows the guide before it writes anything.',
  ],
  options: ['use-ai', 'mode', 'app'],
  takesFolder: true,
  documented: {
    root: 'the folder analyzed',
    files: 'the number of files',
    applications:
      'a list of {folder, framework, variant, language, package_manager, modules, entry, mount, health_path, port, sign_in, confidence, findings, plan}',
    remarks: 'what could not be analyzed',
    guide: 'with --use-ai: {guide_id, framework, summary, edits, warnings, url}, or null',
  },
  async run(task) {
    const looked = await lookAt(task)
    const { project, detection } = looked
    if (detection.applications.length === 0) {
      for (const remark of detection.remarks) task.warn(remark)
      throw nothingFound(task)
    }
    const wishes = wishesOf(task)
    const planned: Planned[] = []
    for (const application of detection.applications) {
      const plan = await planFor(project, application, wishes, detection.applications)
      planned.push({ application, plan })
    }
    const text = planned.map((one) => describe(task, one)).join('\n\n')
    const wantsGuide = task.given.flags.has('use-ai')
    if (wantsGuide) task.show(`${text}\n`)
    const guide = wantsGuide ? await askForGuide(task, looked) : null
    return outcomeOf(
      task,
      looked,
      planned,
      guide === null ? text : guide.text,
      guide?.fields ?? null,
    )
  },
}

interface Planned {
  readonly application: Application
  readonly plan: Plan
}

function outcomeOf(
  task: Task,
  { project, detection: { remarks } }: LookedAt,
  planned: readonly Planned[],
  text: string,
  guide: Outcome['fields'] | null,
): Outcome {
  const { columns } = task.terminal
  const more = remarks.map((remark) => wrapUnder('  ! ', '    ', plainText(remark), columns))
  return {
    exit: EXIT.done,
    text: [text, ...(more.length === 0 ? [] : ['', ...more])].join('\n'),
    fields: {
      root: project.root,
      files: project.files.length,
      applications: planned.map(({ application, plan }) => ({
        ...applicationFields(application),
        plan: planFields(plan),
      })),
      remarks,
      guide,
    },
    next: nextOf(task, planned),
  }
}

function nextOf(task: Task, planned: readonly Planned[]): NextStep {
  const first = planned.find(({ plan }) => plan.edits.length > 0)
  if (first !== undefined) {
    const app =
      planned.length > 1
        ? [
            `--app ${visibleText(
              appName(
                first.application,
                planned.map((one) => one.application),
              ),
            )}`,
          ]
        : []
    return {
      text: 'To review every line, then write it:',
      command: task.line('apply', ...app),
    }
  }
  const isByHand = planned.some(({ plan }) => plan.manual.length > 0)
  return isByHand
    ? { text: 'To see the places and the code to paste:', command: task.line('apply') }
    : {
        text: 'Already integrated. To verify it:',
        command: task.line('verify'),
      }
}

function describe(task: Task, { application, plan }: Planned): string {
  const { columns, paint } = task.terminal
  const { variant, language, packageManager, modules } = application
  const traits = [
    variant,
    language,
    modules === 'commonjs' ? 'CommonJS' : modules === 'esm' ? 'ESM' : null,
    packageManager,
  ]
  const said = traits
    .filter((trait) => trait !== null)
    .map(plainText)
    .join(', ')
  const name = nameOf(application)
  const title = wrapUnder('', '  ', `${name}: ${said}`, columns).replace(name, (whole) =>
    paint('bold', whole),
  )
  const steps = planInShort(task, plan)
  return [
    title,
    ...application.findings.map((finding) => describeFinding(task, finding)),
    '',
    ...(steps.length === 0
      ? [wrap('  Already integrated: nothing left to do.', columns)]
      : ['What apply would do:', ...steps]),
  ].join('\n')
}

function describeFinding(task: Task, { at, confidence, detail }: Finding): string {
  const { columns, paint } = task.terminal
  const sign = confidence === 'sure' ? ' ' : confidence === 'likely' ? '~' : '?'
  const place = at === null ? '' : `  ${visibleText(at.path)}:${at.line}`
  const said = `${plainText(detail)}${confidence === 'guess' ? ' (a guess)' : ''}`
  const text = wrapUnder(`${sign} `, '  ', said, columns)
  return place === '' ? text : `${text}\n${paint('dim', `    ${place.trim()}`)}`
}

function applicationFields(application: Application) {
  const { folder, framework, variant, language, modules, entry, mount, port, confidence } =
    application
  return {
    folder,
    framework,
    variant,
    language,
    package_manager: application.packageManager,
    modules,
    entry,
    mount,
    health_path: application.healthPath,
    port,
    sign_in: application.signIn,
    confidence,
    findings: application.findings,
  }
}
