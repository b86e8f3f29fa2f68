/**
 * A device that falls out of the policy takes along what was begun on it, where an administrator
 * wants that: as soon as it says so itself, or shows as a copy. What only time does to it (grace that
 * ends, facts that become too old) is found by the next sign-in.
 */
import { compliance } from '../policy/compliance.ts'
import { SESSION_ASKED_AGAIN } from '../sessions/revocations.ts'
import { findPolicy } from '../store/queries/policies.ts'
import type { Change } from '../store/store.ts'
import { policiesIn } from '../tenants/policies.ts'
import type { EnrolledDevice } from './enrolled-device.ts'
import { endSessionsOn } from './sessions-on-devices.ts'

export async function endIfViolating(change: Change, device: EnrolledDevice): Promise<void> {
  const { queries, nowMs } = change
  const { tenantId, deviceId } = device
  const { device: decided } = await policiesIn(queries, tenantId)
  const isActedOn = decided.require === 'enrolled' && decided.mode === 'enforce'
  if (!isActedOn || decided.on_violation === 'nothing') return
  const demandedSinceMs = (await findPolicy(queries, tenantId, 'device'))?.updatedAt
  const { complies, graceUntil } = compliance(device, decided, {
    userId: null,
    nowMs,
    demandedSinceMs,
  })
  if (complies || graceUntil !== undefined) return
  const isAskedAgain = decided.on_violation === 'ask_again' && device.state !== 'suspect_clone'
  const reason = isAskedAgain ? SESSION_ASKED_AGAIN : 'device_violation'
  await endSessionsOn(change, tenantId, [deviceId], reason, decided.break_glass)
}
