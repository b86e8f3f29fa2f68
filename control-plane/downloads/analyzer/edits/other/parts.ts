/** What every other language needs: a file of its own from the contract, and places to show. */
import type { Application } from '../../detection/application.ts'
import { isUnder } from '../../detection/folders.ts'
import { NO_PARTS, shown, type Parts } from '../../plan.ts'
import type { Project } from '../../project/project.ts'

/** A file that touches nothing that is there; `mark` occurs in whatever version of it. */
export async function newFile(
  project: Project,
  path: string,
  code: string,
  mark: string,
): Promise<Parts> {
  const why = 'Verifies the signature of every request and answers the probes of the service.'
  if (!project.has(path)) return { ...NO_PARTS, edits: [{ path, before: null, after: code, why }] }
  if ((await project.read(path))?.includes(mark) === true) return NO_PARTS
  const text = 'A different file with this name exists. Put this where it suits your project:'
  return shown(path, 1, text, code)
}

/** Counts from 1; null: nowhere. */
export function lineOfMatch(text: string | null, pattern: RegExp): number | null {
  return 1 + (text?.split('\n').findIndex((line) => pattern.test(line)) ?? -1) || null
}

export function lineOfLastMatch(text: string | null, pattern: RegExp): number | null {
  return 1 + (text?.split('\n').findLastIndex((line) => pattern.test(line)) ?? -1) || null
}

/** The files below the application's folder that end like this, nearest to it first. */
export function filesEnding(project: Project, { folder }: Application, end: RegExp): string[] {
  const depth = (path: string) => path.split('/').length
  return project.files
    .map(({ path }) => path)
    .filter((path) => isUnder(folder, path) && end.test(path))
    .sort((a, b) => depth(a) - depth(b))
}

/** What a snippet must have in it to be taken apart; a test takes each of them apart. */
export function between(code: string, from: string, to: string): string {
  const start = code.indexOf(from)
  const end = code.indexOf(to, start + from.length)
  if (start === -1 || end === -1) throw new Error(`a snippet without ${JSON.stringify(from)}`)
  return code.slice(start + from.length, end)
}

export function upTo(code: string, end: string): string {
  const at = code.indexOf(end)
  if (at === -1) throw new Error(`a snippet without ${JSON.stringify(end)}`)
  return code.slice(0, at)
}
