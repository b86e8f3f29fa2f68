/** What a logout token says (OpenID Connect Back-Channel Logout 1.0, section 2.4), once its signature holds. Pure. */
import type { Claims } from './gate.ts'

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
/** As ids of providers are written: no text of anybody's, nothing of great length. */
const ID = /^[\x21-\x7e]{1,255}$/

export interface LogoutClaims {
  readonly jti: string
  /** At least one of both. */
  readonly subject: string | undefined
  readonly sid: string | undefined
}

/** A text says what is wrong. Whatever is there and no id is worth nothing, rather than left out. */
export function readLogout({ jti, sub, sid, events, nonce }: Claims): LogoutClaims | string {
  // it keeps an ID token from being taken for one (section 2.4)
  if (nonce !== undefined) return 'the logout token has a nonce'
  if (typeof events !== 'object' || events === null || Array.isArray(events))
    return 'the logout token names no event'
  const event: unknown = Object.hasOwn(events, EVENT)
    ? (events as Record<string, unknown>)[EVENT]
    : undefined
  if (typeof event !== 'object' || event === null || Array.isArray(event))
    return 'the logout token is about another event'
  if (typeof jti !== 'string' || !ID.test(jti)) return 'the logout token has no id'
  const isId = (claim: unknown) =>
    claim === undefined || (typeof claim === 'string' && ID.test(claim))
  if (!isId(sub) || !isId(sid) || (sub === undefined && sid === undefined))
    return 'the logout token names nobody'
  return { jti, subject: sub as string | undefined, sid: sid as string | undefined }
}
