/**
 * What a sign-in knows of the mail that it has asked for. It lies beside the attempt in the record of the
 * sign-in, sealed: nothing of it says whether the mail was sent, so it is the same for everybody.
 */
import type { AdapterPayload } from 'oidc-provider'
import { LIMITS } from '../../../shared/limits.ts'
import { isSameSecret } from '../../keys/vault.ts'

export interface MailedState {
  /** Of the secret that the browser got which asked (`attempt-cookie.ts`): no other goes on with it. */
  readonly browserHash: string
  /** As it was typed. */
  readonly login: string
  readonly ticketHash: string
  readonly codeHash: string
  readonly askedAt: number
  /** Wrong codes since then. */
  readonly failures: number
  /** Mails that this sign-in has asked for. */
  readonly asked: number
}

const anyMailedOf = (payload: AdapterPayload) => (payload as { mailed?: MailedState }).mailed

/** For the browser that has asked. */
export function mailedOf(
  payload: AdapterPayload,
  browserHash: string | undefined,
): MailedState | undefined {
  const mailed = anyMailedOf(payload)
  if (mailed === undefined || browserHash === undefined) return undefined
  return isSameSecret(mailed.browserHash, browserHash) ? mailed : undefined
}

/** Too old, or guessed at too often: another mail has to be asked for. */
export function isMailOver({ askedAt, failures }: MailedState, nowMs: number): boolean {
  return nowMs >= askedAt + LIMITS.signInMailMsMax || failures >= LIMITS.signInMailGuessesMax
}

/** When the next may be asked for; undefined: never in this sign-in. */
export function nextMailAt({ askedAt, asked }: MailedState): number | undefined {
  if (asked >= LIMITS.signInMailsPerSignInMax) return undefined
  return askedAt + LIMITS.signInMailAgainMsMin * 2 ** (asked - 1)
}

export function withMailed(
  payload: AdapterPayload,
  mailed: MailedState | undefined,
): AdapterPayload {
  return Object.assign({ ...payload, consumed: undefined }, { mailed })
}
