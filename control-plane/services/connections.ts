/** Sign-in with the company's own identity provider. */
import { createConnections } from '../connections/connections.ts'
import { createIdentities } from '../connections/identities.ts'
import { protocolByKind } from '../connections/kinds.ts'
import { createProtocol } from '../connections/protocol.ts'
import { createProviderClient } from '../connections/provider-client.ts'
import { createMetadataRefresh } from '../connections/saml/refresh.ts'
import { createSamlConnections } from '../connections/saml/saml-connections.ts'
import { createSamlProtocol } from '../connections/saml/protocol.ts'
import { createTestTickets } from '../connections/test-tickets.ts'
import { deleteSamlAnswersEndedBefore } from '../store/queries/saml.ts'
import { pruneWith } from '../store/statements.ts'
import type { Jobs } from './jobs.ts'
import type { TenantServices } from './tenants.ts'
import type { ServicesWorld } from './world.ts'

const PUBLIC = { allowPrivate: [], egressProxy: null }

export function createConnectionServices(
  world: ServicesWorld,
  { store, vault, leases }: Pick<TenantServices, 'store' | 'vault' | 'leases'>,
  jobs: Jobs,
) {
  const { receivers = PUBLIC, clock, baseUrl, log } = world
  const client = createProviderClient(receivers)
  const oidc = createProtocol({ client, clock })
  const saml = createSamlProtocol({ store, clock, baseUrl })
  const samlConnections = createSamlConnections({ store, vault, clock, client })
  const refresh = createMetadataRefresh({ store, samlConnections, clock, log })
  jobs.begins(refresh.beginWith((work) => leases.alone('samlMetadata', work)))
  jobs.tidies('samlAnswers', pruneWith(store, deleteSamlAnswersEndedBefore, 0))
  return {
    connections: createConnections({ store, vault }),
    samlConnections,
    metadataRefresh: refresh,
    samlProtocol: saml,
    personIdentities: createIdentities({ store }),
    connectionProtocol: protocolByKind({ google: oidc, entra: oidc, okta: oidc, oidc, saml }),
    connectionTickets: createTestTickets({ vault, clock }),
    async closeProviders() {
      await client.close()
      await refresh.close()
    },
  }
}
