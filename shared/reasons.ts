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
] as const
export type SignInReason = (typeof SIGN_IN_REASONS)[number]

export const REFUSE_REASONS = [
  'host_unknown',
  'sealed',
  'path_unreadable',
  'origin_foreign',
  'websockets_exhausted',
  'suspended',
  'not_ready',
  'state_lost',
  'client_unreadable',
] as const
export type RefuseReason = (typeof REFUSE_REASONS)[number]

export const FORWARD_REASONS = ['session', 'excluded', 'pass_through', 'probe'] as const
export type ForwardReason = (typeof FORWARD_REASONS)[number]

export type Reason = SignInReason | RefuseReason | ForwardReason

/** Why somebody is asked to sign in, in one sentence. */
export const REASON_TEXTS: Readonly<Record<SignInReason, string>> = {
  no_session: 'You are not signed in.',
  session_repeated: 'Your browser sent more than one session cookie.',
  token_malformed: 'Your session could not be read.',
  token_too_long: 'Your session could not be read.',
  algorithm_refused: 'Your session could not be verified.',
  header_refused: 'Your session could not be verified.',
  key_unknown: 'Your session was signed with a key that is no longer accepted.',
  signature_wrong: 'Your session could not be verified.',
  claims_malformed: 'Your session could not be verified.',
  issuer_wrong: 'Your session belongs to another application.',
  audience_wrong: 'Your session belongs to another application.',
  issued_ahead: 'Your session lies in the future: a clock on our side is wrong.',
  not_yet_valid: 'Your session lies in the future: a clock on our side is wrong.',
  expired: 'Your session has ended.',
  session_too_old: 'Your session has reached its maximum age.',
  revoked: 'Your session has been ended.',
  seen_missing: 'Your session could not be continued.',
  idle: 'Your session has ended because it was not used.',
  binding_step_up: 'You are on another device or network; please sign in again.',
  binding_terminate: 'Your session was ended because it moved to another device or network.',
}

interface RefusalText {
  /** What the outside is told; a sealed path must look like one that does not exist. */
  readonly code: string
  readonly title: string
  readonly text: string
}

export const REFUSAL_TEXTS: Readonly<Record<RefuseReason, RefusalText>> = {
  host_unknown: {
    code: 'host_unknown',
    title: 'No application here',
    text: 'No application is served at this address. Check the name for a typing mistake.',
  },
  sealed: {
    code: 'not_found',
    title: 'Page not found',
    text: 'There is nothing at this address.',
  },
  path_unreadable: {
    code: 'path_unreadable',
    title: 'This address cannot be read',
    text: 'It has an escape that is not valid. Check it, or start from the front page.',
  },
  origin_foreign: {
    code: 'origin_foreign',
    title: 'Another site asked for this',
    text: 'A page of another site may not open a connection here in your name.',
  },
  websockets_exhausted: {
    code: 'websockets_exhausted',
    title: 'Too many connections',
    text: 'Too many are open already. Close some of them, or try again in a moment.',
  },
  suspended: {
    code: 'suspended',
    title: 'Temporarily suspended',
    text: 'This application is suspended at the moment. Whoever runs it can tell you more.',
  },
  not_ready: {
    code: 'not_ready',
    title: 'Just a moment',
    text: 'This gateway is still starting. Try again in a few seconds.',
  },
  state_lost: {
    code: 'state_lost',
    title: 'Temporarily unavailable',
    text: 'This application cannot be served safely right now. Try again in a moment.',
  },
  client_unreadable: {
    code: 'client_unreadable',
    title: 'Temporarily unavailable',
    text: 'This application cannot tell where requests come from, so nobody can sign in. Its operator has to set trusted proxies.',
  },
}
