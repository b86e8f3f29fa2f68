/**
 * Which browsers have proved something lately and are on their way back: theirs is a queue apart from
 * the strangers', whatever a flood does there. It lets nobody in: it only says where one waits. What
 * another control plane has seen is not known here, and waits with the strangers.
 */
import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'

const PROVEN = Symbol('the browser is given the secret of its sign-in')

interface Watched {
  [PROVEN]?: (cookieName: string, value: string) => void
}

export interface ProvenAttempts {
  watch(request: IncomingMessage): void
  isShown(request: IncomingMessage): boolean
}

export function createProvenAttempts(clock: Clock): ProvenAttempts {
  const provenAtMs = new LRUCache<string, number>({ max: LIMITS.knownCredentialsMax })
  const keyOf = (pair: string) => hash('sha256', pair, 'base64')

  return {
    watch(request) {
      ;(request as Watched)[PROVEN] = (name, value) =>
        void provenAtMs.set(keyOf(`${name}=${value}`), clock.nowMs())
    },
    isShown({ headers: { cookie } }) {
      if (cookie === undefined || provenAtMs.size === 0) return false
      return cookie.split(';').some((pair) => {
        if (!pair.includes('_attempt_')) return false
        const atMs = provenAtMs.get(keyOf(pair.trim()))
        return atMs !== undefined && clock.nowMs() - atMs <= LIMITS.knownCredentialMsMax
      })
    },
  }
}

/** Said by whoever gives a browser the secret of its sign-in, which is behind a proof. */
export function noteProven(request: IncomingMessage, cookieName: string, value: string): void {
  ;(request as Watched)[PROVEN]?.(cookieName, value)
}
