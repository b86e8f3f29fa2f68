/** The sessions that realms have issued: what a list shows and a revocation finds. */
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { decodeCursor, encodeCursor, toPage, type Page, type PageRequest } from '../store/page.ts'
import { isDeviceGood } from '../store/queries/enrolled-devices.ts'
import { notBeforeOf } from '../store/queries/revocations.ts'
import {
  aliveSessionsOf,
  aliveSids,
  countAlive,
  deleteSessionsExpiredBefore,
  findSession,
  markSeen,
  sessionsBefore,
  upsertSession,
  type SessionRow,
} from '../store/queries/sessions.ts'
import { aliveSessionsBefore, type AliveFilter } from '../store/queries/alive-sessions.ts'
import { putClientSession } from '../store/queries/realm-clients.ts'
import { requireTenant } from '../store/queries/tenants.ts'
import { isEndedUpstream, putUpstreamSession } from '../store/queries/upstream-sessions.ts'
import type { Queries } from '../store/engine.ts'
import { pruneWith } from '../store/statements.ts'
import type { Store } from '../store/store.ts'

export type Session = Readonly<SessionRow>
export type { AliveFilter }

interface IssuedSession {
  readonly tenantId: string
  readonly sid: string
  readonly userId: string
  readonly ip: string
  readonly userAgent: string
  readonly issuedAtMs: number
  /** When the person proved who they are, where that was before the token was issued. */
  readonly signedInAtMs?: number
  readonly expiresAtMs: number
  /** The enrolled device that it was begun on: it ends with it. */
  readonly deviceId?: string | undefined
  /** By whose session at a provider it was begun: it ends with that one. */
  readonly upstream?:
    | {
        readonly connectionId: string
        readonly subject: string
        readonly sid?: string | undefined
      }
    | undefined
  /** Another application that is given a token of it. */
  readonly asking?: string | undefined
}

/** The session has been revoked while its token was made: the token must not leave. */
export class SessionRevoked extends Error {
  constructor() {
    super('the session has been revoked')
    this.name = 'SessionRevoked'
  }
}

interface SeenSession {
  readonly tenantId: string
  readonly sid: string
  readonly atMs: number
}

export type Sessions = ReturnType<typeof createSessions>

export function createSessions({ store, clock }: { store: Store; clock: Clock }) {
  let recorded = 0
  return {
    /** How many this control plane has begun since its start. */
    recorded: () => recorded,
    /**
     * Before the token leaves, and alone with the writer, so that every revocation either was
     * committed and is seen here, or comes later and names a second after `iat`. What was proven
     * before a not-before time counts as well as `iat`: a revocation that waited for the writer
     * until the next second has begun names the very second in which the token was made.
     */
    async record(issued: IssuedSession): Promise<void> {
      const { tenantId, sid, userId, issuedAtMs, signedInAtMs = issuedAtMs } = issued
      const earliest = Math.floor(Math.min(issuedAtMs, signedInAtMs) / SECOND_MS)
      await store.changeOf(tenantId, async ({ queries, nowMs }) => {
        await requireTenant(queries, tenantId)
        const notBefore = await notBeforeOf(queries, tenantId, userId, sid)
        if (earliest < notBefore) throw new SessionRevoked()
        if (issued.deviceId !== undefined && !(await isDeviceGood(queries, issued.deviceId)))
          throw new SessionRevoked()
        if (issued.upstream !== undefined) await noteUpstream(queries, issued, issued.upstream)
        if (issued.asking !== undefined) {
          const told = { tenantId, sid, clientId: issued.asking, expiresAt: issued.expiresAtMs }
          await putClientSession(queries, told)
        }
        await upsertSession(queries, {
          sid,
          tenantId,
          userId,
          ip: issued.ip.slice(0, LIMITS.addressTextMax),
          userAgent: issued.userAgent.slice(0, LIMITS.userAgentTextMax),
          createdAt: nowMs,
          issuedAt: issuedAtMs,
          expiresAt: issued.expiresAtMs,
          lastSeenAt: nowMs,
          endedAt: null,
          endReason: null,
          deviceId: issued.deviceId ?? null,
        })
      })
      recorded++
    },

    async find(tenantId: string, sid: string): Promise<Session | undefined> {
      return findSession(store.read, tenantId, sid)
    },

    /** The oldest first. */
    async aliveOf(tenantId: string, userId: string, most?: number): Promise<string[]> {
      return aliveSids(store.read, tenantId, userId, clock.nowMs(), most)
    },

    /** What the person is shown, the one that was used last first. */
    async listAliveOf(tenantId: string, userId: string): Promise<Session[]> {
      const most = LIMITS.ownSessionsListedMax
      return aliveSessionsOf(store.read, tenantId, userId, clock.nowMs(), most)
    },

    async list(tenantId: string, page: PageRequest): Promise<Page<Session>> {
      const key = decodeCursor(page.cursor, 'number', 'string')
      const before = key && { createdAt: key[0], sid: key[1] }
      const rows = await sessionsBefore(store.read, tenantId, before, page.limit + 1)
      return toPage(rows, page.limit, (session) => [session.createdAt, session.sid])
    },

    /** Those that are alive, and what is looked for among them; `isCut`: the next page looks further. */
    async listAlive(
      tenantId: string,
      filter: AliveFilter,
      page: PageRequest,
    ): Promise<Page<Session> & { readonly isCut: boolean }> {
      const key = decodeCursor(page.cursor, 'number', 'string')
      const before = key && { expiresAt: key[0], sid: key[1] }
      const nowMs = clock.nowMs()
      const most = page.limit + 1
      const found = await aliveSessionsBefore(store.read, tenantId, filter, nowMs, before, most)
      const keyOf = (session: SessionRow) => [session.expiresAt, session.sid]
      const { items, next } = toPage(found.rows, page.limit, keyOf)
      if (found.cutAt === undefined) return { items, next, isCut: false }
      return { items, next: encodeCursor(keyOf(found.cutAt)), isCut: true }
    },

    /** How many there are; counted no further than `sessionsCountedMax`. */
    async countAlive(tenantId: string, userId?: string): Promise<number> {
      const most = LIMITS.sessionsCountedMax
      return countAlive(store.read, tenantId, userId, clock.nowMs(), most)
    },

    /** What gateways report, many at a time; one commit for all of them. */
    async seen(reports: readonly SeenSession[]): Promise<void> {
      if (reports.length === 0) return
      const latestMs = clock.nowMs() // a gateway's clock may run ahead
      await store.change(async ({ queries }) => {
        for (const report of reports)
          await markSeen(queries, { ...report, atMs: Math.min(report.atMs, latestMs) })
      })
    },

    prune: pruneWith(store, deleteSessionsExpiredBefore, LIMITS.endedSessionKeptMs),
  }
}

/** The provider may have ended it while the person was still on their way here. */
async function noteUpstream(
  queries: Queries,
  { tenantId, sid, expiresAtMs: expiresAt }: IssuedSession,
  { connectionId, subject, sid: upstreamSid = '' }: NonNullable<IssuedSession['upstream']>,
): Promise<void> {
  if (upstreamSid !== '' && (await isEndedUpstream(queries, tenantId, connectionId, upstreamSid)))
    throw new SessionRevoked()
  const row = { tenantId, sid, connectionId, subject, upstreamSid, expiresAt }
  await putUpstreamSession(queries, row)
}
