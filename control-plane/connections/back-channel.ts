/**
 * A provider says that somebody has signed out there, or was made to (OpenID Connect Back-Channel
 * Logout 1.0): what they have come by it for ends here and at every gateway. A token counts once, over
 * all control planes, and is judged as an ID token is, by the keys that the provider publishes.
 */
import { hash } from 'node:crypto'
import { HOUR_MS } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { findIdentity } from '../store/queries/connections.ts'
import type { ConnectionRow } from '../store/queries/connections.ts'
import {
  deleteUpstreamLogoutsBefore,
  deleteUpstreamSessionsBefore,
  findUpstreamLogout,
  forgetUpstreamSessions,
  insertUpstreamLogout,
  someUpstreamSessions,
} from '../store/queries/upstream-sessions.ts'
import { pruneWith } from '../store/statements.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { revokeIn, type SessionTarget } from '../sessions/revocations.ts'
import { readLogout, type LogoutClaims } from './logout-token.ts'
import { speaksOpenId } from './presets.ts'
import { typeOf } from './protocol.ts'
import { ProviderProblem } from './provider-client.ts'
import type { ProviderDocuments } from './provider-documents.ts'

/** Longer than a sign-in may take, and a token of before be taken. */
const KEPT_MS = 24 * HOUR_MS
const REASON = 'upstream_logout'
const USED = 'the logout token was used before'
/** A provider may have begun thousands by one session of its own: others' changes come between. */
const AT_ONCE = LIMITS.sessionsEndedPerChangeMax

type Connection = Pick<
  ConnectionRow,
  'tenantId' | 'connectionId' | 'preset' | 'issuer' | 'clientId'
>
type Target = Exclude<SessionTarget, { readonly all: true }>

export type BackChannel = ReturnType<typeof createBackChannel>

export function createBackChannel({
  store,
  documents,
}: {
  store: Store
  documents: Pick<ProviderDocuments, 'proven'>
}) {
  const pruneSessions = pruneWith(store, deleteUpstreamSessionsBefore, 0)
  const pruneLogouts = pruneWith(store, deleteUpstreamLogoutsBefore, 0)

  async function claimsOf(connection: Connection, token: string): Promise<LogoutClaims> {
    if (!speaksOpenId(connection.preset))
      throw new ProviderProblem('providers of this kind send no logout tokens')
    if (!['JWT', 'LOGOUT+JWT'].includes(typeOf(token)))
      throw new ProviderProblem('the token is no logout token')
    const claims = readLogout(await documents.proven(connection, token, { kind: 'logout token' }))
    if (typeof claims === 'string') throw new ProviderProblem(claims)
    return claims
  }

  return {
    /** How many sessions and people it has ended; once every gateway that can be asked refuses them. */
    async take(connection: Connection, token: string, actor: Actor): Promise<number> {
      const claims = await claimsOf(connection, token)
      const { tenantId, connectionId } = connection
      const jtiHash = hash('sha256', claims.jti, 'base64url')
      const logout = { connectionId, tenantId, jtiHash, upstreamSid: claims.sid ?? '' }
      if ((await findUpstreamLogout(store.read, connectionId, jtiHash)) !== undefined)
        throw new ProviderProblem(USED)
      /** Whom an earlier change of this token has signed out. */
      const told = new Set<string>()
      for (let count = 0; ;) {
        const { targets, isLast } = await store.change((change) =>
          endSome(change, { connection, claims, logout, told, actor }),
        )
        count += targets.length
        if (isLast) return count
        for (const target of targets) if ('subject' in target) told.add(target.subject)
      }
    },

    async prune(limit: number): Promise<number> {
      const sessions = await pruneSessions(limit)
      return sessions === limit ? sessions : pruneLogouts(limit)
    },
  }
}

interface Ending {
  readonly connection: Connection
  readonly claims: LogoutClaims
  readonly logout: Omit<Parameters<typeof insertUpstreamLogout>[1], 'expiresAt'>
  readonly told: ReadonlySet<string>
  readonly actor: Actor
}

/** The token counts with the last of them: a provider that heard no answer sends it again. */
async function endSome(change: Change, { connection, claims, logout, told, actor }: Ending) {
  const { queries, nowMs } = change
  const { tenantId, connectionId } = connection
  const begun = await someUpstreamSessions(queries, connection, claims, AT_ONCE + 1)
  const isLast = begun.length <= AT_ONCE
  const row = { ...logout, expiresAt: nowMs + KEPT_MS }
  if (isLast && !(await insertUpstreamLogout(queries, row))) throw new ProviderProblem(USED)
  const some = begun.slice(0, AT_ONCE)
  const targets = await targetsOf(change, connection, claims, some, told)
  for (const target of targets) {
    const { notBefore } = await revokeIn(change, tenantId, target, REASON)
    const content = { ...target, not_before: notBefore, reason: REASON }
    await change.audit(actor, {
      action: 'sessions.revoked',
      tenantId,
      content: { ...content, connection_id: connectionId },
    })
  }
  const sids = some.map((one) => one.sid)
  if (sids.length > 0) await forgetUpstreamSessions(queries, tenantId, sids)
  return { targets, isLast }
}

/**
 * One session there has begun those of its `sid` here. Without one all of the person's are meant, also
 * those that are still under way: so it is the person whose sessions end.
 */
async function targetsOf(
  { queries }: Change,
  { tenantId, connectionId, issuer }: Connection,
  { subject, sid }: LogoutClaims,
  begun: Awaited<ReturnType<typeof someUpstreamSessions>>,
  told: ReadonlySet<string>,
): Promise<readonly Target[]> {
  const alive = begun.filter(({ userId, endedAt }) => userId !== null && endedAt === null)
  if (sid !== undefined) return alive.map((one) => ({ sid: one.sid }))
  if (subject === undefined) return []
  const identity = await findIdentity(queries, tenantId, connectionId, issuer, subject)
  const isNew = (one: string | null | undefined) => typeof one === 'string' && !told.has(one)
  const people = [identity?.userId, ...begun.map(({ userId }) => userId)].filter(isNew)
  const again = alive.map(({ userId }) => userId)
  return [...new Set([...people, ...again])].flatMap((one) => (one ? [{ subject: one }] : []))
}
