/** Sign-in with the company's own identity provider. */
import { SECOND_MS } from '../../shared/clock.ts'
import { createBackChannel } from '../connections/back-channel.ts'
import { createConnectionDomains } from '../connections/domains.ts'
import { createConnections } from '../connections/connections.ts'
import { createIdentities } from '../connections/identities.ts'
import { createGithub } from '../connections/github.ts'
import { protocolByKind } from '../connections/kinds.ts'
import { createProtocol } from '../connections/protocol.ts'
import { createProviderDocuments } from '../connections/provider-documents.ts'
import { createProviderClient } from '../connections/provider-client.ts'
import { createMetadataRefresh } from '../connections/saml/refresh.ts'
import { createSamlConnections } from '../connections/saml/saml-connections.ts'
import { createSamlProtocol } from '../connections/saml/protocol.ts'
import { createTestTickets } from '../connections/test-tickets.ts'
import { deleteSamlAnswersEndedBefore, forgetSamlClaimsBefore } from '../store/queries/saml.ts'
import { pruneWith } from '../store/statements.ts'
import type { Jobs } from './jobs.ts'
import type { TenantServices } from './tenants.ts'
import { noTracing } from '../tracing/tracing.ts'
import { timedProvider } from './timed-clients.ts'
import type { ServicesWorld } from './world.ts'

const PUBLIC = { allowPrivate: [], egressProxy: null }
const DOMAINS_EVERY_MS = 10 * SECOND_MS

export function createConnectionServices(
  world: ServicesWorld,
  { store, vault, proofs, leases }: Pick<TenantServices, 'store' | 'vault' | 'proofs' | 'leases'>,
  jobs: Jobs,
) {
  const { receivers = PUBLIC, clock, baseUrl, log, tracing = noTracing() } = world
  const client = timedProvider(createProviderClient(receivers), tracing)
  const documents = createProviderDocuments({ client, clock })
  const oidc = createProtocol({ client, documents })
  const github = createGithub({ client })
  const saml = createSamlProtocol({ store, clock, baseUrl })
  const samlConnections = createSamlConnections({ store, vault, clock, client })
  const refresh = createMetadataRefresh({ store, samlConnections, clock, log })
  jobs.begins(refresh.beginWith((work) => leases.alone('samlMetadata', work)))
  jobs.tidies('samlClaims', pruneWith(store, forgetSamlClaimsBefore, 0))
  jobs.tidies('samlAnswers', pruneWith(store, deleteSamlAnswersEndedBefore, 0))
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
    samlConnections,
    metadataRefresh: refresh,
    samlProtocol: saml,
    personIdentities: createIdentities({ store }),
    connectionProtocol: protocolByKind({
      google: oidc,
      entra: oidc,
      okta: oidc,
      oidc,
      github,
      saml,
    }),
    connectionTickets: createTestTickets({ vault, clock }),
    async closeProviders() {
      await client.close()
      await refresh.close()
    },
  }
}
