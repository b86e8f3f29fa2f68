/** What connectors have answered, written down now and then, whichever connections it was on. */
import { addConnectorRequests } from '../store/queries/connectors.ts'
import type { Store } from '../store/store.ts'
import type { ConnectorPresence } from './presence.ts'

/** Each is a row: so many in one change, and the others in the next. */
const AT_ONCE_MAX = 500

export async function countRequests({
  store,
  presence,
}: {
  readonly store: Pick<Store, 'change'>
  readonly presence: Pick<ConnectorPresence, 'uncountedAll' | 'counted'>
}): Promise<void> {
  const all = presence.uncountedAll()
  for (let at = 0; at < all.length; at += AT_ONCE_MAX) {
    const some = all.slice(at, at + AT_ONCE_MAX)
    await store.change(async ({ queries }) => {
      for (const [connectorId, requests] of some)
        await addConnectorRequests(queries, connectorId, requests)
    })
    for (const [connectorId, requests] of some) presence.counted(connectorId, requests)
  }
}
