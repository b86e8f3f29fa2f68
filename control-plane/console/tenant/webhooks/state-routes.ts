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
  { seconds: LIMITS.secretOverlapSecondsDefault, label: 'For a day' },
  { seconds: HOUR_MS / SECOND_MS, label: 'For an hour' },
  { seconds: (7 * DAY_MS) / SECOND_MS, label: 'For 7 days' },
  { seconds: LIMITS.secretOverlapSecondsMax, label: 'For 30 days' },
  { seconds: 0, label: 'Not at all: it has leaked' },
] as const

export function webhookStateRoutes({ webhooks }: Pick<ConsoleWorld, 'webhooks'>) {
  const found = ({ tenant, path }: OfWebhook) => webhooks.get(tenant.tenantId, path.webhook_id)
  const at = ({ tenant, path }: OfWebhook) => webhookAt(tenant.tenantId, path.webhook_id)

  return [
    ...asking(
      { path: `${WEBHOOK}/pause`, role: 'tenant', here: 'webhooks' },
      async (visit) => ({
        title: `Pause the webhook to ${hostOf(await found(visit))}?`,
        effects: [
          'It is told nothing until somebody has it go on.',
          'What waits to be tried again is cancelled, and what happens meanwhile is not sent later.',
        ],
        submit: 'Pause it',
        cancel: at(visit),
        calls: [{ method: 'PATCH', path: apiOf(at(visit)), body: { state: 'paused' } }],
      }),
      async (visit) => {
        const { tenantId } = visit.tenant
        await webhooks.patch(tenantId, visit.path.webhook_id, { state: 'paused' }, visit.actor)
        return done(at(visit), 'Paused: it is told nothing.')
      },
    ),
    action({ path: `${WEBHOOK}/resume`, role: 'tenant' }, async (visit) => {
      const { tenantId } = visit.tenant
      await webhooks.patch(tenantId, visit.path.webhook_id, { state: 'active' }, visit.actor)
      return done(at(visit), 'It goes on, with what happens from now on.')
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
        title: `A new secret for ${hostOf(await found(visit))}?`,
        effects: [
          'Deliveries are signed with the new secret from now on; it is shown once, on the next page.',
          'For as long as you say they are signed with the secret before as well, so that the receiver keeps accepting them until it has the new one.',
          'A second rotation within that time ends the oldest secret at once.',
        ],
        submit: 'Make the new secret',
        cancel: at(visit),
        isHarmless: true,
        content: selectField({
          name: 'overlap_seconds',
          label: 'The secret before goes on',
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
            ? 'The new secret signs alone from now on.'
            : html`The new secret signs from now on, beside the one before until
                ${moment(made.previousUntilMs)}.`
        return secretView(visit, path.webhook_id, made.secret, said)
      },
    ),
    ...asking(
      { path: `${WEBHOOK}/remove`, role: 'tenant', needsFreshSignIn: true, here: 'webhooks' },
      async (visit) => ({
        title: `Remove the webhook to ${hostOf(await found(visit))}?`,
        effects: [
          'The receiver is told nothing any more, not even what waits to be tried again.',
          'The list of its deliveries, with every attempt, is deleted.',
          'Its secret is worthless from then on. A new webhook to the same address gets another one.',
        ],
        submit: 'Remove it',
        cancel: at(visit),
        calls: [{ method: 'DELETE', path: apiOf(at(visit)) }],
      }),
      async ({ tenant: { tenantId }, path, actor }) => {
        await webhooks.remove(tenantId, path.webhook_id, actor)
        return done(webhooksAt(tenantId), 'The webhook is removed.')
      },
    ),
  ]
}

const hostOf = ({ url }: Webhook) => new URL(url).host
