/**
 * From cookies to a session that holds, or the reason why none does. The signature check is cached
 * beside the key set that makes it true; time, revocation, idle and binding are judged every time.
 */
import { LRUCache } from 'lru-cache'
import {
  REPEATED,
  readCookie,
  SEEN_COOKIE,
  SESSION_COOKIE,
} from '../../shared/enforcement/cookies.ts'
import type { SessionVerdict } from '../../shared/enforcement/decide.ts'
import { fingerprintOf } from '../../shared/enforcement/fingerprint.ts'
import { readSeen, writeSeen, type Seen } from '../../shared/enforcement/seen.ts'
import {
  isSeenDue,
  judgeSession,
  type RevokedView,
  type SessionFacts,
} from '../../shared/enforcement/session.ts'
import { proveToken, type TokenClaims, type TokenTrust } from '../../shared/enforcement/token.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { SignInReason } from '../../shared/reasons.ts'
import type { CompiledTenant } from '../tenants/compiled.ts'

/** A token whose proof holds under `trust`, with what was last worked out for its client. */
export interface ProvenSession {
  readonly token: string
  readonly claims: TokenClaims
  readonly trust: TokenTrust
  /** `X-Service-Claims`, `-User` and `-Verified`, a CRLF behind each. */
  readonly identityLines: string
  seenText: string
  seen: Seen | undefined
  userAgent: string
  clientAddress: string
  fingerprint: string
  /** The companion cookie's new value when it is due, else ''. */
  seenDue: string
}

export interface SessionRequest {
  readonly cookies: string
  readonly userAgent: string
  readonly clientAddress: string
  readonly nowSeconds: number
  readonly tenant: CompiledTenant
  readonly revoked: RevokedView
}

export interface SessionReader {
  read(request: SessionRequest): SessionVerdict<ProvenSession>
  /** The claims of whoever sent these cookies, even where the session no longer holds. */
  claimsOf(request: SessionRequest): { token: string; claims: TokenClaims } | undefined
  readonly stats: { hits: number; misses: number }
}

export const NO_SESSION: SessionVerdict<never> = { kind: 'invalid', reason: 'no_session' }
/** Long enough to tell tokens apart, short enough to hash fast; the whole token is compared. */
const CACHE_KEY_CHARACTERS = 48

export function createSessionReader(
  entriesMax: number = LIMITS.verifyCacheEntriesMax,
): SessionReader {
  const proofs = new LRUCache<string, ProvenSession>({ max: entriesMax })
  const stats = { hits: 0, misses: 0 }

  function prove(token: string, trust: TokenTrust): ProvenSession | SignInReason {
    const key = token.slice(-CACHE_KEY_CHARACTERS)
    const cached = proofs.get(key)
    if (cached !== undefined && cached.trust === trust && cached.token === token) {
      stats.hits++
      return cached
    }
    stats.misses++
    const claims = proveToken(token, trust)
    if (typeof claims === 'string') return claims
    const session = newSession(token, claims, trust)
    proofs.set(key, session)
    return session
  }

  function find(request: SessionRequest): ProvenSession | SignInReason {
    const token = readCookie(request.cookies, SESSION_COOKIE)
    if (token === undefined) return 'no_session'
    if (token === REPEATED) return 'session_repeated'
    return prove(token, request.tenant.trust)
  }

  return {
    stats,
    read(request) {
      if (request.cookies === '') return NO_SESSION
      const session = find(request)
      if (typeof session === 'string') return { kind: 'invalid', reason: session }
      refreshClient(session, request)
      const facts: SessionFacts = {
        claims: session.claims,
        seen: session.seen,
        fingerprint: session.fingerprint,
        nowSeconds: request.nowSeconds,
      }
      const rules = request.tenant.sessionRules
      const reason = judgeSession(facts, rules, request.revoked)
      if (reason !== undefined) return { kind: 'invalid', reason }
      session.seenDue = isSeenDue(facts, rules) ? newSeen(session, request) : ''
      return { kind: 'valid', session }
    },
    claimsOf(request) {
      const session = find(request)
      return typeof session === 'string' ? undefined : session
    },
  }
}

function newSession(token: string, claims: TokenClaims, trust: TokenTrust): ProvenSession {
  return {
    token,
    claims,
    trust,
    identityLines: `X-Service-Claims: ${token}\r\nX-Service-User: ${claims.sub}\r\nX-Service-Verified: true\r\n`,
    seenText: '',
    seen: undefined,
    userAgent: '',
    clientAddress: '',
    fingerprint: '',
    seenDue: '',
  }
}

/** Works out again only what differs from the session's last request: the proof, not the decision. */
function refreshClient(session: ProvenSession, request: SessionRequest) {
  const seenText = readCookie(request.cookies, SEEN_COOKIE)
  const text = typeof seenText === 'string' ? seenText : ''
  if (text === '' || text !== session.seenText) {
    session.seen = readSeen(text, session.claims.sid, request.tenant.seenKey)
    session.seenText = session.seen === undefined ? '' : text
  }
  if (session.userAgent !== request.userAgent || session.clientAddress !== request.clientAddress) {
    session.userAgent = request.userAgent
    session.clientAddress = request.clientAddress
    session.fingerprint = fingerprintOf(request.userAgent, request.clientAddress)
  }
}

function newSeen(session: ProvenSession, request: SessionRequest): string {
  const seen = { seconds: request.nowSeconds, fingerprint: session.fingerprint }
  return writeSeen(seen, session.claims.sid, request.tenant.seenKey)
}
