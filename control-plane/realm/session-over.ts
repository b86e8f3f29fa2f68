/** Whether the session in a browser's cookie still holds: for the provider and for our own pages. */
import type { ClientAuthorizationState } from 'oidc-provider'
import { nowSeconds, SECOND_MS } from '../../shared/clock.ts'
import { fingerprintOf, isSameClient } from '../../shared/enforcement/fingerprint.ts'
import { notBeforeOf } from '../store/queries/revocations.ts'
import { SESSION_ASKED_AGAIN } from '../sessions/revocations.ts'
import { addressOf } from '../listener/client-address.ts'
import { asKnown } from '../store/precedence.ts'
import { endSession } from './session-end.ts'
import { sessionEnd } from './session-life.ts'
import { requestIdOf } from './show.ts'
import type { Realm, RealmContext, RealmWorld } from './world.ts'

type CookieSession = Awaited<ReturnType<Realm['provider']['Session']['get']>>

/** `isFresh`: the person has proved who they are in this very request. */
export async function isSessionOver(
  ctx: Pick<RealmContext, 'req' | 'res' | 'get'>,
  world: RealmWorld,
  { tenant, clientId }: Pick<Realm, 'tenant' | 'clientId'>,
  session: CookieSession,
  isFresh = false,
): Promise<boolean> {
  const { store, sessions, clock } = world
  const { tenantId } = tenant
  const signedInAt = session.loginTs ?? 0
  const sid = session.sidFor(clientId)
  const known = sid === undefined ? undefined : await sessions.find(tenantId, sid)
  // it ended at the gateways alone: whether it goes on is for `session-device.ts` to say
  const isAskedAgain = known?.endReason === SESSION_ASKED_AGAIN
  const ownSid = isAskedAgain ? undefined : sid
  const notBefore = await notBeforeOf(store.read, tenantId, session.accountId ?? '', ownSid)
  if (signedInAt < notBefore) return true
  if (isFresh) return false
  if (tenant.sessionBinding !== 'off' && isOtherClient(ctx, session.authorizations?.[clientId])) {
    if (tenant.sessionBinding === 'terminate' && sid !== undefined)
      await asKnown(() => endSession(world, tenantId, sid, 'binding_terminate', requestIdOf(ctx)))
    return true
  }
  if (sid === undefined) return false

  const times = {
    signedInAt,
    lastSeenAt: known && Math.floor(known.lastSeenAt / SECOND_MS),
    isEnded: known?.endedAt != null && !isAskedAgain,
  }
  return sessionEnd(nowSeconds(clock), times, tenant) !== undefined
}

/**
 * The gateway binds a session to its client and asks us when another one comes. It asks through
 * that client, who may leave `prompt=login` out: so it is our own cookie that must be bound as
 * well. A session of which nothing is known is another client's.
 */
function isOtherClient(
  ctx: Pick<RealmContext, 'req' | 'get'>,
  began: ClientAuthorizationState | undefined,
) {
  if (began?.ip === undefined || began.userAgent === undefined) return true
  const now = fingerprintOf(ctx.get('user-agent'), addressOf(ctx.req))
  return !isSameClient(now, fingerprintOf(began.userAgent, began.ip))
}
