/** What stands between people and their sign-in: blocked addresses, and lost second factors. */
import { AddressBlock, Factor } from '../answer-fields.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import { mapPage, PAGE_QUERY, pageOf } from '../../requests/paging.ts'
import { viewOf } from '../../requests/field-names.ts'
import type { ApiWorld } from '../world.ts'

const operator = endpointsOf('people', 'operator')
const BLOCKS = '/api/v1/operator/tenants/{tenant_id}/address-blocks'
const FACTORS = '/api/v1/operator/tenants/{tenant_id}/users/{user_id}/factors'

export function signInEndpoints(world: ApiWorld): readonly Endpoint[] {
  const { tenants, users, addressBlocks, factors, accountMail } = world
  return [
    operator.get(BLOCKS, {
      summary: 'Lists the IP addresses blocked after too many failed sign-ins.',
      query: PAGE_QUERY,
      answers: { 200: json(pageOf(AddressBlock), 'One page of blocked addresses.') },
      handle: async (c, { path, query }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        return c.json(mapPage(await addressBlocks.list(tenantId, query), viewOf(AddressBlock)))
      },
    }),
    operator.delete(`${BLOCKS}/{address}`, {
      summary: 'Lifts the block of one IP address.',
      answers: { 204: nothing('It can try again now.') },
      refusals: ['address_block_not_found'],
      handle: async (c, { path }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        await addressBlocks.lift(tenantId, path.address, c.var.actor)
        return c.body(null, 204)
      },
    }),
    operator.get(FACTORS, {
      summary: "Lists a user's second factors.",
      answers: { 200: json(pageOf(Factor), 'Every second factor.') },
      handle: async (c, { path }) => {
        const { tenantId, userId } = await users.get(path.tenant_id, path.user_id)
        const items = await factors.list({ tenantId, userId })
        return c.json({ items: items.map(factorView), next: null })
      },
    }),
    operator.delete(`${FACTORS}/{factor_id}`, {
      summary: 'Removes a second factor, for example a lost one.',
      description: 'The next sign-in follows the policy for users without one.',
      answers: { 204: nothing('The second factor is removed.') },
      refusals: ['factor_not_found'],
      handle: async (c, { path }) => {
        const user = await users.get(path.tenant_id, path.user_id)
        await factors.remove(user, path.factor_id, c.var.actor, {
          alongside: async (change, { kind }) => {
            if (kind !== 'recovery')
              await accountMail.tellFactorsChanged(change, user, `${kind}_removed`, '')
          },
        })
        accountMail.deliver()
        return c.body(null, 204)
      },
    }),
  ]
}

export const factorView = viewOf(Factor)
