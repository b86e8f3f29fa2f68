/** The readers of the gateway, of people and of machines: with each proof come the lines that an application gets. */
import type { Clock } from '../../shared/clock.ts'
import {
  createMachineReader,
  type MachineReader as Machines,
} from '../../shared/enforcement/read-machine.ts'
import {
  createSessionReader,
  type ProvenSession as Proven,
  type SessionReader as Reader,
} from '../../shared/enforcement/read-session.ts'
import { SessionLines } from '../upstream/forwarding-lines.ts'

export type ProvenSession = Proven<SessionLines>
export type SessionReader = Reader<SessionLines>

export function createGatewaySessions(): SessionReader {
  return createSessionReader({ carry: (token, claims) => new SessionLines(token, claims) })
}

export type MachineReader = Machines<SessionLines>

export function createGatewayMachines(sessions: SessionReader, clock: Clock): MachineReader {
  return createMachineReader({ sessions, clock })
}
