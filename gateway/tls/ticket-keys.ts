/**
 * Keys for session tickets, derived from a secret that the control plane tells the whole fleet: a
 * session begun at one gateway is resumed at any, without a word between them. Until a gateway has
 * heard it, its own fleet key has to do. They change with the clock: who steals one reads the TLS
 * 1.2 sessions of half a day, not of a year.
 */
import { hkdfSync } from 'node:crypto'
import { HOUR_MS, type WallClock } from '../../shared/clock.ts'

export const TICKET_PERIOD_MS = 12 * HOUR_MS
/** The key's name, the key of the HMAC, the key of AES: 16 bytes each. */
const TICKET_KEYS_BYTES = 48

export type TicketKeys = ReturnType<typeof createTicketKeys>

export function createTicketKeys(world: { fleetKey: string; clock: WallClock }) {
  const { fleetKey, clock } = world
  let secret = fleetKey
  let period = -1
  let keys = Buffer.alloc(0)
  return {
    /** The same object until they change. */
    keys() {
      const now = Math.floor(clock.nowMs() / TICKET_PERIOD_MS)
      if (now !== period) {
        period = now
        const purpose = `tls-tickets ${period}`
        keys = Buffer.from(hkdfSync('sha256', secret, '', purpose, TICKET_KEYS_BYTES))
      }
      return keys
    },
    /** undefined: there is none to share. */
    share(shared: string | undefined = fleetKey) {
      if (shared === secret) return
      secret = shared
      period = -1
    },
  }
}
