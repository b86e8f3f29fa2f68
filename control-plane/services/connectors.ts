/** Who dials in for applications without an open port. */
import { createAuthority } from '../connectors/authority.ts'
import { createConnectors } from '../connectors/connectors.ts'
import { createJoinTokens } from '../connectors/join-tokens.ts'
import type { EnforcementServices } from './enforcement.ts'
import type { Jobs } from './jobs.ts'
import type { TenantServices } from './tenants.ts'
import type { ServicesWorld } from './world.ts'

export function createConnectorServices(
  world: Pick<ServicesWorld, 'clock'> &
    Pick<TenantServices, 'store' | 'vault'> &
    Pick<EnforcementServices, 'gatewayDoors'>,
  jobs: Jobs,
) {
  const joinTokens = jobs.tidied('joinTokens', createJoinTokens(world))
  const authority = createAuthority(world)
  return { joinTokens, connectors: createConnectors({ ...world, joinTokens, authority }) }
}
