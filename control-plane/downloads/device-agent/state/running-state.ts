/**
 * The listener has a folder of its own and begins there with what root has enrolled, handed over by
 * systemd as a credential. From then on that folder has the newest link of the chain.
 */
import type { Environment } from '../../command-line/base-url.ts'
import { dataFolder, runningFolder } from '../places.ts'
import { createDeviceFolder, type Device, type DeviceFolder } from './device-state.ts'

/** What systemd hands to a unit is for its user alone, whoever owns it. */
const UNCHECKED = { userId: undefined }

export async function adoptIdentity(
  state: Pick<DeviceFolder, 'read' | 'write' | 'remove'>,
  environment: Environment,
): Promise<void> {
  const credentials = environment['CREDENTIALS_DIRECTORY']
  if (credentials === undefined) return
  const given = await createDeviceFolder(credentials, UNCHECKED).read()
  if (given === null) return
  const own = await state.read()
  if (own?.device_id === given.device_id) return
  if (own !== null) await state.remove()
  // Whether it was used from here before is not known: the folder may have been lost.
  await state.write({ ...given, link: { ...given.link, is_lost: true } })
}

/** The newest that is known of a device: the listener's folder may be further than root's. */
export async function newestOf(device: Device, userId: number | undefined, root: string) {
  if (userId !== 0) return device
  const running = await createDeviceFolder(runningFolder(root), UNCHECKED)
    .read()
    .catch(() => null)
  return running?.device_id === device.device_id ? running : device
}

interface Owner {
  readonly environment: Environment
  readonly platform: string
  readonly userId: number | undefined
}

/** Where the listener cannot write: what it could change there would be run as root. */
export const updatesFolder = (world: Owner, state: DeviceFolder): DeviceFolder =>
  world.platform === 'win32'
    ? createDeviceFolder(dataFolder(world.environment), { userId: world.userId })
    : state
