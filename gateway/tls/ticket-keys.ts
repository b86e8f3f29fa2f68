/**
 * Keys for session tickets. All workers of a gateway derive the same ones from its fleet key, so a
 * session begun at one is resumed at any, without a word between them; gateways with keys of their
 * own do not read each other's, and a handshake there is a whole one. They change with the clock:
 * who steals one reads the TLS 1.2 sessions of half a day, not of a year.
 */
import { hkdfSync } from 'node:crypto'
import { HOUR_MS, type Clock } from '../../shared/clock.ts'

export const TICKET_PERIOD_MS = 12 * HOUR_MS
/** The key's name, the key of the HMAC, the key of AES: 16 bytes each. */
const TICKET_KEYS_BYTES = 48

export interface TicketKeys {
  /** Grows with every change of the keys. */
  period(): number
  keys(): Buffer
}

export function createTicketKeys(world: { fleetKey: string; clock: Clock }): TicketKeys {
  const period = () => Math.floor(world.clock.nowMs() / TICKET_PERIOD_MS)
  return {
    period,
    keys: () =>
      Buffer.from(
        hkdfSync('sha256', world.fleetKey, '', `tls-tickets ${period()}`, TICKET_KEYS_BYTES),
      ),
  }
}
