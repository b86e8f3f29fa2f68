/** People and groups that a tenant's own provider pushes: its tokens, and what it has asked for. */
import { fromOutside, viewOf } from '../../requests/field-names.ts'
import { NothingBody } from '../../requests/fields.ts'
import { PAGE_QUERY, pageOf } from '../../requests/paging.ts'
import {
  HandedOverAnswer,
  NewScimTokenAnswer,
  NewScimTokenBody,
  ScimRequestAnswer,
  ScimTokenAnswer,
} from '../../requests/scim-fields.ts'
import { scimBaseOf } from '../../scim/answer-request.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import type { ApiWorld } from '../world.ts'

const operator = endpointsOf('provisioning', 'operator')
const TENANT = '/api/v1/operator/tenants/{tenant_id}'
const TOKENS = `${TENANT}/scim-tokens` as const

const ofToken = viewOf(ScimTokenAnswer)
const ofNew = viewOf(NewScimTokenAnswer)
const ofRequest = viewOf(ScimRequestAnswer)
const ofHandedOver = viewOf(HandedOverAnswer)

export function scimEndpoints(world: ApiWorld): readonly Endpoint[] {
  const { tenants, scimTokens, scimPeople, scimLog, baseUrl } = world
  return [
    operator.post(TOKENS, {
      summary: 'Creates a token with which a provider pushes people and groups (SCIM 2.0).',
      description: 'Several work at the same time, so that one can be replaced without a pause.',
      body: NewScimTokenBody,
      example: { name: 'Entra' },
      answers: { 201: json(NewScimTokenAnswer, 'The token.') },
      refusals: ['scim_tokens_full', 'connection_not_found'],
      handle: async (c, { path, body }) => {
        const { tenant_id: tenantId } = path
        const made = await scimTokens.make(tenantId, fromOutside(body), c.var.actor)
        return c.json(ofNew({ ...made, baseUrl: scimBaseOf(baseUrl, tenantId) }), 201)
      },
    }),
    operator.get(TOKENS, {
      summary: 'Lists the tokens that still work, without the tokens themselves.',
      answers: { 200: json(pageOf(ScimTokenAnswer), 'Every token, oldest first.') },
      handle: async (c, { path }) =>
        c.json({ items: (await scimTokens.list(path.tenant_id)).map(ofToken), next: null }),
    }),
    operator.delete(`${TOKENS}/{token_id}`, {
      summary: 'Revokes a token: the next request with it is refused. People and groups stay.',
      answers: { 204: nothing('The token is revoked.') },
      refusals: ['scim_token_not_found'],
      handle: async (c, { path }) => {
        await scimTokens.remove(path.tenant_id, path.token_id, c.var.actor)
        return c.body(null, 204)
      },
    }),
    operator.get(`${TENANT}/scim-requests`, {
      summary: 'Lists what providers have asked for and how it was answered, newest first.',
      query: { limit: PAGE_QUERY.limit },
      answers: { 200: json(pageOf(ScimRequestAnswer), 'The newest requests, on one page.') },
      handle: async (c, { path, query }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        const items = (await scimLog.list(tenantId, query.limit)).map(ofRequest)
        return c.json({ items, next: null })
      },
    }),
    operator.post(`${TENANT}/users/{user_id}/hand-over`, {
      summary:
        'Hands an existing user over to the provider, which can change and delete it from then on.',
      description:
        'The provider finds the user by its email address as `userName`. Password and second factors keep working.',
      body: NothingBody,
      answers: { 200: json(HandedOverAnswer, 'The user, as the provider sees it.') },
      refusals: ['user_not_found', 'user_elsewhere', 'username_taken'],
      handle: async (c, { path }) =>
        c.json(ofHandedOver(await scimPeople.handOver(path.tenant_id, path.user_id, c.var.actor))),
    }),
  ]
}
