/**
 * A provider says that somebody has signed out there, or was made to (OpenID Connect Back-Channel
 * Logout 1.0): what they have come by it for ends here and at every gateway. A token counts once, over
 * all control planes, and is judged as an ID token is, by the keys that the provider publishes.
 */
import { hash } from 'node:crypto'
import { HOUR_MS } from '../../shared/clock.ts'
import { findIdentity } from '../store/queries/connections.ts'
import type { ConnectionRow } from '../store/queries/connections.ts'
import { findSession } from '../store/queries/sessions.ts'
import {
  deleteUpstreamLogoutsBefore,
  deleteUpstreamSessionsBefore,
  insertUpstreamLogout,
  upstreamSessionsOfSid,
  upstreamSessionsOfSubject,
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
      return store.change(async (change) => {
        const { queries, nowMs } = change
        const isNew = await insertUpstreamLogout(queries, {
          ...{ connectionId, tenantId, jtiHash: hash('sha256', claims.jti, 'base64url') },
          upstreamSid: claims.sid ?? '',
          expiresAt: nowMs + KEPT_MS,
        })
        if (!isNew) throw new ProviderProblem('the logout token was used before')
        const targets = await targetsOf(change, connection, claims)
        for (const target of targets) {
          const { notBefore } = await revokeIn(change, tenantId, target, REASON)
          const content = { ...target, not_before: notBefore, reason: REASON }
          await change.audit(actor, {
            action: 'sessions.revoked',
            tenantId,
            content: { ...content, connection_id: connectionId },
          })
        }
        return targets.length
      })
    },

    async prune(limit: number): Promise<number> {
      const sessions = await pruneSessions(limit)
      return sessions === limit ? sessions : pruneLogouts(limit)
    },
  }
}

/**
 * One session there has begun those of its `sid` here. Without one all of the person's are meant, also
 * those that are still under way: so it is the person whose sessions end.
 */
async function targetsOf(
  { queries }: Change,
  { tenantId, connectionId, issuer }: Connection,
  { subject, sid }: LogoutClaims,
): Promise<readonly Target[]> {
  if (sid !== undefined) {
    const begun = await upstreamSessionsOfSid(queries, tenantId, connectionId, sid)
    const own = begun.filter((one) => subject === undefined || one.subject === subject)
    const found = await Promise.all(own.map((one) => findSession(queries, tenantId, one.sid)))
    return found.flatMap((one) => (one?.endedAt === null ? [{ sid: one.sid }] : []))
  }
  if (subject === undefined) return []
  const begun = await upstreamSessionsOfSubject(queries, tenantId, connectionId, subject)
  const sessions = await Promise.all(begun.map((one) => findSession(queries, tenantId, one.sid)))
  const identity = await findIdentity(queries, tenantId, connectionId, issuer, subject)
  const people = [identity?.userId, ...sessions.map((one) => one?.userId)]
  return [...new Set(people.filter((one) => one !== undefined))].map((one) => ({ subject: one }))
}
