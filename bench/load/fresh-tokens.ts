/**
 * Tokens that a peer has not seen: signed between the rounds, as many as the peer may need, and
 * given to every peer, each of which meets each token once.
 */
import type { Running } from '../processes.ts'
import type { Sessions } from '../sessions.ts'

/** More than a tenth of what any peer does in a second. */
const PER_SECOND_MAX = 6_000

export function createFreshTokens() {
  const pool: string[] = []
  const taken = new Map<Running, number>()
  return {
    async prepare(running: Running, sessions: Sessions, seconds: number): Promise<void> {
      const end = (taken.get(running) ?? 0) + PER_SECOND_MAX * seconds
      if (pool.length < end) pool.push(...(await sessions.freshCookies(end - pool.length)))
    },
    of: (running: Running): readonly string[] => pool.slice(taken.get(running) ?? 0),
    took(running: Running, count: number): void {
      taken.set(running, (taken.get(running) ?? 0) + count)
    },
  }
}
