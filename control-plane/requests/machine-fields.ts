/** Machines and their secrets, as they are sent and answered. */
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'
import { described, time } from './described.ts'
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

export const NewMachineSecretBody = v.strictObject({
  expires_in: v.pipe(
    v.optional(
      whole(LIMITS.serviceSecretSecondsMin, LIMITS.serviceSecretSecondsMax, ' of seconds'),
      LIMITS.serviceSecretSecondsDefault,
    ),
    v.description('Seconds until it is refused.'),
  ),
})

export const MachineSecretAnswer = v.strictObject({
  secret_id: v.string(),
  created_at: time,
  ends_at: described(time, 'From then on it is refused.'),
  last_used_at: described(
    v.nullable(time),
    'When a gateway last let it in, to within a few minutes; null: never, or in sdk mode.',
  ),
})

export const MachineAnswer = v.strictObject({
  service_id: described(v.string(), 'For `service` in access rules, and for Service-Client-Id.'),
  name: v.string(),
  is_disabled: v.boolean(),
  created_at: time,
  secrets: described(v.array(MachineSecretAnswer), 'Without the secrets themselves.'),
})
