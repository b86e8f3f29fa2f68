/** What an edit changes, line by line, before anything is written. Lines are cut, never wrapped. */
import { structuredPatch } from 'diff'
import type { FileEdit } from '../plan.ts'
import type { Paint, Style } from './paint.ts'
import { visibleText } from '../../command-line/words.ts'

interface DiffWishes {
  readonly paint: Paint
  /** Every line, to its end. */
  readonly isWhole: boolean
}

const LINES_MAX = 200
const LINE_CHARACTERS_MAX = 400
const CONTEXT_LINES = 3
/** Of lines; two texts with more between them have nothing in common worth looking for. */
const DIFFERENCES_MAX = 1500

interface Diff {
  readonly text: string
  readonly added: number
  readonly removed: number
  /** Not all of it is in `text`. */
  readonly isCut: boolean
}

export function diffOf(edit: FileEdit, { paint, isWhole }: DiffWishes): Diff {
  const lines = linesOf(edit)
  const isCutAcross = lines.some((line) => line.length > LINE_CHARACTERS_MAX)
  const shown = isWhole ? lines : lines.slice(0, LINES_MAX)
  const more = lines.length - shown.length
  const path = visibleText(edit.path)
  const text = [
    paint('bold', `--- ${edit.before === null ? '/dev/null' : `a/${path}`}`),
    paint('bold', `+++ b/${path}`),
    ...shown.map((line) => painted(isWhole ? line : cutAcross(line), paint)),
    ...(more > 0 ? [paint('dim', `… ${more} more ${more === 1 ? 'line' : 'lines'}`)] : []),
  ].join('\n')
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length
  return {
    text,
    added: count('+'),
    removed: count('-'),
    isCut: !isWhole && (more > 0 || isCutAcross),
  }
}

/** With their sign in front, and nothing in them that a terminal would obey. */
function linesOf({ path, before, after }: FileEdit): string[] {
  const old = before ?? ''
  const isEveryLineWindows = [before, after].every((text) => text === null || isWindows(text))
  const patch = structuredPatch(path, path, old, after, '', '', {
    context: CONTEXT_LINES,
    maxEditLength: DIFFERENCES_MAX,
  })
  const hunks = patch?.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
    ...lines,
  ]) ?? [[`@@ all of it @@`, ...signed('-', old), ...signed('+', after)]]
  return hunks
    .flat()
    .map((line) => visibleText(isEveryLineWindows ? line.replace(/\r$/, '') : line))
}

/** Of no lines it names the line before them, as every other tool does. */
const range = (start: number, lines: number) => `${lines === 0 ? start - 1 : start},${lines}`

const isWindows = (text: string) => !/(?<!\r)\n/.test(text)

function signed(sign: string, text: string): string[] {
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => sign + line)
}

function cutAcross(line: string): string {
  const more = line.length - LINE_CHARACTERS_MAX
  return more <= 0 ? line : `${line.slice(0, LINE_CHARACTERS_MAX)}… ${more} more characters`
}

const STYLES: Readonly<Record<string, Style>> = {
  '+': 'green',
  '-': 'red',
  '@': 'cyan',
  '\\': 'dim',
}

function painted(line: string, paint: Paint): string {
  const style = STYLES[line.charAt(0)]
  return style ? paint(style, line) : line
}
