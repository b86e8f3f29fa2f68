/**
 * The strict reader of session tokens. Two halves: the proof (form, signature, issuer, audience),
 * which never changes for one token and one key set and may be cached, and `judgeTimes`, which time
 * and the tenant's settings can change and which is asked on every request.
 */
import { verify, type KeyObject } from 'node:crypto'
import { LIMITS } from '../limits.ts'
import type { TimeReason, TokenReason } from '../reasons.ts'

export interface TokenClaims {
  readonly sub: string
  readonly sid: string
  readonly iat: number
  readonly exp: number
  readonly nbf: number
  readonly authTime: number
  readonly acr: string
  readonly amr: readonly string[]
  readonly email: string
  readonly name: string
  /** In which of the groups that rules speak of, by the version of their table (access-rules.ts). */
  readonly groupBits?: Uint8Array | undefined
  readonly groupsVersion?: number
  /** Of a machine and not of a person: the service, which is its `sub` as well. */
  readonly serviceId?: string | undefined
}

/** By kid. */
export type VerificationKeys = Pick<ReadonlyMap<string, KeyObject>, 'get'>

/** Who may sign for whom. */
export interface TokenTrust {
  readonly issuer: string
  readonly audience: string
  readonly keys: VerificationKeys
}

const SEGMENT = /^[A-Za-z0-9_-]+$/
const PRINTABLE_ASCII = /^[\x21-\x7e]{1,256}$/
/** Each of these changes what is verified, or with what (RFC 7515 4.1, CVE-2026-22817). */
const REFUSED_HEADERS = ['crit', 'jwk', 'jku', 'x5c', 'x5u', 'zip', 'b64', 'enc'] as const
/** A byte order mark is no JSON, and stays where it is: without `ignoreBOM` it would vanish here. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function proveToken(token: string, trust: TokenTrust): TokenClaims | TokenReason {
  const claims = proveJws(token, trust.keys, (typ) => typ === undefined || typ === 'JWT')
  return typeof claims === 'string' ? claims : readClaims(claims, trust)
}

/** Form, header and RS256 signature of any compact JWS of ours; answers its payload. */
export function proveJws(
  token: string,
  keys: VerificationKeys,
  isTypeAccepted: (typ: unknown) => boolean,
): Record<string, unknown> | TokenReason {
  if (token.length > LIMITS.sessionTokenReadBytesMax) return 'token_too_long'
  const first = token.indexOf('.')
  const second = token.indexOf('.', first + 1)
  if (first === -1 || second === -1) return 'token_malformed'
  const headerBytes = canonicalBytes(token.slice(0, first))
  const payloadBytes = canonicalBytes(token.slice(first + 1, second))
  const signature = canonicalBytes(token.slice(second + 1))
  if (!headerBytes || !payloadBytes || !signature) return 'token_malformed'

  const header = jsonObject(headerBytes)
  if (header === undefined) return 'token_malformed'
  if (header['alg'] !== 'RS256') return 'algorithm_refused'
  const typ = Object.hasOwn(header, 'typ') ? (header['typ'] ?? null) : undefined
  if (!isTypeAccepted(typ)) return 'header_refused'
  if (REFUSED_HEADERS.some((name) => Object.hasOwn(header, name))) return 'header_refused'
  const kid = header['kid']
  const key = typeof kid === 'string' ? keys.get(kid) : undefined
  if (key === undefined) return 'key_unknown'
  if (!verify('sha256', Buffer.from(token.slice(0, second), 'latin1'), key, signature))
    return 'signature_wrong'
  return jsonObject(payloadBytes) ?? 'claims_malformed'
}

/** Made by somebody else, or for somebody else. */
export function refusedOrigin(
  { iss, aud }: Record<string, unknown>,
  trust: Pick<TokenTrust, 'issuer' | 'audience'>,
): TokenReason | undefined {
  if (iss !== trust.issuer) return 'issuer_wrong'
  const audience: unknown = Array.isArray(aud) && aud.length === 1 ? aud[0] : aud
  return audience === trust.audience ? undefined : 'audience_wrong'
}

function readClaims(claims: Record<string, unknown>, trust: TokenTrust): TokenClaims | TokenReason {
  const foreign = refusedOrigin(claims, trust)
  if (foreign !== undefined) return foreign
  const { sub, sid, iat, exp, nbf, auth_time: authTime } = claims
  if (typeof sub !== 'string' || !PRINTABLE_ASCII.test(sub)) return 'claims_malformed'
  if (typeof sid !== 'string' || !PRINTABLE_ASCII.test(sid)) return 'claims_malformed'
  if (!isSecond(iat) || !isSecond(exp)) return 'claims_malformed'
  if (nbf !== undefined && !isSecond(nbf)) return 'claims_malformed'
  // RFC 9068 2.2: who is nobody but a client is both
  const serviceId = claims['client_id']
  if (serviceId !== undefined && serviceId !== sub) return 'claims_malformed'
  return {
    sub,
    sid,
    iat,
    exp,
    nbf: nbf ?? 0,
    authTime: isSecond(authTime) ? authTime : iat,
    acr: textOf(claims['acr']),
    amr: Array.isArray(claims['amr']) ? claims['amr'].map(textOf) : [],
    email: textOf(claims['email']),
    name: textOf(claims['name']),
    groupBits: bitsOf(claims['gb']),
    groupsVersion: isSecond(claims['gv']) ? claims['gv'] : 0,
    ...(serviceId !== undefined && { serviceId: sub }),
  }
}

/** No leeway on `exp` and `nbf`, which say when; 60 s on `iat`, for a clock behind the issuer's. */
export function judgeTimes(
  claims: TokenClaims,
  nowSeconds: number,
  sessionSecondsMax: number,
): TimeReason | undefined {
  if (claims.iat > nowSeconds + LIMITS.issuedAheadSecondsMax) return 'issued_ahead'
  if (claims.nbf > nowSeconds) return 'not_yet_valid'
  if (claims.exp <= nowSeconds) return 'expired'
  if (claims.iat + sessionSecondsMax <= nowSeconds) return 'session_too_old'
  return undefined
}

/**
 * Node's decoder takes padding, `+` and `/`, white space and altered trailing bits; one token must
 * have one spelling, or a cache keyed by its text would split.
 */
function canonicalBytes(segment: string): Buffer | undefined {
  if (!SEGMENT.test(segment)) return undefined
  const bytes = Buffer.from(segment, 'base64url')
  return bytes.toString('base64url') === segment ? bytes : undefined
}

function jsonObject(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes))
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** What cannot be read is unknown, as is what is not there. */
function bitsOf(value: unknown): Uint8Array | undefined {
  return typeof value === 'string' ? canonicalBytes(value) : undefined
}

export function isSecond(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
