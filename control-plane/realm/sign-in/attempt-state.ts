/**
 * How far one sign-in has come. It lies in the provider's own record of it, sealed in the store, so
 * that any control plane can go on with it. What follows from it is judged anew at every step.
 */
import { randomBytes } from 'node:crypto'
import type { AdapterPayload } from 'oidc-provider'
import { MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts'
import { newSeed } from '../../accounts/totp.ts'
import { isSameSecret } from '../../keys/vault.ts'
import type { FactorKind } from '../../policy/verdict.ts'

/** What somebody has come by at a provider: what it ends, and what it is signed out of. */
export interface UpstreamSession {
  readonly connectionId: string
  /** As the provider's own tokens name them. */
  readonly subject: string
  readonly sid?: string | undefined
  /** Shown to it at the sign-out, where the connection wants that. */
  readonly idToken?: string | undefined
}

export interface AttemptState {
  /** Who has given the right password, and when. */
  readonly userId: string
  readonly passwordAt: number
  /** Of the secret that the browser got which gave it (`attempt-cookie.ts`). */
  readonly browserHash: string
  /** Nobody has given a password: a session of that time (epoch seconds) is asked for more. */
  readonly sessionTs?: number
  /** Wrong codes since then. */
  readonly failures: number
  /** The second factor that was shown; a second click does not show it again. */
  readonly proof?: FactorKind
  /** On which machine with our agent this browser was proven to run, and when. */
  readonly device?: { readonly id: string; readonly at: number }
  /** What is wrong with that machine was shown, and the person went on. */
  readonly isDeviceWarned?: boolean
  /** What a passkey signs, and what an app is set up with: the same for all tabs of this sign-in. */
  readonly challenge: string
  readonly seed: string
  /** New recovery codes, until the person says that they have them. */
  readonly recoveryCodes?: readonly string[]
  /** Of the password that was chosen on the way in: a second click brings the same. */
  readonly chosenHash?: string
  readonly finishedAt?: number
  /** Instead of a password: who they are at a provider, and whether its second factor counts. */
  readonly upstream?: {
    readonly connectionId: string
    /** When that was last changed: what was shown under other settings is shown once more. */
    readonly updatedAt: number
    readonly issuer: string
    readonly subject: string
    readonly hasSecondFactor: boolean
    /** When they proved it there (epoch seconds), as far as it says. */
    readonly provenAt?: number | undefined
    readonly session?: UpstreamSession | undefined
  }
  /**
   * Instead of a password: what was sent to the address of the account came back. `to`: that address, as
   * it is looked up; a session that was opened so has none, since it outlives it.
   */
  readonly byMail?: { readonly to?: string }
  /** The same of the session that is asked for more. */
  readonly sessionProvenAt?: number
  readonly sessionUpstream?: UpstreamSession
}

/** Coffee is allowed between the password and the code. */
export const PASSWORD_KEPT_MS = 30 * MINUTE_MS
/** For the second click; behind it a finished sign-in proves nothing to whoever finds the tab. */
const FINISHED_KEPT_MS = MINUTE_MS
/** Then the password is asked for once more, whatever an administrator lets through. */
const WRONG_CODES_MAX = 10
/** A browser that was left open must not be enough to take an account over. */
const SESSION_SETS_UP_MS = 10 * MINUTE_MS

export function beginState(userId: string, nowMs: number, browserHash: string): AttemptState {
  const challenge = randomBytes(32).toString('base64url')
  return { userId, passwordAt: nowMs, browserHash, failures: 0, challenge, seed: newSeed() }
}

/** What still counts of what a record holds, for the browser whose it is. */
export function stateOf(
  payload: AdapterPayload,
  browserHash: string | undefined,
  nowMs: number,
): AttemptState | undefined {
  const state = anyStateOf(payload, nowMs)
  return state !== undefined && isOfBrowser(payload, browserHash) ? state : undefined
}

/** Somebody has given a password for this sign-in, and not in this browser. */
export function isOfAnother(
  payload: AdapterPayload,
  browserHash: string | undefined,
  nowMs: number,
): boolean {
  const state = anyStateOf(payload, nowMs) as Partial<AttemptState> | undefined
  // from before the browsers had such secrets it is nobody's: the password is asked for once more
  return state?.browserHash !== undefined && !isOfBrowser(payload, browserHash)
}

/** Somebody has proved something for it, whatever that is still worth. */
export function isBegun(payload: AdapterPayload): boolean {
  return payload.result !== undefined || 'attempt' in payload
}

/** Somebody known has shown a proof for it; the way back to the password takes nothing from that. */
export function isAnswered(payload: AdapterPayload): boolean {
  return ownerOf(payload) !== undefined
}

/** Whose it is, by a proof that was shown for it. */
export function ownerOf(payload: AdapterPayload): string | undefined {
  return (payload as { attempt?: Partial<AttemptState> }).attempt?.userId || undefined
}

/** Without a limit in time: for the way back, on which the answer is taken. */
export function isOfBrowser(payload: AdapterPayload, browserHash: string | undefined): boolean {
  const { attempt } = payload as { attempt?: Partial<AttemptState> }
  const { browserHash: own } = attempt ?? {}
  return own !== undefined && browserHash !== undefined && isSameSecret(own, browserHash)
}

function anyStateOf(payload: AdapterPayload, nowMs: number): AttemptState | undefined {
  const state = (payload as { attempt?: AttemptState }).attempt
  if (state === undefined || nowMs >= state.passwordAt + PASSWORD_KEPT_MS) return undefined
  if (nowMs >= (state.finishedAt ?? Infinity) + FINISHED_KEPT_MS) return undefined
  return state.failures < WRONG_CODES_MAX ? state : undefined
}

/** The password is asked for, however much the browser's session is worth. */
export function isExhausted(payload: AdapterPayload): boolean {
  const { failures = 0 } = (payload as { attempt?: Partial<AttemptState> }).attempt ?? {}
  return failures >= WRONG_CODES_MAX
}

/** The way back to the password must not give ten more guesses at the code. */
export function exhausted(payload: AdapterPayload): AdapterPayload {
  return withState(payload, { ...beginState('', 0, ''), failures: WRONG_CODES_MAX })
}

/** Whether a factor may be enrolled, or a password replaced, without giving the password. */
export function maySetUp({ sessionTs }: AttemptState, nowMs: number): boolean {
  return sessionTs === undefined || nowMs < sessionTs * SECOND_MS + SESSION_SETS_UP_MS
}

/** The record with another state; undefined begins from the password again. */
export function withState(
  payload: AdapterPayload,
  attempt: AttemptState | undefined,
): AdapterPayload {
  return Object.assign({ ...payload, consumed: undefined }, { attempt })
}
