/**
 * The life of a delivery: an event becomes deliveries (fan-out.ts), each is leased with its attempt
 * counted (claims.ts), sent, and what came of it is written down (results.ts). One turn does all
 * three for many deliveries in one change, because a change costs a wait for the disk; sending
 * goes on meanwhile. Whose turn it is, says due-queue.ts; how much at a time, pace.ts.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import type { Vault } from '../keys/vault.ts'
import { createCoalescingRunner } from '../concurrency/coalescing-runner.ts'
import { bringDeliveriesBack } from '../store/queries/ahead-of-time.ts'
import { pendingWebhooks } from '../store/queries/webhook-deliveries.ts'
import type { Store } from '../store/store.ts'
import { createDueQueue, type Wanted } from './due-queue.ts'
import { claim, type Claimed, type Claims } from './claims.ts'
import { fanOut, NOTHING, type FannedOut } from './fan-out.ts'
import { createPaces } from './pace.ts'
import type { ReceiverAnswer, ReceiverClient } from './receiver.ts'
import { countAtOnce, isDelivered, record, type Recorded, type Result } from './results.ts'
import { openSecrets } from './secrets.ts'
import { deliveryHeaders, signatureOf } from './signature.ts'

interface DispatcherWorld {
  readonly store: Store
  readonly vault: Pick<Vault, 'open'>
  readonly receiver: ReceiverClient
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** From 0 up to 1. */
  readonly random?: () => number
}

export interface DispatchCounts {
  readonly delivered: number
  readonly failedAttempts: number
  readonly givenUp: number
  readonly paused: number
  readonly underWay: number
}

export type Dispatcher = ReturnType<typeof createDispatcher>

/** So often the store is searched for what nobody here has heard of: others may have died. */
const SEARCH_MS = 15 * SECOND_MS
const SLEEP_MS_MAX = SECOND_MS
const SLEEP_MS_MIN = 20
/** Answers that come within it are written down together. */
const GATHER_MS = 5
/** After a change that failed: a full disk is not asked a thousand times a second. */
const AFTER_FAILURE_MS = SECOND_MS

export function createDispatcher(world: DispatcherWorld) {
  const { store, vault, receiver, clock, log, random = Math.random } = world
  /** Of this process, for its leases. */
  const owner = randomUUID()
  const paces = createPaces()
  const dueQueue = createDueQueue(paces)
  const results: Result[] = []
  const counts = { delivered: 0, failedAttempts: 0, givenUp: 0, paused: 0 }
  let hasEvents = true // of whoever ran before
  let isSearchDue = true
  let searchedMs = -Infinity
  let timer: NodeJS.Timeout | undefined
  let signal = Promise.withResolvers<void>()
  let isStopped = false

  const runner = createCoalescingRunner(work, (error) => log.error({ error }, 'deliveries wait'))

  store.onCommit((committed) => {
    if (committed.events.length === 0) return
    hasEvents = true
    wake()
  })

  function wake() {
    signal.resolve()
    if (!isStopped) void runner.run()
  }

  /** Until nothing is due and nothing under way. */
  async function work() {
    clearTimeout(timer)
    for (;;) {
      signal = Promise.withResolvers()
      const isMore = await turnSafely()
      if (isMore) continue
      if (dueQueue.underWay === 0 && results.length === 0) break
      sleep() // what becomes due meanwhile does not wait for those that are under way
      await signal.promise
      clearTimeout(timer)
      if (results.length > 0 && !hasEvents) await pause(GATHER_MS)
    }
    sleep()
  }

  /** Never for long: clocks are set, and others may have died over something. */
  function sleep() {
    if (isStopped) return
    const dueMs = (dueQueue.nextMs() ?? Infinity) - clock.nowMs()
    timer = setTimeout(wake, Math.min(SLEEP_MS_MAX, Math.max(SLEEP_MS_MIN, dueMs)))
    timer.unref()
  }

  async function turnSafely(): Promise<boolean> {
    try {
      return await turn()
    } catch (error) {
      log.error({ error }, 'deliveries could not be written down; trying again')
      if (isStopped) results.length = 0 // their leases end, and somebody sends them again
      else await pause(AFTER_FAILURE_MS)
      return !isStopped
    }
  }

  /** Whether there may be more to do at once. */
  async function turn(): Promise<boolean> {
    const isLongAgo = Math.abs(clock.nowMs() - searchedMs) >= SEARCH_MS
    if ((isSearchDue || isLongAgo) && !isStopped) await search()
    const settled = results.splice(0, countAtOnce(results))
    const isFanningOut = hasEvents && !isStopped
    const chosen = isStopped ? [] : dueQueue.choose(clock.nowMs())
    if (settled.length === 0 && !isFanningOut && chosen.length === 0) return false
    hasEvents &&= isStopped
    try {
      const done = await store.change(async (change) => ({
        recorded: await record(change, settled, owner, random),
        fannedOut: isFanningOut ? await fanOut(change) : NOTHING,
        claims: await claim(change, chosen, owner, random),
      }))
      takeIn(settled, done.recorded, done.fannedOut)
      hasEvents ||= done.fannedOut.hasMore
      begin(chosen, done.claims)
      for (const { webhookId, tenantId, state } of done.fannedOut.deliveries)
        if (state === 'pending') dueQueue.note(webhookId, tenantId, 0)
      return true
    } catch (error) {
      results.unshift(...settled)
      hasEvents ||= isFanningOut
      for (const { webhookId, limit } of chosen) dueQueue.release(webhookId, limit)
      throw error
    }
  }

  async function search() {
    isSearchDue = false
    searchedMs = clock.nowMs()
    hasEvents = true // whoever emitted may have died before this program heard of it
    await bringDeliveriesBack(store, searchedMs)
    for (const { webhookId, tenantId, dueMs } of await pendingWebhooks(store.read))
      dueQueue.note(webhookId, tenantId, dueMs)
  }

  function takeIn(settled: readonly Result[], recorded: Recorded, fannedOut: FannedOut) {
    const paused = [...recorded.paused, ...fannedOut.paused]
    counts.delivered += recorded.delivered
    counts.failedAttempts += settled.filter((result) => !isDelivered(result)).length
    counts.givenUp += recorded.givenUp + fannedOut.givenUp
    counts.paused += paused.length
    for (const { webhookId, tenantId, dueMs } of recorded.retries)
      dueQueue.note(webhookId, tenantId, dueMs)
    for (const webhookId of paused)
      log.warn({ webhook_id: webhookId }, 'webhook paused: it has failed for days')
  }

  function begin(chosen: readonly Wanted[], { claimed, nextDue }: Claims) {
    const taken = Map.groupBy(claimed, ({ delivery }) => delivery.webhookId)
    for (const { webhookId, limit } of chosen) {
      dueQueue.looked(webhookId, nextDue.get(webhookId))
      dueQueue.release(webhookId, limit - (taken.get(webhookId)?.length ?? 0))
    }
    for (const one of claimed) void send(one)
  }

  async function send(claimed: Claimed) {
    const { webhookId } = claimed.delivery
    const startedAtMs = clock.nowMs()
    const answer = await post(claimed, startedAtMs)
    const result = { ...claimed, answer, startedAtMs }
    paces.learn(webhookId, isDelivered(result), answer.milliseconds)
    results.push(result)
    dueQueue.release(webhookId, 1)
    signal.resolve()
  }

  /** Never rejects: what cannot even be sent has used up one of its attempts. */
  async function post({ delivery, webhook }: Claimed, nowMs: number): Promise<ReceiverAnswer> {
    try {
      const body = Buffer.from(delivery.body)
      const secrets = openSecrets(webhook, vault, nowMs)
      const signature = signatureOf(secrets, Math.floor(nowMs / SECOND_MS), body)
      const headers = deliveryHeaders(delivery, signature)
      return await receiver.post({ url: webhook.url, headers, body })
    } catch (error) {
      log.error({ error, webhook_id: webhook.webhookId }, 'a delivery could not be sent')
      const problem = 'the service could not send this delivery'
      return { status: undefined, milliseconds: 0, firstBytes: '', problem }
    }
  }

  return {
    /** Begins with what is there from before. */
    start: () => wake(),

    /** Something of this webhook is due now; to be called after the commit. */
    noted(webhookId: string, tenantId: string) {
      dueQueue.note(webhookId, tenantId, 0)
      wake()
    },

    /** Everything that is due, until nothing is under way. */
    async run(): Promise<void> {
      isSearchDue = true
      signal.resolve()
      await runner.run()
    },

    counts: (): DispatchCounts => ({ ...counts, underWay: dueQueue.underWay }),

    /** Takes nothing new, and writes down what comes of what is under way. */
    async close(): Promise<void> {
      isStopped = true
      clearTimeout(timer)
      signal.resolve()
      await runner.close()
      await receiver.close()
    },
  }
}
