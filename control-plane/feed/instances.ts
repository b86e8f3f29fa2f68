/**
 * Who polls the feed, which state they have, and how many they are. A poll only changes memory;
 * what has changed is written in batches, each instance once a minute at most, so that a restart
 * and other control planes know them. How often they are to come goes by those that come here.
 */
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createSingleFlight } from '../concurrency/single-flight.ts'
import { decodeCursor, toPage, type Page, type PageRequest } from '../store/page.ts'
import {
  deleteFeedInstances,
  deleteFeedInstancesBefore,
  feedInstancesOf,
  newestFeedInstances,
  upsertFeedInstances,
} from '../store/queries/feed-instances.ts'
import { tenantsCreatedAt } from '../store/queries/tenants.ts'
import type { Store } from '../store/store.ts'
import type { Poll } from './poll-headers.ts'
import { POLL_STEPS_SECONDS } from './poll-interval.ts'
import { createPolling } from './polling.ts'
import type { FeedStates } from './states.ts'

export interface FeedInstance {
  /** Empty: it does not say; all of those are one. */
  readonly name: string
  readonly version: string
  readonly lastPollMs: number
  /** Whether it has had the state as it is now. */
  readonly etagIsCurrent: boolean
  /** Its clock minus ours, as it measured; null when it has not said. */
  readonly clockOffsetMs: number | null
}

export type Instances = Awaited<ReturnType<typeof openInstances>>

interface Known extends Omit<Poll, 'features'> {
  readonly tenantId: string
  version: string
  clockOffsetMs: number | null
  stateHash: string
  lastPollMs: number
  isWritten: boolean
}

/** Three times the longest interval: who has missed two polls in a row is gone. */
const POLLING_MS = 3 * POLL_STEPS_SECONDS.at(-1)! * SECOND_MS
const BATCH = 500

export async function openInstances(world: {
  readonly store: Store
  readonly states: Pick<FeedStates, 'current'>
  readonly clock: Clock
}) {
  const { store, states, clock } = world
  /** Per tenant, and all of them: whoever polled last comes last. */
  const byTenant = new Map<string, Map<string, Known>>()
  const all = new Set<Known>()
  const polling = createPolling()
  const unwritten = new Set<Known>()
  const gone = new Set<Known>()
  let writing: Promise<void> | undefined

  function keep(known: Known, countsUntilMs: number) {
    const siblings = byTenant.get(known.tenantId) ?? new Map<string, Known>()
    byTenant.set(known.tenantId, siblings)
    siblings.delete(known.name)
    siblings.set(known.name, known)
    all.delete(known)
    all.add(known)
    polling.add(known, countsUntilMs)
    if (siblings.size > LIMITS.feedInstancesPerTenantMax) forget(first(siblings.values()))
    if (all.size > LIMITS.feedInstancesMax) forget(first(largest(byTenant.values()).values()))
  }

  function forget(known: Known) {
    const siblings = byTenant.get(known.tenantId)
    siblings?.delete(known.name)
    if (siblings?.size === 0) byTenant.delete(known.tenantId)
    all.delete(known)
    polling.remove(known)
    unwritten.delete(known)
    if (known.isWritten) gone.add(known)
  }

  /** As it was when the last of them polled: who was polling then has its time to come back. */
  async function load() {
    const rows = await newestFeedInstances(store.read, LIMITS.feedInstancesMax)
    const nowMs = clock.nowMs()
    const awayMs = nowMs - (rows[0]?.lastPollAt ?? nowMs)
    for (const { lastPollAt: lastPollMs, etag: stateHash, ...row } of rows.reverse())
      keep({ ...row, stateHash, lastPollMs, isWritten: true }, lastPollMs + awayMs + POLLING_MS)
    polling.dropAbsent(nowMs)
    for (const tenantId of byTenant.keys()) polling.settle(tenantId)
  }

  const views = createSingleFlight<FeedInstance[]>()
  /** Who asks at the same time shares one: of ten thousand it is some work. */
  const viewOf = (tenantId: string) => views.run(tenantId, () => view(tenantId))

  /** Also those that ask other control planes, as those have written down within the last minute. */
  async function view(tenantId: string): Promise<FeedInstance[]> {
    const most = LIMITS.feedInstancesPerTenantMax
    const rows = await feedInstancesOf(store.read, tenantId, most)
    const all = new Map(
      rows.map(({ lastPollAt: lastPollMs, etag: stateHash, ...row }) => [
        row.name,
        { ...row, stateHash, lastPollMs },
      ]),
    )
    const isNewer = ({ name, lastPollMs }: Known) => lastPollMs >= (all.get(name)?.lastPollMs ?? 0)
    for (const known of gone)
      if (known.tenantId === tenantId && isNewer(known)) all.delete(known.name)
    for (const known of byTenant.get(tenantId)?.values() ?? [])
      if (isNewer(known)) all.set(known.name, known)
    const state = all.size === 0 ? undefined : await states.current(tenantId)
    if (state === undefined) return []
    return [...all.values()]
      .filter(({ lastPollMs }) => lastPollMs >= state.tenant.createdAt) // not of its namesake
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, version, lastPollMs, stateHash, clockOffsetMs }) => ({
        name,
        version,
        lastPollMs,
        etagIsCurrent: stateHash === state.hash,
        clockOffsetMs,
      }))
  }

  async function writeAll() {
    while (unwritten.size > 0 || gone.size > 0) {
      const leaving = take(gone, BATCH)
      const changed = gone.size === 0 ? take(unwritten, BATCH) : [] // one may have come back
      for (const known of changed) known.isWritten = true
      try {
        await store.change(async ({ queries }) => {
          await deleteFeedInstances(queries, leaving)
          const createdAt = await tenantsCreatedAt(queries, [
            ...new Set(changed.map(({ tenantId }) => tenantId)),
          ])
          const rows = changed.filter(
            ({ tenantId, lastPollMs }) => lastPollMs >= (createdAt.get(tenantId) ?? Infinity),
          )
          await upsertFeedInstances(queries, rows.map(rowOf))
        })
      } catch (error) {
        for (const known of leaving) gone.add(known)
        for (const known of changed) if (all.has(known)) unwritten.add(known)
        throw error
      }
    }
  }

  const write = () => (writing ??= writeAll().finally(() => (writing = undefined)))

  await load()
  return {
    polled(
      tenantId: string,
      { name, version, clockOffsetMs }: Omit<Poll, 'features'>,
      stateHash: string,
    ) {
      const nowMs = clock.nowMs()
      const before = byTenant.get(tenantId)?.get(name)
      const known = before ?? { tenantId, name, isWritten: false, ...UNSEEN }
      known.version = version
      known.clockOffsetMs = clockOffsetMs
      known.stateHash = stateHash
      known.lastPollMs = nowMs
      keep(known, nowMs + POLLING_MS)
      unwritten.add(known)
      polling.dropAbsent(nowMs)
      polling.settle(tenantId)
    },
    /** How long an instance of the tenant waits before it asks again. */
    pollSeconds: polling.seconds,
    /** How many of them poll. */
    pollingOf(tenantId: string) {
      polling.dropAbsent(clock.nowMs())
      return polling.of(tenantId)
    },
    /** By name. */
    of: viewOf,
    async list(tenantId: string, page: PageRequest): Promise<Page<FeedInstance>> {
      const [after] = decodeCursor(page.cursor, 'string') ?? []
      const later = (await viewOf(tenantId)).filter(
        ({ name }) => after === undefined || name > after,
      )
      return toPage(later.slice(0, page.limit + 1), page.limit, ({ name }) => [name])
    },
    write,
    async prune(limit: number): Promise<number> {
      const beforeMs = clock.nowMs() - LIMITS.feedInstanceKeptMs
      for (const known of all) {
        if (known.lastPollMs >= beforeMs) break
        forget(known)
      }
      return store.change(({ queries }) => deleteFeedInstancesBefore(queries, beforeMs, limit))
    },
    close: write,
  }
}

const UNSEEN = { version: '', clockOffsetMs: null, stateHash: '', lastPollMs: 0 }

function rowOf({ tenantId, name, version, clockOffsetMs, ...known }: Known) {
  const { stateHash: etag, lastPollMs: lastPollAt } = known
  return { tenantId, name, version, etag, clockOffsetMs, lastPollAt }
}

/** Who has most makes room, so that nobody loses theirs to names that another has invented. */
function largest<T extends { readonly size: number }>(groups: Iterable<T>): T {
  let most = first(groups)
  for (const group of groups) if (group.size > most.size) most = group
  return most
}

function first<T>(items: Iterable<T>): T {
  for (const item of items) return item
  throw new Error('there is none')
}

function take<T>(items: Set<T>, most: number): T[] {
  const taken = [...items.values().take(most)]
  for (const item of taken) items.delete(item)
  return taken
}
