/** Sign-in with the company's own identity provider. */
import { createConnections } from '../connections/connections.ts'
import { createIdentities } from '../connections/identities.ts'
import { createProtocol } from '../connections/protocol.ts'
import { createProviderClient } from '../connections/provider-client.ts'
import { createTestTickets } from '../connections/test-tickets.ts'
import type { TenantServices } from './tenants.ts'
import type { ServicesWorld } from './world.ts'

const PUBLIC = { allowPrivate: [], egressProxy: null }

export function createConnectionServices(
  world: ServicesWorld,
  { store, vault }: Pick<TenantServices, 'store' | 'vault'>,
) {
  const { receivers = PUBLIC, clock } = world
  const client = createProviderClient(receivers)
  return {
    connections: createConnections({ store, vault }),
    personIdentities: createIdentities({ store }),
    connectionProtocol: createProtocol({ client, clock }),
    connectionTickets: createTestTickets({ vault, clock }),
    closeProviders: () => client.close(),
  }
}
