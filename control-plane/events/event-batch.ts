/**
 * A batch as an instance sends it, element by element: one that cannot be read is counted and left
 * out, and the others are taken. Of an event that ends a session only the field that cannot be read
 * is left out: a session must not live on for want of an address. What an element says beyond its fields is ignored, its own time
 * above all.
 */
import { isIP } from 'node:net'
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'
import type { OwnEvent } from './enforcement.ts'

/** Nothing that a database or a terminal would stumble over. */
const text = (charactersMax: number) =>
  v.pipe(
    v.string(),
    v.maxLength(charactersMax),
    v.check((value) => value.isWellFormed() && !/\p{Cc}/u.test(value)),
  )

export const EnforcementEventBody = v.object({
  outcome: v.pipe(
    text(LIMITS.eventOutcomeCharactersMax),
    v.minLength(1),
    v.description('What was done: `sealed`, `step_up`, `terminate`, `logout` and others.'),
  ),
  subject: v.optional(v.pipe(text(LIMITS.eventTextCharactersMax), v.description('The user.'))),
  sid: v.optional(
    v.pipe(
      text(LIMITS.eventTextCharactersMax),
      v.description('The session; with `terminate` and `logout` it ends everywhere.'),
    ),
  ),
  issued_at: v.optional(
    v.pipe(
      v.number(),
      v.safeInteger(),
      v.minValue(0),
      v.description('When the token of the session was issued (`iat`), in epoch seconds.'),
    ),
  ),
  reason: v.optional(text(LIMITS.eventTextCharactersMax)),
  ip: v.optional(
    v.pipe(
      text(LIMITS.addressTextMax),
      v.check((value) => isIP(value) !== 0),
    ),
  ),
  app_host: v.optional(text(LIMITS.eventHostCharactersMax)),
  path: v.optional(
    v.pipe(
      text(LIMITS.refusedPathCharactersMax),
      v.description('Which path was refused, without its query.'),
    ),
  ),
  count: v.optional(
    v.pipe(
      v.number(),
      v.safeInteger(),
      v.minValue(1),
      v.maxValue(LIMITS.eventCountMax),
      v.description('How many requests that were; 1 if left out.'),
    ),
  ),
})

interface EventBatch {
  readonly events: readonly OwnEvent[]
  readonly rejected: number
}

const { subject, reason, ip, app_host, sid, issued_at } = EnforcementEventBody.entries

/** Without its `sid` it would end nothing, so that one has to be right. */
const SessionEndBody = v.object({
  outcome: v.picklist(['logout', 'terminate']),
  sid,
  issued_at: v.fallback(issued_at, undefined),
  subject: v.fallback(subject, undefined),
  reason: v.fallback(reason, undefined),
  ip: v.fallback(ip, undefined),
  app_host: v.fallback(app_host, undefined),
})

export function readBatch(elements: readonly unknown[]): EventBatch {
  const events: OwnEvent[] = []
  for (const element of elements) {
    const result = v.safeParse(EnforcementEventBody, element, { abortEarly: true })
    if (result.success) events.push(result.output)
    else {
      const end = v.safeParse(SessionEndBody, element, { abortEarly: true })
      if (end.success) events.push(withoutUndefined(end.output))
    }
  }
  return { events, rejected: elements.length - events.length }
}

function withoutUndefined(event: v.InferOutput<typeof SessionEndBody>): OwnEvent {
  const given = Object.entries(event).filter(([, value]) => value !== undefined)
  return { outcome: event.outcome, ...Object.fromEntries(given) }
}
