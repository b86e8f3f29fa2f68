/** The gateways, how far each has come, and their keys. */
import { fleetOf } from '../../fleet/fleet-list.ts'
import type { GatewayStatus } from '../../fleet/gateway-registry.ts'
import type { GatewayKeys } from '../../keys/gateway-keys.ts'
import { Gateway, NewGatewayKeyAnswer } from '../answer-fields.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import { pageOf } from '../../requests/paging.ts'
import { NewGatewayKeyBody } from '../../requests/key-fields.ts'
import { viewOf } from '../../requests/field-names.ts'

export interface GatewayEndpointsWorld {
  readonly gateways: () => readonly GatewayStatus[]
  readonly gatewayKeys: GatewayKeys
  readonly store: { revision(): Promise<number> }
}

const fleet = endpointsOf('fleet', 'operator')
const GATEWAYS = '/api/v1/operator/gateways'

export function gatewayEndpoints(world: GatewayEndpointsWorld): readonly Endpoint[] {
  const { gatewayKeys } = world
  return [
    fleet.get(GATEWAYS, {
      summary: 'Lists the gateways: keys, how far each has come, and what it could not serve.',
      answers: { 200: json(pageOf(Gateway), 'All of them.') },
      handle: async (c) => {
        const revision = await world.store.revision()
        const items = fleetOf(world.gateways(), await gatewayKeys.list(), revision)
        return c.json({ items, next: null })
      },
    }),
    fleet.post(GATEWAYS, {
      summary: 'Makes a key for a gateway: its first one, or the one that replaces it.',
      description:
        'The gateway reads it from SERVICE_FLEET_KEY. A key stands for one `gateway_id` and no other. ' +
        'To replace one: make the second, restart the gateway with it (and with the one before as ' +
        'SERVICE_FLEET_KEY_PREVIOUS, which opens what it has on its disk), then revoke the first.',
      body: NewGatewayKeyBody,
      example: { gateway_id: 'edge-1' },
      answers: { 201: json(NewGatewayKeyAnswer, 'The key.') },
      refusals: ['gateway_keys_full', 'gateways_full'],
      handle: async (c, { body }) => {
        const made = await gatewayKeys.make(body.gateway_id, c.var.actor)
        return c.json(viewOf(NewGatewayKeyAnswer)(made), 201)
      },
    }),
    fleet.delete(`${GATEWAYS}/{gateway_id}/keys/{key_id}`, {
      summary: 'Revokes one key: a gateway that is connected with it is cut off at once.',
      answers: { 204: nothing('It opens nothing any more.') },
      refusals: ['gateway_not_found'],
      handle: async (c, { path }) => {
        await gatewayKeys.revoke(path.gateway_id, path.key_id, c.var.actor)
        return c.body(null, 204)
      },
    }),
    fleet.delete(`${GATEWAYS}/{gateway_id}`, {
      summary: 'Removes a gateway: all of its keys are revoked, and answers wait for it no more.',
      description:
        'What it has on its disk it goes on serving, and it hears of no revocation: stop it first. ' +
        'If it was not yours any more, rotate client secrets and certificates as well.',
      answers: { 204: nothing('It is no part of the fleet any more.') },
      refusals: ['gateway_not_found'],
      handle: async (c, { path }) => {
        await gatewayKeys.remove(path.gateway_id, c.var.actor)
        return c.body(null, 204)
      },
    }),
  ]
}
