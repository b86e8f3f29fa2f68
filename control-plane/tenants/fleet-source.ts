/**
 * What the fleet hub reads of the store: tenants as snapshots, a page at a time. Everything of a
 * page is read at once, since a gateway that comes new asks for all tenants there are.
 */
import { LIMITS } from '../../shared/limits.ts'
import type { FleetSource, TenantChange } from '../fleet/source.ts'
import type { Revocations } from '../sessions/revocations.ts'
import { toVerifyingKey } from '../keys/signing-keys.ts'
import type { Vault } from '../keys/vault.ts'
import { accessRulesOfAll } from '../store/queries/access.ts'
import {
  certificatesOfAll,
  countCertificates,
  type CertificateRow,
} from '../store/queries/certificates.ts'
import { connectorKeysOfAll } from '../store/queries/connectors.ts'
import {
  changedTenantsAfter,
  countOfServed,
  entriesAfter,
  findTombstone,
  tenantsWithRevocationsAfter,
  versionsOf,
  type TenantVersion,
} from '../store/queries/fleet.ts'
import { servicesOfAll, serviceSecretsOfAll } from '../store/queries/services.ts'
import { signingKeysOfAll } from '../store/queries/signing-keys.ts'
import { findTenant, findTenants, tenantsAfter, type Tenant } from '../store/queries/tenants.ts'
import { isReserved } from '../store/reserved.ts'
import type { Store } from '../store/store.ts'
import { contactOf, enforcedRulesOf } from './access-rules.ts'
import { openCertificate } from './certificates.ts'
import { openClientSecrets } from './client-secrets.ts'
import { orderedHostnames } from './ordered-hostnames.ts'
import { createServiceIdentities } from './service-identities.ts'
import { buildSnapshot, fingerprintOf, isServed } from './snapshot.ts'

interface FleetSourceWorld {
  readonly store: Store
  readonly vault: Vault
  readonly revocations: Pick<Revocations, 'revokedState'>
  readonly baseUrl: string
  readonly edgeUrlFor: (hostname: string) => string
  /** Of the account that certificates are ordered with, if any are. */
  readonly acmeThumbprint?: string | undefined
}

const uploadedAmong = (rows: readonly CertificateRow[]) =>
  new Set(rows.filter((row) => !row.isOrdered).map((row) => row.hostname))

export function createFleetSource(world: FleetSourceWorld): FleetSource {
  const { store, vault, revocations, baseUrl, edgeUrlFor, acmeThumbprint } = world
  const identities = createServiceIdentities(world)

  /** In the order of `tenants`. What changed while its parts were read is read again. */
  async function changesOf(tenants: readonly Tenant[]): Promise<TenantChange[]> {
    const ids = tenants.filter(isServed).map(({ tenantId }) => tenantId)
    const keys = Map.groupBy(await signingKeysOfAll(store.read, ids), (row) => row.tenantId)
    const certificates = await certificatesOfAll(store.read, ids)
    const certificatesByTenant = Map.groupBy(certificates, (row) => row.tenantId)
    const dialled = tenants.filter(({ mode }) => mode === 'connector')
    const connectorKeys = Map.groupBy(
      await connectorKeysOfAll(
        store.read,
        dialled.map(({ tenantId }) => tenantId),
      ),
      (row) => row.tenantId,
    )
    const access = await accessRulesOfAll(store.read, ids)
    const accessByTenant = new Map(access.map((row) => [row.tenantId, row]))
    const services = Map.groupBy(await servicesOfAll(store.read, ids), (row) => row.tenantId)
    const secrets = Map.groupBy(
      await serviceSecretsOfAll(store.read, [...services.keys()]),
      (row) => row.tenantId,
    )
    const versions = await versionsOf(store.read, ids)

    function build(tenant: Tenant, version: TenantVersion): TenantChange {
      const { tenantId, revision } = tenant
      try {
        const rows = certificatesByTenant.get(tenantId) ?? []
        const snapshot = buildSnapshot({
          tenant,
          keys: (keys.get(tenantId) ?? []).map(toVerifyingKey),
          certificates: rows.map((row) => openCertificate(row, vault)),
          // by what is stored and not by the clock: the end of an overlap is a change like others
          clientSecrets: openClientSecrets(version, tenantId, vault, 0),
          connectorKeys: connectorKeys.get(tenantId) ?? [],
          access: enforcedRulesOf(accessByTenant.get(tenantId)),
          accessContact: contactOf(accessByTenant.get(tenantId)),
          services: identities.of({
            services: services.get(tenantId) ?? [],
            secrets: secrets.get(tenantId) ?? [],
            access: accessByTenant.get(tenantId),
            keys: keys.get(tenantId) ?? [],
          }),
          acmeThumbprint,
          acmeHostnames: orderedHostnames(tenant, uploadedAmong(rows)),
          baseUrl,
          edgeUrlFor,
        })
        return { tenant_id: tenantId, revision, snapshot }
      } catch (error) {
        // one tenant that cannot be read must not keep the others from the fleet
        const problem = (error as Error).message
        return { tenant_id: tenantId, revision, snapshot: null, problem }
      }
    }

    const changes: TenantChange[] = []
    for (const tenant of tenants) {
      const { tenantId, revision } = tenant
      const version = versions.get(tenantId)
      if (!isServed(tenant)) changes.push({ tenant_id: tenantId, revision, snapshot: null })
      else if (version?.revision === revision) changes.push(build(tenant, version))
      else changes.push(...(await newestOf(tenantId)))
    }
    return changes
  }

  /** One change, or none for a tenant that there never was. */
  async function newestOf(tenantId: string): Promise<TenantChange[]> {
    const tenant = await findTenant(store.read, tenantId)
    if (tenant !== undefined) return changesOf([tenant])
    const revision = await findTombstone(store.read, tenantId)
    return revision === undefined ? [] : [{ tenant_id: tenantId, revision, snapshot: null }]
  }

  return {
    fingerprint: fingerprintOf(baseUrl, edgeUrlFor, acmeThumbprint),

    async position() {
      return { epoch: await store.epoch(), revision: await store.revision() }
    },

    count: () => countOfServed(store.read),
    countCertificates: () => countCertificates(store.read),

    async *index() {
      for (let after = ''; ;) {
        const page = await entriesAfter(store.read, after, LIMITS.fleetIndexEntriesSentMax)
        yield page.filter(isServed).map(({ tenantId, revision, hostnames, mode }) => ({
          tenant_id: tenantId,
          revision,
          hostnames,
          isAlwaysTold: mode === 'connector',
        }))
        const last = page.at(-1)
        if (last === undefined || page.length < LIMITS.fleetIndexEntriesSentMax) return
        after = last.tenantId
      }
    },

    beginEpoch: () => store.change((change) => change.beginEpoch()),

    async changedSince(revision, limit) {
      const changed = await changedTenantsAfter(store.read, revision, limit)
      const there = changed.filter(({ isGone }) => !isGone).map(({ tenantId }) => tenantId)
      const changes = await changesOf(await findTenants(store.read, there))
      const byTenant = new Map(changes.map((change) => [change.tenant_id, change]))
      return changed.map(
        (row) =>
          byTenant.get(row.tenantId) ?? {
            tenant_id: row.tenantId,
            revision: row.revision,
            snapshot: null,
          },
      )
    },

    async *all() {
      for (let after = ''; ;) {
        const page = await tenantsAfter(store.read, after, LIMITS.fleetPageItemsMax)
        for (const change of await changesOf(page))
          if (change.snapshot !== null || change.problem !== undefined) yield change
        const last = page.at(-1)
        if (last === undefined || page.length < LIMITS.fleetPageItemsMax) return
        after = last.tenantId
      }
    },

    async snapshot(tenantId) {
      const [change] = await newestOf(tenantId)
      return change
    },

    async *revoked() {
      for (let after = ''; ;) {
        const page = await tenantsWithRevocationsAfter(store.read, after, LIMITS.fleetPageItemsMax)
        for (const tenantId of page.filter((id) => !isReserved(id)))
          yield { tenant_id: tenantId, revoked: await revocations.revokedState(tenantId) }
        const last = page.at(-1)
        if (last === undefined || page.length < LIMITS.fleetPageItemsMax) return
        after = last
      }
    },

    revokedOf: (tenantId) => revocations.revokedState(tenantId),
  }
}
