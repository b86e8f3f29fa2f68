/** What was begun on a device ends with it. */
import { revokeIn } from '../sessions/revocations.ts'
import { aliveSidsOnDevices } from '../store/queries/sessions.ts'
import type { Change } from '../store/store.ts'

/** Answers how many there were. */
export async function endSessionsOn(
  change: Change,
  tenantId: string,
  deviceIds: readonly string[],
  reason: string,
): Promise<number> {
  const sids = await aliveSidsOnDevices(change.queries, tenantId, deviceIds, change.nowMs)
  for (const sid of sids) await revokeIn(change, tenantId, { sid }, reason)
  return sids.length
}
