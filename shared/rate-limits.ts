/** Token buckets, bounded in number: who has not asked for longest is forgotten first. */
import { LRUCache } from 'lru-cache'
import { SECOND_MS, type Clock } from './clock.ts'
import { Refusal } from './errors.ts'
import { LIMITS } from './limits.ts'

export interface Rate {
  readonly burst: number
  readonly perSecond: number
}

export interface RateLimits {
  /** undefined: taken. Else the bucket of `key` is empty, and full enough after so many seconds. */
  waitSeconds(name: string, key: string, rate: Rate): number | undefined
  /** The same for those who answer with a refusal: throws `rate_limited`. */
  take(name: string, key: string, rate: Rate): void
}

interface Bucket {
  tokens: number
  filledMs: number
}

export function createRateLimits(clock: Clock): RateLimits {
  const buckets = new LRUCache<string, Bucket>({ max: LIMITS.rateBucketsMax })

  function waitSeconds(name: string, key: string, { burst, perSecond }: Rate): number | undefined {
    const nowMs = clock.nowMs()
    const id = `${name} ${key}`
    const bucket = buckets.get(id) ?? { tokens: burst, filledMs: nowMs }
    const elapsedSeconds = Math.max(0, nowMs - bucket.filledMs) / SECOND_MS
    bucket.tokens = Math.min(burst, bucket.tokens + elapsedSeconds * perSecond)
    bucket.filledMs = nowMs
    buckets.set(id, bucket)
    if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond))
    bucket.tokens -= 1
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
