/** What is shown beside devices: how their owners are called, and what the policy makes of each. */
import { compliance, type Compliance } from '../../../policy/compliance.ts'
import type { ListedDevice } from '../../../devices/management.ts'
import type { ConsoleWorld } from '../../world.ts'

interface Known {
  readonly names: ReadonlyMap<string, string>
  /** undefined: the policy asks for no device. */
  readonly judged: ReadonlyMap<string, Compliance> | undefined
}

export function lookUpOf({ users, policies }: ConsoleWorld) {
  return async (
    tenantId: string,
    devices: readonly ListedDevice[],
    nowMs: number,
  ): Promise<Known> => {
    const ids = new Set(devices.flatMap(({ userId }) => userId ?? []))
    const people = await Promise.all([...ids].map((id) => users.find(tenantId, id)))
    const known = people.filter((user) => user !== undefined)
    const { device: policy } = await policies.of(tenantId)
    const demanded = await policies.demandedOfDevices(tenantId)
    const judged =
      policy.require === 'enrolled' && policy.mode !== 'off'
        ? new Map(
            devices.map((device) => [
              device.deviceId,
              compliance(device, policy, { userId: null, nowMs, demanded }),
            ]),
          )
        : undefined
    return { names: new Map(known.map(({ userId, name }) => [userId, name])), judged }
  }
}
