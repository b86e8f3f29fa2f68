/** How the audit trail is searched, in the console and by the API. */
import * as v from 'valibot'
import { DAY_MS } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'

const TEXT_WISH = `at most ${LIMITS.consoleSearchCharactersMax} characters`
const DATE_WISH = 'a date as 2026-03-02'

const text = v.pipe(
  v.optional(v.string(), ''),
  v.maxLength(LIMITS.consoleSearchCharactersMax, TEXT_WISH),
  v.transform((value) => (value.trim() === '' ? undefined : value.trim())),
)

/** A day of UTC; empty: not asked for. */
const date = v.pipe(
  v.optional(v.string(), ''),
  v.union([v.literal(''), v.pipe(v.string(), v.isoDate(DATE_WISH))], DATE_WISH),
  v.transform((value) => (value === '' ? undefined : value)),
  v.check((value) => value === undefined || !Number.isNaN(Date.parse(value)), DATE_WISH),
)

export const AUDIT_QUERY = {
  actor: text,
  action: text,
  target: text,
  from: date,
  to: date,
} as const

export interface AuditWish {
  readonly actor: string | undefined
  readonly action: string | undefined
  readonly target: string | undefined
  readonly from: string | undefined
  readonly to: string | undefined
}

/** Whole days: the last one is asked for as well. */
export function toAuditSearch({ actor, action, target, from, to }: AuditWish) {
  return {
    actor,
    action,
    target,
    fromMs: from === undefined ? undefined : Date.parse(from),
    toMs: to === undefined ? undefined : Date.parse(to) + DAY_MS,
  }
}
