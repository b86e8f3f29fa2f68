/** Webhooks: who is told of what, and what came of it. */
import { LIMITS } from '../../../shared/limits.ts'
import type { Tenants } from '../../tenants/tenants.ts'
import type { Deliveries, Delivery } from '../../webhooks/deliveries.ts'
import type { Webhook, WebhookPatch, Webhooks } from '../../webhooks/webhooks.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import { mapPage, PAGE_QUERY, pageOf } from '../../requests/paging.ts'
import { NothingBody } from '../../requests/fields.ts'
import { SecretRotationBody } from '../../requests/key-fields.ts'
import { viewOf } from '../../requests/field-names.ts'
import {
  AttemptAnswer,
  DELIVERY_QUERY,
  DeliveryAnswer,
  NewWebhookAnswer,
  NewWebhookBody,
  ReplayBody,
  ReplayedAnswer,
  WebhookAnswer,
  WebhookPatchBody,
  WebhookSecretAnswer,
  WebhookTestBody,
  WholeDeliveryAnswer,
} from '../../requests/webhook-fields.ts'

export interface WebhookEndpointsWorld {
  readonly tenants: Pick<Tenants, 'get'>
  readonly webhooks: Webhooks
  readonly deliveries: Deliveries
}

const operator = endpointsOf('webhooks', 'operator')
const ALL = '/api/v1/operator/tenants/{tenant_id}/webhooks'
const ONE = `${ALL}/{webhook_id}` as const
const SENT = `${ONE}/deliveries` as const

export function webhookEndpoints(world: WebhookEndpointsWorld): readonly Endpoint[] {
  return [...receiverEndpoints(world), ...deliveryEndpoints(world)]
}

function receiverEndpoints({ tenants, webhooks }: WebhookEndpointsWorld): readonly Endpoint[] {
  const view = (webhook: Webhook) => webhookView(webhook, webhooks.isOverlapping(webhook))
  return [
    operator.post(ALL, {
      summary: 'Has an address told of events, by signed requests. Comes with plan premium.',
      description:
        'The address has to be `https://` and lead to public addresses only. What is sent, and ' +
        'how the signature is checked, is at `/api/v1/events`.',
      body: NewWebhookBody,
      example: {
        url: 'https://hooks.acme.example/service',
        events: ['session.revoked', 'signin.denied'],
        description: 'To the security team',
      },
      answers: { 201: json(NewWebhookAnswer, 'The webhook, with its signing secret.') },
      refusals: ['plan_without_webhooks', 'webhooks_exhausted'],
      handle: async (c, { path, body }) => {
        const { webhook, secret } = await webhooks.create(path.tenant_id, body, c.var.actor)
        return c.json({ ...view(webhook), secret }, 201)
      },
    }),
    operator.get(ALL, {
      summary: 'Lists the webhooks, the oldest first.',
      query: PAGE_QUERY,
      answers: { 200: json(pageOf(WebhookAnswer), 'One page of them.') },
      handle: async (c, { path, query }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        return c.json(mapPage(await webhooks.list(tenantId, query), view))
      },
    }),
    operator.get(ONE, {
      summary: 'Shows one webhook.',
      answers: { 200: json(WebhookAnswer, 'The webhook, without its secret.') },
      refusals: ['webhook_not_found'],
      handle: async (c, { path }) =>
        c.json(view(await webhooks.get(path.tenant_id, path.webhook_id))),
    }),
    operator.patch(ONE, {
      summary: 'Changes a webhook, pauses it, or has it go on; what is left out stays.',
      description:
        'A webhook that is paused is told nothing, and what waits for it is cancelled. Set to ' +
        '`active` it is told of what happens from then on.',
      body: WebhookPatchBody,
      example: { events: ['session.revoked'], state: 'active' },
      answers: { 200: json(WebhookAnswer, 'The webhook as it is now.') },
      refusals: ['webhook_not_found'],
      handle: async (c, { path, body }) => {
        const patch = body as WebhookPatch
        return c.json(
          view(await webhooks.patch(path.tenant_id, path.webhook_id, patch, c.var.actor)),
        )
      },
    }),
    operator.delete(ONE, {
      summary: 'Removes a webhook with all of its deliveries.',
      answers: { 204: nothing('It is gone.') },
      refusals: ['webhook_not_found'],
      handle: async (c, { path }) => {
        await webhooks.remove(path.tenant_id, path.webhook_id, c.var.actor)
        return c.body(null, 204)
      },
    }),
    operator.post(`${ONE}/rotate-secret`, {
      summary: 'Makes a new signing secret; for a while deliveries are signed with both.',
      description: 'Both are in `X-Service-Signature`, as `v1` each; the new one comes last.',
      body: SecretRotationBody,
      example: { overlap_seconds: 86_400 },
      answers: { 200: json(WebhookSecretAnswer, 'The new secret.') },
      refusals: ['webhook_not_found'],
      handle: async (c, { path, body: { overlap_seconds: seconds } }) => {
        const { tenant_id: tenantId, webhook_id: webhookId } = path
        const made = await webhooks.rotateSecret(tenantId, webhookId, seconds, c.var.actor)
        return c.json(ofSecret({ ...made, webhookId, previousSecretUntil: made.previousUntilMs }))
      },
    }),
  ]
}

function deliveryEndpoints({ deliveries }: WebhookEndpointsWorld): readonly Endpoint[] {
  return [
    operator.post(`${ONE}/test`, {
      summary: 'Sends the example of an event, in the way and with the signature of a real one.',
      description: 'Without `event` it is the first that the webhook has chosen.',
      body: WebhookTestBody,
      example: { event: 'session.revoked' },
      answers: { 202: json(DeliveryAnswer, 'The delivery, on its way.') },
      refusals: ['webhook_not_found', 'plan_without_webhooks', 'deliveries_exhausted'],
      handle: async (c, { path, body }) => {
        const { tenant_id: tenantId, webhook_id: webhookId } = path
        const sent = await deliveries.test(tenantId, webhookId, body.event, c.var.actor)
        return c.json(deliveryView(sent), 202)
      },
    }),
    operator.get(SENT, {
      summary: 'Lists deliveries with every attempt, the newest first.',
      query: { ...PAGE_QUERY, ...DELIVERY_QUERY },
      answers: { 200: json(pageOf(DeliveryAnswer), 'One page of them.') },
      refusals: ['webhook_not_found'],
      handle: async (c, { path, query: { state, ...page } }) => {
        const { tenant_id: tenantId, webhook_id: webhookId } = path
        return c.json(
          mapPage(await deliveries.list(tenantId, webhookId, page, state), deliveryView),
        )
      },
    }),
    operator.get(`${SENT}/{delivery_id}`, {
      summary: 'Shows one delivery, with what is sent.',
      answers: { 200: json(WholeDeliveryAnswer, 'The delivery.') },
      refusals: ['webhook_not_found', 'delivery_not_found'],
      handle: async (c, { path }) => {
        const { tenant_id: tenantId, webhook_id: webhookId, delivery_id: deliveryId } = path
        const { body, ...delivery } = await deliveries.get(tenantId, webhookId, deliveryId)
        return c.json({ ...deliveryView(delivery), body })
      },
    }),
    operator.post(`${SENT}/{delivery_id}/replay`, {
      summary: 'Sends a delivery once more, under an id of its own.',
      body: NothingBody,
      answers: { 202: json(DeliveryAnswer, 'The new delivery, on its way.') },
      refusals: [
        'webhook_not_found',
        'delivery_not_found',
        'plan_without_webhooks',
        'webhook_paused',
        'deliveries_exhausted',
      ],
      handle: async (c, { path }) => {
        const { tenant_id: tenantId, webhook_id: webhookId, delivery_id: deliveryId } = path
        const sent = await deliveries.replay(tenantId, webhookId, deliveryId, c.var.actor)
        return c.json(deliveryView(sent), 202)
      },
    }),
    operator.post(`${ONE}/replay`, {
      summary: 'Sends everything once more that was given up since then, each under a new id.',
      description:
        'What was sent once more already is left out. At most ' +
        `${LIMITS.webhookPendingMax} wait at a time; ask again for the rest.`,
      body: ReplayBody,
      example: { failed_since: '2026-03-01T00:00:00Z' },
      answers: { 202: json(ReplayedAnswer, 'They are on their way.') },
      refusals: [
        'webhook_not_found',
        'plan_without_webhooks',
        'webhook_paused',
        'deliveries_exhausted',
        'replay_running',
      ],
      handle: async (c, { path, body }) => {
        const { tenant_id: tenantId, webhook_id: webhookId } = path
        const sinceMs = Date.parse(body.failed_since)
        const replayed = await deliveries.replayFailed(
          tenantId,
          webhookId,
          sinceMs,
          c.var.actor,
          () => c.req.raw.signal.aborted,
        )
        return c.json({ replayed }, 202)
      },
    }),
  ]
}

const ofSecret = viewOf(WebhookSecretAnswer)
const ofWebhook = viewOf(WebhookAnswer)

function webhookView(webhook: Webhook, isOverlapping: boolean) {
  const previousSecretUntil = isOverlapping ? webhook.previousSecretUntil : null
  return ofWebhook({ ...webhook, dropped: webhook.droppedCount, previousSecretUntil })
}

const ofDelivery = viewOf(DeliveryAnswer)
const ofAttempt = viewOf(AttemptAnswer)

function deliveryView(delivery: Delivery) {
  const isWaiting = delivery.state === 'pending' && delivery.leaseOwner === null
  return ofDelivery({
    ...delivery,
    test: delivery.isTest,
    attempts: delivery.tries.map(ofAttempt),
    nextAt: isWaiting ? delivery.nextAt : null,
  })
}
