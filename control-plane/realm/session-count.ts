/** How many sessions a person may have at once, held to when one begins. */
import { LIMITS } from '../../shared/limits.ts'
import { endSession, endSessions } from './session-end.ts'
import type { RealmWorld } from './world.ts'

const MOST = LIMITS.sessionsPerPersonMax

/**
 * The oldest make room, or the new one does not begin: the sign-in page has said so before, so
 * that only meets who signs in twice at the same moment. Where nobody has decided how many, they are
 * bounded all the same: what one person has must not hold up the others. Answers whether the new one
 * lives.
 */
export async function makeRoom(
  world: RealmWorld,
  tenantId: string,
  { userId, sid }: { readonly userId: string; readonly sid: string },
  requestId: string,
): Promise<boolean> {
  const { concurrent_max: decided, when_full: whenFull } = (await world.policies.of(tenantId))
    .session
  const alive = await world.sessions.aliveOf(tenantId, userId)
  if (whenFull === 'refuse' && decided !== null && alive.indexOf(sid) >= decided) {
    await endSession(world, tenantId, sid, 'surplus', requestId)
    return false
  }
  const most = Math.min(whenFull === 'refuse' ? MOST : (decided ?? MOST), MOST)
  const others = alive.filter((one) => one !== sid)
  const surplus = others.slice(0, Math.max(0, alive.length - most))
  if (surplus.length > 0) await endSessions(world, tenantId, surplus, 'surplus', requestId)
  return true
}
