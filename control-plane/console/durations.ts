/** Lengths of time as people type them and as every page shows them; inside they are seconds. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../shared/clock.ts'

export const DAY_SECONDS = DAY_MS / SECOND_MS
export const HOUR_SECONDS = HOUR_MS / SECOND_MS

/** The largest first: what is written together comes in this order, each once. */
const UNITS = [
  { seconds: DAY_SECONDS, one: 'day', many: 'days', typed: /^(?:d|days?)$/ },
  { seconds: HOUR_SECONDS, one: 'h', many: 'h', typed: /^(?:h|hrs?|hours?)$/ },
  { seconds: MINUTE_MS / SECOND_MS, one: 'min', many: 'min', typed: /^(?:m|mins?|minutes?)$/ },
  { seconds: 1, one: 's', many: 's', typed: /^(?:s|secs?|seconds?)$/ },
] as const

/** What somebody types in a hurry is shorter; what is longer is no length of time. */
const TYPED_CHARACTERS_MAX = 40

/** `15 min`, `1 h 30 min`, `30 days`; a number alone counts `plainSeconds` each. */
export function parseDuration(typed: string, plainSeconds = 1): number | undefined {
  const text = typed.trim().toLowerCase()
  if (text.length > TYPED_CHARACTERS_MAX) return undefined
  if (/^\d{1,12}$/.test(text)) return Number(text) * plainSeconds
  if (!/^(?:\d{1,12} ?[a-z]+ ?)+$/.test(text)) return undefined
  let sum = 0
  let behind = -1
  for (const [, count = '', word = ''] of text.matchAll(/(\d+) ?([a-z]+)/g)) {
    const index = UNITS.findIndex(({ typed: words }) => words.test(word))
    if (index <= behind) return undefined // no such unit, or one that was named before
    sum += Number(count) * UNITS[index]!.seconds
    behind = index
  }
  return sum
}

/** In the largest unit that makes it whole: `15 min`, `8 h`, `90 s`. */
export function durationText(seconds: number): string {
  const unit = UNITS.find((one) => seconds >= one.seconds && seconds % one.seconds === 0)
  if (unit === undefined) return `${seconds} s`
  const count = seconds / unit.seconds
  return `${count} ${count === 1 ? unit.one : unit.many}`
}

/** Of what is counted in more than seconds. */
const EXAMPLES: ReadonlyMap<number, string> = new Map([
  [HOUR_SECONDS, '8 h or 30 days'],
  [DAY_SECONDS, '90 days'],
])

/** What is accepted, from what the schema wishes in numbers: «a whole number from 1 to 86400». */
export function durationWish(wish: string, plainSeconds = 1): string {
  const [, least, most] = /from (\d+) to (\d+)$/.exec(wish) ?? []
  if (least === undefined || most === undefined) return wish
  const [from, to] = [least, most].map((count) => durationText(Number(count) * plainSeconds))
  const like = EXAMPLES.get(plainSeconds) ?? '90 s, 15 min, 8 h or 30 days'
  return `a length of time from ${from} to ${to}, like ${like}`
}
