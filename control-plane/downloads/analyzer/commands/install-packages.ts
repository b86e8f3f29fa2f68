/** Has the project's package manager bring in what its package.json names now, if somebody agrees. */
import { spawn } from 'node:child_process'
import type { Application } from '../detection/application.ts'
import { installArguments, installCommand } from '../edits/install-command.ts'
import { isNode } from '../edits/notes.ts'
import type { Plan } from '../plan.ts'
import type { Project } from '../project/project.ts'
import type { Task } from './command.ts'

export interface Installed {
  readonly command: string | null
  readonly isFailed: boolean
  /** What is still to be run. */
  readonly wanted: string | null
}

export const NOTHING_INSTALLED: Installed = { command: null, isFailed: false, wanted: null }

/** Our own commands only: what a guide brings along is shown to a person and never run. */
export async function installPackages(
  task: Task,
  project: Project,
  applications: readonly Application[],
  plan: Plan,
): Promise<Installed> {
  const isNamed = plan.edits.some(({ path }) => /(?:^|\/)package\.json$/.test(path))
  return isNamed ? installFor(task, project, applications) : NOTHING_INSTALLED
}

/** Asks first, unless it was said beforehand; `why` is added to the question. */
export async function installFor(
  task: Task,
  project: Project,
  applications: readonly Application[],
  why = '',
): Promise<Installed> {
  const wanting = applications.filter(isNode)
  const calls = new Map(
    wanting.map((one) => [installCommand(project, one), installArguments(project, one)]),
  )
  if (calls.size === 0) return NOTHING_INSTALLED
  const command = [...calls.keys()].join(' && ')
  if (!(await isAgreed(task, `Run ${command} now${why}?`)))
    return { ...NOTHING_INSTALLED, wanted: command }
  for (const call of calls.values())
    if (!(await run(task, call, project.root))) return { command, isFailed: true, wanted: command }
  return { command, isFailed: false, wanted: null }
}

async function isAgreed({ given, terminal, isAgreed }: Task, question: string): Promise<boolean> {
  if (given.flags.has('install')) return true
  return terminal.isInteractive && !isAgreed && terminal.confirm(question)
}

/** It runs code of packages, which is given no key; what it prints is not ours to pass on as data. */
async function run(task: Task, call: readonly string[], root: string): Promise<boolean> {
  const { SERVICE_ANALYZER_KEY: _key, ...environment } = task.world.environment
  const [program = '', ...args] = call
  const ended = await new Promise<number | null>((resolve) => {
    const child = spawn(program, args, {
      cwd: root,
      env: environment,
      stdio: ['ignore', task.world.stderr.isTTY ? 2 : 'pipe', 2],
      shell: process.platform === 'win32', // npm is a batch file there; our arguments are plain
    })
    child.stdout?.pipe(task.world.stderr, { end: false })
    child.once('error', () => resolve(null))
    child.once('close', resolve)
  })
  if (ended === 0) return true
  task.warn(
    ended === null
      ? `${program} could not be started. Check that it is on the PATH.`
      : `${program} failed with ${ended}; the written changes stay.`,
  )
  return false
}
