/** What an operator does with webhooks. Nothing of it is for the fleet: gateways know of none. */
import { randomBytes } from 'node:crypto'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import type { EventName } from '../../shared/events.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Vault } from '../keys/vault.ts'
import { decodeCursor, toPage, type Page, type PageRequest } from '../store/page.ts'
import { newestEvent } from '../store/queries/outbox.ts'
import { findTenant } from '../store/queries/tenants.ts'
import { deleteDeliveriesOf } from '../store/queries/webhook-deliveries.ts'
import { endWaiting } from '../store/queries/webhook-endings.ts'
import {
  countWebhooks,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  updateWebhook,
  webhooksAfter,
  type WebhookRow,
} from '../store/queries/webhooks.ts'
import type { Queries } from '../store/engine.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { followEndings } from '../store/webhook-endings.ts'
import type { AddressCheck } from './receiver.ts'
import { newWebhookSecret } from './secrets.ts'

/** Without its secrets. */
export type Webhook = Readonly<Omit<WebhookRow, 'secretSealed' | 'previousSecretSealed'>>

interface NewWebhook {
  readonly url: string
  readonly events: readonly EventName[]
  readonly description: string
}

export type WebhookPatch = Partial<NewWebhook & Pick<WebhookRow, 'state'>>

interface WebhooksWorld {
  readonly store: Store
  readonly vault: Vault
  readonly checkAddress: AddressCheck
  readonly clock: Clock
}

export function createWebhooks({ store, vault, checkAddress, clock }: WebhooksWorld) {
  async function requirePublic(url: string) {
    const problem = await checkAddress(url)
    if (problem === undefined) return
    throw new Refusal('field_invalid', { field: 'url' }, `"url" cannot be used: ${problem}.`)
  }

  /** `work` answers what the audit trail says; undefined: there was nothing to do. */
  async function alter(
    tenantId: string,
    webhookId: string,
    actor: Actor,
    action: string,
    work: (change: Change, before: WebhookRow) => Promise<Record<string, unknown> | undefined>,
  ): Promise<Webhook> {
    return store.change(async (change) => {
      const before = await requireWebhook(change.queries, tenantId, webhookId)
      const content = await work(change, before)
      if (content === undefined) return openPartOf(before)
      await change.audit(actor, {
        action,
        tenantId,
        content: { webhook_id: webhookId, ...content },
      })
      return openPartOf(await requireWebhook(change.queries, tenantId, webhookId))
    })
  }

  return {
    async create(
      tenantId: string,
      { url, events, description }: NewWebhook,
      actor: Actor,
    ): Promise<{ webhook: Webhook; secret: string }> {
      await requirePlan(store.read, tenantId) // before anybody's name server is asked
      await requirePublic(url)
      const webhookId = `whk_${randomBytes(16).toString('hex')}`
      const { plain, sealed } = newWebhookSecret(vault, webhookId)
      const webhook = await store.change(async (change) => {
        const { queries, nowMs } = change
        await requirePlan(queries, tenantId)
        if ((await countWebhooks(queries, tenantId)) >= LIMITS.webhooksPerTenantMax)
          throw new Refusal('webhooks_exhausted')
        await insertWebhook(queries, {
          ...{ webhookId, tenantId, url, description },
          events: [...new Set(events)],
          secretSealed: sealed,
          previousSecretSealed: null,
          previousSecretUntil: null,
          state: 'active',
          pausedReason: null,
          fromSequence: await newestEvent(queries),
          failedCount: 0,
          failingSince: null,
          droppedCount: 0,
          droppedSince: null,
          generation: 0,
          createdAt: nowMs,
          updatedAt: nowMs,
        })
        const content = { webhook_id: webhookId, host: new URL(url).host, events }
        await change.audit(actor, { action: 'webhook.created', tenantId, content })
        return openPartOf(await requireWebhook(queries, tenantId, webhookId))
      })
      return { webhook, secret: plain }
    },

    async get(tenantId: string, webhookId: string): Promise<Webhook> {
      return openPartOf(await requireWebhook(store.read, tenantId, webhookId))
    },

    async list(tenantId: string, page: PageRequest): Promise<Page<Webhook>> {
      const after = decodeCursor(page.cursor, 'number', 'string') ?? ([-1, ''] as const)
      const rows = await webhooksAfter(store.read, tenantId, after, page.limit + 1)
      const listed = toPage(rows, page.limit, (row) => [row.createdAt, row.webhookId])
      return { ...listed, items: listed.items.map(openPartOf) }
    },

    async patch(
      tenantId: string,
      webhookId: string,
      patch: WebhookPatch,
      actor: Actor,
    ): Promise<Webhook> {
      const known = await requireWebhook(store.read, tenantId, webhookId)
      if (patch.url !== undefined && patch.url !== known.url) await requirePublic(patch.url)
      const webhook = await alter(
        tenantId,
        webhookId,
        actor,
        'webhook.changed',
        async (change, before) => {
          const { events, ...plain } = patch
          const wished = { ...plain, ...(events && { events: [...new Set(events)] }) }
          const changed = (Object.keys(wished) as (keyof WebhookPatch)[]).filter(
            (name) => JSON.stringify(wished[name]) !== JSON.stringify(before[name]),
          )
          if (changed.length === 0) return undefined
          const updatedAt = change.nowMs
          await updateWebhook(change.queries, webhookId, { ...wished, updatedAt })
          if (changed.includes('state')) await switchTo(change, webhookId, wished.state)
          return { changed, ...(changed.includes('state') && { state: wished.state }) }
        },
      )
      if (patch.state === 'paused') await followEndings(store, tenantId)
      return webhook
    },

    async remove(tenantId: string, webhookId: string, actor: Actor): Promise<void> {
      await requireWebhook(store.read, tenantId, webhookId)
      const most = LIMITS.rowsDeletedAtOnceMax
      const some = ({ queries }: Change) => deleteDeliveriesOf(queries, { webhookId }, most)
      while ((await store.change(some)) === most);
      await store.change(async (change) => {
        await requireWebhook(change.queries, tenantId, webhookId)
        while ((await some(change)) === most);
        await deleteWebhook(change.queries, webhookId)
        const content = { webhook_id: webhookId }
        await change.audit(actor, { action: 'webhook.removed', tenantId, content })
      })
    },

    /** A rotation within the overlap of another one ends the oldest secret at once. */
    async rotateSecret(
      tenantId: string,
      webhookId: string,
      overlapSeconds: number,
      actor: Actor,
    ): Promise<{ secret: string; previousUntilMs: number | null }> {
      const { plain, sealed } = newWebhookSecret(vault, webhookId)
      let previousUntilMs: number | null = null
      await alter(tenantId, webhookId, actor, 'webhook.secret_rotated', async (change, before) => {
        if (overlapSeconds > 0) previousUntilMs = change.nowMs + overlapSeconds * SECOND_MS
        await updateWebhook(change.queries, webhookId, {
          secretSealed: sealed,
          previousSecretSealed: previousUntilMs === null ? null : before.secretSealed,
          previousSecretUntil: previousUntilMs,
          updatedAt: change.nowMs,
        })
        return { overlap_seconds: overlapSeconds }
      })
      return { secret: plain, previousUntilMs }
    },

    isOverlapping: ({ previousSecretUntil }: Webhook) =>
      previousSecretUntil !== null && previousSecretUntil > clock.nowMs(),
  }
}

/** Whoever is paused on purpose is told nothing; whoever goes on is told of what comes. */
async function switchTo(
  { queries }: Change,
  webhookId: string,
  state: WebhookRow['state'] | undefined,
) {
  if (state === 'paused') {
    await updateWebhook(queries, webhookId, { pausedReason: 'operator' })
    const problem = 'the webhook was paused'
    await endWaiting(queries, { webhookId }, { state: 'cancelled', problem })
  } else {
    const fromSequence = await newestEvent(queries)
    await updateWebhook(queries, webhookId, {
      ...{ pausedReason: null, failedCount: 0, failingSince: null, fromSequence },
      ...{ droppedCount: 0, droppedSince: null },
    })
  }
}

export async function requireWebhook(
  queries: Queries,
  tenantId: string,
  webhookId: string,
): Promise<WebhookRow> {
  const row = await findWebhook(queries, tenantId, webhookId)
  if (row !== undefined) return row
  const isTenant = (await findTenant(queries, tenantId)) !== undefined
  throw new Refusal(isTenant ? 'webhook_not_found' : 'tenant_not_found')
}

export async function requirePlan(queries: Queries, tenantId: string): Promise<void> {
  const tenant = await findTenant(queries, tenantId)
  if (tenant === undefined) throw new Refusal('tenant_not_found')
  if (tenant.plan !== 'premium') throw new Refusal('plan_without_webhooks')
}

function openPartOf(row: WebhookRow): Webhook {
  const { secretSealed: _, previousSecretSealed: __, ...open } = row
  return open
}
