/** What is done to a webhook: paused, set going again, given another secret, removed. */
import { html } from 'hono/html'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../../shared/clock.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { SecretRotationBody } from '../../../requests/key-fields.ts'
import type { Webhook } from '../../../webhooks/webhooks.ts'
import { selectField } from '../../../pages/blocks/field.ts'
import { asking } from '../../asking.ts'
import { moment } from '../../blocks/text.ts'
import { action, done, type TenantVisit } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { apiOf, WEBHOOK, webhookAt, webhooksAt } from './addresses.ts'
import { secretView } from './webhook-form.ts'

type OfWebhook = TenantVisit & { readonly path: { readonly webhook_id: string } }

/** How long the secret before goes on signing, beside the new one. */
const OVERLAPS = [
  { seconds: LIMITS.secretOverlapSecondsDefault, label: 'For 1 day' },
  { seconds: HOUR_MS / SECOND_MS, label: 'For 1 hour' },
  { seconds: (7 * DAY_MS) / SECOND_MS, label: 'For 7 days' },
  { seconds: LIMITS.secretOverlapSecondsMax, label: 'For 30 days' },
  { seconds: 0, label: 'End it now (it has leaked)' },
] as const

export function webhookStateRoutes({ webhooks }: ConsoleWorld) {
  const found = ({ tenant, path }: OfWebhook) => webhooks.get(tenant.tenantId, path.webhook_id)
  const at = ({ tenant, path }: OfWebhook) => webhookAt(tenant.tenantId, path.webhook_id)

  return [
    ...asking(
      { path: `${WEBHOOK}/pause`, role: 'tenant', here: 'webhooks' },
      async (visit) => ({
        title: `Pause the webhook to ${hostOf(await found(visit))}?`,
        effects: [
          'No events are sent until you resume it.',
          'Queued deliveries are canceled. Events that happen while it is paused are not sent later.',
        ],
        submit: 'Pause webhook',
        cancel: at(visit),
        calls: [{ method: 'PATCH', path: apiOf(at(visit)), body: { state: 'paused' } }],
      }),
      async (visit) => {
        const { tenantId } = visit.tenant
        await webhooks.patch(tenantId, visit.path.webhook_id, { state: 'paused' }, visit.actor)
        return done(at(visit), 'Webhook paused.')
      },
    ),
    action({ path: `${WEBHOOK}/resume`, role: 'tenant' }, async (visit) => {
      const { tenantId } = visit.tenant
      await webhooks.patch(tenantId, visit.path.webhook_id, { state: 'active' }, visit.actor)
      return done(at(visit), 'Webhook resumed. It receives future events.')
    }),
    ...asking(
      {
        path: `${WEBHOOK}/rotate`,
        role: 'tenant',
        form: { overlap_seconds: 'whole' },
        body: SecretRotationBody,
        isOnce: true,
        needsFreshSignIn: true,
        here: 'webhooks',
        isAskedAgain: true,
      },
      async (visit, attempt) => ({
        title: `Rotate the signing secret for ${hostOf(await found(visit))}?`,
        effects: [
          'Deliveries are signed with the new secret right away. It is shown once, on the next page.',
          'During the overlap, deliveries are also signed with the previous secret, so your receiver keeps accepting them.',
          'Rotating again during the overlap ends the oldest secret immediately.',
        ],
        submit: 'Rotate secret',
        cancel: at(visit),
        isHarmless: true,
        content: selectField({
          name: 'overlap_seconds',
          label: 'Keep the previous secret',
          options: OVERLAPS.map(({ seconds, label }) => ({ value: String(seconds), label })),
          value: String(LIMITS.secretOverlapSecondsDefault),
          attempt,
        }),
        calls: [
          {
            method: 'POST',
            path: `${apiOf(at(visit))}/rotate-secret`,
            body: { overlap_seconds: LIMITS.secretOverlapSecondsDefault },
          },
        ],
      }),
      async (visit, { overlap_seconds: seconds }) => {
        const { tenant, path, actor } = visit
        const made = await webhooks.rotateSecret(tenant.tenantId, path.webhook_id, seconds, actor)
        const said =
          made.previousUntilMs === null
            ? 'Secret rotated. The previous secret no longer signs.'
            : html`Secret rotated. The previous secret also signs until
                ${moment(made.previousUntilMs)}.`
        return secretView(visit, path.webhook_id, made.secret, said)
      },
    ),
    ...asking(
      { path: `${WEBHOOK}/remove`, role: 'tenant', needsFreshSignIn: true, here: 'webhooks' },
      async (visit) => ({
        title: `Delete the webhook to ${hostOf(await found(visit))}?`,
        effects: [
          'No more events are sent, including queued deliveries.',
          'Its delivery history is deleted.',
          'Its signing secret stops working. A new webhook to the same URL gets a new secret.',
        ],
        submit: 'Delete webhook',
        cancel: at(visit),
        calls: [{ method: 'DELETE', path: apiOf(at(visit)) }],
      }),
      async ({ tenant: { tenantId }, path, actor }) => {
        await webhooks.remove(tenantId, path.webhook_id, actor)
        return done(webhooksAt(tenantId), 'Webhook deleted.')
      },
    ),
  ]
}

const hostOf = ({ url }: Webhook) => new URL(url).host
