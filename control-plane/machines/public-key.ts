/**
 * A machine's public key, as somebody uploads it: a JWK, or a set of one. Pure. What verifies a signature
 * is kept and all else left behind; a private key is refused, so that nobody gets used to sending one.
 */
import { createPublicKey } from 'node:crypto'
import { LIMITS } from '../../shared/limits.ts'
import type { PublicJwk } from '../store/service-tables.ts'

type ReadKey =
  | { readonly kind: 'key'; readonly key: PublicJwk }
  | { readonly kind: 'wrong'; readonly wish: string }

export const KEY_WISH =
  'a public key as JWK, or a JWK Set with one: P-256 (ES256), Ed25519 (EdDSA), or RSA of ' +
  `${LIMITS.serviceKeyBitsMin} to ${LIMITS.serviceKeyBitsMax} bits with the exponent 65537 (RS256)`
const PRIVATE_WISH =
  'a public key, and this one is private: treat it as leaked, make a new pair and send its public half'
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
const COMMON_EXPONENT = 'AQAB'

const wrong = (wish = KEY_WISH): ReadKey => ({ kind: 'wrong', wish })

export function readPublicKey(given: unknown): ReadKey {
  const jwk = onlyOf(given)
  if (jwk === undefined) return wrong()
  if (PRIVATE.some((name) => jwk.has(name))) return wrong(PRIVATE_WISH)
  const bare = bareOf(jwk)
  if (bare === undefined || !isMeantForThis(jwk, bare.alg) || !isSound(bare)) return wrong()
  const kid = jwk.get('kid')
  if (kid === undefined) return { kind: 'key', key: bare }
  const isShort = typeof kid === 'string' && kid.length <= LIMITS.serviceKeyIdCharactersMax
  return isShort && /^[!-~]+$/.test(kid) ? { kind: 'key', key: { ...bare, kid } } : wrong()
}

type Members = ReadonlyMap<string, unknown>

function onlyOf(given: unknown): Members | undefined {
  const jwk = membersOf(given)
  if (jwk?.has('keys') !== true) return jwk
  const keys = jwk.get('keys')
  return Array.isArray(keys) && keys.length === 1 ? membersOf(keys[0]) : undefined
}

const membersOf = (given: unknown): Members | undefined =>
  typeof given === 'object' && given !== null && !Array.isArray(given)
    ? new Map(Object.entries(given))
    : undefined

function bareOf(jwk: Members): PublicJwk | undefined {
  const text = (name: string) => {
    const value = jwk.get(name)
    return typeof value === 'string' && /^[A-Za-z0-9_-]{1,1000}$/.test(value) ? value : ''
  }
  const [kty, crv] = [jwk.get('kty'), jwk.get('crv')]
  if (kty === 'EC' && crv === 'P-256') return { kty, alg: 'ES256', crv, x: text('x'), y: text('y') }
  if (kty === 'OKP' && crv === 'Ed25519') return { kty, alg: 'EdDSA', crv, x: text('x') }
  if (kty === 'RSA') return { kty, alg: 'RS256', n: text('n'), e: text('e') }
  return undefined
}

function isMeantForThis(jwk: Members, alg: PublicJwk['alg']): boolean {
  const operations = jwk.get('key_ops')
  return (
    (!jwk.has('alg') || jwk.get('alg') === alg) &&
    (!jwk.has('use') || jwk.get('use') === 'sig') &&
    (!jwk.has('key_ops') || (Array.isArray(operations) && operations.includes('verify')))
  )
}

/** A point that is on its curve, a modulus that is long enough: OpenSSL looks. */
function isSound(key: PublicJwk): boolean {
  try {
    const { asymmetricKeyDetails: details } = createPublicKey({ key: { ...key }, format: 'jwk' })
    if (key.kty !== 'RSA') return true
    const bits = details?.modulusLength ?? 0
    const isSized = bits >= LIMITS.serviceKeyBitsMin && bits <= LIMITS.serviceKeyBitsMax
    return isSized && key.e === COMMON_EXPONENT
  } catch {
    return false
  }
}
