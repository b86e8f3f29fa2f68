/** Who has taken nothing for days is not knocked at any more, until somebody says so. */
import { LIMITS } from '../../shared/limits.ts'
import { endWaiting } from '../store/queries/webhook-endings.ts'
import { findWebhooks, updateWebhook } from '../store/queries/webhooks.ts'
import type { Change } from '../store/store.ts'

/** The service itself: nobody has asked for it. */
export const SERVICE = { name: 'service', requestId: 'none' }

/** So many of each webhook were given up. Answers those that are paused for it. */
export async function countFailures(
  change: Change,
  failed: ReadonlyMap<string, number>,
): Promise<string[]> {
  const { queries, nowMs } = change
  const paused: string[] = []
  for (const webhook of await findWebhooks(queries, [...failed.keys()])) {
    const { webhookId, tenantId, state } = webhook
    const failedCount = webhook.failedCount + (failed.get(webhookId) ?? 0)
    const failingSince = webhook.failingSince ?? nowMs
    await updateWebhook(queries, webhookId, { failedCount, failingSince })
    const isHopeless =
      failedCount >= LIMITS.webhookFailuresBeforePauseMin &&
      nowMs - failingSince >= LIMITS.webhookFailingMsBeforePause
    if (state === 'paused' || !isHopeless) continue
    if (paused.length === LIMITS.webhooksPausedAtOnceMax) continue // with its next failure
    await updateWebhook(queries, webhookId, {
      state: 'paused',
      pausedReason: 'failing',
      updatedAt: nowMs,
    })
    await endWaiting(queries, { webhookId }, { state: 'failed', problem: 'the webhook was paused' })
    const content = {
      webhook_id: webhookId,
      reason: 'failing',
      failed: failedCount,
      failing_since: new Date(failingSince).toISOString(),
    }
    await change.audit(SERVICE, { action: 'webhook.paused', tenantId, content })
    paused.push(webhookId)
  }
  return paused
}
