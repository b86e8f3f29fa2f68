/** What the operator API takes and shows of webhooks. A message completes «"field" must be …». */
import * as v from 'valibot'
import { EVENT_NAMES } from '../../shared/events.ts'
import { LIMITS } from '../../shared/limits.ts'
import { count, described, time } from './described.ts'
import { moment } from './monitoring-fields.ts'
import { hasUnseen } from '../../shared/unseen.ts'

const URL_WISH = 'an https:// address that can be reached publicly'
/** What may be behind it is looked at where it is used: that takes a name server. */
const url = v.pipe(
  v.string(URL_WISH),
  v.minLength(1, URL_WISH),
  v.maxLength(LIMITS.webhookUrlCharactersMax, URL_WISH),
)

const EVENTS_WISH = 'a list of the names at /api/v1/events, at least one'
const event = v.picklist(EVENT_NAMES, 'one of the names at /api/v1/events')
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
  failed_since: moment('Everything that was given up since then.'),
})

const STATES = ['pending', 'delivered', 'failed', 'cancelled'] as const
export const DELIVERY_QUERY = {
  state: v.optional(
    v.pipe(
      v.picklist(STATES, `one of ${STATES.join(', ')}`),
      v.description('Only those that are in this state.'),
    ),
  ),
} as const

export const WebhookAnswer = v.strictObject({
  webhook_id: v.string(),
  tenant_id: v.string(),
  url: v.string(),
  events: v.array(v.picklist(EVENT_NAMES)),
  description: v.string(),
  state: described(v.picklist(['active', 'paused']), 'A paused one is told nothing.'),
  paused_reason: described(
    v.nullable(v.picklist(['operator', 'failing'])),
    '`failing`: nothing has arrived for days, so that it was paused by itself.',
  ),
  failing_since: described(v.nullable(time), 'Since when deliveries are given up; null: none is.'),
  dropped: described(count, 'Events that nothing was kept of, since too many deliveries waited.'),
  dropped_since: described(v.nullable(time), 'When the first of them was dropped; null: none was.'),
  previous_secret_until: described(
    v.nullable(time),
    'Until then deliveries are signed with the secret before as well; null: they are not.',
  ),
  created_at: time,
  updated_at: time,
})

export const NewWebhookAnswer = v.strictObject({
  ...WebhookAnswer.entries,
  secret: described(v.string(), 'Signs the deliveries. Shown here and never again.'),
})

export const WebhookSecretAnswer = v.strictObject({
  webhook_id: v.string(),
  secret: described(v.string(), 'Shown here and never again.'),
  previous_secret_until: described(
    v.nullable(time),
    'Until then deliveries are signed with both; null: with the new one only.',
  ),
})

export const AttemptAnswer = v.strictObject({
  number: described(count, '1 is the first.'),
  at: time,
  status: described(v.nullable(v.pipe(v.number(), v.integer())), 'null: nobody answered.'),
  milliseconds: count,
  first_bytes: described(v.string(), 'The beginning of the answer.'),
  problem: described(v.string(), 'Why there was no answer; empty where there was one.'),
})

export const DeliveryAnswer = v.strictObject({
  delivery_id: v.string(),
  webhook_id: v.string(),
  event: v.picklist(EVENT_NAMES),
  test: described(v.boolean(), 'Whether it came of the test action.'),
  state: v.picklist(STATES),
  problem: described(v.nullable(v.string()), 'Why it ended, where the attempts do not say it.'),
  attempts: v.array(AttemptAnswer),
  next_at: described(
    v.nullable(time),
    'When it is tried next; null: it is over, or being tried at this moment.',
  ),
  replayed_from: described(v.nullable(v.string()), 'The delivery that this one repeats.'),
  created_at: time,
  updated_at: time,
})

export const WholeDeliveryAnswer = v.strictObject({
  ...DeliveryAnswer.entries,
  body: described(v.string(), 'What is sent, byte by byte.'),
})

export const ReplayedAnswer = v.strictObject({
  replayed: described(count, 'How many are on their way again.'),
})
