/** Rows of figures as lines that a console can draw: every line has a number for every time. */
import { beginOf, STEP_MS, type FigureRow } from '../store/queries/figures.ts'
import type { FigureOutcome, FigureSource, FigureStep } from '../store/monitoring-names.ts'

export interface SeriesSpan {
  readonly fromMs: number
  readonly toMs: number
  readonly step: FigureStep
}

export interface Line {
  readonly source: FigureSource
  readonly outcome: FigureOutcome
  readonly reason: string
  readonly total: number
  readonly counts: readonly number[]
}

export interface Series {
  /** When each minute, hour or day begins. */
  readonly times: readonly number[]
  readonly lines: readonly Line[]
}

/** From the beginning of the first minute, hour or day to the end of the last. */
export function wholeSteps({ fromMs, toMs, step }: SeriesSpan): SeriesSpan {
  return { fromMs: beginOf(step, fromMs), toMs: beginOf(step, toMs + STEP_MS[step] - 1), step }
}

type Row = Omit<FigureRow, 'tenantId' | 'step'>

/** In the order of sources, outcomes and reasons, so that a line keeps its place. */
export function openSeries({ fromMs, toMs, step }: SeriesSpan) {
  const times = Array.from(
    { length: (toMs - fromMs) / STEP_MS[step] },
    (_, place) => fromMs + place * STEP_MS[step],
  )
  const lines = new Map<string, Omit<Line, 'total' | 'counts'> & { counts: number[] }>()

  return {
    add(rows: readonly Row[]): void {
      for (const { source, outcome, reason, at, count } of rows) {
        const key = [source, outcome, reason].join(' ')
        let line = lines.get(key)
        if (line === undefined) {
          line = { source, outcome, reason, counts: times.map(() => 0) }
          lines.set(key, line)
        }
        const place = (beginOf(step, at) - fromMs) / STEP_MS[step]
        line.counts[place] = (line.counts[place] ?? 0) + count
      }
    },
    whole(): Series {
      const inOrder = [...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line)
      return {
        times,
        lines: inOrder.map((line) => ({
          ...line,
          total: line.counts.reduce((sum, count) => sum + count, 0),
        })),
      }
    },
  }
}
