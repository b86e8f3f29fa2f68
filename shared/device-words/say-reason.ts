/** Why a machine meets a demand or not, in words, with how to mend it. */
import type { DevicePlatform } from '../device/facts.ts'
import type { Language } from '../sign-in/language.ts'
import { deviceWordsEnglish } from './english.ts'
import { deviceWordsGerman } from './german.ts'
import type { DeviceWords, ReasonWords } from './words.ts'

export const DEVICE_WORDS: Readonly<Record<Language, DeviceWords>> = {
  en: deviceWordsEnglish,
  de: deviceWordsGerman,
}

export interface SaidReason {
  readonly title: string
  readonly said: string
  /** undefined: nothing that somebody at the machine could do. */
  readonly mend?: string
}

interface ReasonAsked {
  /** A fact, or another demand of the policy. */
  readonly what: keyof DeviceWords['titles']
  readonly reason: string
  /** How to mend it is another thing on each. */
  readonly platform: DevicePlatform
}

export function sayReason(language: Language, { what, reason, platform }: ReasonAsked): SaidReason {
  const words = DEVICE_WORDS[language]
  const title = words.titles[what]
  const found = wordsOf(words, what, reason)
  if (found === undefined) return { title, said: words.notKnown(reason) }
  const { said, mend } = found
  const forPlatform = typeof mend === 'object' ? mend[platform] : mend
  return { title, said, ...(forPlatform !== undefined && { mend: forPlatform }) }
}

/** A reason is what a machine sent: only what the tables have themselves counts. */
function wordsOf(
  { facts, demands, anyFact }: DeviceWords,
  what: ReasonAsked['what'],
  reason: string,
): ReasonWords | undefined {
  const own: Readonly<Record<string, ReasonWords>> = { ...facts, ...demands }[what]
  if (Object.hasOwn(own, reason)) return own[reason]
  const any: Readonly<Record<string, ReasonWords>> = anyFact
  return Object.hasOwn(any, reason) ? any[reason] : undefined
}
