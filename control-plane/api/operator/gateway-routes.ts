/** The gateways, how far each has come, and their keys. */
import { fleetOf } from '../../fleet/fleet-list.ts'
import { isEverywhere, type Enforced } from '../../store/enforced.ts'
import type { ApiContext } from '../../http/context.ts'
import { Gateway, NewGatewayKeyAnswer, RevokedGatewayAnswer } from '../answer-fields.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import { pageOf } from '../../requests/paging.ts'
import { NewGatewayKeyBody } from '../../requests/key-fields.ts'
import { viewOf } from '../../requests/field-names.ts'
import { gatewaysView, WAITS } from './enforced-answers.ts'
import type { ApiWorld } from '../world.ts'

const fleet = endpointsOf('fleet', 'operator')
const GATEWAYS = '/api/v1/operator/gateways'
const UNCONFIRMED = json(RevokedGatewayAnswer, 'Done, but a gateway has not confirmed it yet.')

/** 204 where every other gateway accepts nothing from it any more. */
function gone(c: ApiContext, gatewayId: string, enforced: Enforced) {
  if (isEverywhere(enforced)) return c.body(null, 204)
  return c.json({ gateway_id: gatewayId, enforced: gatewaysView(enforced) }, 202)
}

export function gatewayEndpoints(world: ApiWorld): readonly Endpoint[] {
  const { gatewayKeys } = world
  return [
    fleet.get(GATEWAYS, {
      summary: 'Lists the gateways with their keys, progress and rejected tenants.',
      answers: { 200: json(pageOf(Gateway), 'Every gateway.') },
      handle: async (c) => {
        const revision = await world.store.revision()
        const items = fleetOf(world.gateways(), await gatewayKeys.list(), revision)
        return c.json({ items, next: null })
      },
    }),
    fleet.post(GATEWAYS, {
      summary: 'Creates a key for a gateway, its first one or a replacement.',
      description:
        'The gateway reads it from SERVICE_FLEET_KEY. A key works for one `gateway_id` only. ' +
        'To replace one: create the second, restart the gateway with it (and with the old one as ' +
        'SERVICE_FLEET_KEY_PREVIOUS, which decrypts the state on its disk), then revoke the first.',
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
      summary: 'Revokes one key: a gateway connected with it is disconnected immediately.',
      description: `${WAITS} Until then, another gateway may still accept what the disconnected one sends it.`,
      answers: { 202: UNCONFIRMED, 204: nothing('The key is revoked, and every gateway knows.') },
      refusals: ['gateway_not_found'],
      handle: async (c, { path }) => {
        const enforced = await gatewayKeys.revoke(path.gateway_id, path.key_id, c.var.actor)
        return gone(c, path.gateway_id, enforced)
      },
    }),
    fleet.delete(`${GATEWAYS}/{gateway_id}`, {
      summary: 'Removes a gateway: all its keys are revoked, and changes no longer wait for it.',
      description:
        'Stop it first: it keeps serving the state on its disk and receives no more revocations. ' +
        `If someone else may control it, rotate client secrets and certificates too. ${WAITS}`,
      answers: { 202: UNCONFIRMED, 204: nothing('The gateway is removed, and the others know.') },
      refusals: ['gateway_not_found'],
      handle: async (c, { path }) => {
        const enforced = await gatewayKeys.remove(path.gateway_id, c.var.actor)
        return gone(c, path.gateway_id, enforced)
      },
    }),
  ]
}
