/** A series as what is drawn of it: requests, refusals by reason, sign-ins. Pure. */
import {
  type FigureOutcome,
  type FigureSource,
  REFUSAL_OUTCOMES,
} from '../../store/monitoring-names.ts'
import type { Line, Series } from '../../monitoring/series.ts'
import type { Tenant } from '../../tenants/tenants.ts'
import type { ChartLine } from '../blocks/chart.ts'
import { outcomeText, reasonText } from './wording.ts'

/** More lines than that nobody can tell apart. */
const REASONS_NAMED_MAX = 5

const REFUSALS: ReadonlySet<string> = new Set(REFUSAL_OUTCOMES)
const isRefusal = ({ outcome }: Pick<Line, 'outcome'>) => REFUSALS.has(outcome)

type Which = (line: Line) => boolean
const isOf = (source: FigureSource, ...outcomes: FigureOutcome[]): Which => {
  const wanted: ReadonlySet<FigureOutcome> = new Set(outcomes)
  return (line) => (line.source === 'realm') === (source === 'realm') && wanted.has(line.outcome)
}

function totalOf({ lines }: Series, isMeant: Which): number {
  return lines.filter(isMeant).reduce((sum, { total }) => sum + total, 0)
}

function added({ times, lines }: Series, isMeant: Which): number[] {
  const sums = times.map(() => 0)
  for (const line of lines.filter(isMeant))
    for (const [place, count] of line.counts.entries()) sums[place] = (sums[place] ?? 0) + count
  return sums
}

/**
 * In sdk mode the application reports what it refused; whom it let through it keeps to itself, but for
 * machines.
 */
export const areRequestsCounted = (series: Series, mode?: Tenant['mode']): boolean =>
  mode !== 'sdk' || totalOf(series, isCountedByGateways) > 0
const isCountedByGateways: Which = ({ source, outcome }) =>
  source === 'edge' && (outcome === 'forwarded' || outcome === 'sign_in')

const REQUESTS = isOf('edge', 'forwarded', 'sign_in', 'sealed', 'refused', 'terminate', 'other')

/** What stands at the top of the page. */
export const totals = (series: Series, mode?: Tenant['mode']) =>
  [
    ...(areRequestsCounted(series, mode) ? [['Requests', totalOf(series, REQUESTS)] as const] : []),
    ['Refusals', totalOf(series, isRefusal)],
    ['Sign-ins', totalOf(series, isOf('realm', 'signed_in'))],
    ['Second factors requested', totalOf(series, ({ outcome }) => outcome === 'step_up')],
  ] as const

const lineOf =
  (series: Series, source: FigureSource) =>
  (label: string, tone: NonNullable<ChartLine['tone']>, ...outcomes: FigureOutcome[]) => ({
    label,
    values: added(series, isOf(source, ...outcomes)),
    tone,
  })

export function requestLines(series: Series, mode?: Tenant['mode']): ChartLine[] {
  const line = lineOf(series, 'edge')
  const passed = [
    line('Forwarded', 'good', 'forwarded'),
    line('Redirected to sign-in', 'plain', 'sign_in'),
  ]
  return [
    ...(areRequestsCounted(series, mode) ? passed : []),
    line('Refused or sealed', 'bad', 'refused', 'sealed', 'terminate'),
  ]
}

export function signInLines(series: Series): ChartLine[] {
  const line = lineOf(series, 'realm')
  return [
    line('Signed in', 'good', 'signed_in'),
    line('Wrong password or code', 'warm', 'failed'),
    line('Denied by policy', 'bad', 'denied'),
    {
      label: 'Second factor requested',
      tone: 'plain',
      values: added(series, ({ outcome }) => outcome === 'step_up'),
    },
  ]
}

/** A line each for the reasons that were given most, and one for all others. */
export function refusalLines(series: Series): ChartLine[] {
  const reasons = outcomesAndReasons(series).filter(isRefusal)
  const named = reasons.slice(0, REASONS_NAMED_MAX)
  const isSame = (a: Pick<Line, 'outcome' | 'reason'>, b: Pick<Line, 'outcome' | 'reason'>) =>
    a.outcome === b.outcome && a.reason === b.reason
  const lines = named.map((one) => ({
    label: lineName(one),
    values: added(series, (line) => isSame(line, one)),
  }))
  if (reasons.length === named.length) return lines
  const isLeft: Which = (line) => isRefusal(line) && !named.some((one) => isSame(line, one))
  return [...lines, { label: 'Other reasons', values: added(series, isLeft) }]
}

function lineName({ outcome, reason }: Pick<Line, 'outcome' | 'reason'>): string {
  const text = reasonText(reason)
  return reason === '' || reason === outcome
    ? outcomeText(outcome)
    : `${outcomeText(outcome)}: ${text}`
}

type Counted = Pick<Line, 'outcome' | 'reason' | 'total'>

/** Whoever decided it; those that were counted most first. */
export function outcomesAndReasons({ lines }: Series): Counted[] {
  const byName = Map.groupBy(lines, ({ outcome, reason }) => `${outcome} ${reason}`)
  return [...byName.values()]
    .flatMap((own) => {
      const [first] = own
      if (first === undefined) return []
      const total = own.reduce((sum, line) => sum + line.total, 0)
      return [{ outcome: first.outcome, reason: first.reason, total }]
    })
    .sort((a, b) => b.total - a.total || (lineName(a) < lineName(b) ? -1 : 1))
}
