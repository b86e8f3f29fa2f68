/** Tokens of providers that push people and groups, and what those have asked for. */
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'
import { count, described, time } from './described.ts'
import { text, whole } from './fields.ts'

export const NewScimTokenBody = v.strictObject({
  name: described(
    text('text', LIMITS.scimTokenNameCharactersMax),
    'What you call it, for the list and the audit trail.',
  ),
  expires_in: v.pipe(
    v.optional(
      whole(LIMITS.scimTokenSecondsMin, LIMITS.scimTokenSecondsMax, ' of seconds'),
      LIMITS.scimTokenSecondsDefault,
    ),
    v.description('Seconds until it expires: a year at most.'),
  ),
  connection_id: described(
    v.optional(v.nullable(text('the id of a connection', 100)), null),
    'People of this token sign in by this connection: their `externalId` is their subject there.',
  ),
})

export const ScimTokenAnswer = v.strictObject({
  token_id: v.string(),
  name: v.string(),
  connection_id: v.nullable(v.string()),
  created_at: time,
  expires_at: time,
  last_used_at: described(v.nullable(time), 'To within a minute; null: never.'),
})

export const NewScimTokenAnswer = v.strictObject({
  ...ScimTokenAnswer.entries,
  token: described(v.string(), 'Shown only once.'),
  base_url: described(v.string(), 'The address to enter at the provider, with the token.'),
})

export const ScimRequestAnswer = v.strictObject({
  at: time,
  method: v.string(),
  path: described(v.string(), 'Below the base address, with the filter.'),
  status: count,
  detail: described(v.string(), 'Why it was refused, or what of it was not kept.'),
  token_id: v.string(),
  request_id: v.string(),
})

export const HandedOverAnswer = v.strictObject({
  user_id: v.string(),
  user_name: described(v.string(), 'Under which a provider finds the account.'),
})
