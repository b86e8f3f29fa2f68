/** What was begun on a device ends with it. */
import { revokeIn } from '../sessions/revocations.ts'
import { aliveOnDevices } from '../store/queries/sessions.ts'
import type { Change } from '../store/store.ts'

/** Answers how many there were; people who need no device keep theirs. */
export async function endSessionsOn(
  change: Change,
  tenantId: string,
  deviceIds: readonly string[],
  reason: string,
  keptBy: readonly string[] = [],
): Promise<number> {
  const alive = await aliveOnDevices(change.queries, tenantId, deviceIds, change.nowMs)
  const ended = alive.filter(({ userId }) => !keptBy.includes(userId))
  for (const { sid } of ended) await revokeIn(change, tenantId, { sid }, reason)
  return ended.length
}
