/** A program of a bench that is asked what it has spent, by a message; it ends with whoever asks. */
export function tellSpent(): void {
  process.on('disconnect', () => process.exit())
  process.on('message', () => {
    globalThis.gc?.()
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed } = process.memoryUsage()
    process.send?.({ cpuMs: (user + system) / 1000, rss, heapUsed })
  })
}
