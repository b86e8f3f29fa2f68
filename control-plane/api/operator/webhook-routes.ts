/** Webhooks: who is told of what, and what came of it. */
import { LIMITS } from '../../../shared/limits.ts'
import type { Delivery } from '../../webhooks/deliveries.ts'
import type { Webhook, WebhookPatch } from '../../webhooks/webhooks.ts'
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
import type { ApiWorld } from '../world.ts'

const operator = endpointsOf('webhooks', 'operator')
const ALL = '/api/v1/operator/tenants/{tenant_id}/webhooks'
const ONE = `${ALL}/{webhook_id}` as const
const SENT = `${ONE}/deliveries` as const

export function webhookEndpoints(world: ApiWorld): readonly Endpoint[] {
  return [...receiverEndpoints(world), ...deliveryEndpoints(world)]
}

function receiverEndpoints({ tenants, webhooks }: ApiWorld): readonly Endpoint[] {
  const view = (webhook: Webhook) => webhookView(webhook, webhooks.isOverlapping(webhook))
  return [
    operator.post(ALL, {
      summary: 'Creates a webhook: events are sent as signed requests. Requires plan premium.',
      description:
        'The URL must be `https://` and resolve to public addresses only. For the events and ' +
        'how to verify the signature, see `/api/v1/events`.',
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
      summary: 'Lists the webhooks, oldest first.',
      query: PAGE_QUERY,
      answers: { 200: json(pageOf(WebhookAnswer), 'One page of webhooks.') },
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
      summary: 'Changes, pauses or resumes a webhook; fields you leave out stay.',
      description:
        'Pausing cancels queued deliveries. Once it is ' +
        '`active` again, it receives future events.',
      body: WebhookPatchBody,
      example: { events: ['session.revoked'], state: 'active' },
      answers: { 200: json(WebhookAnswer, 'The updated webhook.') },
      refusals: ['webhook_not_found'],
      handle: async (c, { path, body }) => {
        const patch = body as WebhookPatch
        return c.json(
          view(await webhooks.patch(path.tenant_id, path.webhook_id, patch, c.var.actor)),
        )
      },
    }),
    operator.delete(ONE, {
      summary: 'Deletes a webhook with all of its deliveries.',
      answers: { 204: nothing('The webhook is deleted.') },
      refusals: ['webhook_not_found'],
      handle: async (c, { path }) => {
        await webhooks.remove(path.tenant_id, path.webhook_id, c.var.actor)
        return c.body(null, 204)
      },
    }),
    operator.post(`${ONE}/rotate-secret`, {
      summary: 'Rotates the signing secret; for a while deliveries are signed with both.',
      description: '`X-Service-Signature` then has two `v1`; the new one comes last.',
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

function deliveryEndpoints({ deliveries }: ApiWorld): readonly Endpoint[] {
  return [
    operator.post(`${ONE}/test`, {
      summary: 'Sends an example event, signed and delivered like a real one.',
      description: 'Without `event`, the first of the subscribed events.',
      body: WebhookTestBody,
      example: { event: 'session.revoked' },
      answers: { 202: json(DeliveryAnswer, 'The queued delivery.') },
      refusals: ['webhook_not_found', 'plan_without_webhooks', 'deliveries_exhausted'],
      handle: async (c, { path, body }) => {
        const { tenant_id: tenantId, webhook_id: webhookId } = path
        const sent = await deliveries.test(tenantId, webhookId, body.event, c.var.actor)
        return c.json(deliveryView(sent), 202)
      },
    }),
    operator.get(SENT, {
      summary: 'Lists deliveries with every attempt, newest first.',
      query: { ...PAGE_QUERY, ...DELIVERY_QUERY },
      answers: { 200: json(pageOf(DeliveryAnswer), 'One page of deliveries.') },
      refusals: ['webhook_not_found'],
      handle: async (c, { path, query: { state, ...page } }) => {
        const { tenant_id: tenantId, webhook_id: webhookId } = path
        return c.json(
          mapPage(await deliveries.list(tenantId, webhookId, page, state), deliveryView),
        )
      },
    }),
    operator.get(`${SENT}/{delivery_id}`, {
      summary: 'Shows one delivery, with the body it sends.',
      answers: { 200: json(WholeDeliveryAnswer, 'The delivery.') },
      refusals: ['webhook_not_found', 'delivery_not_found'],
      handle: async (c, { path }) => {
        const { tenant_id: tenantId, webhook_id: webhookId, delivery_id: deliveryId } = path
        const { body, ...delivery } = await deliveries.get(tenantId, webhookId, deliveryId)
        return c.json({ ...deliveryView(delivery), body })
      },
    }),
    operator.post(`${SENT}/{delivery_id}/replay`, {
      summary: 'Sends a delivery again, under a new ID.',
      body: NothingBody,
      answers: { 202: json(DeliveryAnswer, 'The new delivery, queued.') },
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
      summary: 'Retries every delivery that failed since then, each under a new ID.',
      description:
        'Deliveries already repeated are skipped. At most ' +
        `${LIMITS.webhookPendingMax} can be queued at a time; call again for the rest.`,
      body: ReplayBody,
      example: { failed_since: '2026-03-01T00:00:00Z' },
      answers: { 202: json(ReplayedAnswer, 'The deliveries are queued.') },
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
