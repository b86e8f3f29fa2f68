/** Connectors and what they join with, as operators and the program write them. */
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'
import { count, described, time } from './described.ts'
import { flag, text, whole } from './fields.ts'

const label = text('text', LIMITS.connectorNameCharactersMax)

export const NewConnectorTokenBody = v.strictObject({
  name: v.pipe(
    v.optional(label, 'Connector'),
    v.description('What you call it, for the list and the audit trail.'),
  ),
  uses: v.pipe(
    v.optional(whole(1, LIMITS.connectorTokenUsesMax), 1),
    v.description('How many connectors can join with it.'),
  ),
  expires_in: v.pipe(
    v.optional(
      whole(LIMITS.connectorTokenSecondsMin, LIMITS.connectorTokenSecondsMax, ' of seconds'),
      LIMITS.connectorTokenSecondsDefault,
    ),
    v.description('Seconds until it expires.'),
  ),
})

export const ConnectorTokenAnswer = v.strictObject({
  token_id: v.string(),
  name: v.string(),
  uses: count,
  uses_left: count,
  created_at: time,
  expires_at: time,
})

export const NewConnectorTokenAnswer = v.strictObject({
  ...ConnectorTokenAnswer.entries,
  token: described(v.string(), 'Shown only once.'),
})

const requests = described(count, 'Answered since it connected there.')
const requestsSoFar = described(count, 'Answered since it joined.')
const roundTripMs = described(
  v.nullable(count),
  'Milliseconds from gateway to connector and back; null: not measured yet.',
)
const reason = described(
  v.nullable(v.string()),
  'Why it cannot reach its application: `refused`, `timeout`, `unresolved`, `unreachable`.',
)
export const ConnectorErrorAnswer = v.strictObject({
  reason: described(v.string(), 'As in `reason` of the connector.'),
  at: time,
})
const lastError = v.nullable(ConnectorErrorAnswer)

export const ConnectorAtGatewayAnswer = v.strictObject({
  gateway_id: v.string(),
  state: v.picklist(['connected', 'unreachable', 'draining']),
  reason,
  program: v.string(),
  since: described(time, 'Since when it is in this state.'),
  connections: described(count, 'Connections that it keeps open, used or not.'),
  in_use: described(count, 'Of these, the ones that serve a request.'),
  requests,
  round_trip_ms: roundTripMs,
  last_error: lastError,
})

export const ConnectorAnswer = v.strictObject({
  connector_id: v.string(),
  name: described(v.string(), 'The machine, in its own words.'),
  state: described(
    v.picklist(['connected', 'unreachable', 'draining', 'disconnected']),
    '`unreachable`: it is connected, and cannot reach its application. `draining`: it is stopping.',
  ),
  reason,
  program: described(v.string(), 'The version that is connected, or that joined.'),
  joined_at: time,
  seen_at: described(time, 'When it last asked for its gateways, to within a few minutes.'),
  last_seen_at: described(
    v.nullable(time),
    'When a gateway last had it; null: it has never connected.',
  ),
  requests: requestsSoFar,
  round_trip_ms: roundTripMs,
  last_error: lastError,
  gateways: described(v.array(ConnectorAtGatewayAnswer), 'Those that it is connected to.'),
})

const KEY_WISH = 'an Ed25519 public key, 43 characters of base64url'
/** 32 bytes in their one spelling. */
const publicKey = v.pipe(
  v.string(KEY_WISH),
  v.regex(/^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/, KEY_WISH),
)
const PROGRAM_WISH = 'a version of at most 50 characters'
const ID_WISH = 'an id of at most 100 characters'
const id = v.pipe(v.string(ID_WISH), v.regex(/^[A-Za-z0-9_.-]{1,100}$/, ID_WISH))
const CHALLENGE_WISH = 'a challenge from /api/v1/connector/challenge'
const SIGNATURE_WISH = 'an Ed25519 signature, 86 characters of base64url'

export const JoinBody = v.strictObject({
  public_key: publicKey,
  name: label,
  program: v.pipe(v.string(PROGRAM_WISH), v.regex(/^[\w.+-]{1,50}$/, PROGRAM_WISH)),
})

export const ChallengeBody = v.strictObject({ connector_id: id })

export const LeaveBody = v.strictObject({
  connector_id: id,
  key_id: id,
  challenge: v.pipe(v.string(CHALLENGE_WISH), v.regex(/^[\w.-]{1,200}$/, CHALLENGE_WISH)),
  signature: v.pipe(v.string(SIGNATURE_WISH), v.regex(/^[A-Za-z0-9_-]{86}$/, SIGNATURE_WISH)),
})

export const StateBody = v.strictObject({
  ...LeaveBody.entries,
  next_public_key: v.optional(
    v.pipe(publicKey, v.description('Rotates: the current key stays until this one is used.')),
  ),
  authority: v.optional(
    v.pipe(
      publicKey,
      v.description('The second of `authorities` in `document`, once it is on your disk.'),
    ),
  ),
})

const document = described(
  v.string(),
  'A compact JWS (EdDSA, `typ` `connector-gateways+jwt`) of `tenant_id`, `connector_id`, `gateways`, `sequence` and `authorities`: the key that signs it, and the next one if there is one. Keep the one with the highest `sequence`.',
)
const pollSeconds = described(count, 'Ask again after so many seconds.')

export const JoinAnswer = v.strictObject({
  tenant_id: v.string(),
  connector_id: v.string(),
  key_id: v.string(),
  authority: described(v.string(), 'The Ed25519 public key that signs `document`, base64url.'),
  document,
  poll_seconds: pollSeconds,
})
export const ChallengeAnswer = v.strictObject({
  challenge: described(v.string(), 'To sign within 60 seconds.'),
})
export const StateAnswer = v.strictObject({
  document,
  poll_seconds: pollSeconds,
  key_id: described(v.optional(v.string()), 'Of `next_public_key`, where there was one.'),
  handovers: described(
    v.optional(v.array(v.string())),
    'If the key that signs `document` was replaced: a compact JWS (EdDSA, `typ` `connector-handover+jwt`) by each key before, oldest first, of `next`: the key after it.',
  ),
})

export const AuthorityRotationBody = v.strictObject({
  phase: v.picklist(['prepare', 'promote'], 'prepare or promote'),
  force: v.pipe(
    v.optional(flag, false),
    v.description('Promotes although connectors have not confirmed the next key.'),
  ),
  leaked: v.pipe(
    v.optional(flag, false),
    v.description(
      'The current key has leaked: it leaves no word for the next one, so connectors that have not heard of that have to join again.',
    ),
  ),
})

export const WaitingConnectorAnswer = v.strictObject({
  tenant_id: v.string(),
  connector_id: v.string(),
  name: v.string(),
  seen_at: time,
})

export const AuthorityAnswer = v.strictObject({
  current: described(
    v.nullable(v.string()),
    'The Ed25519 public key that signs lists of gateways; null: no connector has joined yet.',
  ),
  next: described(v.nullable(v.string()), 'The one that is announced; null: none is.'),
  waiting: described(count, 'Connectors that have not confirmed the next one.'),
  waiting_connectors: described(
    v.array(WaitingConnectorAnswer),
    'Of these, the ones that have been away for longest, 20 at most.',
  ),
})
