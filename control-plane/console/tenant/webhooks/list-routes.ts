/** Webhooks: who is told of what; and a new one, with its secret shown once. */
import { html } from 'hono/html'
import { PAGE_QUERY } from '../../../requests/paging.ts'
import { NewWebhookBody } from '../../../requests/webhook-fields.ts'
import type { Retrying } from '../../../webhooks/deliveries.ts'
import type { Webhook } from '../../../webhooks/webhooks.ts'
import { formCard } from '../../blocks/form.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { emptyState, pager, table } from '../../blocks/table.ts'
import { badge, moment } from '../../blocks/text.ts'
import { action, page, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { apiOf, NEW_WEBHOOK, webhookAt, webhooksAt, WEBHOOKS } from './addresses.ts'
import { hasWebhooks, planNotice, secretView, WEBHOOK_FORM, webhookFields } from './webhook-form.ts'
import type { Attempt } from '../../../pages/blocks/field.ts'

export function webhookListRoutes({ webhooks, deliveries }: ConsoleWorld) {
  return [
    page({ path: WEBHOOKS, role: 'tenant', query: PAGE_QUERY }, async (visit) => {
      const { tenant, query, address } = visit
      const { items, next } = await webhooks.list(tenant.tenantId, query)
      const retrying = await deliveries.retryingOf(items)
      const at = webhooksAt(tenant.tenantId)
      const isOffered = hasWebhooks(tenant)
      return {
        title: 'Webhooks',
        here: 'webhooks',
        intro: 'Send signed event notifications to another system.',
        buttons: isOffered && items.length > 0 ? [linkButton(`${at}/new`, 'New webhook')] : [],
        content: html`${isOffered ? '' : planNotice(visit)}
        ${table({
          caption: 'Webhooks',
          rows: items,
          columns: [
            {
              label: 'Endpoint URL',
              isName: true,
              cell: ({ webhookId, url, description }) =>
                html`<a href="${webhookAt(tenant.tenantId, webhookId)}">${shortened(url)}</a>
                  ${description === '' ? '' : html`<span class="hint">${description}</span>`}`,
            },
            { label: 'Events', cell: ({ events }) => eventsOf(events) },
            { label: 'State', cell: (one) => stateBadge(one, retrying.get(one.webhookId)) },
            { label: 'Updated', cell: ({ updatedAt }) => moment(updatedAt) },
          ],
          empty: emptyState(
            'No webhooks yet',
            'A webhook sends events, such as denied sign-ins and ended sessions, to a URL of yours.',
            isOffered ? linkButton(`${at}/new`, 'Create webhook') : undefined,
          ),
        })}
        ${pager(address, { next, isFirst: query.cursor === undefined })}`,
        calls: [{ method: 'GET', path: apiOf(at) }],
      }
    }),
    page({ path: NEW_WEBHOOK, role: 'tenant', needsFreshSignIn: true }, (visit) => showNew(visit)),
    action(
      {
        path: NEW_WEBHOOK,
        role: 'tenant',
        form: WEBHOOK_FORM,
        body: NewWebhookBody,
        isOnce: true,
        needsFreshSignIn: true,
      },
      async (visit, body) => {
        const { tenantId } = visit.tenant
        const { webhook, secret } = await webhooks.create(tenantId, body, visit.actor)
        return secretView(visit, webhook.webhookId, secret, 'Webhook created.')
      },
      showNew,
    ),
  ]
}

function showNew(visit: TenantVisit, attempt?: Attempt): View {
  const at = webhooksAt(visit.tenant.tenantId)
  return {
    title: 'New webhook',
    here: 'webhooks',
    intro: 'Receives future events.',
    content: hasWebhooks(visit.tenant)
      ? formCard(visit, {
          action: `${at}/new`,
          submit: 'Create webhook',
          cancel: at,
          attempt,
          content: webhookFields(attempt),
        })
      : html`${planNotice(visit)} ${linkButton(at, 'Back to webhooks', 'quiet')}`,
    calls: [
      {
        method: 'POST',
        path: apiOf(at),
        body: { url: 'https://hooks.acme.example/service', events: ['session.revoked'] },
      },
    ],
  }
}

export function stateBadge({ state, pausedReason, failingSince }: Webhook, retrying?: Retrying) {
  if (state === 'active') {
    if (failingSince !== null) return badge('Failing', 'warm')
    return retrying === undefined ? badge('Active', 'good') : badge('Retrying', 'warm')
  }
  return pausedReason === 'failing'
    ? badge('Paused after failures', 'bad')
    : badge('Paused', 'warm')
}

const EVENTS_SHOWN = 2

function eventsOf(events: Webhook['events']) {
  const others = events.length - EVENTS_SHOWN
  const shown = events.slice(0, EVENTS_SHOWN).join(', ')
  return others <= 0 ? shown : html`${shown} <span class="hint">and ${others} more</span>`
}

const URL_SHOWN = 80

/** A list shows whose address it is; the page of the webhook shows all of it. */
function shortened(url: string): string {
  return url.length <= URL_SHOWN ? url : `${url.slice(0, URL_SHOWN)}…`
}
