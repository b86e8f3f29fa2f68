/** Connectors of a tenant in connector mode, and the tokens that they join with. */
import type { ConnectorStatus } from '../../connectors/connector-status.ts'
import {
  AuthorityAnswer,
  AuthorityRotationBody,
  ConnectorAnswer,
  ConnectorAtGatewayAnswer,
  ConnectorErrorAnswer,
  ConnectorTokenAnswer,
  NewConnectorTokenAnswer,
  NewConnectorTokenBody,
  WaitingConnectorAnswer,
} from '../../requests/connector-fields.ts'
import { fromOutside, viewOf } from '../../requests/field-names.ts'
import { pageOf } from '../../requests/paging.ts'
import { RemovedConnectorAnswer } from '../answer-fields.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import { enforcedAnswers, WAITS } from './enforced-answers.ts'
import type { ApiWorld } from '../world.ts'

const operator = endpointsOf('connectors', 'operator')
const TENANT = '/api/v1/operator/tenants/{tenant_id}'
const TOKENS = `${TENANT}/connector-tokens` as const
const CONNECTORS = `${TENANT}/connectors` as const
const AUTHORITY = '/api/v1/operator/connector-authority'
const WAITING_SHOWN = 20

export function operatorConnectorEndpoints(world: ApiWorld): readonly Endpoint[] {
  const { joinTokens, connectors, connectorAuthority } = world
  const enforcement = enforcedAnswers(world)

  async function authorityView() {
    const { waitingConnectors, ...keys } = await connectorAuthority.status(WAITING_SHOWN)
    const shown = waitingConnectors.map(viewOf(WaitingConnectorAnswer))
    return viewOf(AuthorityAnswer)({ ...keys, waitingConnectors: shown })
  }

  return [
    operator.get(AUTHORITY, {
      summary:
        'Returns the key that lists of gateways are signed with, and how far its rotation is.',
      answers: { 200: json(AuthorityAnswer, 'The keys.') },
      handle: async (c) => c.json(await authorityView()),
    }),
    operator.post(`${AUTHORITY}/rotate`, {
      summary:
        'Rotates the key that lists of gateways are signed with: announces the next, then uses it.',
      description:
        '`prepare` announces the next key in lists that the current one signs; connectors keep it and ' +
        'confirm it with their next question. `promote` is refused while connectors have not, unless ' +
        'forced; those follow by the word of the key before when they are back.',
      body: AuthorityRotationBody,
      example: { phase: 'prepare' },
      answers: { 200: json(AuthorityAnswer, 'The keys as they are now.') },
      refusals: ['rotation_state'],
      handle: async (c, { body: { phase, ...how } }) => {
        if (phase === 'prepare') await connectorAuthority.prepare(c.var.actor)
        else await connectorAuthority.promote(how, c.var.actor)
        return c.json(await authorityView())
      },
    }),
    operator.post(TOKENS, {
      summary: 'Creates a join token for connectors: for one of them and 24 hours by default.',
      description: 'Give it to `service-connector join --token-file`. Connector mode only.',
      body: NewConnectorTokenBody,
      example: { name: 'Berlin' },
      answers: { 201: json(NewConnectorTokenAnswer, 'The token.') },
      refusals: ['mode_not_connector', 'connector_tokens_full'],
      handle: async (c, { path, body }) => {
        const made = await joinTokens.make(path.tenant_id, fromOutside(body), c.var.actor)
        return c.json(viewOf(NewConnectorTokenAnswer)(made), 201)
      },
    }),
    operator.get(TOKENS, {
      summary: 'Lists the join tokens that still work, without the tokens themselves.',
      answers: { 200: json(pageOf(ConnectorTokenAnswer), 'Every token, oldest first.') },
      refusals: ['mode_not_connector'],
      handle: async (c, { path }) => {
        const items = (await joinTokens.list(path.tenant_id)).map(viewOf(ConnectorTokenAnswer))
        return c.json({ items, next: null })
      },
    }),
    operator.delete(`${TOKENS}/{token_id}`, {
      summary: 'Deletes a join token; connectors that joined with it stay.',
      answers: { 204: nothing('The token is deleted.') },
      refusals: ['connector_token_not_found'],
      handle: async (c, { path }) => {
        await joinTokens.remove(path.tenant_id, path.token_id, c.var.actor)
        return c.body(null, 204)
      },
    }),
    operator.get(CONNECTORS, {
      summary: 'Lists the connectors, and how each is doing at each gateway.',
      answers: { 200: json(pageOf(ConnectorAnswer), 'Every connector, oldest first.') },
      refusals: ['mode_not_connector'],
      handle: async (c, { path }) => {
        const items = (await connectors.list(path.tenant_id)).map(connectorView)
        return c.json({ items, next: null })
      },
    }),
    operator.delete(`${CONNECTORS}/{connector_id}`, {
      summary: 'Revokes a connector: all of its connections are closed.',
      description: WAITS,
      answers: {
        202: json(
          RemovedConnectorAnswer,
          'The connector is revoked, but a gateway has not confirmed it yet.',
        ),
        204: nothing('The connector is revoked, and no gateway has a connection to it.'),
      },
      refusals: ['connector_not_found'],
      handle: async (c, { path: { tenant_id: tenantId, connector_id: connectorId } }) => {
        await connectors.revoke(tenantId, connectorId, c.var.actor)
        const enforced = await world.changeEnforced(tenantId)
        return enforcement.gone(c, tenantId, enforced, { connector_id: connectorId })
      },
    }),
  ]
}

const ofConnector = viewOf(ConnectorAnswer)
const ofGateway = viewOf(ConnectorAtGatewayAnswer)
const ofError = viewOf(ConnectorErrorAnswer)

function connectorView(one: ConnectorStatus) {
  const gateways = one.gateways.map((at) =>
    ofGateway({ ...at, since: at.sinceMs, lastError: errorView(at.lastError) }),
  )
  return ofConnector({ ...one, lastError: errorView(one.lastError), gateways })
}

const errorView = (error: ConnectorStatus['lastError']) =>
  error && ofError({ reason: error.reason, at: error.atMs })
