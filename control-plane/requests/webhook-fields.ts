/** What the operator API takes and shows of webhooks. A message completes «"field" must be …». */
import * as v from 'valibot'
import { EVENT_NAMES } from '../../shared/events.ts'
import { LIMITS } from '../../shared/limits.ts'
import { count, described, time } from './described.ts'
import { moment } from './monitoring-fields.ts'
import { hasUnseen } from '../../shared/unseen.ts'

const URL_WISH = 'a public https:// address'
/** What may be behind it is looked at where it is used: that takes a name server. */
const url = v.pipe(
  v.string(URL_WISH),
  v.minLength(1, URL_WISH),
  v.maxLength(LIMITS.webhookUrlCharactersMax, URL_WISH),
)

const EVENTS_WISH = 'a list of at least one event name from /api/v1/events'
const event = v.picklist(EVENT_NAMES, 'one of the event names at /api/v1/events')
const events = v.pipe(
  v.array(event, EVENTS_WISH),
  v.minLength(1, EVENTS_WISH),
  v.maxLength(EVENT_NAMES.length, EVENTS_WISH),
)

const DESCRIPTION_WISH = `text of at most ${LIMITS.webhookDescriptionCharactersMax} characters, without control or invisible characters`
const description = v.pipe(
  v.string(DESCRIPTION_WISH),
  v.maxLength(LIMITS.webhookDescriptionCharactersMax, DESCRIPTION_WISH),
  v.check((value) => value.isWellFormed() && !hasUnseen(value), DESCRIPTION_WISH),
)

const state = v.picklist(['active', 'paused'], 'one of active, paused')

export const NewWebhookBody = v.strictObject({
  url,
  events,
  description: v.optional(description, ''),
})

export const WebhookPatchBody = v.partial(v.strictObject({ url, events, description, state }))

export const WebhookTestBody = v.strictObject({ event: v.optional(event) })

export const ReplayBody = v.strictObject({
  failed_since: moment('Retries every delivery that failed since then.'),
})

const STATES = ['pending', 'delivered', 'failed', 'cancelled'] as const
export const DELIVERY_QUERY = {
  state: v.optional(
    v.pipe(
      v.picklist(STATES, `one of ${STATES.join(', ')}`),
      v.description('Only deliveries in this state.'),
    ),
  ),
} as const

export const WebhookAnswer = v.strictObject({
  webhook_id: v.string(),
  tenant_id: v.string(),
  url: v.string(),
  events: v.array(v.picklist(EVENT_NAMES)),
  description: v.string(),
  state: described(v.picklist(['active', 'paused']), 'A paused webhook receives nothing.'),
  paused_reason: described(
    v.nullable(v.picklist(['operator', 'failing'])),
    '`failing`: paused automatically, because every delivery failed for days.',
  ),
  failing_since: described(
    v.nullable(time),
    'Since when deliveries have been failing; null: they are not.',
  ),
  dropped: described(count, 'Events that were dropped because too many deliveries were queued.'),
  dropped_since: described(v.nullable(time), 'When the first event was dropped; null: none was.'),
  previous_secret_until: described(
    v.nullable(time),
    'Until then deliveries are also signed with the previous secret; null: they are not.',
  ),
  created_at: time,
  updated_at: time,
})

export const NewWebhookAnswer = v.strictObject({
  ...WebhookAnswer.entries,
  secret: described(v.string(), 'Signs the deliveries. Shown only once.'),
})

export const WebhookSecretAnswer = v.strictObject({
  webhook_id: v.string(),
  secret: described(v.string(), 'Shown only once.'),
  previous_secret_until: described(
    v.nullable(time),
    'Until then deliveries are signed with both secrets; null: only with the new one.',
  ),
})

export const AttemptAnswer = v.strictObject({
  number: described(count, '1 is the first.'),
  at: time,
  status: described(v.nullable(v.pipe(v.number(), v.integer())), 'null: no response.'),
  milliseconds: count,
  first_bytes: described(v.string(), 'The beginning of the response.'),
  problem: described(v.string(), 'Why there was no response; empty if there was one.'),
})

export const DeliveryAnswer = v.strictObject({
  delivery_id: v.string(),
  webhook_id: v.string(),
  event: v.picklist(EVENT_NAMES),
  test: described(v.boolean(), 'Whether this is a test delivery.'),
  state: v.picklist(STATES),
  problem: described(v.nullable(v.string()), 'Why it ended, if the attempts do not tell.'),
  attempts: v.array(AttemptAnswer),
  next_at: described(
    v.nullable(time),
    'When the next attempt starts; null: finished, or being attempted now.',
  ),
  replayed_from: described(v.nullable(v.string()), 'The delivery that this one repeats.'),
  created_at: time,
  updated_at: time,
})

export const WholeDeliveryAnswer = v.strictObject({
  ...DeliveryAnswer.entries,
  body: described(v.string(), 'What is sent, byte for byte.'),
})

export const ReplayedAnswer = v.strictObject({
  replayed: described(count, 'How many deliveries were queued again.'),
})
