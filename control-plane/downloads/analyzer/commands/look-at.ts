/** The project as it lies there, and the applications in it; and which of them is meant. */
import { sep } from 'node:path'
import type { Application, Detection } from '../detection/application.ts'
import { detect } from '../detection/detect.ts'
import { Problem } from '../../command-line/exit.ts'
import { nearest } from '../../../../shared/nearest.ts'
import { openProject, ProjectProblem } from '../project/open-project.ts'
import type { Project } from '../project/project.ts'
import { visibleText } from '../../command-line/words.ts'
import type { Task } from './command.ts'
import { makeSureOfFolder } from './wide-folder.ts'

export interface LookedAt {
  readonly project: Project
  readonly detection: Detection
}

export async function lookAt(task: Task): Promise<LookedAt> {
  await makeSureOfFolder(task)
  return task.terminal.during('Analyzing the project', async (tell) => {
    try {
      const project = await openProject(task.folder, {
        onProgress: ({ files, folders }) => tell(`${files} files in ${folders} folders`),
      })
      tell('reading its code')
      return { project, detection: await detect(project) }
    } catch (error) {
      if (!(error instanceof ProjectProblem)) throw error
      throw new Problem('folder_unreadable', visibleText(error.message))
    }
  })
}

/** For a person: `apps/api (express)`. */
export function nameOf({ folder, framework }: Application): string {
  return `${folder === '' ? 'this folder' : visibleText(folder)} (${framework})`
}

/** As `--app` takes it: the folder, or where this holds several, the folder and the file. */
export function appName(application: Application, all: readonly Application[] = []): string {
  const { folder } = application
  const name = folder === '' ? '.' : folder
  const isOnly = all.filter((one) => one.folder === folder).length < 2
  const file = fileOf(application)
  return isOnly || file === null ? name : `${name}:${file}`
}

/** Where it is made, from its folder; of Next.js, which has no such place, what starts it. */
function fileOf({ folder, mount, entry }: Application): string | null {
  const path = (mount ?? entry)?.path ?? null
  const isInside = path !== null && folder !== '' && path.startsWith(`${folder}/`)
  return isInside ? path.slice(folder.length + 1) : path
}

export async function chooseApplication(task: Task, looked: LookedAt): Promise<Application> {
  const [first, second] = await chooseApplications(task, looked)
  if (first !== undefined && second === undefined) return first
  throw new Problem(
    'option_invalid',
    'This command handles one application: choose one with --app.',
  )
}

/** At least one. */
export async function chooseApplications(
  task: Task,
  { detection }: LookedAt,
): Promise<readonly Application[]> {
  const { applications } = detection
  if (applications.length === 0) throw nothingFound(task)
  const wanted = new Set(task.given.apps)
  if (wanted.size > 0) return [...wanted].map((app) => applicationIn(applications, app))
  if (applications.length === 1) return applications
  if (task.terminal.isInteractive && !task.isAgreed) return [await askWhich(task, applications)]
  throw new Problem(
    'application_unclear',
    `Found ${applications.length} applications here. Choose one with --app:`,
    ...applications.map(
      (application) =>
        `--app ${visibleText(appName(application, applications))} (${application.framework})`,
    ),
  )
}

async function askWhich(task: Task, applications: readonly Application[]): Promise<Application> {
  applications.forEach((application, index) => task.show(`  ${index + 1}  ${nameOf(application)}`))
  const index = await task.terminal.choose('Which one?', applications.length)
  const chosen = index === null ? undefined : applications[index]
  if (chosen !== undefined) return chosen
  throw new Problem('declined', 'None chosen. Nothing was changed.')
}

function applicationIn(applications: readonly Application[], wanted: string): Application {
  const [, before = '', file = null] = /^([^:]*):(.+)$/.exec(wanted) ?? []
  const folder = normalised(file === null ? wanted : before)
  const found = applications.filter((application) => application.folder === folder)
  const isMeant = (application: Application) =>
    file === null || [fileOf(application), application.entry?.path].includes(normalised(file))
  // of several in a folder the first is what its start reaches first
  const [meant] = found.filter(isMeant)
  if (meant !== undefined) return meant
  const names = applications.map((application) => appName(application, applications))
  const near = nearest(wanted.slice(0, 100), names) ?? names[0] ?? ''
  throw new Problem(
    'option_invalid',
    `No application found in ${JSON.stringify(visibleText(wanted))}; did you mean ${visibleText(near)}?`,
    `Found: ${names.map(visibleText).join(', ')}`,
  )
}

function normalised(folder: string): string {
  const plain = folder
    .replaceAll(sep, '/')
    .replace(/^(?:\.\/)+/, '')
    .replace(/\/+$/, '')
  return plain === '.' ? '' : plain
}

export function nothingFound(task: Task): Problem {
  return new Problem(
    'nothing_found',
    `No supported web application found in ${visibleText(task.folder)}.`,
    'If it is in another folder: service-analyzer analyze FOLDER',
    `Code to paste for every framework: ${task.access.baseUrl().text}/api/v1/contract`,
  )
}
