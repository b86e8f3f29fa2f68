/** What is said of machines with our agent: to people on pages of the realm, and to administrators. */
import type { DeviceFact, DevicePlatform } from '../device/facts.ts'
import type { ANY_FACT_REASONS, DEMAND_REASONS, FACT_REASONS } from '../device/reasons.ts'

export interface ReasonWords {
  /** What is the case. */
  readonly said: string
  /** What a person at the machine does about it, on each platform; or nothing. */
  readonly mend?: string | { readonly [Platform in DevicePlatform]?: string }
}

type Table<Reasons extends Record<string, readonly string[]>> = {
  readonly [What in keyof Reasons]: { readonly [Reason in Reasons[What][number]]: ReasonWords }
}

export interface DeviceWords {
  /** What each fact and each other demand is called. */
  readonly titles: Readonly<Record<DeviceFact | keyof typeof DEMAND_REASONS, string>>
  readonly facts: Table<typeof FACT_REASONS>
  readonly anyFact: { readonly [Reason in (typeof ANY_FACT_REASONS)[number]]: ReasonWords }
  readonly demands: Table<typeof DEMAND_REASONS>
  /** Of an agent that is newer than we are. */
  readonly notKnown: (reason: string) => string
  /** What a machine with our agent tells of itself, for whoever works at it. */
  readonly collected: readonly string[]
  /** What it never tells. */
  readonly notCollected: string
}
