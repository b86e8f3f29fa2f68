/**
 * Which keys and cookies were found good lately. A flood can show any; so what has been found good
 * further in is remembered here, by the SHA-256 of all that a request shows, and whoever shows the
 * same again is known at the door. It lets nobody in: it only says who is begun first.
 */
import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { SteadyClock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'

const FOUND_GOOD = Symbol('what it shows was found good')
const IS_KNOWN = Symbol('what it shows had been found good before')

interface Judged {
  [FOUND_GOOD]?: () => void
  [IS_KNOWN]?: boolean
}

interface KnownCredentials {
  isKnown(request: IncomingMessage): boolean
}

export function createKnownCredentials({
  clock,
  max = LIMITS.knownCredentialsMax,
}: {
  readonly clock: SteadyClock
  readonly max?: number
}): KnownCredentials {
  let goodAtMs: LRUCache<string, number> | undefined // it takes all of its room at once

  return {
    isKnown(request) {
      const { authorization, cookie } = request.headers
      if (authorization === undefined && cookie === undefined) return false
      const shown = hash('sha256', `${authorization ?? ''}\n${cookie ?? ''}`, 'base64')
      ;(request as Judged)[FOUND_GOOD] = () => {
        goodAtMs ??= new LRUCache<string, number>({ max })
        goodAtMs.set(shown, clock.steadyMs())
      }
      const atMs = goodAtMs?.get(shown)
      const isKnown = atMs !== undefined && clock.steadyMs() - atMs <= LIMITS.knownCredentialMsMax
      ;(request as Judged)[IS_KNOWN] = isKnown
      return isKnown
    },
  }
}

/** Said by whoever has just let a request in by its key, its session or the secret of its sign-in. */
export function noteGood(request: IncomingMessage | undefined) {
  ;(request as Judged | undefined)?.[FOUND_GOOD]?.()
}

/** As it was at the door. */
export const wasKnown = (request: IncomingMessage): boolean =>
  (request as Judged)[IS_KNOWN] === true
