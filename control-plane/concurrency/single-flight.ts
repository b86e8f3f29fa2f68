/** One run at a time for each tenant: whoever asks while it is under way gets its result. */
interface SingleFlight<Result> {
  run(tenantId: string, work: () => Promise<Result>): Promise<Result>
  /** When nothing is under way any more. */
  settled(): Promise<unknown>
}

export function createSingleFlight<Result>(): SingleFlight<Result> {
  const running = new Map<string, Promise<Result>>()

  return {
    run(tenantId, work) {
      const pending = running.get(tenantId)
      if (pending !== undefined) return pending
      const started = work().finally(() => running.delete(tenantId))
      running.set(tenantId, started)
      return started
    },
    settled: () => Promise.allSettled(running.values()),
  }
}
