/** Full jitter, so that a thousand machines do not come back in one moment; it never gives up. */
const BACKOFF_MS = { least: 250, most: 30_000 } as const

export function backoffMs(failures: number, random: () => number): number {
  const { least, most } = BACKOFF_MS
  const ceiling = Math.min(most, least * 2 ** Math.min(failures, 20))
  return Math.round(random() * ceiling)
}
