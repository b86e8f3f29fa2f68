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

/** Of a mail to make an account by. */
export interface SignUpState extends MailedState {
  /** When it was shown that the mail has arrived: from then on the address is theirs. */
  readonly provenAt?: number
  /** All is given, and an administrator decides. */
  readonly isWaiting?: boolean
}

/** Where one kind of them lies in the record. */
export interface MailedKind<State extends MailedState> {
  /** For the browser that has asked. */
  readonly of: (payload: AdapterPayload, browserHash: string | undefined) => State | undefined
  readonly with: (payload: AdapterPayload, state: State | undefined) => AdapterPayload
}

function keptAs<State extends MailedState>(key: string): MailedKind<State> {
  return {
    of(payload, browserHash) {
      const state = (payload as unknown as Record<string, State | undefined>)[key]
      if (state === undefined || browserHash === undefined) return undefined
      return isSameSecret(state.browserHash, browserHash) ? state : undefined
    },
    with: (payload, state) => Object.assign({ ...payload, consumed: undefined }, { [key]: state }),
  }
}

export const SIGN_IN_MAILED = keptAs<MailedState>('mailed')
export const SIGN_UP_MAILED = keptAs<SignUpState>('signUp')
export const { of: mailedOf, with: withMailed } = SIGN_IN_MAILED
export const { of: signUpOf, with: withSignUp } = SIGN_UP_MAILED

/** Too old, or guessed at too often: another mail has to be asked for. */
export function isMailOver({ askedAt, failures }: MailedState, nowMs: number): boolean {
  return nowMs >= askedAt + LIMITS.signInMailMsMax || failures >= LIMITS.signInMailGuessesMax
}

/** When the next may be asked for; undefined: never in this sign-in. */
export function nextMailAt({ askedAt, asked }: MailedState): number | undefined {
  if (asked >= LIMITS.signInMailsPerSignInMax) return undefined
  return askedAt + LIMITS.signInMailAgainMsMin * 2 ** (asked - 1)
}
