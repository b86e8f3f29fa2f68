/**
 * From cookies to a session that holds, or the reason why none does. The signature check is cached
 * beside the key set that makes it true; time, revocation, idle and binding are judged every time.
 */
import {
  HOPS_COOKIE,
  REPEATED,
  readCookie,
  readCookies,
  seenCookieName,
  SESSION_COOKIE,
} from './cookies.ts'
import { companionCookies } from './companions.ts'
import type { SessionVerdict } from './decide.ts'
import { fingerprintOf } from './fingerprint.ts'
import { flat } from './flat.ts'
import { readSeen, writeSeen, type SealingKeys, type Seen } from './seen.ts'
import {
  isSeenDue,
  judgeSession,
  type RevokedView,
  type SessionFacts,
  type SessionRules,
} from './session.ts'
import { TokenProofs, type TokenProof } from './token-proofs.ts'
import { proveToken, type TokenClaims, type TokenTrust } from './token.ts'
import { LIMITS } from '../limits.ts'
import type { SignInReason, TokenReason } from '../reasons.ts'

/** A token whose proof holds under `trust`, with what was last worked out for its client. */
export interface ProvenSession<Carried = unknown> extends TokenProof {
  /** What goes on to the application on its behalf, made once. */
  readonly carried: Carried
  /** The whole Cookie header of the last request, '' for a long one, and what it said by `seenKeys`. */
  cookies: string
  /** Which companion was read: over TLS only the one that no other host can set. */
  isCookieSecure: boolean
  hasHops: boolean
  seenKeys: readonly Buffer[]
  seenText: string
  seen: Seen | undefined
  userAgent: string
  clientAddress: string
  fingerprint: string
}

export interface SessionRequest {
  readonly cookies: string
  readonly userAgent: string
  readonly clientAddress: string
  readonly isCookieSecure: boolean
  readonly nowSeconds: number
  readonly tenant: SessionTenant
  readonly revoked: RevokedView
}

/** What a session is held against. The same objects until they change: they are compared as such. */
export interface SessionTenant {
  readonly trust: TokenTrust
  readonly sessionRules: SessionRules
  readonly seenKeys: SealingKeys
}

interface SentSession {
  readonly token: string
  readonly claims: TokenClaims
  /** It was not tossed in: the only one, or the one whose companion came with it. */
  readonly isOwn: boolean
}

export const NO_SESSION: SessionVerdict<never> = { kind: 'invalid', reason: 'no_session' }
interface SessionReaderOptions<Carried> {
  readonly entriesMax?: number
  carry(token: string, claims: TokenClaims): Carried
}

export type SessionReader<Carried = unknown> = ReturnType<typeof createSessionReader<Carried>>

export function createSessionReader<Carried>({
  entriesMax = LIMITS.verifyCacheEntriesMax,
  carry,
}: SessionReaderOptions<Carried>) {
  type Session = ProvenSession<Carried>
  const proofs = new TokenProofs<Session>(entriesMax, proveToken, (proof) => ({
    ...proof,
    ...NEW_SESSION,
    carried: carry(proof.token, proof.claims),
  }))

  /**
   * The session of a client that sends the very header it sent before: nothing has to be taken
   * apart again. Where any doubt is, the header is read from its beginning.
   */
  function recall({ cookies, tenant, isCookieSecure }: SessionRequest): Session | undefined {
    const at = cookies.indexOf(SESSION_COOKIE)
    if (at === -1) return undefined
    const semicolon = cookies.indexOf(';', at)
    const end = semicolon === -1 ? cookies.length : semicolon
    const session = proofs.endingAt(cookies, end)
    if (session === undefined || session.trust !== tenant.trust) return undefined
    if (session.seenKeys !== tenant.seenKeys || session.cookies !== cookies) return undefined
    return session.isCookieSecure === isCookieSecure ? session : undefined
  }

  function find(request: SessionRequest): Session | SignInReason {
    const token = readCookie(request.cookies, SESSION_COOKIE)
    if (token === undefined) return 'no_session'
    if (token === REPEATED) return 'session_repeated'
    return personOf(proofs.prove(token, request.tenant.trust))
  }

  return {
    stats: proofs.stats,
    read(request: SessionRequest): SessionVerdict<Session> {
      if (request.cookies === '') return NO_SESSION
      const recalled = recall(request)
      if (recalled !== undefined) proofs.stats.hits++
      const session = recalled ?? find(request)
      if (typeof session === 'string') return { kind: 'invalid', reason: session }
      if (recalled === undefined) refreshCookies(session, request)
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
      const seenDue = isSeenDue(facts, rules) ? newSeen(session, request) : ''
      const cookies = companionCookies({
        seenDue,
        hasHops: session.hasHops,
        isSecure: request.isCookieSecure,
        secondsLeft: session.claims.exp - request.nowSeconds,
      })
      return { kind: 'valid', session, cookies, isSeenDue: seenDue !== '' }
    },
    /** One that we made to name a service to the application; a reason where it no longer holds. */
    prove: (token: string, { trust }: Pick<SessionTenant, 'trust'>): Session | SignInReason =>
      proofs.prove(token, trust),
    /** The claims of whoever sent these cookies, even where the session no longer holds. */
    claimsOf(request: SessionRequest): SentSession | undefined {
      const session = find(request)
      if (typeof session === 'string') return undefined
      return { token: session.token, claims: session.claims, isOwn: true }
    },
    /**
     * All that these cookies prove, where they are more than one: each is its bearer's to end. Of those
     * that are not known from before, two are proven; the others only lose their cookies.
     */
    allOf({ cookies, tenant, isCookieSecure }: SessionRequest): readonly SentSession[] {
      const tokens = readCookies(cookies, SESSION_COOKIE)
      const seenText = readCookie(cookies, seenCookieName(isCookieSecure))
      const seen = typeof seenText === 'string' ? seenText : ''
      const { trust } = tenant
      let proofsLeft: number = LIMITS.tokensProvenPerRequestMax
      return [...new Set(tokens)].flatMap((sent) => {
        const session =
          proofs.known(sent, trust) ?? (proofsLeft-- > 0 ? proofs.prove(sent, trust) : 'unproven')
        if (typeof session === 'string' || typeof personOf(session) === 'string') return []
        const { token, claims } = session
        const isOwn =
          tokens.length === 1 || readSeen(seen, claims.sid, tenant.seenKeys) !== undefined
        return [{ token, claims, isOwn }]
      })
    },
  }
}

/** What names a machine to an application is nobody's session, wherever it has been found. */
function personOf<Proof extends TokenProof>(proof: Proof | TokenReason): Proof | TokenReason {
  if (typeof proof === 'string') return proof
  return proof.claims.serviceId === undefined ? proof : 'claims_malformed'
}

const NEW_SESSION = {
  cookies: '',
  isCookieSecure: false,
  hasHops: false,
  seenKeys: [],
  seenText: '',
  seen: undefined,
  userAgent: '',
  clientAddress: '',
  fingerprint: '',
}

/** Works out again only what differs from the session's last request: the proof, not the decision. */
function refreshCookies(session: ProvenSession, request: SessionRequest) {
  const { seenKeys } = request.tenant
  const seenText = readCookie(request.cookies, seenCookieName(request.isCookieSecure))
  const text = typeof seenText === 'string' ? seenText : ''
  if (text === '' || text !== session.seenText || session.seenKeys !== seenKeys) {
    session.seen = readSeen(text, session.claims.sid, seenKeys)
    session.seenText = session.seen === undefined ? '' : flat(text)
    session.seenKeys = seenKeys
  }
  // fifty thousand sessions of a long header each would be a gigabyte
  const isShort = request.cookies.length <= LIMITS.rememberedCookiesMax
  session.cookies = isShort ? flat(request.cookies) : ''
  session.isCookieSecure = request.isCookieSecure
  session.hasHops = request.cookies.includes(HOPS_COOKIE)
}

function refreshClient(session: ProvenSession, request: SessionRequest) {
  const { userAgent, clientAddress } = request
  if (session.userAgent !== userAgent || session.clientAddress !== clientAddress) {
    const isShort = userAgent.length <= LIMITS.userAgentTextMax
    session.userAgent = isShort ? flat(userAgent) : NOT_KEPT
    session.clientAddress = flat(clientAddress) // it may be a part of X-Forwarded-For
    session.fingerprint = fingerprintOf(userAgent, clientAddress)
  }
}

/** No header holds it, so it equals none: what came is looked at anew each time. */
const NOT_KEPT = '\n'

function newSeen(session: ProvenSession, request: SessionRequest): string {
  const seen = { seconds: request.nowSeconds, fingerprint: session.fingerprint }
  return writeSeen(seen, session.claims.sid, request.tenant.seenKeys[0])
}
