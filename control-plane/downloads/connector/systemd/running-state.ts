/**
 * A connector that systemd runs has a folder of its own, and begins there with what it was given as
 * a credential. From then on that folder has the newest key.
 */
import { join } from 'node:path'
import type { Environment } from '../../command-line/base-url.ts'
import { createStateFolder, type Joined, type StateFolder } from '../state/state-folder.ts'
import { RUNNING_STATE } from './unit.ts'

/** The credential that it begins with. */
export const IDENTITY = 'connector.json'

/** What systemd hands to a unit is for its user alone, whoever owns it. */
const UNCHECKED = { userId: undefined }

export const runningFolder = (root = '/'): string => join(root, 'var/lib/private', RUNNING_STATE)

/** The first start with an identity: from then on the folder counts, as the key is replaced there. */
export async function adoptIdentity(
  state: Pick<StateFolder, 'read' | 'write' | 'remove'>,
  environment: Environment,
): Promise<void> {
  const credentials = environment['CREDENTIALS_DIRECTORY']
  if (credentials === undefined) return
  const given = await createStateFolder(credentials, UNCHECKED).read()
  if (given === null) return
  const own = await state.read()
  if (own?.connector_id === given.connector_id) return
  if (own !== null) await state.remove()
  await state.write(given)
}

/** The newest that is known of a connector: systemd's may have a newer key than the folder. */
export async function newestOf(joined: Joined, userId: number | undefined, root = '/') {
  return (await runningOf(joined, userId, root))?.running ?? joined
}

/** Where the one that runs writes. */
export async function newestFolder(
  state: StateFolder,
  joined: Joined,
  userId: number | undefined,
): Promise<StateFolder> {
  return (await runningOf(joined, userId, '/'))?.folder ?? state
}

async function runningOf({ connector_id: id }: Joined, userId: number | undefined, root: string) {
  if (userId !== 0) return undefined
  const folder = createStateFolder(runningFolder(root), UNCHECKED)
  const running = await folder.read().catch(() => null)
  return running?.connector_id === id ? { folder, running } : undefined
}
