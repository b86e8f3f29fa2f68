/** A Prometheus histogram of observations that somebody else has put into buckets already. */
import { Histogram, type Registry } from 'prom-client'
import { LATENCY_BOUNDS_MS, type LatencyCounts } from './latency.ts'

const BOUNDS_SECONDS = LATENCY_BOUNDS_MS.map((ms) => ms / 1000)

interface CountedHistogramOptions {
  readonly name: string
  readonly help: string
  /** The one label, or ''. */
  readonly label: string
  readonly registers: Registry[]
}

export class CountedHistogram extends Histogram {
  readonly #name: string
  readonly #help: string
  readonly #label: string
  readonly #totals = new Map<string, { readonly buckets: number[]; sumMs: number }>()

  constructor({ name, help, label, registers }: CountedHistogramOptions) {
    super({ name, help, registers, buckets: BOUNDS_SECONDS, ...(label && { labelNames: [label] }) })
    this.#name = name
    this.#help = help
    this.#label = label
  }

  absorb(labelValue: string, { buckets, sumMs }: LatencyCounts): void {
    let total = this.#totals.get(labelValue)
    if (total === undefined)
      this.#totals.set(labelValue, (total = { buckets: buckets.map(() => 0), sumMs: 0 }))
    for (const [index, count] of buckets.entries()) total.buckets[index]! += count
    total.sumMs += sumMs
  }

  override async get(): ReturnType<Histogram['get']> {
    const name = this.#name
    const values = [...this.#totals].flatMap(([labelValue, { buckets, sumMs }]) => {
      const labels = this.#label === '' ? {} : { [this.#label]: labelValue }
      let below = 0
      const lines = buckets.map((count, index) => ({
        metricName: `${name}_bucket`,
        labels: { ...labels, le: BOUNDS_SECONDS[index] ?? '+Inf' },
        value: (below += count),
      }))
      lines.push({ metricName: `${name}_sum`, labels: labels as never, value: sumMs / 1000 })
      lines.push({ metricName: `${name}_count`, labels: labels as never, value: below })
      return lines
    })
    const metric = { name, help: this.#help, type: 'histogram', values, aggregator: 'sum' }
    // prom-client's types want a `collect` that its own metrics do not return either.
    return metric as unknown as Awaited<ReturnType<Histogram['get']>>
  }

  /** What prom-client asks in place of `get` where there is one. */
  getForPromString(): ReturnType<Histogram['get']> {
    return this.get()
  }
}
