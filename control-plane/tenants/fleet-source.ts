/** What the fleet hub reads of the store: every served tenant as a snapshot, page by page. */
import { LIMITS } from '../../shared/limits.ts'
import type { FleetSource, TenantChange } from '../fleet/source.ts'
import type { Revocations } from '../accounts/revocations.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'
import { findTenant, tenantsAfter, type Tenant } from '../store/queries/tenants.ts'
import {
  changedTenantsAfter,
  findTombstone,
  tenantsWithRevocationsAfter,
} from '../store/queries/fleet.ts'
import type { Store } from '../store/store.ts'
import type { Certificates } from './certificates.ts'
import { buildSnapshot } from './snapshot.ts'
import type { Tenants } from './tenants.ts'

export interface FleetSourceWorld {
  readonly store: Store
  readonly tenants: Tenants
  readonly keys: SigningKeys
  readonly certificates: Certificates
  readonly revocations: Revocations
  readonly baseUrl: string
  readonly edgeUrlFor: (hostname: string) => string
}

export function createFleetSource(world: FleetSourceWorld): FleetSource {
  const { store, tenants, keys, certificates, revocations, baseUrl, edgeUrlFor } = world

  /** Its parts are several reads: read again when the tenant changed in between. */
  async function changeOf(tenant: Tenant): Promise<TenantChange> {
    const { tenantId, revision } = tenant
    if (tenant.mode === 'sdk' || tenant.status === 'draft')
      return { tenant_id: tenantId, revision, snapshot: null }
    try {
      const [published, opened, clientSecret] = [
        await keys.publicKeys(tenantId),
        await certificates.openAll(tenantId),
        await tenants.clientSecret(tenantId),
      ]
      const after = await findTenant(store.read, tenantId)
      if (after !== undefined && after.revision !== revision) return await changeOf(after)
      const parts = { tenant, keys: published, certificates: opened, clientSecret }
      return {
        tenant_id: tenantId,
        revision,
        snapshot: buildSnapshot({ ...parts, baseUrl, edgeUrlFor }),
      }
    } catch (error) {
      const gone = await findTombstone(store.read, tenantId)
      if (gone !== undefined) return { tenant_id: tenantId, revision: gone, snapshot: null }
      // one tenant that cannot be read must not keep the others from the fleet
      return { tenant_id: tenantId, revision, snapshot: null, problem: (error as Error).message }
    }
  }

  return {
    async position() {
      return { epoch: store.epoch, revision: await store.revision() }
    },

    async changedSince(revision, limit) {
      const changed = await changedTenantsAfter(store.read, revision, limit)
      const changes: TenantChange[] = []
      for (const row of changed) {
        const tenant = row.isGone ? undefined : await findTenant(store.read, row.tenantId)
        if (tenant !== undefined) changes.push(await changeOf(tenant))
        else changes.push({ tenant_id: row.tenantId, revision: row.revision, snapshot: null })
      }
      return changes
    },

    async *all() {
      for (let after = ''; ;) {
        const page = await tenantsAfter(store.read, after, LIMITS.fleetPageItemsMax)
        for (const tenant of page) {
          const change = await changeOf(tenant)
          if (change.snapshot !== null || change.problem !== undefined) yield change
        }
        const last = page.at(-1)
        if (last === undefined || page.length < LIMITS.fleetPageItemsMax) return
        after = last.tenantId
      }
    },

    async snapshot(tenantId) {
      const tenant = await findTenant(store.read, tenantId)
      if (tenant !== undefined) return changeOf(tenant)
      const gone = await findTombstone(store.read, tenantId)
      return gone === undefined
        ? undefined
        : { tenant_id: tenantId, revision: gone, snapshot: null }
    },

    async *revoked() {
      for (let after = ''; ;) {
        const page = await tenantsWithRevocationsAfter(store.read, after, LIMITS.fleetPageItemsMax)
        for (const tenantId of page)
          yield { tenant_id: tenantId, revoked: await revocations.revokedState(tenantId) }
        const last = page.at(-1)
        if (last === undefined || page.length < LIMITS.fleetPageItemsMax) return
        after = last
      }
    },

    revokedOf: (tenantId) => revocations.revokedState(tenantId),
  }
}
