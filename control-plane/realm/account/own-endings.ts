/** Ending what is one's own. What belongs to somebody else is answered like what does not exist. */
import { Refusal } from '../../../shared/errors.ts'
import { sidsOfAccount } from '../../store/queries/realm-records.ts'
import { endSession, endSessions } from '../session-end.ts'
import type { Realm, RealmWorld } from '../world.ts'

export function endingOwn({ tenant }: Pick<Realm, 'tenant'>, world: RealmWorld) {
  const { tenantId } = tenant
  const { store, sessions, devices, enrolledDevices } = world

  return {
    /** Whether there was one. Every gateway refuses it from now on. */
    async endSession(userId: string, sid: string, requestId: string): Promise<boolean> {
      const session = await sessions.find(tenantId, sid)
      if (session?.userId !== userId) return false
      await endSession(world, tenantId, sid, 'ended_by_user', requestId)
      return true
    },

    async endOthers(userId: string, sid: string, requestId: string): Promise<void> {
      const issued = await sessions.aliveOf(tenantId, userId)
      // whoever fetches no token stands in no list, and could fetch one at any time
      const known = await sidsOfAccount(store.read, tenantId, userId)
      const others = new Set([...issued, ...known].filter((other) => other !== sid))
      await endSessions(world, tenantId, [...others], 'ended_by_user', requestId)
    },

    /** The browser is then as good as new: its next sign-in is one from an unknown device. */
    async forgetDevice(userId: string, deviceId: string, requestId: string): Promise<boolean> {
      return store.change(async (change) => {
        const isForgotten = await devices.forget(change, tenantId, userId, deviceId)
        const content = { user_id: userId, device_id: deviceId }
        const actor = { name: userId, requestId }
        if (isForgotten)
          await change.audit(actor, { action: 'device.forgotten', tenantId, content })
        return isForgotten
      })
    },

    /** A machine with our agent, with the sessions that were begun on it. */
    async removeMachine(userId: string, deviceId: string, requestId: string): Promise<boolean> {
      const actor = { name: userId, requestId }
      try {
        await enrolledDevices.removeOwn(tenantId, userId, deviceId, actor)
        return true
      } catch (error) {
        if (error instanceof Refusal && error.code === 'device_not_found') return false
        throw error
      }
    },
  }
}
