/**
 * What gateways and middlewares report of their own accord. A sign-out, or a session that its
 * binding has ended, must be dead everywhere, so those become revocations here; all are kept for
 * a while, for people to look at.
 */
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { SERVICE_ID } from '../../shared/fleet/access-rules.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createRateLimits } from '../../shared/rate-limits.ts'
import type { EnforcementEvent } from '../../shared/fleet/snapshot.ts'
import { revokeIn } from '../sessions/revocations.ts'
import { createFewKinds } from '../monitoring/few-kinds.ts'
import { ofApplication, tally } from '../monitoring/outcomes.ts'
import { decodeCursor, toPage, type Page, type PageRequest } from '../store/page.ts'
import {
  addEnforcementEvents,
  deleteEnforcementEventsBefore,
  enforcementEventsBefore,
  type EnforcementEventRow,
  type EventFilter,
  type NewEnforcementEvent,
} from '../store/queries/enforcement-events.ts'
import { addFiguresOf } from '../store/queries/figures.ts'
import { takeRate, waitOfRate } from '../store/queries/rates.ts'
import { isSidRevoked } from '../store/queries/revocations.ts'
import { noteMachineUse } from '../store/queries/services.ts'
import { findSession, usersOfSessions } from '../store/queries/sessions.ts'
import { findTenant, requireTenant } from '../store/queries/tenants.ts'
import { isTrialId } from '../store/queries/users.ts'
import { changeInSlices, changesInTurn } from '../store/change-in-batches.ts'
import type { Queries } from '../store/engine.ts'
import { pruneWith } from '../store/statements.ts'
import type { Change, Store } from '../store/store.ts'

const QUOTAS = {
  sealed: LIMITS.sealedEventsPerTenantMax,
  refused: LIMITS.refusedEventsPerTenantMax,
  others:
    LIMITS.enforcementEventsPerTenantMax -
    LIMITS.sealedEventsPerTenantMax -
    LIMITS.refusedEventsPerTenantMax,
}

const RATES = {
  ends: LIMITS.rateSessionEnds,
  events: LIMITS.rateEnforcementEvents,
  refusals: LIMITS.rateRefusals,
}

/** Of those that are looked at one by one. */
const EVENTS_PER_CHANGE = 50
/** Those that are only written down. */
const KEPT_PER_CHANGE = 250

export type KeptEvent = Readonly<EnforcementEventRow>
/** Of one tenant: whose it is, the caller has proven. */
export type OwnEvent = Omit<EnforcementEvent, 'tenant_id'>

export type Enforcement = ReturnType<typeof createEnforcement>

export function createEnforcement({ store, clock }: { store: Store; clock: Clock }) {
  const rates = createRateLimits(clock)
  const fewKinds = createFewKinds(clock)
  /** An application may send many batches at once, and hundreds of its slices would stand in line. */
  const inTurnOf = changesInTurn(store)
  /**
   * undefined: these may be written down as well. Anybody can knock at a sealed path as often as
   * they like, so what ends a session is never counted together with it.
   */
  const waitSeconds = (
    tenantId: string,
    kind: 'ends' | 'events' | 'refusals',
    events: readonly OwnEvent[],
    rejected = 0,
  ) => {
    const rate = RATES[kind]
    return rates.waitSeconds(kind, tenantId, rate, events.filter(isOfPerson).length + rejected)
  }
  /** What stands for no session of ours costs nothing to invent: it is told of now and then. */
  async function isWorthTelling(change: Change, tenantId: string, event: OwnEvent) {
    const { outcome, subject = '' } = event
    const ofPerson = `${tenantId} ${subject.slice(0, LIMITS.eventTextCharactersMax)}`
    const ofTenant = { kind: 'told', key: tenantId, rate: LIMITS.rateTold }
    // nothing is written for one that is not told, whoever it names
    if ((await waitOfRate(change.queries, ofTenant, change.nowMs)) !== undefined) return false
    const asked = [
      { kind: `told ${outcome}`, key: ofPerson, rate: LIMITS.rateToldOfPerson },
      ofTenant,
    ]
    for (const bucket of asked) if ((await takeRate(change, bucket)) !== undefined) return false
    return true
  }

  async function enforce(change: Change, tenantId: string, events: readonly OwnEvent[]) {
    for (const event of events) {
      const { outcome, sid } = event
      if (outcome === 'logout' && sid !== undefined)
        await end(change, tenantId, { ...event, sid }, 'signed_out')
      if (outcome === 'terminate') {
        const hasEnded =
          sid === undefined // from a middleware that knows only whose session it was
            ? await isWorthTelling(change, tenantId, event)
            : await end(change, tenantId, { ...event, sid }, 'terminated')
        if (hasEnded) await change.emit('session.terminated', tenantId, dataOf(event))
      }
      if (outcome === 'step_up' && (await isWorthTelling(change, tenantId, event)))
        await change.emit('signin.step_up', tenantId, dataOf(event))
    }
  }

  /** Each of them by itself, some in a change: a thousand in one would be a while without anybody else. */
  async function eachOf<Event extends OwnEvent>(
    tenantId: string,
    events: readonly Event[],
    work: (change: Change, some: readonly Event[]) => Promise<void>,
  ) {
    await changeInSlices(inTurnOf(tenantId), events, EVENTS_PER_CHANGE, async (change, some) => {
      await requireTenant(change.queries, tenantId)
      await work(change, some)
    })
  }

  async function write(
    tenantId: string,
    instance: string,
    heeded: readonly OwnEvent[],
    taken: readonly OwnEvent[],
  ) {
    const told = taken.filter(isOfPerson)
    const uses = told.filter(isUseOfMachine)
    const noteUses = async (change: Change, some: readonly UseOfMachine[]) => {
      for (const use of some) await noteUse(change, tenantId, use)
    }
    const kept = told.filter((event) => !isUseOfMachine(event))
    const lines = kept.slice(0, -KEPT_PER_CHANGE)
    // the last ones go together with the rest: of a few it is one change; behind no line of many
    const ends = lines.length > 0 ? heeded.length : Math.max(0, heeded.length - EVENTS_PER_CHANGE)
    const [ahead, last] = [heeded.slice(0, ends), heeded.slice(ends)]
    await eachOf(tenantId, ahead, (change, some) => enforce(change, tenantId, some))
    await eachOf(tenantId, uses.slice(0, -EVENTS_PER_CHANGE), noteUses)
    await changeInSlices(inTurnOf(tenantId), lines, KEPT_PER_CHANGE, async (change, some) => {
      await requireTenant(change.queries, tenantId)
      await keep(change, tenantId, instance, some)
    })
    await inTurnOf(tenantId).change(async (change) => {
      await requireTenant(change.queries, tenantId)
      await enforce(change, tenantId, last)
      await keep(change, tenantId, instance, kept.slice(-KEPT_PER_CHANGE))
      await noteUses(change, uses.slice(-EVENTS_PER_CHANGE))
      // gateways count on their own: fleet/hub.ts
      const figures = fewKinds(tenantId, tally(told.map(ofApplication)))
      await addFiguresOf(change.queries, 'application', change.nowMs, tenantId, figures)
    })
  }

  return {
    /**
     * What a gateway saw of its tenants. May be given twice: a session that has ended stays as it
     * is. A gateway waits for nobody, so what is too much is not written down, but still enforced.
     * Each is carried out and written down in one change, and some of them in the same.
     */
    async receive(gatewayId: string, events: readonly EnforcementEvent[]): Promise<void> {
      await changeInSlices(store, events, EVENTS_PER_CHANGE, async (change, some) => {
        for (const [tenantId, claimed] of Map.groupBy(some, (event) => event.tenant_id)) {
          const tenant = await findTenant(change.queries, tenantId)
          if (tenant === undefined) continue
          // from a gateway that was away while the id was given to somebody else
          const isOfNow = ({ revision = Infinity }) => revision >= tenant.createdRevision
          const own = await withUsers(change.queries, tenantId, claimed.filter(isOfNow))
          if (own.length === 0) continue
          await enforce(change, tenantId, own)
          const kept = [...Map.groupBy(own, kindOf)].flatMap(([kind, alike]) =>
            waitSeconds(tenantId, kind, alike) === undefined ? alike : [],
          )
          await keep(change, tenantId, gatewayId, kept.filter(isOfPerson))
        }
      })
    },

    /**
     * What an instance of the tenant's application saw. Too much is refused, to be sent later; the
     * sessions that it says have ended do not wait for that, and end but once. What could not be
     * read has cost as much as what could, and counts as well.
     */
    async take(
      tenantId: string,
      instance: string,
      claimed: readonly OwnEvent[],
      rejected = 0,
    ): Promise<void> {
      const events = await withUsers(store.read, tenantId, claimed)
      const [ends, others] = split(events)
      const endsWait = waitSeconds(tenantId, 'ends', ends)
      if (endsWait !== undefined) throw new Refusal('rate_limited', { retry_after: endsWait })
      const othersWait = waitSeconds(tenantId, 'events', others, rejected)
      const isRefused = othersWait !== undefined
      const heeded = isRefused ? ends : events
      if (heeded.length > 0) await write(tenantId, instance, heeded, isRefused ? [] : events)
      if (isRefused) throw new Refusal('rate_limited', { retry_after: othersWait })
    },

    /** One that was seen here, in the change that it belongs to. */
    tell: (change: Change, tenantId: string, instance: string, event: OwnEvent) =>
      keep(change, tenantId, instance, [event]),

    /** Newest first. */
    async list(
      tenantId: string,
      page: PageRequest,
      filter: EventFilter = {},
    ): Promise<Page<KeptEvent>> {
      const [before] = decodeCursor(page.cursor, 'number') ?? []
      const most = page.limit + 1
      const rows = await enforcementEventsBefore(store.read, tenantId, filter, before, most)
      return toPage(rows, page.limit, ({ sequence }) => [sequence])
    },

    prune: pruneWith(store, deleteEnforcementEventsBefore, LIMITS.enforcementEventKeptMs),
  }
}

/** What anybody can cause is never counted together with the rest. */
function kindOf(event: OwnEvent): 'ends' | 'events' | 'refusals' {
  if (isEnd(event)) return 'ends'
  return event.outcome === 'sealed' || event.outcome === 'refused' ? 'refusals' : 'events'
}

const isEnd = ({ outcome }: OwnEvent) => outcome === 'logout' || outcome === 'terminate'

function split<E extends OwnEvent>(events: readonly E[]): [ends: E[], others: E[]] {
  return [events.filter(isEnd), events.filter((event) => !isEnd(event))]
}

/** Whose session it was is known here better than to whoever tells of it. */
async function withUsers(queries: Queries, tenantId: string, events: readonly OwnEvent[]) {
  const sids = new Set(events.flatMap(({ sid }) => (sid === undefined ? [] : [sid])))
  const users = await usersOfSessions(queries, tenantId, [...sids])
  return events.map((event): OwnEvent => {
    const subject = event.sid === undefined ? undefined : users.get(event.sid)
    return subject === undefined ? event : { ...event, subject }
  })
}

/** Who exists for a check of the sign-in alone is in no list and in no figure. */
function isOfPerson({ subject }: OwnEvent): boolean {
  return subject === undefined || !isTrialId(subject)
}

/** Whether it is news: a session of another tenant, or one that has ended so already, is none. */
async function end(
  change: Change,
  tenantId: string,
  { sid, issued_at = 0 }: OwnEvent & { readonly sid: string },
  reason: string,
) {
  const { queries, nowMs } = change
  if ((await findSession(queries, tenantId, sid)) === undefined) return false
  // our clock may have been ahead when it was issued, and no gateway lets in what is further ahead
  const latest = Math.floor(nowMs / SECOND_MS) + LIMITS.issuedAheadSecondsMax
  const notBefore = Math.min(issued_at, latest) + 1
  if (await isSidRevoked(queries, tenantId, sid, notBefore)) return false
  await revokeIn(change, tenantId, { sid }, reason, null, notBefore)
  return true
}

type UseOfMachine = OwnEvent & { readonly subject: string; readonly sid: string }

/** A machine was let in: no news, but a figure, and when it was last seen. */
const isUseOfMachine = (event: OwnEvent): event is UseOfMachine =>
  event.outcome === 'forwarded' && event.sid !== undefined && SERVICE_ID.test(event.subject ?? '')

function noteUse(
  { queries, nowMs }: Change,
  tenantId: string,
  { subject: serviceId, sid: secretId, ip, count = 1 }: UseOfMachine,
) {
  const use = { tenantId, serviceId, secretId, ip, requests: count }
  return noteMachineUse(queries, { ...use, atMs: nowMs })
}

async function keep(
  { queries, nowMs }: Change,
  tenantId: string,
  instance: string,
  events: readonly OwnEvent[],
) {
  const rows = events.map((event) => rowOf(event, nowMs, instance))
  await addEnforcementEvents(queries, tenantId, rows, QUOTAS)
}

function rowOf(event: OwnEvent, at: number, instance: string): NewEnforcementEvent {
  const { subject = null, sid = null, reason = null, ip = null, app_host } = dataOf(event)
  return {
    ...{
      at: seenAt(event, at),
      outcome: event.outcome,
      subject,
      sid,
      reason,
      ip,
      appHost: app_host ?? null,
    },
    instance,
    path: event.path?.slice(0, LIMITS.refusedPathCharactersMax) ?? null,
    count: event.count ?? 1,
  }
}

/** When it was, as far as a gateway's clock can be believed. */
function seenAt({ at }: OwnEvent, nowMs: number): number {
  if (at === undefined) return nowMs
  const earliest = nowMs - LIMITS.enforcementEventKeptMs
  return Math.min(nowMs, Math.max(earliest, at * SECOND_MS))
}

/** What there is to say, and no more of it than there may be. */
function dataOf({ subject, sid, reason, ip, app_host }: OwnEvent) {
  const text = (value: string | undefined) =>
    value === undefined || value === '' ? undefined : value.slice(0, LIMITS.eventTextCharactersMax)
  return {
    subject: text(subject),
    sid: text(sid),
    reason: text(reason),
    ip: text(ip),
    app_host: app_host?.slice(0, LIMITS.eventHostCharactersMax),
  }
}
