/** How many sessions a person may have at once, held to when one begins. */
import { endSession } from './session-end.ts'
import type { RealmWorld } from './world.ts'

/**
 * The oldest make room, or the new one does not begin: the sign-in page has said so before, so
 * that only meets who signs in twice at the same moment. Answers whether the new one lives.
 */
export async function makeRoom(
  world: RealmWorld,
  tenantId: string,
  { userId, sid }: { readonly userId: string; readonly sid: string },
  requestId: string,
): Promise<boolean> {
  const { concurrent_max: most, when_full: whenFull } = (await world.policies.of(tenantId)).session
  if (most === null) return true
  const end = (one: string) => endSession(world, tenantId, one, 'surplus', requestId)
  const alive = await world.sessions.aliveOf(tenantId, userId)
  if (whenFull === 'refuse') {
    if (alive.indexOf(sid) < most) return true
    await end(sid)
    return false
  }
  const others = alive.filter((one) => one !== sid)
  await Promise.all(others.slice(0, Math.max(0, alive.length - most)).map(end))
  return true
}
