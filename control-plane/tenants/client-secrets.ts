/**
 * The client secret of a tenant, and while it is being replaced the one before it: both count
 * until the application and all gateways have the new one, so that nobody is signed out by it
 * (.docs/decisions/0012-secret-overlap.md).
 */
import { PURPOSES } from '../keys/sealed-columns.ts'
import { timingSafeEqual } from 'node:crypto'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import type { Vault } from '../keys/vault.ts'
import {
  endedSecretOverlaps,
  findTenant,
  findTenantSecrets,
  NO_PREVIOUS_SECRET,
  updateTenant,
  type TenantSecrets,
} from '../store/queries/tenants.ts'
import type { Actor, Store } from '../store/store.ts'
import { found, type Alter } from './alter.ts'
import { newClientSecret } from './secrets.ts'

export interface ClientSecrets {
  readonly current: string
  /** Counts as well until then. */
  readonly previous: { readonly secret: string; readonly untilMs: number } | undefined
}

/** What a secret that somebody sends is compared with. */
export interface SecretHashes {
  readonly current: string
  readonly previous: { readonly hash: string; readonly untilMs: number } | undefined
}

export interface RotatedSecret {
  readonly secret: string
  /** null: the one before it is worth nothing any more. */
  readonly previousUntilMs: number | null
}

export function createClientSecrets(world: {
  readonly store: Store
  readonly vault: Vault
  readonly clock: Clock
  readonly alter: Alter
}) {
  const { store, vault, clock, alter } = world

  async function clientSecrets(tenantId: string): Promise<ClientSecrets> {
    const secrets = await findTenantSecrets(store.read, tenantId)
    if (secrets === undefined) throw new Refusal('tenant_not_found')
    return openClientSecrets(secrets, tenantId, vault, clock.nowMs())
  }

  return {
    clientSecrets,

    async clientSecret(tenantId: string): Promise<string> {
      return (await clientSecrets(tenantId)).current
    },

    /** A rotation within the time of another one ends the oldest secret at once. */
    async rotateClientSecret(
      tenantId: string,
      overlapSeconds: number,
      actor: Actor,
    ): Promise<RotatedSecret> {
      const next = newClientSecret(vault, tenantId)
      let previousUntilMs: number | null = null
      await alter(tenantId, actor, 'client_secret.rotated', async ({ queries, nowMs }) => {
        const before = await findTenantSecrets(queries, tenantId)
        if (before === undefined) throw new Refusal('tenant_not_found')
        if (overlapSeconds > 0) previousUntilMs = nowMs + overlapSeconds * SECOND_MS
        await updateTenant(queries, tenantId, {
          clientSecretSealed: next.sealed,
          clientSecretHash: next.hash,
          ...(previousUntilMs === null
            ? NO_PREVIOUS_SECRET
            : {
                previousSecretSealed: before.clientSecretSealed,
                previousSecretHash: before.clientSecretHash,
                previousSecretUntil: previousUntilMs,
              }),
        })
        return { overlap_seconds: overlapSeconds }
      })
      return { secret: next.plain, previousUntilMs }
    },

    /** For somebody to read: who has seen it is written down. */
    async showClientSecret(tenantId: string, actor: Actor): Promise<RotatedSecret> {
      return store.change(async (change) => {
        found(await findTenant(change.queries, tenantId))
        const columns = await findTenantSecrets(change.queries, tenantId)
        if (columns === undefined) throw new Refusal('tenant_not_found')
        await change.audit(actor, { action: 'client_secret.shown', tenantId })
        const { current, previous } = openClientSecrets(columns, tenantId, vault, change.nowMs)
        return { secret: current, previousUntilMs: previous?.untilMs ?? null }
      })
    },

    /** Realms and the feed look at the time themselves; gateways learn of the end by this. */
    async endSecretOverlaps(limit: number): Promise<number> {
      if ((await endedSecretOverlaps(store.read, clock.nowMs(), 1)).length === 0) return 0
      return store.change(async (change) => {
        const ended = await endedSecretOverlaps(change.queries, change.nowMs, limit)
        for (const tenantId of ended) {
          await updateTenant(change.queries, tenantId, NO_PREVIOUS_SECRET)
          await change.touch(tenantId)
        }
        return ended.length
      })
    },
  }
}

type ClientSecretColumns = Pick<
  TenantSecrets,
  'clientSecretSealed' | 'previousSecretSealed' | 'previousSecretUntil'
>

export function openClientSecrets(
  columns: ClientSecretColumns,
  tenantId: string,
  vault: Pick<Vault, 'open'>,
  nowMs: number,
): ClientSecrets {
  const { clientSecretSealed, previousSecretSealed, previousSecretUntil: untilMs } = columns
  const purpose = PURPOSES.clientSecret({ tenantId })
  const isInTime = previousSecretSealed !== null && untilMs !== null && untilMs > nowMs
  return {
    current: vault.open(clientSecretSealed, purpose),
    previous: isInTime ? { secret: vault.open(previousSecretSealed, purpose), untilMs } : undefined,
  }
}

export function secretHashesOf(columns: TenantSecrets): SecretHashes {
  const { clientSecretHash, previousSecretHash: hash, previousSecretUntil: untilMs } = columns
  const previous = hash === null || untilMs === null ? undefined : { hash, untilMs }
  return { current: clientSecretHash, previous }
}

/** Both are looked at, whichever it is. */
export function isClientSecret(hash: string, { current, previous }: SecretHashes, nowMs: number) {
  const isCurrent = isSame(hash, current)
  const isPrevious = isSame(hash, previous?.hash ?? current)
  return isCurrent || (isPrevious && previous !== undefined && nowMs < previous.untilMs)
}

/** Hashes of one kind, and so of one length. */
function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}
