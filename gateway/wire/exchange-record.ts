/** What is told of an exchange when it is over, as far as it comes from the application. */
import { performance } from 'node:perf_hooks'
import type { UpstreamFailure } from './upstream-call.ts'

export class ExchangeRecord {
  status = 0
  failure: UpstreamFailure | null = null
  /** From the request to the head of its answer; -1 while there is none. */
  upstreamMs = -1
  #sentAtMs = 0

  sent(): void {
    this.#sentAtMs = performance.now()
  }

  headCame(): void {
    this.upstreamMs = performance.now() - this.#sentAtMs
  }
}
