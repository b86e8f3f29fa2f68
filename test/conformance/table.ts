/**
 * The promise of the product as tables: the same tenant contract is enforced alike at the edge and
 * inside an application. A table names requests and the decision that each requires.
 *
 * Runs a table: each case is asked of every target at the same time; every cell has to be what the
 * table requires, and all cells of a case have to be equal.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import type { Case, Cell, Received, Required } from './case.ts'
import { cellOf } from './cell.ts'
import type { Target } from './target.ts'
import type { As } from './world.ts'
import { DIFFERENCES } from './wire-differences.ts'

/** What is to come of a request to an ordinary path: who is let in, or why nobody is. */
export type Sight = { readonly user: string } | { readonly reason: string }

export function expected(sight: Sight, as: As): Required {
  if ('user' in sight) {
    const { user } = sight
    return { outcome: 'forward', application: { user, verified: 'true', foreign: [] } }
  }
  if (as === 'navigation') return { outcome: 'sign_in_redirect', application: null }
  const reason = `sign_in_required: ${sight.reason}`
  return { outcome: 'sign_in_401', reason, application: null }
}

/** What matters is which cell it is, not which line of this file. */
const NO_PLACE = { at: null, stack: '', source: '' }
const LINE_CHARACTERS_MAX = 70
const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\r\n')
    .filter((line) => !line.startsWith('User-Agent: '))
    .map((line) => line.slice(0, LINE_CHARACTERS_MAX))

export async function runTable(
  t: Test,
  targets: readonly Target[],
  cases: readonly Case[],
): Promise<void> {
  for (const given of cases) {
    const problems = await problemsOf(given, targets)
    if (problems.length === 0) t.pass(given.name)
    else t.fail(given.name, { problems, asked: linesOf(given.ask), ...NO_PLACE })
  }
  t.comment(`${cases.length} cases × ${targets.length} targets`)
}

async function problemsOf(given: Case, targets: readonly Target[]): Promise<string[]> {
  const cells = await Promise.all(targets.map((target) => hear(target, given.ask)))
  const first = cells[0]!
  const targetsByProblem = new Map<string, string[]>()
  for (const [index, target] of targets.entries()) {
    const left = given.nodeAnswers === undefined ? target.leftOf?.(given.ask) : given.ask
    const problems =
      target.leftOf === undefined || left === given.ask
        ? problemsOfCell(given, target.name, first, cells[index]!)
        : problemsOfLeft(
            given,
            left === undefined ? undefined : await hear(targets[0]!, left),
            cells[index]!,
          )
    for (const problem of problems)
      targetsByProblem.set(problem, [...(targetsByProblem.get(problem) ?? []), target.name])
  }
  return [...targetsByProblem].map(([problem, names]) => `${names.join(', ')}: ${problem}`)
}

export async function hear(target: Target, text: string): Promise<Cell> {
  return cellOf(await target.ask(text), /^[^ ]+ \/service\//.test(text))
}

/** What is left of a request is decided on as the edge decides on just that; of nothing, nobody. */
function problemsOfLeft({ inside }: Case, edge: Cell | undefined, cell: Cell): string[] {
  if (edge === undefined) return violations({ outcome: 'refused_400', application: null }, cell)
  if (edge.reason === 'host_unknown' && inside !== undefined) return violations(inside, cell)
  return inequalities(edge, cell)
}

function problemsOfCell(given: Case, target: string, first: Cell, cell: Cell): string[] {
  for (const { expected, why } of DIFFERENCES) {
    const other = expected(target, first, given)
    if (other === undefined) continue
    const isStale = isDeepStrictEqual(first, cell)
    return isStale ? [`is as the gateway now, strike this: ${why}`] : violations(other, cell)
  }
  return [...violations(given.required, cell), ...inequalities(first, cell)]
}

/** `outcome: required sealed_404, came forward`. */
export function violations(required: Required, cell: Cell): string[] {
  return Object.entries(required).flatMap(([field, wanted]) => {
    const came = cell[field as keyof Cell]
    if (field === 'outcome' && Array.isArray(wanted))
      return wanted.includes(came)
        ? []
        : [`outcome: required ${wanted.join(' or ')}, came ${cell.outcome}`]
    if (field !== 'application' || wanted === null) return compared(field, 'required', wanted, came)
    if (came === null) return [] // nothing was forwarded, and whether that is right says `outcome`
    const told = { groups: '', ...(wanted as Partial<Received>) }
    return Object.entries(told).flatMap(([part, value]) =>
      compared(
        `application.${part}`,
        'required',
        value,
        (came as Received)[part as keyof Received],
      ),
    )
  })
}

export function inequalities(first: Cell, cell: Cell): string[] {
  return (Object.keys(first) as (keyof Cell)[]).flatMap((field) => {
    const [wanted, came] = [first[field], cell[field]]
    if (field !== 'application' || wanted === null || came === null)
      return compared(field, 'the gateway', wanted, came)
    return (Object.keys(wanted) as (keyof Received)[]).flatMap((part) =>
      compared(
        `application.${part}`,
        'the gateway',
        (wanted as Received)[part],
        (came as Received)[part],
      ),
    )
  })
}

function compared(field: string, who: string, wanted: unknown, came: unknown): string[] {
  if (isDeepStrictEqual(wanted, came)) return []
  if (!Array.isArray(wanted) || !Array.isArray(came))
    return [`${field}: ${who} ${shown(wanted)}, came ${shown(came)}`]
  const missing = (wanted as unknown[]).filter((item) => !came.includes(item))
  const added = (came as unknown[]).filter((item) => !wanted.includes(item))
  return [`${field}: ${who} ${shown(missing)}, came ${shown(added)}`]
}

const SHOWN_CHARACTERS_MAX = 400
const shown = (value: unknown) =>
  (typeof value === 'string' && value !== '' ? value : JSON.stringify(value)).slice(
    0,
    SHOWN_CHARACTERS_MAX,
  )
