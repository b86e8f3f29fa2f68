/**
 * What figures are counted as. Every name is one of these, so that a tenant's figures are few,
 * whatever a middleware or a gateway of another version reports.
 */
import { FORWARD_REASONS, REFUSE_REASONS, SIGN_IN_REASONS } from '../../shared/reasons.ts'
import type { RecordedState } from '../policy/sign-in.ts'
import {
  FIGURE_OUTCOMES,
  type Counted,
  type Figure,
  type FigureOutcome,
} from '../store/monitoring-names.ts'
import {
  ATTEMPT_REASONS,
  DEVICE_NOTES,
  type AttemptReason,
  type DeviceNote,
} from '../policy/verdict.ts'

const REASONS: ReadonlySet<string> = new Set([
  ...SIGN_IN_REASONS,
  ...REFUSE_REASONS,
  ...FORWARD_REASONS,
  ...ATTEMPT_REASONS,
  ...DEVICE_NOTES,
  'binding', // of the middleware
  'device_other_browser', // of a device check
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
  /** How often it happened. */
  readonly count?: number | undefined
}

export function ofApplication({ outcome, reason = '', count = 1 }: Reported): Figure {
  const isKnown = Object.hasOwn(FIGURE_OUTCOMES, outcome)
  return {
    outcome: isKnown ? (outcome as FigureOutcome) : 'other',
    reason: reasonOf(reason),
    count,
  }
}

/** `begun`: the pauses that this failure has begun; `note`: of who was let in. */
export function ofSignIn(
  state: RecordedState,
  isFailure: boolean,
  begun: readonly AttemptReason[],
  note?: DeviceNote,
): readonly Counted[] {
  const lockouts = begun.map((reason) => ({ outcome: 'lockout', reason }) as const)
  return [signInOutcome(state, isFailure, note), ...lockouts]
}

function signInOutcome(state: RecordedState, isFailure: boolean, note?: DeviceNote): Counted {
  if (state.kind === 'signed_in') return { outcome: 'signed_in', reason: note ?? '' }
  const { kind, reason } = state
  if (kind === 'refused') return { outcome: 'denied', reason }
  if (isFailure) return { outcome: 'failed', reason }
  const isStepUp = reason === 'second_factor_needed' || reason === 'enrolment_needed'
  return { outcome: isStepUp ? 'step_up' : 'asked', reason }
}

/** One row for what is alike. */
export function tally(counted: Iterable<Counted & { readonly count?: number }>): readonly Figure[] {
  const figures = new Map<string, { -readonly [K in keyof Figure]: Figure[K] }>()
  for (const { outcome, reason, count = 1 } of counted) {
    const key = `${outcome} ${reason}`
    const known = figures.get(key)
    if (known === undefined) figures.set(key, { outcome, reason, count })
    else known.count += count
  }
  return [...figures.values()]
}
