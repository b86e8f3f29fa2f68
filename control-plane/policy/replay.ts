/**
 * What other policies would have decided about sign-ins that have been. The failures that lockout
 * looks at are counted anew from the attempts themselves, since another pause would have sent away
 * other attempts.
 */
import { LIMITS } from '../../shared/limits.ts'
import { asIfProven } from './device.ts'
import { LOCKOUT_MEMORY_SECONDS } from './lockout.ts'
import type { Policies } from './policies.ts'
import { judge } from './sign-in.ts'
import type { SignInFacts } from './verdict.ts'

/** One attempt as it was recorded. */
export interface PastSignIn {
  readonly id: string
  /** Epoch seconds. */
  readonly at: number
  readonly userId: string | null
  readonly loginHash: string
  readonly ip: string
  /** What lockout counts an address as: one of IPv4, a /64 of IPv6. */
  readonly countedAs: string
  /** The /48, of IPv6. */
  readonly site: string | null
  readonly isFailure: boolean
  readonly isKnownDevice: boolean
  readonly facts: Omit<SignInFacts, 'failures'>
}

/** `signed_in`, or what stood in the way. */
export type Outcome = string

interface Difference {
  readonly before: Outcome
  readonly after: Outcome
  readonly count: number
}

export interface Example {
  readonly id: string
  readonly at: number
  readonly userId: string | null
  readonly ip: string
  readonly before: Outcome
  readonly after: Outcome
}

export interface Replay {
  readonly signIns: number
  readonly same: number
  /** How many people had a sign-in that would have ended otherwise. */
  readonly people: number
  readonly differences: readonly Difference[]
  readonly examples: readonly Example[]
}

const EXAMPLES_PER_DIFFERENCE = 5

export function createReplay(current: Policies, proposed: Policies) {
  const times = () => new Map<string, number[]>()
  const failures = { user: times(), address: times(), site: times() }
  const differences = new Map<string, { -readonly [Key in keyof Difference]: Difference[Key] }>()
  const examples: Example[] = []
  const people = new Set<string>()
  let signIns = 0
  let same = 0

  /** In the order of time. Who comes before the wanted days only adds what lockout remembers. */
  return {
    add(past: PastSignIn, isWanted: boolean): void {
      const userKey = `${past.isKnownDevice ? 'known' : 'new'}/${past.loginHash}`
      if (isWanted) {
        const facts: SignInFacts = {
          ...past.facts,
          failures: {
            user: recent(failures.user, userKey, past.at),
            address: recent(failures.address, past.countedAs, past.at),
            site: past.site === null ? [] : recent(failures.site, past.site, past.at),
          },
        }
        const before = outcomeOf(judge(facts, current))
        const after = outcomeOf(judge(asIfProven(facts, current, proposed), proposed))
        signIns++
        if (before === after) same++
        else note(past, before, after)
      }
      if (!past.isFailure) return
      remember(failures.user, userKey, past.at)
      remember(failures.address, past.countedAs, past.at)
      if (past.site !== null) remember(failures.site, past.site, past.at)
    },

    result(): Replay {
      const sorted = [...differences.values()].sort((a, b) => b.count - a.count)
      return { signIns, same, people: people.size, differences: sorted, examples }
    },
  }

  function note({ id, at, userId, ip }: PastSignIn, before: Outcome, after: Outcome) {
    if (userId !== null) people.add(userId)
    const key = `${before}/${after}`
    const known = differences.get(key)
    if (known === undefined) differences.set(key, { before, after, count: 1 })
    else known.count++
    if ((known?.count ?? 1) <= EXAMPLES_PER_DIFFERENCE)
      examples.push({ id, at, userId, ip, before, after })
  }
}

function outcomeOf(state: ReturnType<typeof judge>): Outcome {
  return state.kind === 'signed_in' ? `signed_in_${state.acr}` : state.reason
}

function remember(failures: Map<string, number[]>, key: string, at: number) {
  const times = failures.get(key)
  if (times === undefined) failures.set(key, [at])
  else times.push(at)
  // as many as are looked at when somebody signs in
  if (times !== undefined && times.length > LIMITS.failuresLookedAtMax) times.shift()
}

function recent(failures: Map<string, number[]>, key: string, at: number): readonly number[] {
  const times = failures.get(key)
  if (times === undefined) return []
  while (times[0] !== undefined && times[0] <= at - LOCKOUT_MEMORY_SECONDS) times.shift()
  return times
}
