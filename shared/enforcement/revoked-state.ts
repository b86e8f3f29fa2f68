/**
 * What is revoked for one tenant, as the decision core reads it. It outlives every recompilation of
 * its tenant, only grows, and forgets nothing that a living session could still be judged by.
 */
import { LIMITS } from '../limits.ts'
import { claimsOf, sessionSecondsOf, type Revoked } from '../fleet/snapshot.ts'

/** A session may have been issued under a longer lifetime than the one in force today. */
export const SESSION_SECONDS_FLOOR = 86_400
const PRUNE_FROM_ENTRIES = 1_000

export class RevokedState {
  all = 0
  readonly subjects = new Map<string, number>()
  readonly sids = new Map<string, number>()
  readonly claims = new Map<string, number>()
  #sessionSecondsMax = 0
  /** Of those that are ended here, which may have been issued while sessions lasted longer. */
  #endedSecondsMax = 0
  #pruneAtEntries = PRUNE_FROM_ENTRIES

  /** Merges by maximum. Answers what is new, or null when all of it was known. */
  merge(revoked: Revoked, nowSeconds: number): Revoked | null {
    const { session_seconds: endedSeconds = 0 } = revoked
    const isLonger = endedSeconds > this.#endedSecondsMax
    if (isLonger) this.#endedSecondsMax = endedSeconds
    const all = Math.max(this.all, revoked.all)
    const floor = Math.max(all, this.#oldest(nowSeconds) - 1)
    const news = {
      all: all > this.all ? all : 0,
      subjects: raise(this.subjects, revoked.subjects, floor),
      sids: raise(this.sids, revoked.sids, floor),
      claims: raise(this.claims, revoked.claims ?? {}, floor),
    }
    if (all > this.all) this.#revokeAll(all)
    const told = news.subjects.length + news.sids.length + news.claims.length
    const isNews = isLonger || news.all > 0 || told > 0
    if (!isNews) return null
    this.#prune(nowSeconds)
    this.#fold()
    if (isLonger) return this.whole() // who is told may have forgotten some of it
    return {
      all: news.all,
      subjects: Object.fromEntries(news.subjects),
      sids: Object.fromEntries(news.sids),
      ...claimsOf(Object.fromEntries(news.claims)),
    }
  }

  /** Sessions of this tenant can live so long; what is older than any of them can be forgotten. */
  expectSessionSeconds(seconds: number): void {
    this.#sessionSecondsMax = Math.max(this.#sessionSecondsMax, seconds, SESSION_SECONDS_FLOOR)
  }

  get entriesCount(): number {
    return this.subjects.size + this.sids.size + this.claims.size
  }

  whole(): Revoked {
    return {
      all: this.all,
      subjects: Object.fromEntries(this.subjects),
      sids: Object.fromEntries(this.sids),
      ...claimsOf(Object.fromEntries(this.claims)),
      ...sessionSecondsOf(this.#endedSecondsMax),
    }
  }

  #all() {
    return [this.subjects, this.sids, this.claims]
  }

  /** Up to which nothing that is revoked concerns anybody any more; 0: nobody knows. */
  #oldest(nowSeconds: number): number {
    if (this.#sessionSecondsMax === 0) return 0
    return nowSeconds - Math.max(this.#sessionSecondsMax, this.#endedSecondsMax)
  }

  #prune(nowSeconds: number): void {
    if (this.entriesCount < this.#pruneAtEntries) return
    const oldest = this.#oldest(nowSeconds)
    for (const entries of this.#all())
      for (const [key, notBefore] of entries) if (notBefore < oldest) entries.delete(key)
    const doubled = 2 * this.entriesCount
    const most = LIMITS.revokedEntriesPerTenantMax + 1 // else what is over would be folded first
    this.#pruneAtEntries = Math.min(Math.max(PRUNE_FROM_ENTRIES, doubled), most)
  }

  /**
   * Too many to keep: the older half becomes one time for everybody, who then signs in again. That
   * is no one person's doing: an entry takes a sign-in of theirs, and `rateSignInOfPerson` lets 1,000
   * and 1,440 a day through. Where sessions last for a day that is 2,440 of 50,000 entries; where
   * they last for 30 days it is 44,200, and beyond 34 it takes more than a month of all that is let
   * through.
   */
  #fold(): void {
    if (this.entriesCount <= LIMITS.revokedEntriesPerTenantMax) return
    const times = this.#all()
      .flatMap((entries) => [...entries.values()])
      .sort((a, b) => a - b)
    this.#revokeAll(Math.max(this.all, times[times.length >> 1]!))
  }

  /** What is said for everybody need not be said for anybody. */
  #revokeAll(all: number): void {
    this.all = all
    for (const entries of this.#all())
      for (const [key, notBefore] of entries) if (notBefore <= all) entries.delete(key)
  }
}

/** Up to `floor` a time says nothing: it is covered, or no session is so old. */
function raise(
  entries: Map<string, number>,
  given: Record<string, number>,
  floor: number,
): [string, number][] {
  const raised: [string, number][] = []
  for (const [key, notBefore] of Object.entries(given)) {
    if (notBefore <= Math.max(floor, entries.get(key) ?? 0)) continue
    entries.set(key, notBefore)
    raised.push([key, notBefore])
  }
  return raised
}
