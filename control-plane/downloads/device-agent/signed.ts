/**
 * Compact JWS, ES256 and nothing else. What a header may hold is listed: a field that is not known
 * here, `crit` and `jku` among them, makes it no message of ours.
 */
import { createPublicKey, verify, type KeyObject } from 'node:crypto'

/** Signs with the key of this device; 64 bytes, r and s. */
export type Sign = (bytes: Uint8Array) => Promise<Uint8Array>

export async function signedAs(
  header: Readonly<Record<string, unknown>>,
  payload: object,
  sign: Sign,
): Promise<string> {
  const input = `${encoded(JSON.stringify({ alg: 'ES256', ...header }))}.${encoded(JSON.stringify(payload))}`
  return `${input}.${Buffer.from(await sign(Buffer.from(input))).toString('base64url')}`
}

const encoded = (text: string) => Buffer.from(text).toString('base64url')

/** By key id. A key of another kind is none of ours. */
type PinnedKeys = ReadonlyMap<string, KeyObject>

export function pinnedKeys(jwks: {
  readonly keys: readonly Readonly<Record<string, unknown>>[]
}): PinnedKeys {
  const keys = new Map<string, KeyObject>()
  for (const jwk of jwks.keys) {
    const { kty, crv, kid, x, y } = jwk
    if (kty !== 'EC' || crv !== 'P-256' || typeof kid !== 'string') continue
    if (typeof x !== 'string' || typeof y !== 'string') continue
    try {
      keys.set(kid, createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' }))
    } catch {
      // a point that is not on the curve signs nothing
    }
  }
  return keys
}

/** What it says, if one of these keys has signed it as this kind of message; else null. */
export function verifiedAs(type: string, text: string, keys: PinnedKeys): unknown {
  const parts = text.split('.')
  const [header, payload, signature] = parts.map(decoded)
  if (parts.length !== 3 || !header || !payload || signature?.length !== 64) return null
  const { alg, typ, kid, ...others } = objectIn(header)
  if (alg !== 'ES256' || typ !== type || typeof kid !== 'string') return null
  if (Object.keys(others).length > 0) return null
  const key = keys.get(kid)
  if (key === undefined) return null
  const input = Buffer.from(`${parts[0]}.${parts[1]}`)
  if (!verify('sha256', input, { key, dsaEncoding: 'ieee-p1363' }, signature)) return null
  return objectIn(payload)
}

/** One spelling only: what has two could be taken for two messages. */
function decoded(part: string): Buffer | null {
  const bytes = Buffer.from(part, 'base64url')
  return bytes.length > 0 && bytes.toString('base64url') === part ? bytes : null
}

function objectIn(bytes: Buffer): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof read === 'object' && read !== null && !Array.isArray(read) ? { ...read } : {}
  } catch {
    return {}
  }
}
