/** What is wrong with a machine, for the person whose it is. */
import { DEVICE_FACTS, type DeviceFact, type DevicePlatform, type Fact } from '../device/facts.ts'
import type { DeviceState } from '../device/messages.ts'
import type { Language } from '../sign-in/language.ts'
import { sayReason, type SaidReason } from './say-reason.ts'

interface ReportedMachine {
  readonly state: DeviceState
  readonly platform: DevicePlatform
  /** null: it has not reported yet. */
  readonly facts: Readonly<Partial<Record<DeviceFact, Pick<Fact, 'value' | 'reason'>>>> | null
}

/** Empty: all that it reports is well. What is not known is told as well. */
export function sayFailing(
  language: Language,
  { state, platform, facts }: ReportedMachine,
): readonly SaidReason[] {
  const say = (what: Parameters<typeof sayReason>[1]['what'], reason: string) =>
    sayReason(language, { what, reason, platform })
  const ofState = state === 'suspect_clone' ? [say('state', state)] : []
  if (facts === null) return [...ofState, say('fresh', 'not_reported')]
  const ofFacts = DEVICE_FACTS.flatMap((what) => {
    const fact = facts[what]
    return fact === undefined || fact.value === true ? [] : [say(what, fact.reason)]
  })
  return [...ofState, ...ofFacts]
}
