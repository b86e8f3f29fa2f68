/**
 * A snapshot, turned once into what a request looks up: matchers, key objects, derived keys, the
 * upstream. What did not change is carried over, so that a changed prefix drops neither pooled
 * sockets nor cached proofs.
 */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { TenantRules } from '../../shared/enforcement/decide.ts'
import { compileAccess } from '../../shared/enforcement/access-rules.ts'
import { compileServices } from '../../shared/enforcement/machines.ts'
import { compileExcluded, compileSealed } from '../../shared/enforcement/path.ts'
import { originsOf } from '../../shared/enforcement/own-origin.ts'
import { deriveKey, type SealingKeys } from '../../shared/enforcement/seen.ts'
import type { TokenTrust, VerificationKeys } from '../../shared/enforcement/token.ts'
import type { SignInTenant } from '../../shared/sign-in/service-request.ts'
import { importConnectorKey } from '../../shared/connector/handshake.ts'
import { probeKeyOf } from '../../shared/probe.ts'
import { withServiceClauses } from '../../shared/fleet/services.ts'
import type { PublicKey, TenantSnapshot } from '../../shared/fleet/snapshot.ts'
import { checkCertificate, keepCertificates, type HostCertificates } from '../tls/certificates.ts'
import type { Upstream } from '../wire/upstream-call.ts'

type ConnectorKeys = ReadonlyMap<string, ReadonlyMap<string, KeyObject>>

export interface CompiledTenant extends TenantRules, SignInTenant {
  readonly revision: number
  readonly hostnames: readonly string[]
  /** `https://app.example.com`, by hostname. */
  readonly edgeUrls: ReadonlyMap<string, string>
  /** Of those: what its own pages say that they are from. */
  readonly origins: ReadonlySet<string>
  readonly origin: string
  readonly mode: TenantSnapshot['mode']
  readonly health: string
  readonly probeKeys: SealingKeys
  readonly upstream: Upstream
  /** In connector mode, who may dial in: by connector, by key. */
  readonly connectors: ConnectorKeys
  /** By hostname; loaded when the host is first asked for. */
  readonly certificates: HostCertificates
  /** Hosts whose certificates are ordered, and whose account answers for them. */
  readonly acme: TenantSnapshot['acme']
}

const RSA_BITS_MIN = 2048

/** Which application a pool is for. */
type UpstreamWanted = Pick<TenantSnapshot, 'tenant_id' | 'mode' | 'origin'>

export function createTenantCompiler(world: {
  openUpstream: (wanted: UpstreamWanted) => Upstream
}) {
  /** One pool per tenant and origin, closed when the last state that uses it is retired. */
  const pools = new Map<string, { upstream: Upstream; users: number }>()
  const trusts = new Map<string, TokenTrust & { readonly keys: ImportedKeys }>()
  const certificatesById = new Map<string, HostCertificates>()

  function trustOf(snapshot: TenantSnapshot): TokenTrust {
    const { tenant_id: tenantId, issuer, client_id: audience, keys } = snapshot
    const kept = trusts.get(tenantId)
    if (kept?.issuer === issuer && kept.audience === audience && kept.keys.isOf(keys)) return kept
    const trust = { issuer, audience, keys: new ImportedKeys(keys) }
    trusts.set(tenantId, trust)
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
      const matchers = readSnapshot(snapshot)
      const { tenant_id: tenantId } = snapshot
      const before = certificatesById.get(tenantId)
      const certificates = keepCertificates(snapshot.certificates, before)
      if (certificates.size > 0) certificatesById.set(tenantId, certificates)
      else certificatesById.delete(tenantId)
      return new Compiled(snapshot, { ...matchers, trust, certificates, upstream: enter(snapshot) })
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

type Matchers = Pick<CompiledTenant, 'sealed' | 'excluded' | 'access' | 'services' | 'connectors'>

function readSnapshot(snapshot: TenantSnapshot): Matchers {
  const excluded = compileExcluded(snapshot.excluded)
  const access = withServiceClauses(snapshot.access, snapshot.services)
  return {
    connectors: connectorKeysOf(snapshot),
    sealed: compileSealed(snapshot.sealed),
    excluded,
    access: access && compileAccess(access, excluded),
    services: compileServices(snapshot.services),
  }
}

type Made = Matchers & Pick<CompiledTenant, 'trust' | 'certificates' | 'upstream'>

/**
 * Thousands of these are there at once: as a class each weighs a fifth of an object with getters of
 * its own. Few of them are asked for soon, so keys are derived when they are.
 */
class Compiled implements CompiledTenant {
  readonly tenantId: string
  readonly revision: number
  readonly name: string
  readonly status: TenantSnapshot['status']
  readonly protection: TenantSnapshot['protection']
  readonly hostnames: readonly string[]
  readonly edgeUrls: ReadonlyMap<string, string>
  readonly origin: string
  readonly mode: TenantSnapshot['mode']
  readonly health: string
  readonly isSignInBlocked: boolean
  readonly sessionRules: CompiledTenant['sessionRules']
  readonly client: CompiledTenant['client']
  readonly sealed: CompiledTenant['sealed']
  readonly excluded: CompiledTenant['excluded']
  readonly access: CompiledTenant['access']
  readonly accessContact: string | undefined
  readonly services: CompiledTenant['services']
  readonly connectors: ConnectorKeys
  readonly trust: TokenTrust
  readonly certificates: HostCertificates
  readonly acme: TenantSnapshot['acme']
  readonly upstream: Upstream
  readonly #previousSecret: string | undefined
  #origins: ReadonlySet<string> | undefined
  #seenKeys: SealingKeys | undefined
  #flowKeys: SealingKeys | undefined
  #probeKeys: SealingKeys | undefined

  constructor(snapshot: TenantSnapshot, made: Made) {
    this.tenantId = snapshot.tenant_id
    this.revision = snapshot.revision
    this.name = snapshot.name
    this.status = snapshot.status
    this.protection = snapshot.protection
    this.hostnames = Object.keys(snapshot.edge_urls)
    this.edgeUrls = new Map(Object.entries(snapshot.edge_urls))
    this.origin = snapshot.origin
    this.mode = snapshot.mode
    this.health = snapshot.health
    this.isSignInBlocked = snapshot.licence_blocks_signin
    this.sessionRules = {
      sessionSecondsMax: snapshot.max_session_seconds,
      idleSeconds: snapshot.idle_seconds,
      binding: snapshot.session_binding,
    }
    const { issuer, client_id: id, client_secret: secret } = snapshot
    this.client = { issuer, id, secret }
    this.#previousSecret = snapshot.previous_client_secret
    this.sealed = made.sealed
    this.excluded = made.excluded
    this.access = made.access
    this.accessContact = snapshot.access_contact
    this.services = made.services
    this.connectors = made.connectors
    this.trust = made.trust
    this.certificates = made.certificates
    this.acme = snapshot.acme
    this.upstream = made.upstream
  }

  get origins(): ReadonlySet<string> {
    return (this.#origins ??= originsOf(this.edgeUrls.values()))
  }

  get seenKeys(): SealingKeys {
    return (this.#seenKeys ??= this.#derived((from) => deriveKey(from, 'seen')))
  }

  get flowKeys(): SealingKeys {
    return (this.#flowKeys ??= this.#derived((from) => deriveKey(from, 'flow')))
  }

  get probeKeys(): SealingKeys {
    return (this.#probeKeys ??= this.#derived(probeKeyOf))
  }

  #derived(derive: (from: string) => Buffer): SealingKeys {
    const [secret, previous] = [this.client.secret, this.#previousSecret]
    return previous === undefined ? [derive(secret)] : [derive(secret), derive(previous)]
  }
}

/** Of the tenant's public keys those that a token was signed with. */
class ImportedKeys implements VerificationKeys {
  readonly #jwks: readonly PublicKey[]
  #imported: Map<string, KeyObject> | undefined

  constructor(jwks: readonly PublicKey[]) {
    for (const jwk of jwks) checkKey(jwk)
    this.#jwks = jwks
  }

  isOf(jwks: readonly PublicKey[]): boolean {
    return isDeepStrictEqual(this.#jwks, jwks)
  }

  get(kid: string): KeyObject | undefined {
    const known = this.#imported?.get(kid)
    if (known !== undefined) return known
    const jwk = this.#jwks.findLast((one) => one.kid === kid)
    if (jwk === undefined) return undefined
    const key = importKey(jwk)
    this.#imported ??= new Map()
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

const NO_CONNECTORS: ConnectorKeys = new Map()

function connectorKeysOf({ mode, connectors = [] }: TenantSnapshot): ConnectorKeys {
  if (mode !== 'connector') return NO_CONNECTORS
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
