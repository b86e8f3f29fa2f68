/** Tenants and real sessions at them: what every peer is asked with. */
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { fingerprintOf } from '../shared/enforcement/fingerprint.ts'
import { deriveKey, writeSeen } from '../shared/enforcement/seen.ts'
import type { TenantSnapshot } from '../shared/fleet/snapshot.ts'
import { certificateFor } from '../test/support/certificate.ts'
import { writeText } from './processes.ts'

export const HOST = 'app.bench.test'
/** wrk takes the name for SNI from the address that it connects to, so it must be one of ours. */
export const SECURE_HOST = 'localhost'
export const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

const TOKEN_CHARACTERS = 740
const SESSIONS = 64
const KEYS = 8
const TENANT = 'bench'
const signLater = promisify(sign)

/** Whose request it is: with which Host, with which Cookie. */
export interface Ask {
  readonly host: string
  readonly cookie: string
}

export interface Sessions {
  /** The tenant of `asks`. */
  readonly tenantId: string
  /** The same 64 at one tenant, for every peer. */
  readonly asks: readonly Ask[]
  readonly publicKeyPath: string
  readonly certificate: { readonly cert: string; readonly key: string }
  /** Certificate and key in one file, and each in its own. */
  readonly certificatePaths: { readonly both: string; readonly cert: string; readonly key: string }
  /** Each a session at a tenant of its own, or all at the one tenant. */
  asksOver(tenants: number, count: number): readonly Ask[]
  /** Where those of `asksOver` go, without any of them. */
  hostsOver(tenants: number, count: number): readonly string[]
  /** Cookies with tokens that nobody has seen yet. */
  freshCookies(count: number): Promise<string[]>
  /** The tenant of `asks`, and more beside it. */
  snapshotsFor(origin: string, tenants: number): Iterable<Partial<TenantSnapshot>>
}

export function createSessions(): Sessions {
  const keys = Array.from({ length: KEYS }, () =>
    generateKeyPairSync('rsa', { modulusLength: 2048 }),
  )
  const nowSeconds = Math.floor(Date.now() / 1000)
  const certificate = certificateFor(SECURE_HOST)
  const fingerprint = fingerprintOf(USER_AGENT, '127.0.0.1')
  let signed = 0

  const nameOf = (index: number) => (index === 0 ? TENANT : `bench-${index}`)
  const hostOf = (index: number) => (index === 0 ? HOST : `app-${index}.bench.test`)
  const secretOf = (name: string) => `a client secret of ${name}, only good for a bench`
  const seenKeys = new Map<string, ReturnType<typeof deriveKey>>()

  function cookieOf(tenant: number, sid: string, token: string): string {
    const name = nameOf(tenant)
    const key = seenKeys.get(name) ?? deriveKey(secretOf(name), 'seen')
    seenKeys.set(name, key)
    const seen = writeSeen({ seconds: nowSeconds, fingerprint }, sid, key)
    return `theme=dark; service_session=${token}; service_seen=${seen}`
  }

  function unsignedOf(tenant: number, sid: string): string {
    const claims = {
      iss: issuerOf(nameOf(tenant)), aud: clientOf(nameOf(tenant)), sub: `user-${sid}`, sid,
      iat: nowSeconds, exp: nowSeconds + 28_000, auth_time: nowSeconds, amr: ['pwd'], acr: '1',
      email: `${sid}@example.test`, name: 'Ada Lovelace',
    } // prettier-ignore
    const header = encode({ alg: 'RS256', kid: kidOf(tenant), typ: 'JWT' })
    const signatureCharacters = 342
    const write = () => `${header}.${encode(claims)}`
    while (write().length + 1 + signatureCharacters < TOKEN_CHARACTERS) claims.name += '.'
    return write()
  }

  const keyOf = (tenant: number): KeyObject => keys[tenant % KEYS]!.privateKey

  function askOf(tenant: number): Ask {
    const sid = `session-${String(signed++).padStart(6, '0')}`
    const input = unsignedOf(tenant, sid)
    const signature = sign('sha256', Buffer.from(input), keyOf(tenant)).toString('base64url')
    return { host: hostOf(tenant), cookie: cookieOf(tenant, sid, `${input}.${signature}`) }
  }

  async function freshCookie(): Promise<string> {
    const sid = `session-${String(signed++).padStart(6, '0')}`
    const input = unsignedOf(0, sid)
    const signature = await signLater('sha256', Buffer.from(input), keyOf(0))
    return cookieOf(0, sid, `${input}.${signature.toString('base64url')}`)
  }

  function snapshotOf(index: number, origin: string): Partial<TenantSnapshot> {
    const name = nameOf(index)
    const { n = '', e = '' } = keys[index % KEYS]!.publicKey.export({ format: 'jwk' })
    const secure = {
      edge_urls: { [HOST]: `http://${HOST}`, [SECURE_HOST]: `https://${SECURE_HOST}` },
      certificates: [
        {
          hostname: SECURE_HOST,
          certificate_pem: certificate.cert,
          private_key_pem: certificate.key,
        },
      ],
    }
    return {
      tenant_id: name,
      name,
      mode: 'gateway',
      status: 'published',
      protection: 'on',
      licence: 'active',
      licence_blocks_signin: false,
      edge_urls: { [hostOf(index)]: `http://${hostOf(index)}` },
      origin,
      sealed: ['/admin', '/internal'],
      excluded: ['/public'],
      health: '/healthz',
      max_session_seconds: 28_800,
      idle_seconds: 28_800,
      session_binding: 'step_up',
      issuer: issuerOf(name),
      client_id: clientOf(name),
      client_secret: secretOf(name),
      keys: [{ kid: kidOf(index), kty: 'RSA', alg: 'RS256', use: 'sig', n, e }],
      ...(index === 0 && secure),
    }
  }

  const publicKey = keys[0]!.publicKey.export({ type: 'spki', format: 'pem' })
  return {
    tenantId: TENANT,
    asks: Array.from({ length: SESSIONS }, () => askOf(0)),
    publicKeyPath: writeText('public.pem', String(publicKey)),
    certificate,
    certificatePaths: {
      both: writeText('both.pem', `${certificate.cert}${certificate.key}`),
      cert: writeText('cert.pem', certificate.cert),
      key: writeText('key.pem', certificate.key),
    },
    asksOver: (tenants, count) =>
      Array.from({ length: count }, (_item, index) => askOf(Math.floor((index * tenants) / count))),
    hostsOver: (tenants, count) =>
      Array.from({ length: count }, (_item, index) =>
        hostOf(Math.floor((index * tenants) / count)),
      ),
    freshCookies: (count) => Promise.all(Array.from({ length: count }, freshCookie)),
    *snapshotsFor(origin, tenants) {
      for (let index = 0; index < tenants; index++) yield snapshotOf(index, origin)
    },
  }
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const issuerOf = (name: string): string => `http://localhost:8080/auth/realms/${name}`
const clientOf = (name: string): string => `${name}-user`
const kidOf = (tenant: number): string => `bench-${tenant}`
