/**
 * Token buckets, a table of its own for each purpose, so that a flood of one empties no other. A
 * table is bounded: a bucket that is full again is forgotten, since a new one would be the same; one
 * that is still owed something never is. Who is new while there is no such room shares one bucket
 * with all who are.
 */
import { SECOND_MS, type Clock } from './clock.ts'
import { Refusal } from './errors.ts'
import { LIMITS } from './limits.ts'

export interface Rate {
  readonly burst: number
  readonly perSecond: number
}

export interface RateLimits {
  /** undefined: taken. Else the bucket of `key` is empty, and full enough after so many seconds. */
  waitSeconds(name: string, key: string, rate: Rate, cost?: number): number | undefined
  /** The same for those who answer with a refusal: throws `rate_limited`. */
  take(name: string, key: string, rate: Rate, cost?: number): void
}

type Asked = Parameters<RateLimits['waitSeconds']>

interface Bucket {
  tokens: number
  filledMs: number
}

/** Who asked longest ago is at the front. */
type Table = Map<string, Bucket>

/** How many of those who have not asked for longest are looked at for one that is full again. */
const LOOKED_AT_MAX = 8
/** No key is the empty text. */
const NEWCOMERS = ''

export function createRateLimits(
  clock: Clock,
  bucketsMax: number = LIMITS.rateBucketsMax,
): RateLimits {
  const tables = new Map<string, Table>()

  function tableOf(name: string): Table {
    const known = tables.get(name)
    if (known !== undefined) return known
    const table: Table = new Map()
    tables.set(name, table)
    return table
  }

  /** Refilled up to now, and last in its table. */
  function bucketOf(table: Table, key: string, rate: Rate, nowMs: number): Bucket {
    const known = table.get(key)
    if (known === undefined) {
      if (key !== NEWCOMERS && !hasRoom(table, rate, nowMs))
        return bucketOf(table, NEWCOMERS, rate, nowMs)
      const bucket = { tokens: rate.burst, filledMs: nowMs }
      table.set(key, bucket)
      return bucket
    }
    known.tokens = tokensAt(known, rate, nowMs)
    known.filledMs = nowMs
    table.delete(key)
    table.set(key, known)
    return known
  }

  function hasRoom(table: Table, rate: Rate, nowMs: number): boolean {
    if (table.size < bucketsMax) return true
    let left = LOOKED_AT_MAX
    for (const [key, bucket] of table) {
      if (tokensAt(bucket, rate, nowMs) >= rate.burst) return table.delete(key)
      if (--left === 0) return false
    }
    return false
  }

  function waitSeconds(...[name, key, rate, cost = 1]: Asked): number | undefined {
    const bucket = bucketOf(tableOf(name), key, rate, clock.nowMs())
    if (bucket.tokens < cost) return Math.max(1, Math.ceil((cost - bucket.tokens) / rate.perSecond))
    bucket.tokens -= cost
    return undefined
  }

  return {
    waitSeconds,
    take(...asked) {
      const retryAfter = waitSeconds(...asked)
      if (retryAfter !== undefined) throw new Refusal('rate_limited', { retry_after: retryAfter })
    },
  }
}

function tokensAt({ tokens, filledMs }: Bucket, rate: Rate, nowMs: number): number {
  const elapsedSeconds = Math.max(0, nowMs - filledMs) / SECOND_MS
  return Math.min(rate.burst, tokens + elapsedSeconds * rate.perSecond)
}
