/** The secret that a webhook's deliveries are signed with; while it is replaced the one before it. */
import { PURPOSES } from '../keys/sealed-columns.ts'
import { randomBytes } from 'node:crypto'
import type { Vault } from '../keys/vault.ts'
import type { WebhookRow } from '../store/queries/webhooks.ts'

const SECRET_BYTES = 32

/** The prefix says what it is to whoever finds it in a file, and to scanners for leaked secrets. */
export function newWebhookSecret(vault: Pick<Vault, 'seal'>, webhookId: string) {
  const plain = `whsec_${randomBytes(SECRET_BYTES).toString('base64url')}`
  return { plain, sealed: vault.seal(plain, PURPOSES.webhook({ webhookId })) }
}

/** In the order in which they were made. */
export function openSecrets(
  webhook: Pick<
    WebhookRow,
    'webhookId' | 'secretSealed' | 'previousSecretSealed' | 'previousSecretUntil'
  >,
  vault: Pick<Vault, 'open'>,
  nowMs: number,
): string[] {
  const { webhookId, secretSealed, previousSecretSealed: previous } = webhook
  const isOverlapping = previous !== null && (webhook.previousSecretUntil ?? 0) > nowMs
  const sealed = isOverlapping ? [previous, secretSealed] : [secretSealed]
  return sealed.map((one) => vault.open(one, PURPOSES.webhook({ webhookId })))
}
