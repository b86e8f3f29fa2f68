/**
 * Machines with our agent: how they come in, check in and go. Each is known by a key that it has
 * made itself, and by what we answered it last (.docs/decisions/0049-how-a-device-is-known.md).
 */
import type { Clock } from '../../shared/clock.ts'
import type { Vault } from '../keys/vault.ts'
import type { Store } from '../store/store.ts'
import type { ChallengeKeys } from './challenge-keys.ts'
import { createCheckInRoom } from './check-in-room.ts'
import { createCheckIns, type OnChanged } from './check-ins.ts'
import { createEnrolment } from './enrolment.ts'
import { createManagement } from './management.ts'
import type { DeviceTickets } from './tickets.ts'

interface DevicesWorld {
  readonly store: Store
  readonly vault: Vault
  readonly clock: Clock
  readonly baseUrl: string
  readonly deviceTickets: DeviceTickets
  readonly challengeKeys: ChallengeKeys
  readonly onChanged: OnChanged
}

export type Devices = ReturnType<typeof createDevices>

export function createDevices(world: DevicesWorld) {
  const checkInRoom = createCheckInRoom(world)
  return {
    enroll: createEnrolment(world),
    ...createCheckIns({ ...world, checkInRoom }),
    ...createManagement(world),
    /** Seconds, for one who comes too often. */
    again: () => checkInRoom.again(),
  }
}
