/**
 * Finds the one place that an edit of a guide means. Line ends do not count: a guide is written
 * with LF, and a file that has CRLF keeps it. Pure, so that both sides find the same place.
 */
import type { GuideEdit } from './guide.ts'

export type Modify = Extract<GuideEdit, { action: 'modify' }>

/** Characters from `start` to before `end` of the file's own text. */
export interface Place {
  readonly start: number
  readonly end: number
  readonly text: string
}

type Placing =
  | { readonly kind: 'place'; readonly place: Place }
  /** What it would write is there already. */
  | { readonly kind: 'applied' }
  /** Not there to be replaced; what it would leave behind is too little to be told by. */
  | { readonly kind: 'gone'; readonly detail: string }
  | { readonly kind: 'problem'; readonly detail: string }

export function placeEdit(text: string, edit: Modify): Placing {
  const find = withLf(edit.find)
  const replace = withLf(edit.replace)
  if (find === replace) return { kind: 'applied' }
  const plain = withLf(text)
  const found = occurrences(plain, find)
  if (isApplied(plain, find, replace, edit.path)) return { kind: 'applied' }
  const [start] = found
  if (start === undefined) {
    const detail = missing(plain, find)
    return isTelling(replace) ? { kind: 'problem', detail } : { kind: 'gone', detail }
  }
  if (found.length > 1) {
    const lines = found.map((at) => lineOf(plain, at))
    return { kind: 'problem', detail: `${several(found.length, lines)}: it has to name one place` }
  }
  const at = (index: number) => indexInOriginal(text, plain, index)
  const place = { start: at(start), end: at(start + find.length) }
  return { kind: 'place', place: { ...place, text: withLineEndsOf(text, replace) } }
}

const withLf = (text: string) => text.replaceAll('\r\n', '\n')

/** With CRLF in the new lines where the file has mostly that. */
function withLineEndsOf(text: string, replace: string): string {
  const crlf = text.split('\r\n').length - 1
  const lf = text.split('\n').length - 1 - crlf
  return crlf > lf ? replace.replaceAll('\n', '\r\n') : replace
}

function indexInOriginal(text: string, plain: string, index: number): number {
  if (text.length === plain.length) return index
  let at = 0
  for (let passed = 0; passed < index; passed++) at += text.startsWith('\r\n', at) ? 2 : 1
  return at
}

/** Overlapping ones count: `aa` is twice in `aaa`. */
function occurrences(text: string, find: string): number[] {
  const found: number[] = []
  for (
    let at = text.indexOf(find);
    at !== -1 && found.length < 100;
    at = text.indexOf(find, at + 1)
  )
    found.push(at)
  return found
}

/**
 * The replacement is there, once, and the text to be found nowhere but in it. A formatter may have
 * been over it since: in languages where that means nothing, spaces, quotes and commas do not count.
 */
function isApplied(plain: string, find: string, replace: string, path: string): boolean {
  if (!isTelling(replace)) return false
  if (isIn(plain, find, replace)) return true
  if (!/\.(?:[cm]?[jt]sx?|json|php|java|kt|cs|go)$/i.test(path)) return false
  const [left, sought, wanted] = [plain, find, replace].map(squeezed) as [string, string, string]
  return sought !== wanted && sought !== '' && isIn(left, sought, wanted)
}

function isIn(text: string, find: string, replace: string): boolean {
  const [at, ...more] = occurrences(text, replace)
  if (at === undefined || more.length > 0) return false
  return occurrences(text, find).every(
    (start) => start >= at && start + find.length <= at + replace.length,
  )
}

const squeezed = (text: string) => text.replaceAll(/[\s;,]+/g, '').replaceAll(/["`]/g, "'")

/** A bracket may stand anywhere; so much text does not by chance. */
const isTelling = (replace: string) => squeezed(replace).length >= 12

/** Of a longer line nobody sees how close another is. */
const COMPARED_CHARACTERS_MAX = 500

function missing(plain: string, find: string): string {
  const line = find.split('\n').find((line) => line.trim() !== '') ?? ''
  const nowhere = `${quoted(line)} is not in it`
  const sought = compared(line)
  if (sought === undefined) return nowhere
  const lines = plain.split('\n')
  const close = lines.findIndex((other) => {
    const found = compared(other)
    return found !== undefined && (found.includes(sought) || sought.includes(found))
  })
  return close === -1
    ? nowhere
    : `${nowhere}; line ${close + 1} is close: ${quoted(lines[close] ?? '')}`
}

function compared(line: string): string | undefined {
  if (line.length > COMPARED_CHARACTERS_MAX) return undefined
  const text = squeezed(line).toLowerCase()
  return text.length >= 4 ? text : undefined
}

function quoted(line: string): string {
  const text = line.trim().replaceAll(/[\p{C}\p{Default_Ignorable_Code_Point}]/gu, '\ufffd')
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text)
}

const lineOf = (text: string, at: number) => text.slice(0, at).split('\n').length

function several(count: number, lines: readonly number[]): string {
  const shown = lines.slice(0, 5).join(', ')
  const times = count >= 100 ? 'at least 100' : String(count)
  return `what is to be replaced is in it ${times} times, in lines ${shown}${lines.length > 5 ? ' …' : ''}`
}
