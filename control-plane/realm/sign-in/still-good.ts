/** Whether what one sign-in has shown still counts, read where the answer is used. */
import { SECOND_MS } from '../../../shared/clock.ts'
import type { User } from '../../accounts/users.ts'
import { findConnection, findIdentity } from '../../store/queries/connections.ts'
import { notBeforeOf } from '../../store/queries/revocations.ts'
import { SESSION_ASKED_AGAIN } from '../../sessions/revocations.ts'
import { findSession, hasEndedSince } from '../../store/queries/sessions.ts'
import { findUser } from '../../store/queries/users.ts'
import type { Queries } from '../../store/engine.ts'
import type { AttemptState } from './attempt-state.ts'
import { isReachedByMail } from './sign-in-mail.ts'

/** Somebody who may still sign in, with the password that was given, and whom nobody signed out. */
export async function usableUser(
  queries: Queries,
  tenantId: string,
  state: AttemptState,
  sid: string | undefined,
): Promise<User | undefined> {
  const { userId, passwordAt, sessionTs } = state
  const user = await findUser(queries, tenantId, userId)
  if (user === undefined || user.isDisabled || user.passwordChangedAt > passwordAt) return undefined
  if (!(await isStillConnected(queries, tenantId, state))) return undefined
  if (!(await isStillReached(queries, user, state))) return undefined
  const ownSid = sessionTs === undefined ? undefined : sid
  const notBefore = await notBeforeOf(
    queries,
    tenantId,
    userId,
    await judgedSid(queries, tenantId, ownSid),
  )
  const provenAt = sessionTs ?? passwordAt / SECOND_MS
  if (provenAt < notBefore || (await isOver(queries, tenantId, state))) return undefined
  return user
}

/** Who has come by a provider comes in by it as long as both are what they were. */
async function isStillConnected(
  queries: Queries,
  tenantId: string,
  { userId, upstream }: AttemptState,
): Promise<boolean> {
  if (upstream === undefined) return true
  const { connectionId, updatedAt, issuer, subject } = upstream
  const connection = await findConnection(queries, tenantId, connectionId)
  if (connection?.state !== 'active' || connection.updatedAt !== updatedAt) return false
  const identity = await findIdentity(queries, tenantId, connectionId, issuer, subject)
  return identity?.userId === userId
}

/** Who has come by a mail comes in by it as long as it would go to where it went. */
async function isStillReached(
  queries: Queries,
  user: User,
  { byMail: { to } = {} }: AttemptState,
): Promise<boolean> {
  if (to === undefined) return true
  return user.emailKey === to && (await isReachedByMail(queries, user))
}

/** One that is asked for its device again ended at the gateways alone. */
async function judgedSid(queries: Queries, tenantId: string, sid: string | undefined) {
  const known = sid === undefined ? undefined : await findSession(queries, tenantId, sid)
  return known?.endReason === SESSION_ASKED_AGAIN ? undefined : sid
}

/** Revoked, or over: what was shown before has to be shown again. */
export async function isEndedSince(
  queries: Queries,
  tenantId: string,
  state: AttemptState,
): Promise<boolean> {
  const { userId, passwordAt, sessionTs } = state
  const notBefore = await notBeforeOf(queries, tenantId, userId)
  const provenAt = sessionTs ?? passwordAt / SECOND_MS
  return provenAt < notBefore || (await isOver(queries, tenantId, state))
}

/** What a finished sign-in has opened was ended: its second click opens nothing again. */
async function isOver(
  queries: Queries,
  tenantId: string,
  { userId, finishedAt }: AttemptState,
): Promise<boolean> {
  return finishedAt !== undefined && (await hasEndedSince(queries, tenantId, userId, finishedAt))
}
