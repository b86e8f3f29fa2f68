/** Whether a session goes on without showing its device (once more). */
import type { ClientAuthorizationState } from 'oidc-provider'
import { judgedDeviceIn } from '../devices/judged-device.ts'
import { compliance } from '../policy/compliance.ts'
import { isProofDemanded } from '../policy/device.ts'
import type { RealmWorld } from './world.ts'

interface DeviceSession {
  readonly accountId?: string | undefined
  readonly authorizations?: Readonly<Record<string, ClientAuthorizationState>> | undefined
}

/**
 * What only warns has warned when the session began. What the device says by now counts where the
 * administrator wants sessions to follow it.
 */
export async function lacksDevice(
  { store, policies, clock }: Pick<RealmWorld, 'store' | 'policies' | 'clock'>,
  tenantId: string,
  clientId: string,
  { accountId, authorizations }: DeviceSession,
): Promise<boolean> {
  const decided = await policies.of(tenantId)
  if (decided.device.mode !== 'enforce' || !isProofDemanded(accountId, decided)) return false
  const deviceId = authorizations?.[clientId]?.deviceId
  if (deviceId === undefined) return true
  const device = await judgedDeviceIn(store.read, tenantId, deviceId)
  if (device === undefined) return true
  if (decided.device.on_violation === 'nothing') return false
  const asked = { userId: accountId ?? null, nowMs: clock.nowMs() }
  const { complies, graceUntil } = compliance(device, decided.device, asked)
  return !complies && graceUntil === undefined
}
