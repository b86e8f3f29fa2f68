/**
 * A person's session of the console: an opaque id in a cookie, found by its hash. It stands on the
 * session that the realm has issued, and on the account: what ends one of these ends it with the
 * next request, wherever it was ended.
 */
import { randomBytes } from 'node:crypto'
import { MINUTE_MS, SECOND_MS } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  deleteConsoleSession,
  deleteConsoleSessionsBefore,
  findConsoleSession,
  insertConsoleSession,
  touchConsoleSession,
  type ConsoleSessionRow,
} from '../store/queries/console.ts'
import { notBeforeOf } from '../store/queries/revocations.ts'
import { CONSOLE_REALM } from '../store/reserved.ts'
import type { Change } from '../store/store.ts'
import type { ConsoleRoles, Roles } from './roles.ts'
import type { ConsoleAccessWorld } from './world.ts'

/** Who is looking, as far as pages need to know. */
export interface Viewer extends Roles {
  readonly userId: string
  readonly name: string
  readonly email: string
  /** Of the realm's session that it stands on. */
  readonly sid: string
  /** What proofs of this session are made of; never shown. */
  readonly sessionId: string
  /** When they last proved who they are. */
  readonly signedInAtMs: number
}

export interface SignedIn {
  readonly userId: string
  readonly sid: string
  readonly signedInAtMs: number
}

const ID = /^[A-Za-z0-9_-]{43}$/
/** That somebody is there is written down so often. */
const SEEN_EVERY_MS = MINUTE_MS

export function createConsoleSessions(world: ConsoleAccessWorld, roles: Pick<ConsoleRoles, 'of'>) {
  const { store, vault, users, sessions, clock } = world

  /** Whether everything that it stands on still does. */
  async function isAlive({ userId, sid, signedInAt, lastSeenAt, expiresAt }: ConsoleSessionRow) {
    const nowMs = clock.nowMs()
    if (expiresAt <= nowMs || lastSeenAt + LIMITS.consoleIdleMs <= nowMs) return false
    const known = await sessions.find(CONSOLE_REALM, sid)
    if (known === undefined || known.endedAt !== null || known.userId !== userId) return false
    const notBefore = await notBeforeOf(store.read, CONSOLE_REALM, userId, sid)
    return signedInAt >= notBefore * SECOND_MS
  }

  async function noteSeen({ sessionHash, sid, lastSeenAt }: ConsoleSessionRow) {
    const atMs = clock.nowMs()
    if (atMs - lastSeenAt < SEEN_EVERY_MS) return
    await store.change(({ queries }) => touchConsoleSession(queries, sessionHash, atMs))
    await sessions.seen([{ tenantId: CONSOLE_REALM, sid, atMs }])
  }

  return {
    /** Always a new id: what a browser brought along before it signed in is worth nothing after it. */
    async begin(
      { userId, sid, signedInAtMs }: SignedIn,
      before?: string,
      alongside?: (change: Change) => Promise<void>,
    ): Promise<string> {
      const id = randomBytes(32).toString('base64url')
      await store.change(async (change) => {
        const { queries, nowMs } = change
        if (before !== undefined) await deleteConsoleSession(queries, vault.hash(before))
        await insertConsoleSession(queries, {
          sessionHash: vault.hash(id),
          userId,
          sid,
          signedInAt: signedInAtMs,
          createdAt: nowMs,
          lastSeenAt: nowMs,
          expiresAt: Math.min(nowMs, signedInAtMs) + LIMITS.consoleSessionMs,
        })
        await alongside?.(change)
      })
      return id
    },

    async viewer(id: string | undefined): Promise<Viewer | undefined> {
      if (id === undefined || !ID.test(id)) return undefined
      const row = await findConsoleSession(store.read, vault.hash(id))
      if (row === undefined || !(await isAlive(row))) return undefined
      const user = await users.find(CONSOLE_REALM, row.userId)
      if (user === undefined || user.isDisabled) return undefined
      await noteSeen(row)
      return {
        userId: user.userId,
        name: user.name,
        email: user.email,
        ...(await roles.of(user.userId)),
        sid: row.sid,
        sessionId: id,
        signedInAtMs: row.signedInAt,
      }
    },

    /** Here and in the realm, so that nobody is let in again without being asked. */
    async end(id: string, requestId: string): Promise<void> {
      const row = await findConsoleSession(store.read, vault.hash(id))
      if (row === undefined) return
      await store.change(({ queries }) => deleteConsoleSession(queries, row.sessionHash))
      const known = await sessions.find(CONSOLE_REALM, row.sid)
      if (known?.endedAt !== null) return
      const actor = { name: 'console', requestId }
      await world.revocations.revoke(CONSOLE_REALM, { sid: row.sid }, actor, 'signed_out')
    },

    prune: (limit: number): Promise<number> =>
      store.change(({ queries, nowMs }) => deleteConsoleSessionsBefore(queries, nowMs, limit)),
  }
}
