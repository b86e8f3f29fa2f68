/** The one table of endpoints: what is not named here does not exist. How to add one: endpoint.ts. */
import { agentEndpoints } from './agent-routes.ts'
import { analysisEndpoints } from './analysis-routes.ts'
import { cliEndpoints } from './cli-routes.ts'
import { connectorEndpoints } from './connector-routes.ts'
import { contractEndpoints } from './contract-routes.ts'
import { deviceCodeEndpoints } from './device-code-routes.ts'
import { downloadEndpoints } from './download-routes.ts'
import type { Endpoint } from './endpoint.ts'
import { eventEndpoints } from './events/events-routes.ts'
import { feedEndpoints } from './feed-routes.ts'
import { healthEndpoints } from './health-routes.ts'
import { openApiEndpoints } from './openapi/openapi-routes.ts'
import { operatorEndpoints } from './operator/operator-routes.ts'
import { installEndpoints } from './install-routes.ts'
import { createLargeAnswers } from '../http/large-answers.ts'
import { integrationEndpoints } from './integration-routes.ts'
import { publicKeyEndpoints } from './public-key-routes.ts'
import { verificationEndpoints } from './verification-routes.ts'
import type { ApiWorld } from './world.ts'

export function apiEndpoints(world: ApiWorld): readonly Endpoint[] {
  const sendLarge = createLargeAnswers()
  const endpoints: readonly Endpoint[] = [
    ...contractEndpoints(world.baseUrl),
    ...publicKeyEndpoints(world),
    ...cliEndpoints(world, sendLarge),
    ...deviceCodeEndpoints(world),
    ...connectorEndpoints(world),
    ...agentEndpoints(world),
    ...installEndpoints(world, sendLarge),
    ...downloadEndpoints(sendLarge),
    ...verificationEndpoints(world),
    ...integrationEndpoints(world),
    ...analysisEndpoints(world),
    ...feedEndpoints(world),
    ...eventEndpoints(),
    ...operatorEndpoints(world),
    ...healthEndpoints(world),
    ...openApiEndpoints(
      world.baseUrl,
      () => endpoints.map(({ declaration }) => declaration),
      sendLarge,
    ),
  ]
  return endpoints
}
