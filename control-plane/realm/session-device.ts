/** Whether a session goes on without showing its device (once more). */
import type { ClientAuthorizationState } from 'oidc-provider'
import { judgedDeviceIn } from '../devices/judged-device.ts'
import { compliance } from '../policy/compliance.ts'
import { isProofDemanded } from '../policy/device.ts'
import { SESSION_ASKED_AGAIN } from '../sessions/revocations.ts'
import { demandedIn } from '../tenants/policies.ts'
import type { RealmWorld } from './world.ts'

type DeviceWorld = Pick<RealmWorld, 'store' | 'policies' | 'sessions' | 'clock'>

interface DeviceSession {
  readonly accountId?: string | undefined
  readonly authorizations?: Readonly<Record<string, ClientAuthorizationState>> | undefined
}

/**
 * What only warns has warned when the session began. What the device says by now counts where the
 * administrator wants sessions to follow it.
 */
export async function lacksDevice(
  { store, policies, sessions, clock }: DeviceWorld,
  tenantId: string,
  clientId: string,
  { accountId, authorizations }: DeviceSession,
): Promise<boolean> {
  const decided = await policies.of(tenantId)
  if (decided.device.mode !== 'enforce' || !isProofDemanded(accountId, decided)) return false
  const { deviceId, sid } = authorizations?.[clientId] ?? {}
  if (deviceId === undefined) return true
  const known = sid === undefined ? undefined : await sessions.find(tenantId, sid)
  if (known?.endReason === SESSION_ASKED_AGAIN) return true
  const device = await judgedDeviceIn(store.read, tenantId, deviceId)
  if (device === undefined) return true
  if (decided.device.on_violation === 'nothing') return false
  const demanded = await demandedIn(store.read, tenantId)
  const asked = { userId: accountId ?? null, nowMs: clock.nowMs(), demanded }
  const { complies, graceUntil } = compliance(device, decided.device, asked)
  return !complies && graceUntil === undefined
}
