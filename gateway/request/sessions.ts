/** The session reader of the gateway: with each proof come the lines that an application gets. */
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
