/**
 * Why a request was not simply forwarded. The same code reaches the page, the log, the metric and
 * the event, so a person who quotes one can be helped.
 */
const TOKEN_REASONS = [
  'token_malformed',
  'token_too_long',
  'algorithm_refused',
  'header_refused',
  'key_unknown',
  'signature_wrong',
  'claims_malformed',
  'issuer_wrong',
  'audience_wrong',
] as const
export type TokenReason = (typeof TOKEN_REASONS)[number]

const TIME_REASONS = ['issued_ahead', 'not_yet_valid', 'expired', 'session_too_old'] as const
export type TimeReason = (typeof TIME_REASONS)[number]

export const SIGN_IN_REASONS = [
  'no_session',
  'session_repeated',
  ...TOKEN_REASONS,
  ...TIME_REASONS,
  'revoked',
  'seen_missing',
  'idle',
  'binding_step_up',
  'binding_terminate',
  'strength_missing',
  'groups_outdated',
] as const
export type SignInReason = (typeof SIGN_IN_REASONS)[number]

/** Of a machine that brought a token of the realm. */
export const MACHINE_TOKEN_REASONS = [
  'machine_token_ambiguous',
  'machine_token_invalid',
  'machine_token_expired',
  'machine_token_revoked',
] as const
export type MachineTokenReason = (typeof MACHINE_TOKEN_REASONS)[number]

/** Of a machine that brought credentials. */
export const MACHINE_REASONS = [
  'machine_malformed',
  'machine_with_session',
  'machine_unknown',
  'machine_secret_ended',
  'machine_disabled',
  'machine_not_allowed',
  'machine_rate_limited',
  ...MACHINE_TOKEN_REASONS,
] as const
export type MachineReason = (typeof MACHINE_REASONS)[number]
const OF_MACHINES: ReadonlySet<string> = new Set(MACHINE_REASONS)
export const isMachineReason = (reason: string) => OF_MACHINES.has(reason)

export const REFUSE_REASONS = [
  'host_unknown',
  'sealed',
  'path_unreadable',
  'origin_foreign',
  'rule_denied',
  'websockets_exhausted',
  'suspended',
  'not_ready',
  'state_lost',
  'client_unreadable',
  ...MACHINE_REASONS,
] as const
export type RefuseReason = (typeof REFUSE_REASONS)[number]

export const FORWARD_REASONS = ['session', 'machine', 'excluded', 'pass_through', 'probe'] as const
export type ForwardReason = (typeof FORWARD_REASONS)[number]

export type Reason = SignInReason | RefuseReason | ForwardReason

/** What the outside is told of a refusal; a sealed path must look like one that does not exist. */
export const codeOf = (reason: RefuseReason): string => (reason === 'sealed' ? 'not_found' : reason)
