/**
 * For which webhooks something is due, and whose turn it is. The store knows what is due exactly;
 * this is what has been heard of it, one entry per webhook, so that nobody has to search.
 */
import { LIMITS } from '../../shared/limits.ts'
import type { Paces } from './pace.ts'

export interface Wanted {
  readonly webhookId: string
  readonly limit: number
}

interface Entry {
  readonly webhookId: string
  readonly tenantId: string
  dueMs: number
  /** What was noted since it was last chosen: news, when the store has been looked at for it. */
  notedMs: number
  underWay: number
}

export function createDueQueue(paces: Pick<Paces, 'of'>) {
  /** Who was served longest ago comes first. */
  const entries = new Map<string, Entry>()
  const underWayOfTenant = new Map<string, number>()
  let underWay = 0

  const isSlow = ({ webhookId }: Entry) => paces.of(webhookId).isSlow

  function count(entry: Entry, by: number) {
    entry.underWay += by
    underWay += by
    const ofTenant = (underWayOfTenant.get(entry.tenantId) ?? 0) + by
    if (ofTenant === 0) underWayOfTenant.delete(entry.tenantId)
    else underWayOfTenant.set(entry.tenantId, ofTenant)
  }

  function hasRoom(entry: Entry, slow: number): boolean {
    const pace = paces.of(entry.webhookId)
    return (
      underWay < LIMITS.webhookSendsMax &&
      entry.underWay < pace.sendsMax &&
      (underWayOfTenant.get(entry.tenantId) ?? 0) < LIMITS.webhookSendsPerTenantMax &&
      !(pace.isSlow && slow >= LIMITS.webhookSlowSendsMax)
    )
  }

  function fresh(webhookId: string, tenantId: string): Entry {
    const entry = { webhookId, tenantId, dueMs: Infinity, notedMs: Infinity, underWay: 0 }
    entries.set(webhookId, entry)
    return entry
  }

  /** It has had its turn, and is about to be looked for in the store. */
  function goToEnd(webhookId: string) {
    const entry = entries.get(webhookId)
    if (entry === undefined) return
    entry.notedMs = Infinity
    entries.delete(webhookId)
    entries.set(webhookId, entry)
  }

  function forgetIfIdle(entry: Entry) {
    if (entry.dueMs === Infinity && entry.underWay === 0) entries.delete(entry.webhookId)
  }

  return {
    /** Something of this webhook is due at that time, or earlier than was known. */
    note(webhookId: string, tenantId: string, dueMs: number) {
      const entry = entries.get(webhookId) ?? fresh(webhookId, tenantId)
      entry.dueMs = Math.min(entry.dueMs, dueMs)
      entry.notedMs = Math.min(entry.notedMs, dueMs)
    },

    /** Whose turn it is, and for how many; what is chosen is under way until it is released. */
    choose(nowMs: number): Wanted[] {
      const chosen = new Map<string, number>()
      let slow = 0
      for (const entry of entries.values()) if (isSlow(entry)) slow += entry.underWay
      const due = [...entries.values()].filter(({ dueMs }) => dueMs <= nowMs)
      let queues = [...Map.groupBy(due, ({ tenantId }) => tenantId).values()]
      // one for each tenant, round after round, until nobody has room or nobody is left
      while (queues.length > 0) {
        for (const queue of queues) {
          const entry = queue.shift()
          if (entry === undefined || !hasRoom(entry, slow)) continue
          count(entry, 1)
          if (isSlow(entry)) slow += 1
          chosen.set(entry.webhookId, (chosen.get(entry.webhookId) ?? 0) + 1)
          queue.push(entry)
        }
        queues = queues.filter((queue) => queue.length > 0)
      }
      for (const webhookId of chosen.keys()) goToEnd(webhookId)
      return [...chosen].map(([webhookId, limit]) => ({ webhookId, limit }))
    },

    /** What had been chosen is under way no more. */
    release(webhookId: string, released: number) {
      const entry = entries.get(webhookId)
      if (entry === undefined) return
      count(entry, -released)
      forgetIfIdle(entry)
    },

    /** The store has been looked at: this is the next time; undefined: there is nothing more. */
    looked(webhookId: string, dueMs = Infinity) {
      const entry = entries.get(webhookId)
      if (entry === undefined) return
      entry.dueMs = Math.min(dueMs, entry.notedMs)
      forgetIfIdle(entry)
    },

    /** When the next that is not under way is due. */
    nextMs() {
      let next = Infinity
      for (const entry of entries.values())
        if (entry.underWay < paces.of(entry.webhookId).sendsMax) next = Math.min(next, entry.dueMs)
      return next === Infinity ? undefined : next
    },

    get underWay() {
      return underWay
    },
  }
}
