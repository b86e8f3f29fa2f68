/** Who dials in for applications without an open port. */
import { MINUTE_MS, SECOND_MS } from '../../shared/clock.ts'
import { createAuthority } from '../connectors/authority.ts'
import { createConnectors } from '../connectors/connectors.ts'
import { createPresenceEvents, type TellOfConnector } from '../connectors/presence-events.ts'
import { createJoinTokens } from '../connectors/join-tokens.ts'
import { countRequests } from '../connectors/request-counts.ts'
import { createSharedPresence } from '../connectors/shared-presence.ts'
import type { EnforcementServices } from './enforcement.ts'
import type { Jobs } from './jobs.ts'
import type { TenantServices } from './tenants.ts'
import type { ServicesWorld } from './world.ts'

export type ConnectorServices = ReturnType<typeof createConnectorServices>

export function createConnectorServices(
  world: Pick<ServicesWorld, 'clock'> &
    Pick<TenantServices, 'store' | 'vault' | 'leases'> &
    Pick<EnforcementServices, 'gatewayDoors' | 'connectorPresence' | 'enforcement'> & {
      /** Other control planes may have the same database. */
      readonly isShared: boolean
    },
  jobs: Jobs,
) {
  const joinTokens = jobs.tidied('joinTokens', createJoinTokens(world))
  const authority = createAuthority(world)
  const { connectorPresence: presence, enforcement } = world
  const tell: TellOfConnector = (change, { tenantId, connectorId, name }, outcome, reason) =>
    enforcement.tell(change, tenantId, connectorId, { outcome, reason, app_host: name })
  const { run } = createPresenceEvents({ ...world, presence, tell })
  const told = world.leases.alone('connectors', run)
  jobs.follows(told, 'what became of connectors could not be told', 5 * SECOND_MS)
  const counting = jobs.timed('connectorRequests', () => countRequests({ ...world, presence }))
  jobs.follows(counting, 'requests of connectors could not be written down', MINUTE_MS)
  if (world.isShared) {
    const shared = jobs.tidied('sharedPresence', createSharedPresence({ ...world, presence }))
    const failure = 'connectors at the gateways of other control planes are not known just now'
    jobs.follows(jobs.timed('sharedPresenceRead', shared.run), failure, 2 * SECOND_MS)
  }
  const connectors = createConnectors({ ...world, joinTokens, authority, presence, tell })
  return { joinTokens, connectors, connectorAuthority: authority }
}
