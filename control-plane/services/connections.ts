/** Sign-in with the company's own identity provider. */
import { SECOND_MS } from '../../shared/clock.ts'
import { createBackChannel } from '../connections/back-channel.ts'
import { createConnectionDomains } from '../connections/domains.ts'
import { createConnections } from '../connections/connections.ts'
import { createIdentities } from '../connections/identities.ts'
import { createGithub } from '../connections/github.ts'
import { createProtocol } from '../connections/protocol.ts'
import { createProtocols } from '../connections/protocols.ts'
import { createProviderDocuments } from '../connections/provider-documents.ts'
import { createProviderClient } from '../connections/provider-client.ts'
import { createTestTickets } from '../connections/test-tickets.ts'
import type { Jobs } from './jobs.ts'
import type { TenantServices } from './tenants.ts'
import type { ServicesWorld } from './world.ts'

const PUBLIC = { allowPrivate: [], egressProxy: null }
const DOMAINS_EVERY_MS = 10 * SECOND_MS

export function createConnectionServices(
  world: ServicesWorld,
  { store, vault, proofs, leases }: Pick<TenantServices, 'store' | 'vault' | 'proofs' | 'leases'>,
  jobs: Jobs,
) {
  const { receivers = PUBLIC, clock, log } = world
  const client = createProviderClient(receivers)
  const documents = createProviderDocuments({ client, clock })
  const oidc = createProtocol({ client, documents })
  const backChannel = jobs.tidied('backChannel', createBackChannel({ store, documents }))
  const { records } = proofs
  const connectionDomains = createConnectionDomains({ store, records, clock, log })
  const lookAlone = leases.alone('connectionDomains', connectionDomains.lookAtDue)
  jobs.follows(
    async (isClosed) => {
      if (await connectionDomains.isDue()) await lookAlone(isClosed)
    },
    'domains of connections could not be checked, trying again later',
    DOMAINS_EVERY_MS,
  )
  return {
    connections: createConnections({ store, vault }),
    connectionDomains,
    backChannel,
    personIdentities: createIdentities({ store }),
    connectionProtocol: createProtocols({ oidc, github: createGithub({ client }) }),
    connectionTickets: createTestTickets({ vault, clock }),
    closeProviders: () => client.close(),
  }
}
