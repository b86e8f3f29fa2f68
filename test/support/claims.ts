/** A tenant's keys and tokens, and a `fetch` that stands for the service's key endpoint. */
import { createHash } from 'node:crypto'
import { newSigningKey, signRs256, type SigningKey } from './tokens.ts'

export const BASE_URL = 'https://service.example.test'
export const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0)
const NOW = NOW_MS / 1000

const keyCache: SigningKey[] = []

/** Making one costs more than most tests: they share a few. */
export function signingKey(index = 0): SigningKey {
  return (keyCache[index] ??= named(newSigningKey('')))
}

/** The service names its keys by their RFC 7638 thumbprint; who reads them from a file does too. */
function named(key: SigningKey): SigningKey {
  const { e, kty, n } = key.publicKey.export({ format: 'jwk' })
  const kid = createHash('sha256').update(JSON.stringify({ e, kty, n })).digest('base64url')
  return { ...key, kid }
}

export function claimsOf(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    iss: `${BASE_URL}/auth/realms/acme`,
    aud: 'acme-user',
    sub: 'usr_ada',
    sid: 'ses_1',
    iat: NOW - 60,
    exp: NOW + 3600,
    auth_time: NOW - 60,
    amr: ['pwd'],
    email: 'ada@example.test',
    name: 'Ada',
    ...more,
  }
}

export function tokenOf(more: Record<string, unknown> = {}, key = signingKey()): string {
  return signRs256(key, { alg: 'RS256', kid: key.kid, typ: 'JWT' }, claimsOf(more))
}

export function probeOf(more: Record<string, unknown> = {}, key = signingKey()): string {
  const claims = {
    iss: `${BASE_URL}/auth/realms/acme`,
    aud: 'acme-user',
    nonce: 'a-nonce-of-this-probe',
    iat: NOW,
    exp: NOW + 60,
  }
  return signRs256(
    key,
    { alg: 'RS256', kid: key.kid, typ: 'service-probe+jwt' },
    { ...claims, ...more },
  )
}

/** What the service says of whether the tenant is live. */
export function statementOf(
  protection: unknown,
  more: Record<string, unknown> = {},
  key = signingKey(),
  typ = 'service-protection+jwt',
): string {
  const claims = {
    iss: `${BASE_URL}/auth/realms/acme`,
    aud: 'acme-user',
    iat: NOW,
    exp: NOW + 30,
    protection,
  }
  return signRs256(key, { alg: 'RS256', kid: key.kid, typ }, { ...claims, ...more })
}

/**
 * What `verifyClaims()` needs to run without a service; `keys` and `asked` (for them) can be changed
 * and read. It says nothing of protection, unless `statement` does.
 */
export function claimsWorld(keys: SigningKey[] = [signingKey()]) {
  const world = {
    keys,
    asked: 0,
    askedOfProtection: 0,
    statement: undefined as (() => Response | Promise<Response>) | undefined,
    isDown: false,
    nowMs: NOW_MS,
    warnings: [] as string[],
    options: {
      baseUrl: BASE_URL,
      tenantId: 'acme',
      nowMs: () => world.nowMs,
      onWarning: (message: string) => void world.warnings.push(message),
      fetch: (async (url: string) => {
        if (url === `${BASE_URL}/tenants/acme/protection`) {
          world.askedOfProtection++
          if (world.isDown) throw new TypeError('fetch failed')
          return world.statement?.() ?? new Response('', { status: 404 })
        }
        world.asked++
        if (world.isDown) throw new TypeError('fetch failed')
        return Response.json({ keys: world.keys.map(jwkOf) })
      }) as typeof fetch,
    },
  }
  return world
}

export function jwkOf({ kid, publicKey }: SigningKey) {
  return { ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }
}

export function pemOf({ publicKey }: SigningKey): string {
  return publicKey.export({ type: 'spki', format: 'pem' }).toString()
}
