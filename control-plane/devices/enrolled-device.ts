/** A machine with our agent as everybody else sees it: without its key and its chain. */
import type { DeviceFact, DevicePlatform, KeyStorage, Posture } from '../../shared/device/facts.ts'
import type { DeviceState } from '../../shared/device/messages.ts'
import type { DeviceRow, PostureRow } from '../store/queries/enrolled-devices.ts'

export interface EnrolledDevice {
  readonly deviceId: string
  readonly tenantId: string
  /** Whose it is: as its ticket said, or who first proved something with it. */
  readonly userId: string | null
  readonly platform: DevicePlatform
  readonly arch: string
  readonly hostname: string
  readonly agent: string
  readonly keyStorage: KeyStorage
  readonly machineHash: string
  readonly state: DeviceState
  /** Why it is taken for a copy. */
  readonly suspicion: string | null
  readonly enrolledAt: number
  readonly seenAt: number
  readonly posture: Posture | null
  /** Since when the value of each is what it is. */
  readonly factsSince: Partial<Record<DeviceFact, number>>
  /** Of those that are not true: since when, be it false or unknown. */
  readonly unmetSince: Partial<Record<DeviceFact, number>>
  /** When its facts were collected, by its uptime and our clock. */
  readonly collectedAt: number | null
  /** From where alone it could enroll. */
  readonly network: string | null
}

export function stateOf(
  row: Pick<DeviceRow, 'revokedAt' | 'suspectedAt' | 'approvedAt'>,
): DeviceState {
  if (row.revokedAt !== null) return 'revoked'
  if (row.suspectedAt !== null) return 'suspect_clone'
  return row.approvedAt === null ? 'pending' : 'approved'
}

export function deviceOf(
  row: DeviceRow,
  posture: Pick<PostureRow, 'posture' | 'factsSince' | 'unmetSince'> | null | undefined,
): EnrolledDevice {
  const { deviceId, tenantId, userId, platform, arch, hostname, agent, keyStorage } = row
  const { machineHash, suspicion, enrolledAt, seenAt, network, collectedAt } = row
  return {
    ...{ deviceId, tenantId, userId, platform, arch, hostname, agent, keyStorage, machineHash },
    ...{ state: stateOf(row), suspicion, enrolledAt, seenAt, network },
    posture: posture?.posture ?? null,
    factsSince: posture?.factsSince ?? {},
    unmetSince: posture?.unmetSince ?? {},
    collectedAt,
  }
}
