/** Machines and their secrets, as they are sent and answered. */
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'
import { KEY_WISH } from '../machines/public-key.ts'
import { count, described, time } from './described.ts'
import { flag, text, whole } from './fields.ts'

const label = text('text', LIMITS.serviceNameCharactersMax)

export const NewMachineBody = v.strictObject({
  name: v.pipe(label, v.description('What you call it, for the list and the audit trail.')),
})

export const MachineChangesBody = v.strictObject({
  name: v.optional(label),
  is_disabled: v.optional(
    v.pipe(flag, v.description('Refused at once, until it is enabled again.')),
  ),
})

const expires_in = v.pipe(
  v.optional(
    whole(LIMITS.serviceSecretSecondsMin, LIMITS.serviceSecretSecondsMax, ' of seconds'),
    LIMITS.serviceSecretSecondsDefault,
  ),
  v.description('Seconds until it is refused.'),
)

export const NewMachineSecretBody = v.strictObject({ expires_in })

/** Read by `readPublicKey`, which says what is wrong with it. */
const public_key = v.custom<object>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  KEY_WISH,
)
export const NewMachineKeyBody = v.strictObject({ public_key, expires_in })

export const MachineSecretAnswer = v.strictObject({
  secret_id: v.string(),
  key_alg: described(
    v.nullable(v.picklist(['ES256', 'RS256', 'EdDSA'])),
    'Of a public key: how the machine signs. null: it is a secret.',
  ),
  created_at: time,
  ends_at: described(time, 'From then on it is refused.'),
  last_used_at: described(
    v.nullable(time),
    'When it last let the machine in, or got it a token, to within a few minutes; null: never.',
  ),
})

export const MachineAnswer = v.strictObject({
  service_id: described(
    v.string(),
    'For `service` in access rules, for Service-Client-Id, and for `client_id` at the token endpoint.',
  ),
  name: v.string(),
  is_disabled: v.boolean(),
  created_at: time,
  last_seen_at: described(
    v.nullable(time),
    'When it was last let in, or asked for a token, to within a few minutes; null: never.',
  ),
  last_seen_ip: described(v.nullable(v.string()), 'From where that was.'),
  requests_last_day: described(count, 'How many of its requests were let in within a day.'),
  secrets: described(v.array(MachineSecretAnswer), 'Without the secrets themselves.'),
})
