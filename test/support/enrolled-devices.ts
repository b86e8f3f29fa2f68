/** Devices of a tenant, enrolled and heard from without a socket. */
import type { Posture } from '../../shared/device/facts.ts'
import type { startServices } from './control-plane.ts'
import { ACTOR } from './control-plane.ts'
import {
  enrolJws,
  machineJws,
  makeDeviceKey,
  makePosture,
  random32,
  type Machine,
} from './devices.ts'

type Services = Pick<Awaited<ReturnType<typeof startServices>>, 'deviceTickets' | 'enrolledDevices'>

interface Wanted {
  /** As the machine says it when it enrolls. */
  readonly said?: Readonly<Record<string, string>>
  readonly userId?: string
  /** null: it has not reported yet. */
  readonly posture?: Posture | null
}

const FROM = { address: '192.0.2.7', requestId: 'request-of-a-device' }

/** Of `acme`. */
export async function enrolDevice(services: Services, wanted: Wanted = {}): Promise<Machine> {
  const { said = {}, userId, posture = makePosture() } = wanted
  const platform = said['platform'] === 'windows' ? 'windows' : 'linux'
  const asked = {
    platform,
    uses: 1,
    expiresIn: 3600,
    ...(userId !== undefined && { userId }),
  } as const
  const { ticket } = await services.deviceTickets.make('acme', asked, ACTOR)
  const own = makeDeviceKey()
  const { device_id: deviceId, next } = await services.enrolledDevices.enroll(
    ticket,
    enrolJws(own, said),
    FROM,
  )
  const started = { bootId: random32(), ctr: 0, prev: next }
  const machine: Machine = { deviceId, own, ...started, posture: posture ?? makePosture() }
  if (posture !== null) await report(services, machine)
  return machine
}

/** A check-in with all of its facts. */
export async function report(services: Services, machine: Machine): Promise<void> {
  const jws = machineJws(machine, 'checkIn', { posture: machine.posture })
  const { next } = await services.enrolledDevices.checkIn(jws, FROM)
  machine.prev = next
  machine.ctr++
}
