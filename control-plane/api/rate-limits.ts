/** Token buckets, bounded in number: who has not asked for longest is forgotten first. */
import { LRUCache } from 'lru-cache'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'

export interface Rate {
  readonly burst: number
  readonly perSecond: number
}

export interface RateLimits {
  /** Throws `rate_limited` when the bucket of `key` is empty. */
  take(name: string, key: string, rate: Rate): void
}

interface Bucket {
  tokens: number
  filledMs: number
}

export function createRateLimits(clock: Clock): RateLimits {
  const buckets = new LRUCache<string, Bucket>({ max: LIMITS.rateBucketsMax })

  return {
    take(name, key, { burst, perSecond }) {
      const nowMs = clock.nowMs()
      const id = `${name} ${key}`
      const bucket = buckets.get(id) ?? { tokens: burst, filledMs: nowMs }
      const elapsedSeconds = Math.max(0, nowMs - bucket.filledMs) / SECOND_MS
      bucket.tokens = Math.min(burst, bucket.tokens + elapsedSeconds * perSecond)
      bucket.filledMs = nowMs
      buckets.set(id, bucket)
      if (bucket.tokens < 1) {
        const retryAfter = Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond))
        throw new Refusal('rate_limited', { retry_after: retryAfter })
      }
      bucket.tokens -= 1
    },
  }
}
