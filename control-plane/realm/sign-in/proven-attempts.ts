/**
 * Which browsers have proved something lately and are on their way back: theirs is a queue apart from
 * the strangers', whatever a flood does there. It lets nobody in: it only says where one waits. What
 * another control plane has seen is not known here, and waits with the strangers.
 */
import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { SteadyClock } from '../../../shared/clock.ts'
import { readCookie } from '../../../shared/enforcement/cookies.ts'
import { LIMITS } from '../../../shared/limits.ts'

const PROVEN = Symbol('the browser is given the secret of its sign-in')

interface Watched {
  [PROVEN]?: (cookieName: string, value: string) => void
}

const sha256 = (text: string) => hash('sha256', text, 'base64')

export function createProvenAttempts(clock: SteadyClock, digest = sha256) {
  let proven: LRUCache<string, true> | undefined // it takes all of its room at once
  const begin = () =>
    new LRUCache<string, true>({
      max: LIMITS.knownCredentialsMax,
      ttl: LIMITS.knownCredentialMsMax,
      ttlResolution: 0,
      perf: { now: () => clock.steadyMs() },
    })
  const keyOf = (name: string, value: string) => digest(`${name}=${value}`)

  return {
    watch(request: IncomingMessage): void {
      ;(request as Watched)[PROVEN] = (name, value) =>
        void (proven ??= begin()).set(keyOf(name, value), true)
    },
    /** Asked before any queue: of all the cookies that are shown, one is looked at. */
    isShown({ headers: { cookie = '' } }: IncomingMessage, name: string): boolean {
      const value = readCookie(cookie, name)
      return typeof value === 'string' && proven?.get(keyOf(name, value)) === true
    },
  }
}

/** Said by whoever gives a browser the secret of its sign-in, which is behind a proof. */
export function noteProven(request: IncomingMessage, cookieName: string, value: string): void {
  ;(request as Watched)[PROVEN]?.(cookieName, value)
}
