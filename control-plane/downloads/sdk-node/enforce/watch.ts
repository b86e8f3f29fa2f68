/**
 * Whoever was let in for longer than one request, on a WebSocket, is looked at again: with every
 * piece of news, and every second for what time alone ends.
 */
import { SECOND_MS } from '../../../../shared/clock.ts'
import type { TokenClaims } from '../../../../shared/enforcement/token.ts'

export interface Watch {
  add(claims: TokenClaims, end: () => void): () => void
  /** Something has changed. */
  look(): void
  close(): void
}

interface Watched {
  readonly claims: TokenClaims
  readonly end: () => void
}

export function createWatch(mayStay: (claims: TokenClaims) => boolean): Watch {
  const watched = new Set<Watched>()
  let timer: NodeJS.Timeout | undefined

  function look() {
    for (const one of watched)
      if (!mayStay(one.claims)) {
        remove(one)
        one.end()
      }
  }

  function remove(one: Watched) {
    watched.delete(one)
    if (watched.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    look,
    add(claims, end) {
      const one = { claims, end }
      watched.add(one)
      timer ??= setInterval(look, SECOND_MS).unref()
      return () => remove(one)
    },
    close() {
      clearInterval(timer)
      watched.clear()
    },
  }
}
