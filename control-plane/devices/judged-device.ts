/** A machine as the policy judges it, read where the verdict is used. */
import { LIMITS } from '../../shared/limits.ts'
import type { JudgedDevice } from '../policy/compliance.ts'
import { devicesOfPerson, findDeviceRow, findPosture } from '../store/queries/enrolled-devices.ts'
import type { Queries } from '../store/engine.ts'
import { deviceOf, type EnrolledDevice } from './enrolled-device.ts'

/** undefined: it has been removed or revoked, or is another tenant's. */
export async function judgedDeviceIn(
  queries: Queries,
  tenantId: string,
  deviceId: string,
): Promise<JudgedDevice | undefined> {
  const row = await findDeviceRow(queries, deviceId)
  if (row?.tenantId !== tenantId || row.revokedAt !== null) return undefined
  return judgedDevice(deviceOf(row, await findPosture(queries, deviceId)))
}

/** The one of this person that was seen last; null: they have none. */
export async function lastDeviceOf(
  queries: Queries,
  tenantId: string,
  userId: string,
): Promise<JudgedDevice | null> {
  const all = await devicesOfPerson(queries, tenantId, userId, LIMITS.devicesPerPersonMax)
  const [last] = all
    .filter(({ revokedAt }) => revokedAt === null)
    .sort((a, b) => b.seenAt - a.seenAt)
  if (last === undefined) return null
  return judgedDevice(deviceOf(last, await findPosture(queries, last.deviceId)))
}

/** What the policy asks of all that is known of it. */
function judgedDevice(device: EnrolledDevice): JudgedDevice {
  const { deviceId, userId, state, platform, keyStorage, agent, enrolledAt, factsSince } = device
  const { posture, collectedAt, unmetSince } = device
  return {
    ...{ deviceId, userId, state, platform, keyStorage, agent, enrolledAt, factsSince },
    ...{ collectedAt, unmetSince },
    posture: posture && { facts: posture.facts, os: posture.os },
  }
}
