/** Deliveries: one with every attempt at it; a test; and what is sent again. */
import { html } from 'hono/html'
import { LIMITS } from '../../../../shared/limits.ts'
import { NothingBody } from '../../../requests/fields.ts'
import { WebhookTestBody } from '../../../requests/webhook-fields.ts'
import type { AttemptRow } from '../../../store/queries/webhook-deliveries.ts'
import type { Delivery } from '../../../webhooks/deliveries.ts'
import { form } from '../../blocks/form.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { emptyState, table } from '../../blocks/table.ts'
import { badge, card, copyable, facts, logMoment } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'
import { action, done, page, type TenantVisit } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { apiOf, DELIVERY, deliveryAt, WEBHOOK, webhookAt } from './addresses.ts'
import { answerOf, deliveryBadge, nextOf, AGES, ReplayForm } from './delivery-view.ts'
import { hasWebhooks } from './webhook-form.ts'
import { webhookPage } from './webhook-routes.ts'

export function deliveryRoutes(world: ConsoleWorld) {
  const { webhooks, deliveries } = world
  /** Where it went, with what came of it if that is known soon. */
  const toDelivery = async ({ tenantId, webhookId, deliveryId }: Delivery, said: string) => {
    await deliveries.settled(deliveryId, LIMITS.consoleDeliveryMsMax)
    return done(deliveryAt(tenantId, webhookId, deliveryId), said)
  }

  return [
    action(
      {
        path: `${WEBHOOK}/test`,
        role: 'tenant',
        form: { event: 'optional' },
        body: WebhookTestBody,
        isOnce: true,
      },
      async ({ tenant: { tenantId }, path, actor }, { event }) => {
        const sent = await deliveries.test(tenantId, path.webhook_id, event, actor)
        return toDelivery(sent, 'Test queued.')
      },
      (visit, test) => webhookPage(world, visit, undefined, { test }),
    ),
    action(
      {
        path: `${WEBHOOK}/replay`,
        role: 'tenant',
        form: { age: 'text' },
        body: ReplayForm,
        isOnce: true,
      },
      async ({ tenant: { tenantId }, path, actor, nowMs, request }, { age }) => {
        const count = await deliveries.replayFailed(
          tenantId,
          path.webhook_id,
          nowMs - AGES[age].ms,
          actor,
          () => request.signal.aborted,
        )
        return done(
          webhookAt(tenantId, path.webhook_id),
          count === 0
            ? `No failed deliveries in ${AGES[age].label}.`
            : `Retrying ${count} ${count === 1 ? 'delivery' : 'deliveries'}.`,
        )
      },
      (visit, replay) => webhookPage(world, visit, undefined, { replay }),
    ),
    page({ path: DELIVERY, role: 'tenant' }, async (visit) => {
      const { tenant, path, address } = visit
      const { webhook_id: webhookId, delivery_id: deliveryId } = path
      const { url, state } = await webhooks.get(tenant.tenantId, webhookId)
      const { body, ...delivery } = await deliveries.get(tenant.tenantId, webhookId, deliveryId)
      const at = deliveryAt(tenant.tenantId, webhookId, deliveryId)
      const isSendable = hasWebhooks(tenant) && state === 'active'
      return {
        title: 'Delivery',
        heading: delivery.event,
        here: 'webhooks',
        intro: html`${deliveryBadge(delivery)} ${delivery.isTest ? badge('Test') : ''}`,
        buttons: [linkButton(webhookAt(tenant.tenantId, webhookId), 'All deliveries', 'quiet')],
        content: html`${stateNotice(delivery, address)}
        ${card('Details', glance(delivery, url, tenant.tenantId))}
        <h2>Attempts</h2>
        ${attempts(delivery.tries)} ${card('Request body', copyable(body, 'Request body'))}
        ${isSendable ? card('Retry', replayForm(visit, at)) : ''}`,
        calls: [
          { method: 'GET', path: apiOf(at), label: 'The delivery' },
          { method: 'POST', path: `${apiOf(at)}/replay`, body: {}, label: 'Retry the delivery' },
        ],
      }
    }),
    action(
      { path: `${DELIVERY}/replay`, role: 'tenant', body: NothingBody, isOnce: true },
      async ({ tenant: { tenantId }, path, actor }) => {
        const { webhook_id: webhookId, delivery_id: deliveryId } = path
        const sent = await deliveries.replay(tenantId, webhookId, deliveryId, actor)
        return toDelivery(sent, 'Retry queued as this delivery.')
      },
    ),
  ]
}

function stateNotice(delivery: Delivery, address: string): Html | string {
  const { state, problem, tries } = delivery
  const last = tries.at(-1)
  switch (state) {
    case 'delivered':
      return notice('success', `Delivered: ${last ? answerOf(last) : 'accepted by the receiver'}.`)
    case 'failed':
      return notice('problem', `Failed: ${problem ?? (last ? answerOf(last) : 'not delivered')}.`)
    case 'cancelled':
      return notice('info', `Canceled: ${problem ?? 'no longer needed'}.`)
    case 'pending':
      return notice(
        'info',
        last === undefined
          ? 'Queued: no attempt has finished yet.'
          : html`Not delivered yet: ${answerOf(last)}. Next attempt: ${nextOf(delivery) ?? 'none'}.`,
        html`<p><a href="${address}">Refresh</a></p>`,
      )
  }
}

function glance(delivery: Delivery, url: string, tenantId: string) {
  const { deliveryId, webhookId, replayedFrom, createdAt } = delivery
  return facts([
    ['ID', deliveryId],
    ['Endpoint URL', html`<code>${url}</code>`],
    ['Created', logMoment(createdAt)],
    ['Next attempt', nextOf(delivery)],
    [
      'Retry of',
      replayedFrom === null
        ? null
        : html`<a href="${deliveryAt(tenantId, webhookId, replayedFrom)}">${replayedFrom}</a>`,
    ],
  ])
}

function attempts(tries: readonly AttemptRow[]) {
  return table({
    caption: 'Attempts',
    rows: tries,
    columns: [
      { label: 'Number', isName: true, cell: ({ number }) => `Attempt ${number}` },
      { label: 'Time', cell: ({ at }) => logMoment(at) },
      { label: 'Response', cell: (one) => answerOf(one) },
      { label: 'Duration', isNumber: true, cell: ({ milliseconds }) => `${milliseconds} ms` },
      {
        label: 'Response body',
        cell: ({ firstBytes }) => (firstBytes === '' ? null : html`<code>${firstBytes}</code>`),
      },
    ],
    empty: emptyState('No attempt yet', 'The first attempt follows within seconds.'),
  })
}

function replayForm(visit: TenantVisit, at: string) {
  return html`<p class="hint">Sends the same event again as a new delivery with its own ID.</p>
    ${form(visit, { action: `${at}/replay`, submit: 'Retry delivery', look: 'quiet' })}`
}
