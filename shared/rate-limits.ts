/**
 * Token buckets, a table of its own for each purpose, so that a flood of one empties no other. A
 * table is bounded: a bucket that is full again is forgotten, since a new one would be the same; one
 * that is still owed something never is. Who is new while there is no such room shares a bucket with
 * one in some thousand others, and which they are nobody can foresee; the networks of one customer
 * (a /48 of IPv6) all share the same one, so that who has many of them fills no more than one.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { SECOND_MS, type SteadyClock } from './clock.ts'
import { Refusal } from './errors.ts'
import { LIMITS } from './limits.ts'

export interface Rate {
  readonly burst: number
  readonly perSecond: number
}

interface Bucket {
  tokens: number
  filledMs: number
}

interface Table {
  readonly buckets: Map<string, Bucket>
  /** Of those for whom there was no room, by `slotOf`. */
  readonly shared: Map<number, Bucket>
  /** When all that were full again were last forgotten. */
  sweptMs: number
}

const SWEEP_MS = SECOND_MS
const NETWORK_OF_64 = /:[0-9a-f]+::\/64/

export type RateLimits = ReturnType<typeof createRateLimits>

export function createRateLimits(clock: SteadyClock, bucketsMax: number = LIMITS.rateBucketsMax) {
  const tables = new Map<string, Table>()
  const secret = randomBytes(16)

  function tableOf(name: string): Table {
    const known = tables.get(name)
    if (known !== undefined) return known
    const table = { buckets: new Map(), shared: new Map(), sweptMs: -Infinity }
    tables.set(name, table)
    return table
  }

  /** Refilled up to now. */
  function bucketOf(table: Table, key: string, rate: Rate, nowMs: number): Bucket {
    const known = table.buckets.get(key)
    if (known !== undefined) return refilled(known, rate, nowMs)
    if (hasRoom(table, rate, nowMs)) return begin(table.buckets, key, rate, nowMs)
    const slot = slotOf(key)
    const shared = table.shared.get(slot)
    return shared ? refilled(shared, rate, nowMs) : begin(table.shared, slot, rate, nowMs)
  }

  /** All that are full again are forgotten together: some that are not hide none that are. */
  function hasRoom(table: Table, rate: Rate, nowMs: number): boolean {
    if (table.buckets.size >= bucketsMax && nowMs - table.sweptMs >= SWEEP_MS) {
      table.sweptMs = nowMs
      forgetFull(table.buckets, rate, nowMs)
      forgetFull(table.shared, rate, nowMs)
    }
    return table.buckets.size < bucketsMax
  }

  /** Among as many slots as a secret of this process spreads the newcomers over. */
  function slotOf(key: string): number {
    const newcomer = key.replace(NETWORK_OF_64, '::/48')
    return (
      createHmac('sha256', secret).update(newcomer).digest().readUInt32BE() %
      LIMITS.rateSharedBucketsMax
    )
  }

  /** undefined: taken. Else the bucket of `key` is empty, and full enough after so many seconds. */
  function waitSeconds(name: string, key: string, rate: Rate, cost = 1): number | undefined {
    const bucket = bucketOf(tableOf(name), key, rate, clock.steadyMs())
    if (bucket.tokens < cost) return Math.max(1, Math.ceil((cost - bucket.tokens) / rate.perSecond))
    bucket.tokens -= cost
    return undefined
  }

  return {
    waitSeconds,
    /** Whether the bucket of `key` is its own, or would be: else who else takes from it nobody knows. */
    isOwn(name: string, key: string, rate: Rate) {
      const table = tableOf(name)
      return table.buckets.has(key) || hasRoom(table, rate, clock.steadyMs())
    },
    /** One that was taken for what has not come about. */
    giveBack(name: string, key: string, rate: Rate) {
      const bucket = bucketOf(tableOf(name), key, rate, clock.steadyMs())
      bucket.tokens = Math.min(rate.burst, bucket.tokens + 1)
    },
    /** How often there is something to take for now. */
    left: (name: string, key: string, rate: Rate) =>
      Math.floor(bucketOf(tableOf(name), key, rate, clock.steadyMs()).tokens),
    /** As `waitSeconds`, for those who answer with a refusal: throws `rate_limited`. */
    take(...asked: Parameters<typeof waitSeconds>) {
      const retryAfter = waitSeconds(...asked)
      if (retryAfter !== undefined) throw new Refusal('rate_limited', { retry_after: retryAfter })
    },
  }
}

function begin<Key>(buckets: Map<Key, Bucket>, key: Key, rate: Rate, nowMs: number): Bucket {
  const bucket = { tokens: rate.burst, filledMs: nowMs }
  buckets.set(key, bucket)
  return bucket
}

function refilled(bucket: Bucket, rate: Rate, nowMs: number): Bucket {
  bucket.tokens = tokensAt(bucket, rate, nowMs)
  bucket.filledMs = nowMs
  return bucket
}

function forgetFull(buckets: Map<unknown, Bucket>, rate: Rate, nowMs: number): void {
  for (const [key, bucket] of buckets)
    if (tokensAt(bucket, rate, nowMs) >= rate.burst) buckets.delete(key)
}

function tokensAt({ tokens, filledMs }: Bucket, rate: Rate, nowMs: number): number {
  const elapsedSeconds = Math.max(0, nowMs - filledMs) / SECOND_MS
  return Math.min(rate.burst, tokens + elapsedSeconds * rate.perSecond)
}
