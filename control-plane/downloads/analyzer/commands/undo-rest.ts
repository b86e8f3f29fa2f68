/** What setup did beside its edits, and what an edit cannot take back: said, and offered. */
import * as files from 'node:fs/promises'
import { folderOf, nameOf, under, upwards } from '../detection/folders.ts'
import { Problem } from '../../command-line/exit.ts'
import { envLinesOf } from '../journal/env-line.ts'
import { visibleText, wrap } from '../../command-line/words.ts'
import type { NextStep, Task } from './command.ts'
import { installFor } from './install-packages.ts'
import { lookAt } from './look-at.ts'

interface Rest {
  readonly lines: readonly string[]
  /** Of files that no plan touches, and a line was taken out of. */
  readonly cleaned: readonly string[]
  readonly protection: 'on' | 'pass-through' | null
  /** Of all that is left the one thing that matters. */
  readonly next: NextStep | null
}

/** The journal has what apply wrote, and nobody else's work. */
const NOT_REVERTED =
  'Not reverted: manual steps, and what your package manager installed and wrote to its lock file (run its install again to clean up).'

/** The files are back already: only node_modules has it still. */
const REMOVES = ' to remove the package'

/** `undone` is null where nothing was applied. */
export async function undoRest(task: Task, undone: readonly string[] | null): Promise<Rest> {
  const restored = undone ?? []
  const { columns } = task.terminal
  const root = await files.realpath(task.folder).catch(() => task.folder)
  const cleaned = await envLinesOf({ ...task.world, files }).takeOut(root)
  const isManifestRestored = restored.some((path) => nameOf(path) === 'package.json')
  const lines = cleaned.map((path) => `  cleaned  ${visibleText(path)}`)
  if (isManifestRestored && !(await isUninstalled(task, restored)))
    lines.push('', wrap(NOT_REVERTED, columns))
  const protection = await protectionLeft(task, undone !== null)
  if (protection === 'turned off')
    lines.push('', wrap('Protection is off: every request passes through again.', columns))
  if (await isKeySaved(task))
    lines.push('', wrap('The saved key stays; service-analyzer logout removes it.', columns))
  const isLeftOn = protection === 'on'
  return {
    lines,
    cleaned,
    protection: protection === 'turned off' ? 'pass-through' : protection,
    next: isLeftOn
      ? { text: 'Protection is still on. To turn it off:', command: 'service-analyzer go-back' }
      : null,
  }
}

/** Installs once more, if somebody at a terminal agrees: so the package goes. */
async function isUninstalled(task: Task, restored: readonly string[]): Promise<boolean> {
  if (!task.terminal.isInteractive || task.isAgreed) return false
  const { project, detection } = await lookAt(task)
  const folders = new Set(restored.filter((path) => nameOf(path) === 'package.json').map(folderOf))
  const applications = detection.applications.filter(({ folder }) => {
    const at = upwards(folder).find((above) => project.has(under(above, 'package.json')))
    return at !== undefined && folders.has(at)
  })
  const { command, isFailed } = await installFor(task, project, applications, REMOVES)
  return command !== null && !isFailed
}

/**
 * null: nobody knows without a key, and nobody is asked for one. The key may be of another project's
 * tenant, so only who was asked about this one, or says so by a flag, turns it off; a yes to the files
 * is none to that.
 */
async function protectionLeft(
  task: Task,
  isReverted: boolean,
): Promise<'on' | 'pass-through' | 'turned off' | null> {
  const { access, terminal, isAgreed, given } = task
  try {
    const api = await access.apiIfKeyKnown()
    if (api === null) return null
    const { protection, tenant_id: id } = await api.facts()
    if (protection !== 'on') return protection
    if (!isReverted) return 'on'
    const question = `Protection of tenant ${id} is still on. Turn it off as well?`
    const isWanted = given.flags.has('go-back')
    const mayAsk = terminal.isInteractive && !isAgreed
    if (!isWanted && !(mayAsk && (await terminal.confirm(question)))) return 'on'
    const answer = await api.goBack()
    return 'done' in answer ? 'turned off' : 'on'
  } catch (error) {
    // files are reverted without a key and without a network
    if (error instanceof Problem && error.code !== 'interrupted') return null
    throw error
  }
}

async function isKeySaved({ access, profile }: Task): Promise<boolean> {
  try {
    return (await profile.read(access.baseUrl().text)) !== null
  } catch {
    return false
  }
}
