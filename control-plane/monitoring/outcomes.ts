/**
 * What figures are counted as. Every name is one of these, so that a tenant's figures are few,
 * whatever a middleware or a gateway of another version reports.
 */
import { FORWARD_REASONS, REFUSE_REASONS, SIGN_IN_REASONS } from '../../shared/reasons.ts'
import type { SignInState } from '../policy/sign-in.ts'
import { ATTEMPT_REASONS, type AttemptReason } from '../policy/verdict.ts'

export const FIGURE_STEPS = ['minute', 'hour', 'day'] as const
export type FigureStep = (typeof FIGURE_STEPS)[number]
/** Quarters of an hour are for digests alone: the weeks of some places end in the middle of an hour. */
export type KeptStep = FigureStep | 'quarter'

/** edge: a gateway; application: its middleware in sdk mode; realm: the sign-in pages. */
export const FIGURE_SOURCES = ['edge', 'application', 'realm'] as const
export type FigureSource = (typeof FIGURE_SOURCES)[number]

export const FIGURE_OUTCOMES = {
  forwarded: 'A request went on to the application.',
  sign_in: 'A request was sent to sign in first.',
  sealed: 'A request for a sealed path was answered as if there were none.',
  refused: 'A request was refused for another reason.',
  terminate: 'A session was ended, since it moved to another device or network.',
  logout: 'Somebody signed out of an application.',
  step_up: 'A second factor was asked for.',
  signed_in: 'Somebody signed in.',
  asked: 'A sign-in was asked for something more, as a password that has run out.',
  failed: 'A sign-in had a wrong password or code.',
  denied: 'A sign-in was refused by a policy.',
  lockout: 'An account or an address failed too often, and has to wait from then on.',
  other: 'Something that this version does not know.',
} as const
export type FigureOutcome = keyof typeof FIGURE_OUTCOMES

/** Somebody was not let in, or not to where they wanted. A lockout comes beside a failure. */
export const REFUSAL_OUTCOMES = ['sealed', 'refused', 'terminate', 'failed', 'denied'] as const

export interface Figure {
  readonly outcome: FigureOutcome
  /** '' where there is nothing to give a reason for. */
  readonly reason: string
  readonly count: number
}
export type Counted = Omit<Figure, 'count'>

const REASONS: ReadonlySet<string> = new Set([
  ...SIGN_IN_REASONS,
  ...REFUSE_REASONS,
  ...FORWARD_REASONS,
  ...ATTEMPT_REASONS,
  'binding', // of the middleware
])

const reasonOf = (reason: string) => (reason === '' || REASONS.has(reason) ? reason : 'other')

/** undefined: not a decision about anybody's request. */
export function ofEdge(decision: string, reason: string): Counted | undefined {
  if (decision === 'service' || decision === 'probe') return undefined
  return { outcome: edgeOutcome(decision, reason), reason: reasonOf(reason) }
}

function edgeOutcome(decision: string, reason: string): FigureOutcome {
  if (reason === 'sealed') return 'sealed'
  if (reason === 'binding_step_up') return 'step_up'
  if (reason === 'binding_terminate') return 'terminate'
  switch (decision) {
    case 'forward':
      return 'forwarded'
    case 'sign_in':
      return 'sign_in'
    case 'refuse':
      return 'refused'
    default:
      return 'other'
  }
}

interface Reported {
  readonly outcome: string
  readonly reason?: string | undefined
}

export function ofApplication({ outcome, reason = '' }: Reported): Counted {
  const isKnown = Object.hasOwn(FIGURE_OUTCOMES, outcome)
  return {
    outcome: isKnown ? (outcome as FigureOutcome) : 'other',
    reason: reasonOf(reason),
  }
}

/** `begun`: the pauses that this failure has begun. */
export function ofSignIn(
  state: SignInState,
  isFailure: boolean,
  begun: readonly AttemptReason[],
): readonly Counted[] {
  const lockouts = begun.map((reason) => ({ outcome: 'lockout', reason }) as const)
  return [signInOutcome(state, isFailure), ...lockouts]
}

function signInOutcome(state: SignInState, isFailure: boolean): Counted {
  if (state.kind === 'signed_in') return { outcome: 'signed_in', reason: '' }
  const { kind, reason } = state
  if (kind === 'refused') return { outcome: 'denied', reason }
  if (isFailure) return { outcome: 'failed', reason }
  const isStepUp = reason === 'second_factor_needed' || reason === 'enrolment_needed'
  return { outcome: isStepUp ? 'step_up' : 'asked', reason }
}

/** One row for what is alike. */
export function tally(counted: Iterable<Counted>): readonly Figure[] {
  const figures = new Map<string, { -readonly [K in keyof Figure]: Figure[K] }>()
  for (const { outcome, reason } of counted) {
    const key = `${outcome} ${reason}`
    const known = figures.get(key)
    if (known === undefined) figures.set(key, { outcome, reason, count: 1 })
    else known.count++
  }
  return [...figures.values()]
}
