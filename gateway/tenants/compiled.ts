/**
 * A snapshot, turned once into what a request looks up: matchers, key objects, derived keys, the
 * upstream. What did not change is carried over, so that a changed prefix drops neither pooled
 * sockets nor cached proofs.
 */
import { createPublicKey, type KeyObject } from 'node:crypto'
import type { TenantRules } from '../../shared/enforcement/decide.ts'
import { compileExcluded, compileSealed } from '../../shared/enforcement/path.ts'
import { deriveKey, type SealingKeys } from '../../shared/enforcement/seen.ts'
import type { TokenTrust, VerificationKeys } from '../../shared/enforcement/token.ts'
import type { SignInTenant } from '../../shared/sign-in/service-request.ts'
import { importConnectorKey } from '../../shared/connector/handshake.ts'
import { probeKeyOf } from '../../shared/probe.ts'
import type { PublicKey, TenantSnapshot } from '../../shared/fleet/snapshot.ts'
import { checkCertificate, keepCertificates, type HostCertificates } from '../tls/certificates.ts'
import type { Upstream } from '../wire/upstream-call.ts'

type ConnectorKeys = ReadonlyMap<string, ReadonlyMap<string, KeyObject>>

export interface CompiledTenant extends TenantRules, SignInTenant {
  readonly revision: number
  readonly hostnames: readonly string[]
  /** `https://app.example.com`, by hostname. */
  readonly edgeUrls: ReadonlyMap<string, string>
  readonly origin: string
  readonly mode: TenantSnapshot['mode']
  readonly health: string
  readonly probeKeys: SealingKeys
  readonly upstream: Upstream
  /** In connector mode, who may dial in: by connector, by key. */
  readonly connectors: ConnectorKeys
  /** By hostname; loaded when the host is first asked for. */
  readonly certificates: HostCertificates
}

const RSA_BITS_MIN = 2048

/** Which application a pool is for. */
type UpstreamWanted = Pick<TenantSnapshot, 'tenant_id' | 'mode' | 'origin'>

export function createTenantCompiler(world: {
  openUpstream: (wanted: UpstreamWanted) => Upstream
}) {
  /** One pool per tenant and origin, closed when the last state that uses it is retired. */
  const pools = new Map<string, { upstream: Upstream; users: number }>()
  const trusts = new Map<string, { fingerprint: string; trust: TokenTrust }>()
  const certificatesById = new Map<string, HostCertificates>()

  function trustOf(snapshot: TenantSnapshot): TokenTrust {
    const { tenant_id: tenantId, issuer, client_id: audience, keys } = snapshot
    const fingerprint = JSON.stringify([issuer, audience, keys])
    const kept = trusts.get(tenantId)
    if (kept?.fingerprint === fingerprint) return kept.trust
    const trust = { issuer, audience, keys: new ImportedKeys(keys) }
    trusts.set(tenantId, { fingerprint, trust })
    return trust
  }

  function enter(wanted: UpstreamWanted): Upstream {
    const key = poolKey(wanted)
    const pool = pools.get(key) ?? { upstream: world.openUpstream(wanted), users: 0 }
    pool.users++
    pools.set(key, pool)
    return pool.upstream
  }

  return {
    /** Throws for a snapshot that cannot be served; nothing has changed then. */
    compile(snapshot: TenantSnapshot): CompiledTenant {
      const trust = trustOf(snapshot)
      const state = readSnapshot(snapshot)
      const { tenant_id: tenantId } = snapshot
      const before = certificatesById.get(tenantId)
      const certificates = keepCertificates(snapshot.certificates, before)
      certificatesById.set(tenantId, certificates)
      return Object.assign(state, { trust, certificates, upstream: enter(snapshot) })
    },
    /** The tenant is no longer served with this state. */
    retire(tenant: CompiledTenant) {
      // what replaces it has its own already
      if (certificatesById.get(tenant.tenantId) === tenant.certificates)
        certificatesById.delete(tenant.tenantId)
      const { tenantId: tenant_id, mode, origin } = tenant
      const key = poolKey({ tenant_id, mode, origin })
      const pool = pools.get(key)
      if (pool === undefined || --pool.users > 0) return
      pools.delete(key)
      trusts.delete(tenant.tenantId)
      void pool.upstream.close()
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.upstream.close()))
      pools.clear()
    },
  }
}

/** For the primary, which serves nothing itself: throws for what a worker could not compile. */
export function checkSnapshot(snapshot: TenantSnapshot): void {
  readSnapshot(snapshot)
  for (const key of snapshot.keys) {
    checkKey(key)
    importKey(key)
  }
  snapshot.certificates.forEach(checkCertificate)
}

type Stateless = Omit<CompiledTenant, 'trust' | 'upstream' | 'certificates'>

function readSnapshot(snapshot: TenantSnapshot): Stateless {
  const { client_secret: secret, previous_client_secret: previous } = snapshot
  const keysOf = (derive: (from: string) => Buffer) =>
    onceAsked((): SealingKeys =>
      previous === undefined ? [derive(secret)] : [derive(secret), derive(previous)],
    )
  const seenKeys = keysOf((from) => deriveKey(from, 'seen'))
  const flowKeys = keysOf((from) => deriveKey(from, 'flow'))
  const probeKeys = keysOf(probeKeyOf)
  return {
    tenantId: snapshot.tenant_id,
    revision: snapshot.revision,
    name: snapshot.name,
    status: snapshot.status,
    protection: snapshot.protection,
    hostnames: Object.keys(snapshot.edge_urls),
    edgeUrls: new Map(Object.entries(snapshot.edge_urls)),
    origin: snapshot.origin,
    mode: snapshot.mode,
    connectors: connectorKeysOf(snapshot),
    health: snapshot.health,
    sealed: compileSealed(snapshot.sealed),
    excluded: compileExcluded(snapshot.excluded),
    isSignInBlocked: snapshot.licence_blocks_signin,
    sessionRules: {
      sessionSecondsMax: snapshot.max_session_seconds,
      idleSeconds: snapshot.idle_seconds,
      binding: snapshot.session_binding,
    },
    client: { issuer: snapshot.issuer, id: snapshot.client_id, secret },
    get seenKeys() {
      return seenKeys()
    },
    get flowKeys() {
      return flowKeys()
    },
    get probeKeys() {
      return probeKeys()
    },
  }
}

/** Thousands of tenants come at once when a gateway starts, and few of them are asked for soon. */
function onceAsked<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** Of the tenant's public keys those that a token was signed with. The Map keeps `__proto__` an unknown kid. */
class ImportedKeys implements VerificationKeys {
  readonly #jwks: ReadonlyMap<string, PublicKey>
  readonly #imported = new Map<string, KeyObject>()

  constructor(jwks: readonly PublicKey[]) {
    for (const jwk of jwks) checkKey(jwk)
    this.#jwks = new Map(jwks.map((jwk) => [jwk.kid, jwk]))
  }

  get(kid: string): KeyObject | undefined {
    const known = this.#imported.get(kid)
    if (known !== undefined) return known
    const jwk = this.#jwks.get(kid)
    if (jwk === undefined) return undefined
    const key = importKey(jwk)
    this.#imported.set(kid, key)
    return key
  }
}

function importKey({ kty, n, e }: PublicKey): KeyObject {
  return createPublicKey({ key: { kty, n, e }, format: 'jwk' })
}

function checkKey(jwk: PublicKey): void {
  const bits = bitsOf(Buffer.from(jwk.n, 'base64url'))
  if (bits < RSA_BITS_MIN)
    throw new Error(`key ${jwk.kid} has ${bits} bits, ${RSA_BITS_MIN} needed`)
}

/** Of a number as its bytes, the highest first. */
function bitsOf(bytes: Buffer): number {
  const first = bytes.findIndex((byte) => byte !== 0)
  return first < 0 ? 0 : (bytes.length - first) * 8 - (Math.clz32(bytes[first]!) - 24)
}

function connectorKeysOf({ mode, connectors = [] }: TenantSnapshot): ConnectorKeys {
  if (mode !== 'connector') return new Map()
  return new Map(
    connectors.map(({ connector_id: connectorId, keys }) => [
      connectorId,
      new Map(keys.map((key) => [key.key_id, importConnectorKey(key.public_key)])),
    ]),
  )
}

function poolKey({ tenant_id, mode, origin }: UpstreamWanted): string {
  return `${tenant_id} ${mode} ${origin}`
}
