/** The machine that a sign-in was proven to be on, however that was shown. */
import { SECOND_MS } from '../../../shared/clock.ts'
import type { Actor, TenantChange } from '../../store/store.ts'
import type { RealmWorld } from '../world.ts'
import type { AttemptState } from './attempt-state.ts'

/** Whoever first comes with a machine that is nobody's owns it. */
export async function withShownDevice(
  { enrolledDevices }: Pick<RealmWorld, 'enrolledDevices'>,
  change: TenantChange,
  { tenantId, deviceId }: { readonly tenantId: string; readonly deviceId: string },
  state: AttemptState,
  actor: Actor,
): Promise<AttemptState> {
  await enrolledDevices.claim(change, tenantId, deviceId, state.userId, actor)
  const { isDeviceWarned: _ofBefore, ...rest } = state
  return { ...rest, device: { id: deviceId, at: Math.floor(change.nowMs / SECOND_MS) } }
}
