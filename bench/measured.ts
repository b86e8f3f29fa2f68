/** What the rounds of one case have shown of one peer. */
export interface Measured {
  readonly peer: string
  /** One of each per round. */
  readonly cpuUs: number[]
  readonly userUs: number[]
  /** Of what runs on another machine in real life. */
  readonly besideUs: number[]
  /** Garbage of each request, of whoever can tell. */
  readonly allocatedBytes: number[]
  readonly perSecond: number[]
  readonly p50Us: number[]
  readonly p99Us: number[]
  errors: number
  residentBytes: number
}

/** All that a run has measured: case → peer → figures. */
export type Results = ReadonlyMap<string, ReadonlyMap<string, Measured>>

export const newMeasured = (peer: string): Measured => ({
  peer,
  cpuUs: [],
  userUs: [],
  besideUs: [],
  allocatedBytes: [],
  perSecond: [],
  p50Us: [],
  p99Us: [],
  errors: 0,
  residentBytes: 0,
})

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2
}

export type Figure = 'cpuUs' | 'p50Us' | 'p99Us'

/** How far the rounds lie apart, half of it. */
export const spreadOf = (ours: Measured, theirs: Measured, figure: Figure = 'cpuUs'): number => {
  const ratios = ours[figure].map((value, round) => value / (theirs[figure][round] ?? NaN))
  return (Math.max(...ratios) - Math.min(...ratios)) / 2
}

/** The median over the rounds: in one round both meet what else the machine does. */
export const ratioOf = (ours: Measured, theirs: Measured, figure: Figure = 'cpuUs'): number =>
  median(ours[figure].map((value, round) => value / (theirs[figure][round] ?? NaN)))

/** What each has shown at its best: on a busy machine nearer to the truth than the median. */
export const leastRatioOf = (ours: Measured, theirs: Measured, figure: Figure = 'cpuUs'): number =>
  Math.min(...ours[figure]) / Math.min(...theirs[figure])
