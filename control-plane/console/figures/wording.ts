/** Outcomes and reasons in words; a reason that has none says what it is by its name. */
import type { FigureOutcome } from '../../store/monitoring-names.ts'

const OUTCOMES: Readonly<Record<FigureOutcome, string>> = {
  forwarded: 'Forwarded',
  sign_in: 'Sent to sign in',
  sealed: 'Sealed path',
  refused: 'Refused',
  terminate: 'Session ended',
  logout: 'Signed out',
  step_up: 'Second factor asked for',
  signed_in: 'Signed in',
  asked: 'Asked for something more',
  failed: 'Sign-in failed',
  denied: 'Sign-in denied',
  lockout: 'Lockout begun',
  other: 'Something else',
}

const REASONS: Readonly<Record<string, string>> = {
  idle: 'idle too long',
  expired: 'session expired',
  revoked: 'session revoked',
  seen_missing: 'companion cookie missing',
  binding: 'another device or network',
  binding_step_up: 'another device or network',
  binding_terminate: 'another device or network',
  session: 'with a session',
  excluded: 'open path',
  pass_through: 'pass-through',
  suspended: 'tenant suspended',
  not_ready: 'gateway not ready',
  origin_foreign: 'from another site',
  path_unreadable: 'path not readable',
  host_unknown: 'hostname not known',
  address_unreadable: 'address not readable',
  network_denied: 'network is denied',
  network_not_allowed: 'network is not allowed',
  user_paused: 'account is paused',
  address_blocked: 'address is blocked',
  credentials_wrong: 'wrong name or password',
  code_wrong: 'wrong code',
  enrolment_needed: 'second factor to be set up',
  too_many_sign_ins: 'too many sign-ins',
}

export function outcomeText(outcome: string): string {
  return Object.hasOwn(OUTCOMES, outcome) ? OUTCOMES[outcome as FigureOutcome] : outcome
}

export function reasonText(reason: string): string {
  return Object.hasOwn(REASONS, reason) ? (REASONS[reason] ?? reason) : reason.replaceAll('_', ' ')
}
