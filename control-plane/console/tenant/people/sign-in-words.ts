/** What came of a sign-in, in words of the console. */
import type { AttemptReason } from '../../../policy/verdict.ts'
import { badge } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'

/** What is not here says what it is by its name. */
const REASONS: Readonly<Partial<Record<AttemptReason, string>>> = {
  user_paused: 'account locked',
  address_blocked: 'address blocked',
  password_needed: 'asked for the password',
  credentials_wrong: 'wrong password',
  connection_required: 'right password, but a connection is required',
  email_code_wrong: 'wrong code from an email',
  password_expired: 'asked for a new password',
  device_proof_needed: 'asked to check the device',
  device_warning: 'warned about the device',
  device_not_enrolled: 'no enrolled device',
  device_not_compliant: 'device not compliant',
  second_factor_needed: 'asked for the second factor',
  code_wrong: 'wrong code',
  enrolment_needed: 'asked to set up a second factor',
  too_many_sign_ins: 'right password, too often',
}

const WRONG: ReadonlySet<string> = new Set<AttemptReason>([
  'credentials_wrong',
  'email_code_wrong',
  'code_wrong',
])

const SIGNED_IN = /^signed_in(?:_(aal\d))?$/

/** Of a reason as it was recorded, or as a replay gives it. */
export function outcomeText(outcome: string): string {
  const level = SIGNED_IN.exec(outcome)
  if (level !== null) return level[1] === 'aal2' ? 'signed in with a second factor' : 'signed in'
  return REASONS[outcome as AttemptReason] ?? outcome.replaceAll('_', ' ')
}

/** Who was let in although the device policy has something to say. */
const notedText = (reason: string) =>
  reason === 'device_break_glass'
    ? 'signed in without a device check (emergency access)'
    : `signed in; report only: ${outcomeText(reason)}`

export const isSignedIn = (outcome: string) => SIGNED_IN.test(outcome)

/** One row a minute stands for all refusals of one kind. */
export const repeatedText = (repeated = 0): string =>
  repeated === 0 ? '' : ` and ${repeated.toLocaleString('en')} more`

export function outcomeBadge(outcome: 'signed_in' | 'asking' | 'refused', reason: string): Html {
  const tone =
    outcome === 'refused' || WRONG.has(reason) ? 'bad' : outcome === 'signed_in' ? 'good' : 'plain'
  const isNoted = outcome === 'signed_in' && reason !== outcome
  return badge(isNoted ? notedText(reason) : outcomeText(reason), tone)
}
