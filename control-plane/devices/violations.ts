/**
 * A device that falls out of the policy takes along what was begun on it, where an administrator
 * wants that: at once when it says so itself or shows as a copy; within minutes when time does it
 * (grace that ends, facts that become too old) or the policy demands more than before.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import type { Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { compliance } from '../policy/compliance.ts'
import type { Demanded } from '../policy/demanded.ts'
import type { DevicePolicy } from '../policy/policies.ts'
import { SESSION_ASKED_AGAIN } from '../sessions/revocations.ts'
import { changeInBatches } from '../store/change-in-batches.ts'
import type { Queries } from '../store/engine.ts'
import { findDeviceRow, findPosture } from '../store/queries/enrolled-devices.ts'
import { tenantsWithPolicy } from '../store/queries/policies.ts'
import { aliveOnDevices, devicesInUse } from '../store/queries/sessions.ts'
import { findTenant } from '../store/queries/tenants.ts'
import type { Change, Store } from '../store/store.ts'
import { demandedIn, policiesIn } from '../tenants/policies.ts'
import { deviceOf, type EnrolledDevice } from './enrolled-device.ts'
import { endSessionsOn } from './sessions-on-devices.ts'

/** What is demanded, and since when. */
interface ActedOn {
  readonly decided: DevicePolicy
  readonly demanded: readonly Demanded[]
}

/** Answers how many sessions end. */
export async function endIfViolating(change: Change, device: EnrolledDevice): Promise<number> {
  const { queries, nowMs } = change
  const { tenantId, deviceId } = device
  const demanded = await actedOn(queries, tenantId)
  if (demanded === undefined) return 0
  const { on_violation: wanted } = demanded.decided
  const isAskedAgain = wanted === 'ask_again' && device.state !== 'suspect_clone'
  const reason = isAskedAgain ? SESSION_ASKED_AGAIN : 'device_violation'
  const isOut = (userId: string) => isViolating(device, userId, demanded, nowMs)
  return endSessionsOn(change, tenantId, [deviceId], reason, isOut)
}

/** undefined: what a device falls out of ends nothing. */
async function actedOn(queries: Queries, tenantId: string): Promise<ActedOn | undefined> {
  if ((await findTenant(queries, tenantId)) === undefined) return undefined
  const { device: decided } = await policiesIn(queries, tenantId)
  const isActedOn = decided.require === 'enrolled' && decided.mode === 'enforce'
  if (!isActedOn || decided.on_violation === 'nothing') return undefined
  return { decided, demanded: await demandedIn(queries, tenantId) }
}

/** For this person: whose the device is may matter, and some need none. */
function isViolating(
  device: EnrolledDevice,
  userId: string,
  { decided, demanded }: ActedOn,
  nowMs: number,
): boolean {
  if (decided.break_glass.includes(userId)) return false
  const asked = { userId, nowMs, demanded }
  const { complies, graceUntil } = compliance(device, decided, asked)
  return !complies && graceUntil === undefined
}

async function deviceIn(queries: Queries, deviceId: string): Promise<EnrolledDevice | undefined> {
  const row = await findDeviceRow(queries, deviceId)
  return row && deviceOf(row, await findPosture(queries, deviceId))
}

/** Devices that are read between two turns of the event loop. */
const PAGE = 100

/**
 * Looks at each device on which somebody is signed in, so many a round, and goes on there with the
 * next one. A start begins anew; whoever is judged twice is judged the same.
 */
export function createViolationSweep({ store, clock }: { store: Store; clock: Clock }) {
  let reached = { tenantId: '', deviceId: '' }

  async function judgePage(tenantId: string, ids: readonly string[], demanded: ActedOn) {
    const violating: string[] = []
    const nowMs = clock.nowMs()
    const alive = await aliveOnDevices(store.read, tenantId, ids, nowMs)
    for (const [deviceId, sessions] of Map.groupBy(alive, (session) => session.deviceId)) {
      const device = deviceId === null ? undefined : await deviceIn(store.read, deviceId)
      if (device === undefined) continue
      const isOut = ({ userId }: { userId: string }) => isViolating(device, userId, demanded, nowMs)
      if (sessions.some(isOut)) violating.push(device.deviceId)
    }
    await changeInBatches(store, violating, async (change, deviceId) => {
      const device = await deviceIn(change.queries, deviceId)
      if (device !== undefined) await endIfViolating(change, device)
    })
    await breathe()
  }

  /** How many there were; fewer than `most`: all of this tenant that come behind `after`. */
  async function judgeTenant(tenantId: string, after: string, most: number): Promise<number> {
    const demanded = await actedOn(store.read, tenantId)
    let [judged, deviceId] = [0, after]
    while (demanded !== undefined && judged < most) {
      const limit = Math.min(PAGE, most - judged)
      const ids = await devicesInUse(store.read, tenantId, deviceId, clock.nowMs(), limit)
      if (ids.length === 0) break
      await judgePage(tenantId, ids, demanded)
      judged += ids.length
      deviceId = ids.at(-1) ?? deviceId
      reached = { tenantId, deviceId }
    }
    return judged
  }

  return {
    async run(isClosed: () => boolean = () => false): Promise<void> {
      let left: number = LIMITS.devicesJudgedPerRoundMax
      left -= await judgeTenant(reached.tenantId, reached.deviceId, left)
      while (left > 0 && !isClosed()) {
        const [tenantId] = await tenantsWithPolicy(store.read, 'device', reached.tenantId, 1)
        reached = { tenantId: tenantId ?? '', deviceId: '' }
        if (tenantId === undefined) return // the next round begins with the first
        left -= await judgeTenant(tenantId, '', left)
      }
    },
  }
}
