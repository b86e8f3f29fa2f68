/** A file of code, and what can be asked of it without parsing it. */
import { LIMITS } from '../../../../../shared/limits.ts'
import { lineAt } from '../../syntax/places.ts'
import type { Project } from '../../project/project.ts'
import type { Place } from '../application.ts'
import { blank, type SourceLanguage } from './blank.ts'

export interface Source {
  readonly path: string
  readonly text: string
  /** The same without comments and insides of strings: what is found in it is code. */
  readonly code: string
}

export interface Hit {
  readonly index: number
  /** Where the match ends. */
  readonly end: number
  readonly match: RegExpExecArray
}

const LANGUAGES: Readonly<Record<string, SourceLanguage>> = {
  py: 'python',
  rb: 'ruby',
  ru: 'ruby',
  php: 'php',
  java: 'java',
  kt: 'kotlin',
  kts: 'kotlin',
  gradle: 'groovy',
  cs: 'csharp',
  go: 'go',
}

/** In the language of its file's name; a name without one, such as Gemfile, is Ruby's. */
export function sourceOf(path: string, text: string): Source {
  const [, end = ''] = /\.(\w+)$/.exec(path) ?? []
  return { path, text, code: blank(text, LANGUAGES[end] ?? 'ruby') }
}

export async function readSources(project: Project, paths: readonly string[]): Promise<Source[]> {
  const sources: Source[] = []
  // one after the other: thousands of open files help nobody
  for (const path of paths) {
    const text = await project.read(path)
    if (text !== null) sources.push(sourceOf(path, text))
  }
  return sources
}

/** Where code, not a comment or a string, reads like this; of a file of nothing else, the first. */
export function hits({ code }: Pick<Source, 'code'>, pattern: RegExp): Hit[] {
  const found: Hit[] = []
  for (const match of code.matchAll(
    new RegExp(pattern, [...new Set(`${pattern.flags}g`)].join('')),
  )) {
    found.push({ match, index: match.index, end: match.index + match[0].length })
    if (found.length >= LIMITS.detectionHitsMax) break
  }
  return found
}

export function firstHit({ code }: Pick<Source, 'code'>, pattern: RegExp): Hit | null {
  const match = pattern.exec(code)
  return match === null ? null : { match, index: match.index, end: match.index + match[0].length }
}

export function placeAt({ path, text }: Pick<Source, 'path' | 'text'>, index: number): Place {
  return { path, line: lineAt(text, index) }
}

/** The string that stands there, maybe behind blanks and a prefix; null where none does. */
export function stringAt({ text, code }: Source, index: number): string | null {
  const [before = '', quotes] =
    /^\s*[a-zA-Z@$]{0,2}("""|'''|["'`])/.exec(code.slice(index, index + 200)) ?? []
  if (quotes === undefined) return null
  const start = index + before.length
  const end = code.indexOf(quotes, start)
  return end === -1 ? null : text.slice(start, end)
}

/** The string that stands behind what the code reads like between two places. */
export function stringBehind(
  source: Source,
  pattern: RegExp,
  start = 0,
  end = source.code.length,
): string | null {
  const found = pattern.exec(source.code.slice(start, end))
  return found && stringAt(source, start + found.index + found[0].length)
}

/** Those that open brackets at their end around a place, the outermost first. */
export function hitsAround(source: Source, opens: RegExp, index: number): Hit[] {
  return hits(source, opens).filter((hit) => hit.index < index && closeOf(source, hit.end) > index)
}

/** All strings of the lists that stand behind what the code reads like. */
export function stringsBehind(source: Source, pattern: RegExp) {
  return hits(source, pattern).flatMap(({ end }) =>
    stringsBetween(source, end, closeOf(source, end)),
  )
}

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

/** Behind the bracket that closes the one at `index`; the end of the file where none does. */
export function closeOf({ code }: Pick<Source, 'code'>, index: number): number {
  const expected: string[] = []
  for (let at = index; at < code.length; at++) {
    const character = code.charAt(at)
    const closing = CLOSING[character]
    if (closing !== undefined) expected.push(closing)
    else if (character === expected.at(-1)) {
      expected.pop()
      if (expected.length === 0) return at + 1
    }
  }
  return code.length
}

/** All strings between two places, in their order. */
export function stringsBetween(
  source: Source,
  start: number,
  end: number,
): { value: string; index: number }[] {
  const found: { value: string; index: number }[] = []
  for (let at = start; at < end;) {
    const [, quotes] = /^("""|'''|["'`])/.exec(source.code.slice(at, at + 3)) ?? []
    if (quotes === undefined) {
      at++
      continue
    }
    const close = source.code.indexOf(quotes, at + quotes.length)
    if (close === -1) break
    found.push({ value: source.text.slice(at + quotes.length, close), index: at })
    at = close + quotes.length
  }
  return found
}
