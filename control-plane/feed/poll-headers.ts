/**
 * What an instance says of itself in headers, and which state it has. It is shown to people, so it
 * is short and plain or it is left out; it never makes a poll fail.
 */

import { featuresIn, type Feature } from '../../shared/fleet/features.ts'

export interface Poll {
  /** Empty: it does not say, or nothing that could be shown. */
  readonly name: string
  readonly version: string
  /** What it knows of. */
  readonly features: ReadonlySet<Feature>
  /** Its clock minus ours. */
  readonly clockOffsetMs: number | null
}

/** Host names, pods, processes: `web-7f9c/4711`, `ip-10-0-0-1:3000`. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,99}$/
const VERSION = /^[0-9A-Za-z][0-9A-Za-z.+_-]{0,49}$/
/** A machine without a battery begins in 1970: that has to be seen too. */
const OFFSET = /^[+-]?\d{1,13}$/

export const POLL_HEADERS = {
  'If-None-Match': 'The ETag of the state that the instance has.',
  'X-Service-Instance': 'Its name, which the console shows.',
  'X-Service-Sdk-Version': 'The version of the middleware.',
  'X-Service-Features':
    'What it knows of, like `access_rules`. A tenant that needs more is told as suspended.',
  'X-Service-Clock-Offset': 'Its clock minus ours in whole milliseconds, as it measured.',
} as const

export function readPoll(header: (name: string) => string | undefined): Poll {
  const offset = header('x-service-clock-offset') ?? ''
  return {
    name: matching(header('x-service-instance'), NAME),
    version: matching(header('x-service-sdk-version'), VERSION),
    features: featuresIn((header('x-service-features') ?? '').slice(0, 200).split(' ')),
    clockOffsetMs: OFFSET.test(offset) ? Number(offset) || 0 : null, // 0 rather than -0
  }
}

function matching(value: string | undefined, pattern: RegExp): string {
  return value !== undefined && pattern.test(value) ? value : ''
}

/** One entity tag and the comma behind it, weak or not: RFC 9110, section 8.8.3. */
const TAG = /[ \t,]*(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?=,|$)/y

/** Weak comparison (RFC 9110, section 13.1.2). What is no list of tags names nothing we have. */
export function isNoneMatch(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === etag) return true
  if (ifNoneMatch.trim() === '*') return true
  TAG.lastIndex = 0
  for (let match = TAG.exec(ifNoneMatch); match !== null; match = TAG.exec(ifNoneMatch))
    if (match[1] === etag) return true
  return false
}
