/**
 * The end of a tunnel that cannot be taken for one: what was written before arrives, and behind it
 * an error. A reset would overtake what is under way, and to Node an end in good order and one
 * without are the same.
 */
import type { Duplex } from 'node:stream'

/** An alert that nobody has sealed: no party to a connection of TLS 1.3 sends that. */
const NO_RECORD = Buffer.from([21, 3, 3, 0, 2, 2, 80])

/** What each secure connection is carried by. */
const carriers = new WeakMap<Duplex, Duplex>()

export function carriedBy(secure: Duplex, carrier: Duplex): void {
  carriers.set(secure, carrier)
}

export function breakOff(secure: Duplex, onWritten: () => void): void {
  secure.write('', () => {
    carriers.get(secure)?.write(NO_RECORD)
    onWritten()
  })
}
