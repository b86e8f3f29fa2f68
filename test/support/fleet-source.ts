/** A store of tenants in memory, for tests and benches of the fleet link. */
import type { FleetSource, TenantChange } from '../../control-plane/fleet/source.ts'
import { mergeRevoked, type Revoked, type TenantSnapshot } from '../../shared/fleet/snapshot.ts'

export interface MemorySource extends FleetSource {
  put(tenantId: string, change?: Partial<TenantSnapshot>): number
  remove(tenantId: string): number
  /** The snapshot cannot be built any more. */
  spoil(tenantId: string, problem: string): number
  revoke(tenantId: string, revoked: Partial<Revoked>): void
  /** Forgets everything and counts from here, as a restored or a replaced database does. */
  replace(epoch: string, revision: number): void
  reads: number
  fingerprint: string
}

export function createMemorySource(epoch = 'epoch-1'): MemorySource {
  const changes = new Map<string, TenantChange>()
  const revocations = new Map<string, Revoked>()
  let position = { epoch, revision: 0 }

  function commit(tenant_id: string, change: Omit<TenantChange, 'tenant_id' | 'revision'>) {
    const revision = position.revision + 1
    position = { ...position, revision }
    const { snapshot } = change
    changes.delete(tenant_id)
    changes.set(tenant_id, {
      tenant_id,
      revision,
      ...change,
      snapshot: snapshot && { ...snapshot, revision },
    })
    return revision
  }

  const source: MemorySource = {
    reads: 0,
    put(tenantId, change = {}) {
      const snapshot = changes.get(tenantId)?.snapshot ?? snapshotOf(tenantId)
      return commit(tenantId, { snapshot: { ...snapshot, ...change } })
    },
    remove: (tenantId) => commit(tenantId, { snapshot: null }),
    spoil: (tenantId, problem) => commit(tenantId, { snapshot: null, problem }),
    revoke(tenantId, revoked) {
      const known = revocations.get(tenantId) ?? nothingRevoked()
      revocations.set(tenantId, mergeRevoked(known, { ...nothingRevoked(), ...revoked }))
    },
    replace(nextEpoch, revision) {
      changes.clear()
      revocations.clear()
      position = { epoch: nextEpoch, revision }
    },
    position: async () => position,
    fingerprint: 'f',
    count: async () => [...changes.values()].filter(isServed).length,
    async countCertificates() {
      const served = [...changes.values()].filter(isServed)
      return served.reduce((sum, { snapshot }) => sum + (snapshot?.certificates.length ?? 0), 0)
    },
    async *index() {
      const served = [...changes.values()].filter(isServed)
      for (let at = 0; at < served.length; at += INDEX_PAGE)
        yield served.slice(at, at + INDEX_PAGE).map(({ tenant_id, revision, snapshot }) => ({
          tenant_id,
          revision,
          hostnames: Object.keys(snapshot?.edge_urls ?? {}),
          isAlwaysTold: snapshot?.mode === 'connector',
        }))
    },
    async beginEpoch() {
      position = { epoch: `${position.epoch}+`, revision: position.revision + (1 << 20) }
    },
    async changedSince(revision, limit) {
      source.reads += 1
      const newer: TenantChange[] = []
      for (const change of [...changes.values()].reverse()) {
        if (change.revision <= revision) break
        newer.push(change)
      }
      return newer.reverse().slice(0, limit)
    },
    async *all() {
      for (const change of [...changes.values()])
        if (change.snapshot !== null || change.problem !== undefined) yield change
    },
    snapshot: async (tenantId) => changes.get(tenantId),
    async *revoked() {
      for (const [tenant_id, revoked] of [...revocations]) yield { tenant_id, revoked }
    },
    revokedOf: async (tenantId) => revocations.get(tenantId) ?? nothingRevoked(),
  }
  return source
}

const INDEX_PAGE = 10

const isServed = ({ snapshot, problem }: TenantChange) => snapshot !== null || problem !== undefined

const MODULUS = Buffer.alloc(256, 0xc3).toString('base64url')

export function snapshotOf(tenantId: string, change: Partial<TenantSnapshot> = {}): TenantSnapshot {
  return {
    tenant_id: tenantId,
    revision: 1,
    name: `Application ${tenantId}`,
    mode: 'gateway',
    status: 'published',
    protection: 'on',
    licence: 'active',
    licence_blocks_signin: false,
    edge_urls: { [`${tenantId}.example`]: `https://${tenantId}.example` },
    origin: 'http://127.0.0.1:9000',
    sealed: ['/admin', '/internal'],
    excluded: ['/public'],
    health: '/healthz',
    max_session_seconds: 28_800,
    idle_seconds: 900,
    session_binding: 'off',
    issuer: `http://localhost:8080/auth/realms/${tenantId}`,
    client_id: `${tenantId}-user`,
    client_secret: 'a client secret of a test tenant',
    keys: [{ kid: `${tenantId}-1`, kty: 'RSA', alg: 'RS256', use: 'sig', n: MODULUS, e: 'AQAB' }],
    certificates: [],
    ...change,
  }
}

export function nothingRevoked(): Revoked {
  return { all: 0, subjects: {}, sids: {} }
}
