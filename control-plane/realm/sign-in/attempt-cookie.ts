/**
 * Whose an attempt is. What a sign-in begins with can be planted in somebody's browser (by a sibling
 * host, a shared machine, a network without TLS), and whoever planted it would go on with what they
 * prove. So with the first proof a browser gets a secret that nobody else has ever seen, and all
 * that follows asks for it.
 */
import { randomBytes } from 'node:crypto'
import { nowSeconds } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { PASSWORD_KEPT_MS } from './attempt-state.ts'
import { noteProven } from './proven-attempts.ts'
import { realmCookieName, sessionCookiePath, surplusCookies } from '../realm-cookies.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'

interface AttemptSecret {
  readonly value: string
  readonly hash: string
}

/** One per tab: the names tell them apart, and the values begin with their time. */
const ATTEMPT_COOKIE = /^(?:__Host-)?realm_[a-z0-9-]+_attempt_[\w-]{12}$/

/** The uid of a sign-in ends the address of the way back. */
export const attemptCookieName = (tenantId: string, uid: string, isHttps: boolean) =>
  realmCookieName(tenantId, `attempt_${uid.slice(0, 12)}`, isHttps)

export function attemptCookies(
  { tenant: { tenantId } }: Pick<Realm, 'tenant'>,
  { vault, clock, baseUrl }: Pick<RealmWorld, 'vault' | 'clock' | 'baseUrl'>,
) {
  const isHttps = baseUrl.startsWith('https:')
  const path = sessionCookiePath(tenantId, isHttps)
  const nameOf = (uid: string) => attemptCookieName(tenantId, uid, isHttps)
  const hashOf = (uid: string, value: string) =>
    vault.hash(`realm.attempt/${tenantId}/${uid}/${value}`)

  return {
    /** Of what this browser shows for a sign-in. */
    hashHeld(ctx: RealmContext, uid: string): string | undefined {
      const value = ctx.cookies.get(nameOf(uid), { signed: false })
      return value === undefined ? undefined : hashOf(uid, value)
    },

    /** Never one that was there before, however it came there. */
    mint(uid: string): AttemptSecret {
      const at = nowSeconds(clock).toString(36).padStart(7, '0')
      const value = at + randomBytes(32).toString('base64url')
      return { value, hash: hashOf(uid, value) }
    },

    /** `isProven`: with a proof; who has only asked for a mail has shown none. */
    give(ctx: RealmContext, uid: string, { value }: AttemptSecret, isProven = true): void {
      const cookie = { httpOnly: true, sameSite: 'lax', signed: false, path } as const
      const others = surplusCookies(ctx.get('cookie'), ATTEMPT_COOKIE, LIMITS.attemptCookiesMax - 1)
      for (const name of others) if (name !== nameOf(uid)) ctx.cookies.set(name, null, cookie)
      if (isProven) noteProven(ctx.req, nameOf(uid), value)
      ctx.cookies.set(nameOf(uid), value, { ...cookie, maxAge: PASSWORD_KEPT_MS })
    },
  }
}
