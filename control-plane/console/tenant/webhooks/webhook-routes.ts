/** One webhook: what it is told of, whether that arrives, and everything that can be done with it. */
import { html } from 'hono/html'
import { DAY_MS } from '../../../../shared/clock.ts'
import { EVENTS } from '../../../../shared/events.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { PAGE_QUERY } from '../../../requests/paging.ts'
import type { QueryValues } from '../../../http/query.ts'
import { NewWebhookBody } from '../../../requests/webhook-fields.ts'
import type { Retrying } from '../../../webhooks/deliveries.ts'
import type { Webhook } from '../../../webhooks/webhooks.ts'
import { selectField, type Attempt } from '../../../pages/blocks/field.ts'
import { form, formCard } from '../../blocks/form.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { pager } from '../../blocks/table.ts'
import { card, facts, moment } from '../../blocks/text.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { apiOf, WEBHOOK, webhookAt } from './addresses.ts'
import { DELIVERY_STATES, deliveriesTable, AGES } from './delivery-view.ts'
import { stateBadge } from './list-routes.ts'
import { hasWebhooks, planNotice, WEBHOOK_FORM, webhookFields } from './webhook-form.ts'
import { chosen } from '../../filters.ts'

const STATES = Object.keys(DELIVERY_STATES) as (keyof typeof DELIVERY_STATES)[]

const QUERY = {
  ...PAGE_QUERY,
  state: chosen(STATES),
} as const

type OfWebhook = TenantVisit & { readonly path: { readonly webhook_id: string } }

/** Of its two forms the one that was sent shows what was typed. */
interface SentFrom {
  readonly test?: Attempt
  readonly replay?: Attempt
}

const NEWEST: QueryValues<typeof QUERY> = {
  limit: LIMITS.pageItemsDefault,
  cursor: undefined,
  state: undefined,
}

export function webhookRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { webhooks } = world
  const showEdit = async (visit: OfWebhook, attempt?: Attempt): Promise<View> => {
    const webhook = await webhooks.get(visit.tenant.tenantId, visit.path.webhook_id)
    const at = webhookAt(webhook.tenantId, webhook.webhookId)
    return {
      title: 'Edit webhook',
      here: 'webhooks',
      content: formCard(visit, {
        action: `${at}/edit`,
        submit: 'Save',
        cancel: at,
        attempt,
        content: webhookFields(attempt, webhook),
      }),
      calls: [{ method: 'PATCH', path: apiOf(at), body: { events: webhook.events } }],
    }
  }

  return [
    page({ path: WEBHOOK, role: 'tenant', query: QUERY }, (visit) =>
      webhookPage(world, visit, visit.query),
    ),
    page({ path: `${WEBHOOK}/edit`, role: 'tenant', needsFreshSignIn: true }, (visit) =>
      showEdit(visit),
    ),
    action(
      {
        path: `${WEBHOOK}/edit`,
        role: 'tenant',
        form: WEBHOOK_FORM,
        body: NewWebhookBody,
        needsFreshSignIn: true,
      },
      async ({ tenant: { tenantId }, path, actor }, body) => {
        await webhooks.patch(tenantId, path.webhook_id, body, actor)
        return done(webhookAt(tenantId, path.webhook_id), 'Saved.')
      },
      showEdit,
    ),
  ]
}

export async function webhookPage(
  { webhooks, deliveries }: ConsoleWorld,
  visit: OfWebhook,
  query: QueryValues<typeof QUERY> = NEWEST,
  sent: SentFrom = {},
): Promise<View> {
  const { tenant, path, address } = visit
  const webhook = await webhooks.get(tenant.tenantId, path.webhook_id)
  const { state, ...wanted } = query
  const found = await deliveries.list(tenant.tenantId, webhook.webhookId, wanted, state)
  const retrying = (await deliveries.retryingOf([webhook])).get(webhook.webhookId)
  const at = webhookAt(tenant.tenantId, webhook.webhookId)
  const isOffered = hasWebhooks(tenant)
  return {
    title: 'Webhook',
    heading: new URL(webhook.url).host,
    here: 'webhooks',
    intro: html`${stateBadge(webhook, retrying)} ${webhook.description}`,
    buttons: buttonsOf(webhook, at),
    content: html`${isOffered ? '' : planNotice(visit)} ${stateNotice(visit, webhook, at, retrying)} ${lost(webhook)}
    ${card('Details', glance(webhook, webhooks.isOverlapping(webhook)))}
    ${card('Subscribed events', toldOf(webhook))}
    ${isOffered ? card('Test', testForm(visit, webhook, at, sent.test), 'test') : ''}
    <h2 id="deliveries">Deliveries</h2>
    ${filter(at, state)} ${deliveriesTable(found.items, webhook, state !== undefined)}
    ${pager(address, { next: found.next, isFirst: wanted.cursor === undefined })}
    ${isOffered && webhook.state === 'active' ? card('Retry failed deliveries', replayForm(visit, at, sent.replay), 'replay') : ''}`,
    calls: [
      { method: 'GET', path: apiOf(at), label: 'The webhook' },
      { method: 'GET', path: `${apiOf(at)}/deliveries`, label: 'Its deliveries' },
      { method: 'POST', path: `${apiOf(at)}/test`, body: {}, label: 'Send a test' },
      {
        method: 'POST',
        path: `${apiOf(at)}/replay`,
        body: { failed_since: new Date(visit.nowMs - DAY_MS).toISOString() },
        label: 'Retry failed deliveries',
      },
    ],
  }
}

function buttonsOf({ state }: Webhook, at: string) {
  return [
    linkButton(`${at}/edit`, 'Edit', 'quiet'),
    linkButton(`${at}/rotate`, 'Rotate secret', 'quiet'),
    ...(state === 'active' ? [linkButton(`${at}/pause`, 'Pause', 'quiet')] : []),
    linkButton(`${at}/remove`, 'Delete', 'quiet'),
  ]
}

/** Why it is told nothing, and what to do about it. */
function stateNotice(
  visit: TenantVisit,
  { state, pausedReason, failingSince }: Webhook,
  at: string,
  retrying: Retrying | undefined,
) {
  if (state === 'active') {
    if (failingSince !== null)
      return notice(
        'info',
        html`All deliveries have failed since ${moment(failingSince)}. The webhook is paused after
          ${LIMITS.webhookFailingMsBeforePause / DAY_MS} days of failures.`,
      )
    if (retrying === undefined) return ''
    const attempts = retrying.failed === 1 ? 'once' : `${retrying.failed} times`
    return notice(
      'info',
      html`The oldest waiting delivery has failed ${attempts}. The next attempt is at
      ${moment(retrying.nextAt)}.`,
    )
  }
  const resume = form(visit, { action: `${at}/resume`, submit: 'Resume', look: 'quiet' })
  if (pausedReason === 'failing')
    return notice(
      'problem',
      html`Paused automatically: all deliveries have failed since ${moment(failingSince)}. Fix the
        receiver, send a test, then resume. Events that happened while it was paused are not sent.`,
      resume,
    )
  return notice('info', 'Paused. No events are sent until you resume it.', resume)
}

/** What the list of deliveries does not show. */
function lost({ droppedCount, droppedSince }: Webhook) {
  if (droppedSince === null) return ''
  const written = (count: number) => count.toLocaleString('en')
  const events = droppedCount === 1 ? '1 event was' : `${written(droppedCount)} events were`
  return notice(
    'problem',
    html`Since ${moment(droppedSince)}, ${events} dropped: ${written(LIMITS.webhookPendingMax)}
      deliveries were already queued, and as many had failed.`,
  )
}

function glance(webhook: Webhook, isOverlapping: boolean) {
  const { url, previousSecretUntil, createdAt, updatedAt } = webhook
  return facts([
    ['Endpoint URL', html`<code>${url}</code>`],
    ['Created', moment(createdAt)],
    ['Updated', moment(updatedAt)],
    ...(isOverlapping
      ? [['Previous secret valid until', moment(previousSecretUntil)] as const]
      : []),
  ])
}

function toldOf({ events }: Webhook) {
  return html`<ul>
    ${events.map((event) => html`<li>${event} <span class="hint">${EVENTS[event].sentWhen}</span></li>`)}
  </ul>`
}

function testForm(visit: TenantVisit, { events }: Webhook, at: string, attempt?: Attempt) {
  const options = events.map((event) => ({ value: event, label: event }))
  return form(visit, {
    action: `${at}/test`,
    submit: 'Send test',
    look: 'quiet',
    attempt,
    content: selectField({
      name: 'event',
      label: 'Event',
      hint: 'Sends a signed example event, even while the webhook is paused.',
      options,
      attempt,
    }),
  })
}

function replayForm(visit: TenantVisit, at: string, attempt?: Attempt) {
  return form(visit, {
    action: `${at}/replay`,
    submit: 'Retry failed deliveries',
    look: 'quiet',
    attempt,
    content: selectField({
      name: 'age',
      label: 'Failed within',
      hint: 'Each retry is a new delivery with its own ID. Deliveries that were already retried are skipped.',
      options: Object.entries(AGES).map(([value, { label }]) => ({ value, label })),
      attempt,
    }),
  })
}

function filter(at: string, state: string | undefined) {
  const options = STATES.map((value) => ({ value, label: DELIVERY_STATES[value].label }))
  return html`<form method="get" action="${at}#deliveries" class="filters" role="search">
    ${selectField({
      name: 'state',
      label: 'State',
      value: state ?? '',
      options: [{ value: '', label: 'Any' }, ...options],
      isFree: true,
    })}
    <div class="submit"><button type="submit" class="button quiet">Show</button></div>
  </form>`
}
