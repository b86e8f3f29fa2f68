/** Once a week every tenant is told what was decided in the week that has ended. */
import type { Logger } from 'pino'
import type { Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  deleteDigestsBefore,
  insertDigest,
  newestDigest,
  tenantsWithoutDigest,
  timeZonesInUse,
  type DigestRow,
} from '../store/queries/digests.ts'
import { beginOf, figureSums, type FigureSum } from '../store/queries/figures.ts'
import { findTenant } from '../store/queries/tenants.ts'
import type { Queries } from '../store/engine.ts'
import { pruneWith } from '../store/statements.ts'
import type { Change, Store } from '../store/store.ts'
import { countedFrom, newestWeek, type Week } from './weeks.ts'

interface DigestsWorld {
  readonly store: Store
  readonly clock: Clock
  readonly log: Pick<Logger, 'error'>
}

/** So many in one change: on a Monday at nine it is everybody's turn. */
const PAGE = 20

export function createDigests({ store, clock, log }: DigestsWorld) {
  async function tellZone(timeZone: string, isClosed: () => boolean) {
    const week = newestWeek(clock.nowMs(), timeZone)
    for (let after = ''; ;) {
      const page = await tenantsWithoutDigest(store.read, timeZone, week.name, after, PAGE)
      if (page.length === 0 || isClosed()) return
      await store.change(async (change) => {
        for (const tenantId of page) await tell(change, tenantId, timeZone, week)
      })
      after = page.at(-1) ?? ''
      if (page.length < PAGE) return
    }
  }

  return {
    /** One round: whoever has not been told of the newest week is. */
    async send(isClosed: () => boolean = () => false): Promise<void> {
      for (const timeZone of await timeZonesInUse(store.read))
        await tellZone(timeZone, isClosed).catch((error: unknown) =>
          log.error({ error, time_zone: timeZone }, 'digests wait for the next round'),
        )
    },

    prune: pruneWith(store, deleteDigestsBefore, LIMITS.digestsKeptMs),
  }
}

/** In the order of time: what is known up to `until` is told, and remembered with it. */
async function tell(change: Change, tenantId: string, timeZone: string, week: Week) {
  const { queries, nowMs } = change
  const tenant = await findTenant(queries, tenantId)
  if (tenant?.timeZone !== timeZone) return // moved meanwhile: it has another week now
  const last = await newestDigest(queries, tenantId, nowMs)
  const mark = (row: Pick<DigestRow, 'until' | 'edge'>) =>
    insertDigest(queries, { tenantId, week: week.name, ...row })
  if (last === undefined) {
    // from now on: what was before, nobody has watched
    const until = beginOf('minute', nowMs)
    return void (await mark({ until, edge: await edgeOf(queries, tenantId, until) }))
  }
  const fromMs = countedFrom(week, last.until)
  if (fromMs >= week.toMs) return void (await mark(last))
  const edge = await edgeOf(queries, tenantId, week.toMs)
  if (!(await mark({ until: week.toMs, edge })) || tenant.status === 'draft') return
  const earlier = fromMs === last.until ? last.edge : await edgeOf(queries, tenantId, fromMs)
  const hours = [beginOf('hour', fromMs), beginOf('hour', week.toMs)] as const
  const sums = await figureSums(queries, tenantId, 'hour', ...hours)
  await change.emit('monitoring.digest', tenantId, {
    from: new Date(fromMs).toISOString(),
    to: new Date(week.toMs).toISOString(),
    time_zone: timeZone,
    ...addUp(sums, edge, earlier),
  })
}

type Edge = DigestRow['edge']

/**
 * Not every week ends with an hour of UTC: what its last hour holds before its end. Minutes are
 * gone after a day, as after an outage; what they held is in their quarters of an hour then, and
 * no clock on earth is off by less.
 */
async function edgeOf(queries: Queries, tenantId: string, atMs: number): Promise<Edge> {
  const hourMs = beginOf('hour', atMs)
  const minutes = await figureSums(queries, tenantId, 'minute', hourMs, atMs)
  const quarters = await figureSums(queries, tenantId, 'quarter', hourMs, atMs)
  return [...minutes, ...quarters].map(({ source, outcome, reason, count }) => [
    source,
    outcome,
    reason,
    count,
  ])
}

/** What was simply let through has no reason that anybody would ask for. */
const UNEVENTFUL: ReadonlySet<string> = new Set(['forwarded', 'signed_in'])

function addUp(sums: readonly FigureSum[], edge: Edge, earlier: Edge) {
  const outcomes: Record<string, number> = {}
  const reasons: Record<string, number> = {}
  const add = (outcome: string, reason: string, count: number) => {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + count
    if (reason !== '' && !UNEVENTFUL.has(outcome)) reasons[reason] = (reasons[reason] ?? 0) + count
  }
  for (const { outcome, reason, count } of sums) add(outcome, reason, count)
  for (const [, outcome, reason, count] of edge) add(outcome, reason, count)
  for (const [, outcome, reason, count] of earlier) add(outcome, reason, -count)
  return { outcomes: positive(outcomes), reasons: positive(reasons) }
}

function positive(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
}
