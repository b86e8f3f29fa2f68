/** Outcomes and reasons in words; a reason that has none says what it is by its name. */
import type { FigureOutcome } from '../../store/monitoring-names.ts'

const OUTCOMES: Readonly<Record<FigureOutcome, string>> = {
  forwarded: 'Forwarded',
  sign_in: 'Redirected to sign-in',
  sealed: 'Sealed path',
  refused: 'Refused',
  terminate: 'Session ended',
  logout: 'Signed out',
  step_up: 'Second factor requested',
  signed_in: 'Signed in',
  asked: 'Further step required',
  failed: 'Sign-in failed',
  denied: 'Sign-in denied',
  lockout: 'Lockout',
  other: 'Other',
}

const REASONS: Readonly<Record<string, string>> = {
  idle: 'idle timeout',
  expired: 'session expired',
  revoked: 'session revoked',
  seen_missing: 'companion cookie missing',
  binding: 'another device or network',
  binding_step_up: 'another device or network',
  strength_missing: 'stronger sign-in needed',
  groups_outdated: 'memberships changed',
  binding_terminate: 'another device or network',
  session: 'signed in',
  excluded: 'open path',
  pass_through: 'pass-through',
  suspended: 'tenant suspended',
  not_ready: 'gateway not ready',
  origin_foreign: 'cross-site request',
  rule_denied: 'no access by rule',
  machine: 'machine',
  machine_malformed: 'malformed machine credentials',
  machine_with_session: 'machine credentials with a session',
  machine_unknown: 'unknown machine credentials',
  machine_secret_ended: 'expired machine secret',
  machine_disabled: 'disabled machine',
  machine_not_allowed: 'machine without access by rule',
  machine_rate_limited: 'too many wrong machine credentials',
  machine_token_ambiguous: 'machine token with other credentials',
  machine_token_invalid: 'invalid machine token',
  machine_token_expired: 'expired machine token',
  machine_token_revoked: 'revoked machine token',
  path_unreadable: 'malformed path',
  host_unknown: 'unknown hostname',
  address_unreadable: 'malformed address',
  network_denied: 'network denied',
  network_not_allowed: 'network not allowed',
  user_paused: 'account locked',
  address_blocked: 'address blocked',
  credentials_wrong: 'wrong username or password',
  connection_required: 'password not accepted, connection required',
  email_code_wrong: 'wrong code from an email',
  device_proof_needed: 'device check required',
  device_warning: 'device needs attention',
  device_not_enrolled: 'no enrolled device',
  device_not_compliant: 'device not compliant',
  device_other_browser: 'device check in another browser',
  device_break_glass: 'emergency access, no device check',
  code_wrong: 'wrong code',
  enrolment_needed: 'second factor setup required',
  too_many_sign_ins: 'too many sign-ins',
}

export function outcomeText(outcome: string): string {
  return Object.hasOwn(OUTCOMES, outcome) ? OUTCOMES[outcome as FigureOutcome] : outcome
}

export function reasonText(reason: string): string {
  return Object.hasOwn(REASONS, reason) ? (REASONS[reason] ?? reason) : reason.replaceAll('_', ' ')
}
