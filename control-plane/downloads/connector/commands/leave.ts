/** Tells the service that this connector is no more, and deletes its key. */
import { EXIT, Problem } from '../../command-line/exit.ts'
import { createService } from '../service/service.ts'
import { baseUrlOf } from '../../command-line/base-url.ts'
import type { IdentifiedKey, Joined } from '../state/state-folder.ts'
import { newestOf } from '../systemd/running-state.ts'
import type { Command } from './command.ts'

export const leave: Command = {
  name: 'leave',
  summary: 'Removes this connector from your tenant and deletes its key.',
  about:
    'Its connections are closed at once. A connector that the service no longer knows is deleted here all the same.',
  options: [],
  actions: [],
  async run({ world, state, proxies, print, remark }) {
    const joined = await newestOf(await state.require(), world.userId)
    const baseUrl = baseUrlOf(world.environment, joined.base_url)
    const service = createService({ baseUrl, proxies })
    const isKnown = await leaveWith(keysOf(joined), (key) =>
      service.leave({ connectorId: joined.connector_id, key }),
    )
    await state.remove()
    if (!isKnown) remark('The service did not know this connector any more.')
    print(`Left ${joined.tenant_id}. The key in ${state.path} is deleted.`)
    return EXIT.done
  },
}

/** In a rotation either may be the one that counts. */
const keysOf = ({ key, next_key: next }: Joined): IdentifiedKey[] =>
  next?.key_id === undefined ? [key] : [key, { ...next, key_id: next.key_id }]

async function leaveWith(
  keys: readonly IdentifiedKey[],
  leaveBy: (key: IdentifiedKey) => Promise<void>,
): Promise<boolean> {
  for (const key of keys)
    try {
      await leaveBy(key)
      return true
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'connector_refused') throw error
    }
  return false
}
