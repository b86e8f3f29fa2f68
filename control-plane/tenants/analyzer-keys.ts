/**
 * The analyzer key of a tenant, and while it is being replaced the one before it, so that a
 * pipeline goes on until it has the new one. Sealed to be shown again, hashed to be found by.
 */
import { PURPOSES } from '../keys/sealed-columns.ts'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import type { Vault } from '../keys/vault.ts'
import {
  findTenant,
  findTenantByAnalyzerHash,
  findTenantSecrets,
  updateTenant,
  type Tenant,
} from '../store/queries/tenants.ts'
import type { Actor, Store } from '../store/store.ts'
import { found, type Alter } from './alter.ts'
import type { RotatedSecret } from './client-secrets.ts'
import { newAnalyzerKey } from './secrets.ts'

export function createAnalyzerKeys(world: {
  readonly store: Store
  readonly vault: Vault
  readonly clock: Clock
  readonly alter: Alter
}) {
  const { store, vault, clock, alter } = world

  return {
    /** Constant work, whatever the key: it is found by its hash. */
    byAnalyzerKey(key: string): Promise<Tenant | undefined> {
      return findTenantByAnalyzerHash(store.read, vault.hash(key), clock.nowMs())
    },

    /** A rotation within the time of another one ends the oldest key at once. */
    async rotateAnalyzerKey(
      tenantId: string,
      overlapSeconds: number,
      actor: Actor,
    ): Promise<RotatedSecret> {
      const next = newAnalyzerKey(vault, tenantId)
      let previousUntilMs: number | null = null
      await alter(tenantId, actor, 'analyzer_key.rotated', async ({ queries, nowMs }) => {
        const before = await findTenantSecrets(queries, tenantId)
        if (before === undefined) throw new Refusal('tenant_not_found')
        if (overlapSeconds > 0) previousUntilMs = nowMs + overlapSeconds * SECOND_MS
        await updateTenant(queries, tenantId, {
          analyzerKeySealed: next.sealed,
          analyzerKeyHash: next.hash,
          previousAnalyzerHash: previousUntilMs === null ? null : before.analyzerKeyHash,
          previousAnalyzerUntil: previousUntilMs,
        })
        return { overlap_seconds: overlapSeconds }
      })
      return { secret: next.plain, previousUntilMs }
    },

    /** For somebody to read: who has seen it is written down. */
    async showAnalyzerKey(tenantId: string, actor: Actor): Promise<RotatedSecret> {
      return store.change(async (change) => {
        found(await findTenant(change.queries, tenantId))
        const secrets = await findTenantSecrets(change.queries, tenantId)
        if (secrets === undefined) throw new Refusal('tenant_not_found')
        await change.audit(actor, { action: 'analyzer_key.shown', tenantId })
        const { previousAnalyzerUntil: untilMs, analyzerKeySealed } = secrets
        return {
          secret: vault.open(analyzerKeySealed, PURPOSES.analyzerKey({ tenantId })),
          previousUntilMs: stillGoodUntil(untilMs, change.nowMs),
        }
      })
    },

    /** Until when the ones before still count; no secret is opened for that. */
    async secretOverlaps(tenantId: string): Promise<SecretOverlaps> {
      const secrets = await findTenantSecrets(store.read, tenantId)
      const nowMs = clock.nowMs()
      return {
        analyzerKeyUntilMs: stillGoodUntil(secrets?.previousAnalyzerUntil, nowMs),
        clientSecretUntilMs: stillGoodUntil(secrets?.previousSecretUntil, nowMs),
      }
    },
  }
}

export interface SecretOverlaps {
  readonly analyzerKeyUntilMs: number | null
  readonly clientSecretUntilMs: number | null
}

function stillGoodUntil(untilMs: number | null | undefined, nowMs: number): number | null {
  return untilMs == null || untilMs <= nowMs ? null : untilMs
}
