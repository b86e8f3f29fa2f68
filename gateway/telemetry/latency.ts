/** Durations in buckets: what a Prometheus histogram is, before it has a name. */

/** From what a pooled application on the same machine takes to what people give up on. */
export const LATENCY_BOUNDS_MS = [
  0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000,
] as const

export interface LatencyCounts {
  /** Per bound how many were at most that long and longer than the bound before; then the rest. */
  readonly buckets: readonly number[]
  readonly sumMs: number
}

export function createLatency() {
  const buckets = new Uint32Array(LATENCY_BOUNDS_MS.length + 1)
  let sumMs = 0
  return {
    add(ms: number): void {
      let bucket = 0
      // Most end in the first few steps; a search by halves would take four for all.
      while (bucket < LATENCY_BOUNDS_MS.length && ms > LATENCY_BOUNDS_MS[bucket]!) bucket++
      buckets[bucket]!++
      sumMs += ms
    },
    take(): LatencyCounts {
      const counts = { buckets: [...buckets], sumMs }
      buckets.fill(0)
      sumMs = 0
      return counts
    },
  }
}
