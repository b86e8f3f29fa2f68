/**
 * What a guide would make of a project's files: all of it, or nothing and every reason. Every edit
 * is placed in the text as it is now, whatever the others do, so their order cannot matter.
 */
import {
  changesProblems,
  editProblem,
  type Change,
  type EditProblem,
  type EditRules,
} from './edit-rules.ts'
import type { GuideEdit } from './guide.ts'
import { foldedPath } from './path-rules.ts'
import { placeEdit, type Modify, type Place } from './place-edit.ts'

/** A file as it is: its text without byte order mark, or why there is none. */
export type FileText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable' }

interface GuideChange extends Change {
  readonly why: string
}

type GuideChanges =
  /** Without those that are made already: none is left where all are. */
  | { readonly kind: 'changes'; readonly changes: readonly GuideChange[] }
  | { readonly kind: 'refused'; readonly problems: readonly EditProblem[] }

export function changesOf(
  edits: readonly GuideEdit[],
  textAt: (path: string) => FileText,
  rules: EditRules,
): GuideChanges {
  const problems: EditProblem[] = edits.flatMap((edit) => {
    const detail = editProblem(edit)
    return detail === null ? [] : [{ path: edit.path, detail }]
  })
  // a path that is out of bounds is not even looked at
  if (problems.length > 0) return { kind: 'refused', problems }

  const files = grouped(edits, ({ path }) => path)
  const outcomes = [...files].map(([path, edits]) => fileOutcome(path, edits, textAt(path)))
  const changes = outcomes.flatMap(({ change }) => (change === null ? [] : [change]))
  problems.push(...outcomes.flatMap((outcome) => outcome.problems))
  // what leaves no trace behind is taken for done where all the rest is
  const isDone = changes.length === 0 && outcomes.some(({ applied }) => applied > 0)
  if (!isDone) problems.push(...outcomes.flatMap(({ gone }) => gone))
  const known = new Set(problems.map(({ path }) => path))
  problems.push(...changesProblems(changes, rules).filter(({ path }) => !known.has(path)))
  problems.push(...sameFiles([...files.keys()]))
  return problems.length > 0 ? { kind: 'refused', problems } : { kind: 'changes', changes }
}

interface FileOutcome {
  readonly change: GuideChange | null
  readonly applied: number
  readonly gone: readonly EditProblem[]
  readonly problems: readonly EditProblem[]
}

function fileOutcome(path: string, edits: readonly GuideEdit[], file: FileText): FileOutcome {
  const refused = (detail: string): FileOutcome => ({ ...NOTHING, problems: [{ path, detail }] })
  const [first] = edits
  if (first === undefined) return NOTHING
  if (file.kind === 'unreadable')
    return refused('cannot be read as text in UTF-8, or is too large to be edited')
  const modifies = edits.filter((edit) => edit.action === 'modify')
  if (first.action === 'create' && modifies.length === 0 && edits.length === 1)
    return createOutcome(first, file)
  if (modifies.length < edits.length) return refused('is to be created, and edited once more')
  if (file.kind === 'absent') return refused('is to be edited and is not there')
  return modifyOutcome(path, modifies, file.text)
}

const NOTHING: FileOutcome = { change: null, applied: 0, gone: [], problems: [] }

function createOutcome(edit: GuideEdit & { action: 'create' }, file: FileText): FileOutcome {
  const { path, content, why } = edit
  if (file.kind === 'absent')
    return { ...NOTHING, change: { path, before: null, after: content, why } }
  const isThere = file.kind === 'text' && withLf(file.text) === withLf(content)
  return isThere
    ? { ...NOTHING, applied: 1 }
    : { ...NOTHING, problems: [{ path, detail: 'is to be created and is there already' }] }
}

const withLf = (text: string) => text.replaceAll('\r\n', '\n')

function modifyOutcome(path: string, edits: readonly Modify[], before: string): FileOutcome {
  const places: Place[] = []
  const gone: EditProblem[] = []
  const problems: EditProblem[] = []
  let applied = 0
  for (const [index, edit] of edits.entries()) {
    const which = edits.length > 1 ? `edit ${index + 1} of it: ` : ''
    const placing = placeEdit(before, edit)
    if (placing.kind === 'place') places.push(placing.place)
    else if (placing.kind === 'applied') applied++
    else (placing.kind === 'gone' ? gone : problems).push({ path, detail: which + placing.detail })
  }
  places.sort((left, right) => left.start - right.start)
  if (places.some((place, index) => index > 0 && place.start < (places[index - 1]?.end ?? 0)))
    problems.push({ path, detail: 'has edits that overlap: they are to be one' })
  if (places.length === 0 || problems.length > 0) return { change: null, applied, gone, problems }
  const after = withPlaces(before, places)
  const why = edits.map(({ why }) => why).filter((why) => why !== '')
  return { change: { path, before, after, why: why.join(' ') }, applied, gone, problems }
}

function withPlaces(text: string, places: readonly Place[]): string {
  let at = 0
  let after = ''
  for (const place of places) {
    after += text.slice(at, place.start) + place.text
    at = place.end
  }
  return after + text.slice(at)
}

/** Also among those where nothing is left to do. */
function sameFiles(paths: readonly string[]): EditProblem[] {
  const byFold = grouped(paths, foldedPath)
  return [...byFold.values()].flatMap(([first, second]) =>
    first === undefined || second === undefined
      ? []
      : [{ path: second, detail: `is the same file as ${first} where capitals do not count` }],
  )
}

/** Map.groupBy, which Node 20 does not have. */
function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  return groups
}
