/**
 * A revocation is a not-before time: what was issued before it is dead, and signing in again
 * works. It is the next whole second, so that a session issued in this very second is dead too.
 */
import { SECOND_MS } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import type { Revoked } from '../../shared/fleet/snapshot.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Enforced } from '../store/enforced.ts'
import { changeInBatches } from '../store/change-in-batches.ts'
import { deleteWaysInOf } from '../store/queries/console.ts'
import { noteLogouts } from '../store/queries/logout-notices.ts'
import { deleteFinishedSignInsBehind } from '../store/queries/realm-records.ts'
import {
  deleteMootRevocations,
  deleteRealmRecords,
  endingsOfAll,
  isSidRevoked,
  lastExpiriesOf,
  notBeforeOf,
  revocationsOf,
  upsertRevocations,
  type RevocationRow,
} from '../store/queries/revocations.ts'
import {
  aliveIssuedFrom,
  aliveOfTenant,
  endKnownSessions,
  endSessions,
  findSession,
  hasSessionOf,
  type SessionTarget,
  type SessionTargetOfPerson,
  unendedIssuedBefore,
} from '../store/queries/sessions.ts'
import { findTenant } from '../store/queries/tenants.ts'
import { findUser, isTrialId } from '../store/queries/users.ts'
import { CONSOLE_REALM } from '../store/reserved.ts'
import type { Queries } from '../store/engine.ts'
import { inParts, pruneWith } from '../store/statements.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { columnsOf, endOf, nextSecond, rowOf, toRevoked } from './revocation-rows.ts'

export type { SessionTarget }

/** Over at the gateways; the realm goes on with it once it has shown its device again. */
export const SESSION_ASKED_AGAIN = 'device_check'

/** Their own doing, or nobody's: what was asked for in a session goes on. */
export const ENDED_WELL: readonly string[] = [
  'signed_out',
  'account_switched',
  'surplus',
  SESSION_ASKED_AGAIN,
]

/** By a gateway, after a restore or a failover. */
const RECOVERED = 'recovered'

/** About an hour: what another process left is over at gateways already. */
export const ROUNDS_PER_READING = 60
/** Sessions that are ended by the same statements. */
const TOGETHER_MAX = 100

export interface RevocationResult {
  readonly notBefore: number
  /** How many sessions that were alive have ended by it. */
  readonly sessions: number
  /** Who refuses them by now; known once the change has settled. */
  readonly enforced: Promise<Enforced>
}

export type Revocations = ReturnType<typeof createRevocations>

export function createRevocations({ store }: { store: Store }) {
  /** Tenants whose sessions from before a time are over, and some of them not written down as such. */
  const unfinished = new Map<string, { readonly notBefore: number; readonly reason: string }>()
  let rounds = 0

  /**
   * Gateways are told first, and of all at once, and from then on nothing counts as alive that is
   * from before (`isAliveIn`), nor does what the realm keeps of it open anything. So what is written
   * down of each session, of which there may be very many, can follow a few at a time, and whoever
   * has come meanwhile goes first. The answer waits for the last of them.
   */
  async function revokeAll(
    tenantId: string,
    actor: Actor,
    reason: string,
  ): Promise<RevocationResult> {
    const result = await store.change(async (change): Promise<RevocationResult> => {
      const { queries, nowMs } = change
      await requireTarget(queries, tenantId, { all: true })
      const alive = await aliveOfTenant(queries, tenantId, nowMs)
      const notBefore = nextSecond(nowMs)
      const times = { notBefore, createdAt: nowMs, keptUntil: alive.expiresAt }
      const ahead = { issuedMs: notBefore * SECOND_MS, nowMs }
      const later = await aliveIssuedFrom(queries, tenantId, ahead)
      await revokeEachIn(change, tenantId, later, reason)
      const row: RevocationRow = { tenantId, kind: 'all', target: '', ...times }
      await upsertRevocations(queries, [row])
      const said = { all: true, not_before: notBefore, reason } as const
      await change.emit('session.revoked', tenantId, { ...said, sessions: alive.count })
      await change.audit(actor, { action: 'sessions.revoked', tenantId, content: said })
      change.revoke(tenantId, toRevoked([row]))
      return { notBefore, sessions: alive.count, enforced: change.enforced }
    })
    unfinished.set(tenantId, { notBefore: result.notBefore, reason })
    // it holds, whatever becomes of this: the jobs go on with it
    await finish(tenantId, () => false).catch(() => undefined)
    return result
  }

  async function finish(tenantId: string, isClosed: () => boolean): Promise<void> {
    const most = LIMITS.sessionsEndedPerChangeMax
    for (let ending; !isClosed() && (ending = unfinished.get(tenantId)) !== undefined;) {
      const ended = await endSome(tenantId, ending.notBefore, ending.reason, most)
      if (ended < most && unfinished.get(tenantId) === ending) unfinished.delete(tenantId)
    }
  }

  /** Of those from before: who has signed in since stays. */
  async function endSome(tenantId: string, notBefore: number, reason: string, most: number) {
    return store.change(async ({ queries, nowMs }) => {
      const before = { issuedMs: notBefore * SECOND_MS, nowMs }
      const sids = await unendedIssuedBefore(queries, tenantId, before, most)
      for (const sid of sids) {
        await noteLogouts(queries, tenantId, { sid }, nowMs)
        await endSessions(queries, tenantId, { sid }, { atMs: nowMs, reason })
        await deleteRealmRecords(queries, tenantId, { sid })
      }
      return sids.length
    })
  }

  return {
    async revoke(
      tenantId: string,
      target: SessionTarget,
      actor: Actor,
      reason = 'revoked',
    ): Promise<RevocationResult> {
      if ('all' in target) return revokeAll(tenantId, actor, reason)
      return store.change(async (change) => {
        await requireTarget(change.queries, tenantId, target)
        const result = await revokeIn(change, tenantId, target, reason)
        const content = { ...target, not_before: result.notBefore, reason }
        await change.audit(actor, { action: 'sessions.revoked', tenantId, content })
        return result
      })
    },

    /**
     * What a gateway holds as revoked and the database has lost. Revoked is everything up to now:
     * who has signed in since then is not known here any more either.
     */
    async recover(tenantId: string, held: Revoked, actor: Actor): Promise<void> {
      if ((await findTenant(store.read, tenantId)) === undefined) return
      const known = toRevoked(await revocationsOf(store.read, tenantId))
      const { all } = known
      if (held.all > all) return void (await revokeAll(tenantId, actor, RECOVERED))
      const lost = (targets: Record<string, number>, ours: Record<string, number>) => {
        const known = new Map(Object.entries(ours)) // in which __proto__ is a name like any other
        const isLost = ([target, notBefore]: [string, number]) =>
          notBefore > Math.max(all, known.get(target) ?? 0)
        return Object.entries(targets)
          .filter(isLost)
          .map(([target]) => target)
      }
      const targets: SessionTargetOfPerson[] = [
        ...lost(held.subjects, known.subjects).map((subject) => ({ subject })),
        ...lost(held.sids, known.sids).map((sid) => ({ sid })),
      ]
      await changeInBatches(store, targets, async (change, target) => {
        if ((await findTenant(change.queries, tenantId)) === undefined) return
        const { notBefore } = await revokeIn(change, tenantId, target, RECOVERED, null)
        const content = { ...target, not_before: notBefore, reason: RECOVERED }
        await change.audit(actor, { action: 'sessions.revoked', tenantId, content })
      })
    },

    /**
     * One session, once: who shows its token again and again writes nothing more. One whose first
     * token is still to be fetched is no news to anybody, but its codes, the token that is being
     * made and the sign-in behind it open nothing from here on either.
     */
    async end(tenantId: string, sid: string, actor: Actor, reason: string): Promise<void> {
      if (await isOver(store.read, tenantId, sid)) return
      await store.change((change) => endIn(change, tenantId, sid, actor, reason))
    },

    /** The same for many, so that nobody waits for all of them. */
    async endEach(
      tenantId: string,
      sids: readonly string[],
      actor: Actor,
      reason: string,
    ): Promise<void> {
      await changeInBatches(store, sids, (change, sid) =>
        endIn(change, tenantId, sid, actor, reason),
      )
    },

    /** Epoch seconds; nothing may be issued to this person with an earlier `iat`. */
    async notBefore(tenantId: string, subject: string): Promise<number> {
      return notBeforeOf(store.read, tenantId, subject)
    },

    async revokedState(tenantId: string): Promise<Revoked> {
      return toRevoked(await revocationsOf(store.read, tenantId))
    },

    /** What a request did not come to, or a process that ended. No tenant waits for another one's. */
    async finishEndings(isClosed: () => boolean): Promise<void> {
      if (rounds % ROUNDS_PER_READING === 0)
        for (const { tenantId, notBefore } of await store.change(({ queries, nowMs }) =>
          endingsOfAll(queries, nowMs),
        ))
          if (!unfinished.has(tenantId)) unfinished.set(tenantId, { notBefore, reason: 'revoked' })
      rounds++
      const failures: unknown[] = []
      for (const tenantId of [...unfinished.keys()])
        await finish(tenantId, isClosed).catch((error: unknown) => failures.push(error))
      if (failures.length > 0) throw failures[0]
    },

    prune: pruneWith(store, deleteMootRevocations, 0),
  }
}

async function endIn(
  change: Change,
  tenantId: string,
  sid: string,
  actor: Actor,
  reason: string,
): Promise<void> {
  const { queries } = change
  if ((await findTenant(queries, tenantId)) === undefined) return // removed meanwhile
  if (await isOver(queries, tenantId, sid)) return
  const isIssued = (await findSession(queries, tenantId, sid)) !== undefined
  if (!isIssued) await deleteFinishedSignInsBehind(queries, tenantId, sid)
  const event = isIssued ? 'session.revoked' : null
  const { notBefore } = await revokeIn(change, tenantId, { sid }, reason, event)
  const content = { sid, not_before: notBefore, reason }
  await change.audit(actor, { action: 'sessions.revoked', tenantId, content })
}

/** The part of it that other changes share: a user who is removed loses their sessions with it. */
export async function revokeIn(
  change: Change,
  tenantId: string,
  target: SessionTargetOfPerson,
  reason: string,
  event: 'session.revoked' | null = 'session.revoked',
  notBeforeMin = 0,
): Promise<RevocationResult> {
  const { queries, nowMs } = change
  await noteLogouts(queries, tenantId, target, nowMs)
  const ended = await endSessions(queries, tenantId, target, { atMs: nowMs, reason })
  const sessions = ended.length
  const [own] = 'sid' in target ? ended : []
  const row: RevocationRow = {
    tenantId,
    ...columnsOf(target),
    notBefore: Math.max(endOf(own, nowMs), notBeforeMin),
    createdAt: nowMs,
    keptUntil: Math.max(0, ...ended.map(({ expiresAt }) => expiresAt)),
  }
  const later = 'sid' in target ? [] : ended.filter((one) => endOf(one, nowMs) > row.notBefore)
  const rows = [row, ...later.map((one) => rowOf(tenantId, one.sid, one, nowMs))]
  await upsertRevocations(queries, rows)
  if (reason !== SESSION_ASKED_AGAIN) await deleteRealmRecords(queries, tenantId, target)
  if (tenantId === CONSOLE_REALM && !ENDED_WELL.includes(reason))
    await deleteWaysInOf(queries, target)
  const content = { ...target, not_before: row.notBefore, sessions, reason }
  if (event !== null && !(await isOfTrial(queries, tenantId, target)))
    await change.emit(event, tenantId, content)
  change.revoke(tenantId, toRevoked(rows))
  return { notBefore: row.notBefore, sessions, enforced: change.enforced }
}

/**
 * What the person's tokens say of their groups holds no longer; their sessions go on, with a token that
 * is issued anew as soon as it is asked for.
 */
export const outdateClaimsIn = (
  change: Change,
  tenantId: string,
  userId: string,
  sessionSecondsMax: number,
): Promise<void> => outdateClaimsOfEach(change, tenantId, [userId], sessionSecondsMax)

/** The same for many. */
export async function outdateClaimsOfEach(
  { queries, nowMs, revoke }: Change,
  tenantId: string,
  userIds: readonly string[],
  sessionSecondsMax: number,
): Promise<void> {
  const expiries = await lastExpiriesOf(queries, tenantId, userIds)
  const rows = userIds.map((target): RevocationRow => ({
    tenantId,
    kind: 'claims',
    target,
    notBefore: nextSecond(nowMs),
    createdAt: nowMs,
    keptUntil: Math.max(nowMs + sessionSecondsMax * SECOND_MS, expiries.get(target) ?? 0),
  }))
  for await (const some of inParts(rows, TOGETHER_MAX)) await upsertRevocations(queries, some)
  revoke(tenantId, toRevoked(rows))
}

/**
 * The same for many that are alive in this change, together: so many statements for all of them as
 * for one, since whoever has to be out at once must not wait for a hundred others.
 */
export async function revokeEachIn(
  change: Change,
  tenantId: string,
  alive: readonly { readonly sid: string; readonly userId: string }[],
  reason: string,
): Promise<void> {
  for (let at = 0; at < alive.length; at += TOGETHER_MAX)
    await revokeTogether(change, tenantId, alive.slice(at, at + TOGETHER_MAX), reason)
}

async function revokeTogether(
  change: Change,
  tenantId: string,
  alive: readonly { readonly sid: string; readonly userId: string }[],
  reason: string,
): Promise<void> {
  const { queries, nowMs } = change
  const sids = alive.map(({ sid }) => sid)
  await noteLogouts(queries, tenantId, { sids }, nowMs)
  const ended = await endKnownSessions(queries, sids, { atMs: nowMs, reason })
  const rows = sids.map((sid) => rowOf(tenantId, sid, ended.get(sid), nowMs))
  await upsertRevocations(queries, rows)
  if (reason !== SESSION_ASKED_AGAIN) await deleteRealmRecords(queries, tenantId, { sids })
  const told = alive
    .filter(({ userId }) => !isTrialId(userId))
    .map(({ sid }) => ({ sid, not_before: endOf(ended.get(sid), nowMs), sessions: 1, reason }))
  await change.emitEach('session.revoked', tenantId, told)
  change.revoke(tenantId, toRevoked(rows))
}

/** What has expired is ended once as well: its browser may still be signed in to the realm. */
async function isOver(queries: Queries, tenantId: string, sid: string): Promise<boolean> {
  const session = await findSession(queries, tenantId, sid)
  if (session !== undefined && session.endedAt !== null) return true
  return isSidRevoked(queries, tenantId, sid)
}

/** Somebody who only exists for a check of the sign-in is nobody's news. */
async function isOfTrial(queries: Queries, tenantId: string, target: SessionTargetOfPerson) {
  if ('subject' in target) return isTrialId(target.subject)
  const session = await findSession(queries, tenantId, target.sid)
  return session !== undefined && isTrialId(session.userId)
}

/** A mistyped id must not be answered as if somebody had been signed out. */
async function requireTarget(queries: Queries, tenantId: string, target: SessionTarget) {
  if ((await findTenant(queries, tenantId)) === undefined) throw new Refusal('tenant_not_found')
  if ('sid' in target) {
    if ((await findSession(queries, tenantId, target.sid)) === undefined)
      throw new Refusal('session_not_found', { field: 'sid' })
  } else if ('subject' in target) {
    const isKnown =
      (await findUser(queries, tenantId, target.subject)) !== undefined ||
      (await hasSessionOf(queries, tenantId, target.subject))
    if (!isKnown) throw new Refusal('user_not_found', { field: 'subject' })
  }
}
