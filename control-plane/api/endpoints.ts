/** The one table of endpoints: what is not named here does not exist. How to add one: endpoint.ts. */
import { agentEndpoints, type AgentEndpointsWorld } from './agent-routes.ts'
import { analysisEndpoints, type AnalysisEndpointsWorld } from './analysis-routes.ts'
import { cliEndpoints, type CliEndpointsWorld } from './cli-routes.ts'
import { connectorEndpoints, type ConnectorEndpointsWorld } from './connector-routes.ts'
import { contractEndpoints } from './contract-routes.ts'
import { deviceCodeEndpoints, type DeviceCodeEndpointsWorld } from './device-code-routes.ts'
import { downloadEndpoints } from './download-routes.ts'
import type { Endpoint } from './endpoint.ts'
import { eventEndpoints } from './events/events-routes.ts'
import { feedEndpoints, type FeedEndpointsWorld } from './feed-routes.ts'
import { healthEndpoints, type HealthEndpointsWorld } from './health-routes.ts'
import { openApiEndpoints } from './openapi/openapi-routes.ts'
import { operatorEndpoints, type OperatorEndpointsWorld } from './operator/operator-routes.ts'
import { installEndpoints, type InstallEndpointsWorld } from './install-routes.ts'
import { createLargeAnswers } from '../http/large-answers.ts'
import { integrationEndpoints, type IntegrationEndpointsWorld } from './integration-routes.ts'
import { publicKeyEndpoints, type PublicKeyEndpointsWorld } from './public-key-routes.ts'
import { verificationEndpoints, type VerificationEndpointsWorld } from './verification-routes.ts'

type EndpointsWorld = OperatorEndpointsWorld &
  PublicKeyEndpointsWorld &
  VerificationEndpointsWorld &
  IntegrationEndpointsWorld &
  AnalysisEndpointsWorld &
  CliEndpointsWorld &
  DeviceCodeEndpointsWorld &
  ConnectorEndpointsWorld &
  AgentEndpointsWorld &
  InstallEndpointsWorld &
  FeedEndpointsWorld &
  HealthEndpointsWorld

export function apiEndpoints(world: EndpointsWorld): readonly Endpoint[] {
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
