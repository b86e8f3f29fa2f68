/**
 * Over TLS each record comes by itself, and one may hold a byte: small pieces of one turn of the event
 * loop go on in one write, however many there are.
 */
import type { Writable } from 'node:stream'

/** A write of its own costs more than so much is worth. */
export const SMALL_PIECE_BYTES = 256

/** For a piece that is written next. */
export function gatherInTurn(to: Writable, bytes: number): void {
  if (bytes > SMALL_PIECE_BYTES) return to.uncork()
  if (to.writableCorked > 0) return
  to.cork()
  setImmediate(letGo, to)
}

const letGo = (to: Writable): void => to.uncork()
