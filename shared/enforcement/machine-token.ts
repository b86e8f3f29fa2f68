/**
 * The token that a realm gives a machine for its secret (RFC 9068), and how it is told from the tokens
 * that an application gives out itself: those pass untouched, whatever they are. What names our realm
 * as its issuer is for us alone, however broken it is (.docs/decisions/0084-tokens-of-machines.md).
 */
import { SERVICE_ID } from '../fleet/access-rules.ts'
import { LIMITS } from '../limits.ts'
import type { TokenReason } from '../reasons.ts'
import { isSecond, proveJws, refusedOrigin, type TokenTrust } from './token.ts'

/** For nothing else: an ID token is none, and what names a machine to an application is none. */
export const MACHINE_TOKEN_TYPE = 'at+jwt'

export interface MachineTokenClaims {
  readonly serviceId: string
  /** The secret that it was given for, and ends with. */
  readonly secretId: string
  readonly iat: number
  readonly nbf: number
  readonly exp: number
}

const BEARER = /^bearer +([^\s,]+)$/i
const SECRET_ID = /^ssk_[0-9a-f]{16}$/
/** In each word what may be a payload: whatever stands behind its first dot, to the next. */
const PAYLOADS = /(?:^|[\s,;="])[^\s,;=".]*\.([^\s,;=".]+)/g
const OBJECT = /^\s*\{/
/** To find out that a text is no JSON is dear, and nobody sends more tokens than these. */
const PAYLOADS_PARSED_MAX = 4

export const isBearerScheme = (text: string): boolean => /^bearer +$/i.test(text)
/** As RFC 6750 2.1 writes it; undefined for any other spelling, and where there are several. */
export const bearerOf = (authorization: string): string | undefined =>
  BEARER.exec(authorization)?.[1]

/**
 * Whether one of these words says that it is a token of the realm. Generous where the proof is strict:
 * what we would refuse must not pass for somebody else's. Of what is no JSON the text decides, and where
 * more have to be parsed than anybody sends, it is taken for ours. Runs per request of a tenant with
 * machines, so most are told by a look (bench/micro/machines.ts).
 */
export function namesIssuer(authorization: string, issuer: string): boolean {
  if (!authorization.includes('.')) return false
  let parsedLeft = PAYLOADS_PARSED_MAX
  PAYLOADS.lastIndex = 0
  for (
    let found = PAYLOADS.exec(authorization);
    found !== null;
    found = PAYLOADS.exec(authorization)
  ) {
    const [, payload = ''] = found
    // four characters stand for three bytes, and no spelling of it has fewer than it has letters
    if (payload.length * 3 < issuer.length * 4) continue
    const text = Buffer.from(payload, 'base64url').toString()
    const isSpelled = text.includes(issuer)
    if (!isSpelled && !(text.includes('\\') && OBJECT.test(text))) continue
    if (parsedLeft-- === 0 || says(text, issuer, isSpelled)) return true
  }
  return false
}

function says(text: string, issuer: string, isSpelled: boolean): boolean {
  try {
    const { iss } = JSON.parse(text) as { readonly iss?: unknown }
    return [iss].flat().includes(issuer)
  } catch {
    return isSpelled
  }
}

export function proveMachineToken(
  token: string,
  trust: TokenTrust,
): MachineTokenClaims | TokenReason {
  const claims = proveJws(token, trust.keys, (typ) => typ === MACHINE_TOKEN_TYPE)
  if (typeof claims === 'string') return claims
  const foreign = refusedOrigin(claims, trust)
  if (foreign !== undefined) return foreign
  const { sub, client_id: clientId, secret_id: secretId, iat, exp, nbf = 0 } = claims
  if (typeof sub !== 'string' || !SERVICE_ID.test(sub) || clientId !== sub)
    return 'claims_malformed'
  if (typeof secretId !== 'string' || !SECRET_ID.test(secretId)) return 'claims_malformed'
  if (!isSecond(iat) || !isSecond(exp) || !isSecond(nbf)) return 'claims_malformed'
  if (exp - iat > LIMITS.serviceTokenSeconds) return 'claims_malformed'
  return { serviceId: sub, secretId, iat, nbf, exp }
}

/** Asked every time, as its end is (machines.ts): a proof is kept for longer than a token is good. */
export const isAhead = ({ iat, nbf }: MachineTokenClaims, nowSeconds: number): boolean =>
  iat > nowSeconds + LIMITS.issuedAheadSecondsMax || nbf > nowSeconds
