/** 64 real sessions of one tenant, and that tenant: what every peer is asked with. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { fingerprintOf } from '../shared/enforcement/fingerprint.ts'
import { deriveKey, writeSeen } from '../shared/enforcement/seen.ts'
import type { TenantSnapshot } from '../shared/snapshot.ts'
import { writeText } from './processes.ts'

export const HOST = 'app.bench.test'
export const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

const TOKEN_CHARACTERS = 740
const SESSIONS = 64
const SECRET = 'a client secret that is only good for a bench'
const ISSUER = 'http://localhost:8080/auth/realms/bench'
const CLIENT = 'bench-user'
const KID = 'bench-1'

export interface Sessions {
  /** A Cookie header for each. */
  readonly cookies: readonly string[]
  readonly publicKeyPath: string
  snapshotFor(origin: string): TenantSnapshot
}

export function createSessions(): Sessions {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const nowSeconds = Math.floor(Date.now() / 1000)

  function tokenOf(sid: string, name: string): string {
    const claims = {
      iss: ISSUER, aud: CLIENT, sub: `user-${sid}`, sid, iat: nowSeconds, exp: nowSeconds + 28_000,
      auth_time: nowSeconds, amr: ['pwd'], acr: '1', email: `${sid}@example.test`, name,
    } // prettier-ignore
    const input = `${encode({ alg: 'RS256', kid: KID, typ: 'JWT' })}.${encode(claims)}`
    return `${input}.${sign('sha256', Buffer.from(input), privateKey).toString('base64url')}`
  }

  function cookieOf(index: number): string {
    const sid = `session-${String(index).padStart(2, '0')}`
    let name = 'Ada Lovelace'
    while (tokenOf(sid, name).length < TOKEN_CHARACTERS) name += '.'
    const seen = { seconds: nowSeconds, fingerprint: fingerprintOf(USER_AGENT, '127.0.0.1') }
    const seenText = writeSeen(seen, sid, deriveKey(SECRET, 'seen'))
    return `theme=dark; service_session=${tokenOf(sid, name)}; service_seen=${seenText}`
  }

  const { n = '', e = '' } = publicKey.export({ format: 'jwk' })
  return {
    cookies: Array.from({ length: SESSIONS }, (_item, index) => cookieOf(index)),
    publicKeyPath: writeText(
      'public.pem',
      String(publicKey.export({ type: 'spki', format: 'pem' })),
    ),
    snapshotFor: (origin) => ({
      tenant_id: 'bench',
      revision: 1,
      name: 'Bench',
      mode: 'gateway',
      status: 'published',
      protection: 'on',
      licence: 'active',
      licence_blocks_signin: false,
      edge_urls: { [HOST]: `http://${HOST}` },
      origin,
      sealed: ['/admin', '/internal'],
      excluded: ['/public'],
      health: '/healthz',
      max_session_seconds: 28_800,
      idle_seconds: 28_800,
      session_binding: 'step_up',
      issuer: ISSUER,
      client_id: CLIENT,
      client_secret: SECRET,
      keys: [{ kid: KID, kty: 'RSA', alg: 'RS256', use: 'sig', n, e }],
      certificates: [],
    }),
  }
}
