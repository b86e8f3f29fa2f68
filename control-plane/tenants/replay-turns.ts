/** What a proposal would have changed is worked out of each tenant once at a time, whoever presses the button. */
import { SECOND_MS } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'

export function createReplayTurns() {
  const running = new Set<string>()

  return async function inTurn<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    if (running.has(tenantId))
      throw new Refusal(
        'rate_limited',
        { retry_after: LIMITS.replayMsMax / SECOND_MS },
        'Another effect of this tenant is being worked out; try again in a few seconds.',
      )
    running.add(tenantId)
    try {
      return await work()
    } finally {
      running.delete(tenantId)
    }
  }
}
