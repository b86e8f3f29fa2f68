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
  waitSeconds(name: string, key: string, rate: Rate, cost?: number): number | undefined
  /** The same for those who answer with a refusal: throws `rate_limited`. */
  take(name: string, key: string, rate: Rate, cost?: number): void
}

type Asked = Parameters<RateLimits['waitSeconds']>

interface Bucket {
  tokens: number
  filledMs: number
}

export function createRateLimits(
  clock: Clock,
  bucketsMax: number = LIMITS.rateBucketsMax,
): RateLimits {
  const buckets = new LRUCache<string, Bucket>({ max: bucketsMax })

  function waitSeconds(...[name, key, { burst, perSecond }, cost = 1]: Asked): number | undefined {
    const nowMs = clock.nowMs()
    const id = `${name} ${key}`
    const bucket = buckets.get(id) ?? { tokens: burst, filledMs: nowMs }
    const elapsedSeconds = Math.max(0, nowMs - bucket.filledMs) / SECOND_MS
    bucket.tokens = Math.min(burst, bucket.tokens + elapsedSeconds * perSecond)
    bucket.filledMs = nowMs
    buckets.set(id, bucket)
    if (bucket.tokens < cost) return Math.max(1, Math.ceil((cost - bucket.tokens) / perSecond))
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
