/** What was begun on a device ends with it. */
import { revokeEachIn } from '../sessions/revocations.ts'
import { aliveOnDevices } from '../store/queries/sessions.ts'
import type { Change } from '../store/store.ts'

/** Answers how many there were; of some people alone, where that is said. */
export async function endSessionsOn(
  change: Change,
  tenantId: string,
  deviceIds: readonly string[],
  reason: string,
  isOfThese: (userId: string) => boolean = () => true,
): Promise<number> {
  const alive = await aliveOnDevices(change.queries, tenantId, deviceIds, change.nowMs)
  const ended = alive.filter(({ userId }) => isOfThese(userId))
  await revokeEachIn(change, tenantId, ended, reason)
  return ended.length
}
