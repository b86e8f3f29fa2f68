/** Other applications that sign people in by a tenant's realm. */
import { issuerOf } from '../../../shared/issuer.ts'
import type { RealmClient } from '../../realm/clients/realm-clients.ts'
import {
  NewRealmClientAnswer,
  NewRealmClientBody,
  RealmClientAnswer,
} from '../../requests/client-fields.ts'
import { fromOutside, viewOf } from '../../requests/field-names.ts'
import { pageOf } from '../../requests/paging.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import type { ApiWorld } from '../world.ts'

const operator = endpointsOf('connections', 'operator')
const CLIENTS = '/api/v1/operator/tenants/{tenant_id}/clients'
const CLIENT = `${CLIENTS}/{client_id}` as const
const fieldsOf = viewOf(RealmClientAnswer)

export function clientEndpoints({ realmClients, baseUrl }: ApiWorld): readonly Endpoint[] {
  const view = (client: RealmClient) =>
    fieldsOf({ ...client, issuer: issuerOf(baseUrl, client.tenantId) })
  return [
    operator.get(CLIENTS, {
      summary: 'Lists the other applications that sign people in by this tenant, oldest first.',
      answers: { 200: json(pageOf(RealmClientAnswer), 'Every OIDC client.') },
      handle: async (c, { path }) => {
        const items = (await realmClients.list(path.tenant_id)).map(view)
        return c.json({ items, next: null })
      },
    }),
    operator.post(CLIENTS, {
      summary: 'Registers another application, which signs people in by OpenID Connect.',
      description:
        'Code flow with PKCE, and the secret by HTTP Basic. Its ID tokens are no sessions: no gateway takes them.',
      body: NewRealmClientBody,
      example: { name: 'Wiki', redirect_uris: ['https://wiki.acme.example/callback'] },
      answers: { 201: json(NewRealmClientAnswer, 'The client, with its secret.') },
      refusals: ['clients_full'],
      handle: async (c, { path, body }) => {
        const made = await realmClients.create(path.tenant_id, fromOutside(body), c.var.actor)
        return c.json({ ...view(made), client_secret: made.clientSecret }, 201)
      },
    }),
    operator.get(CLIENT, {
      summary: 'Shows one OIDC client.',
      answers: { 200: json(RealmClientAnswer, 'The client, without its secret.') },
      refusals: ['client_not_found'],
      handle: async (c, { path }) =>
        c.json(view(await realmClients.get(path.tenant_id, path.client_id))),
    }),
    operator.delete(CLIENT, {
      summary: 'Deletes an OIDC client: nobody signs in by it any more.',
      description: 'Sessions that the application has begun by itself are its own to end.',
      answers: { 204: nothing('The client is deleted.') },
      refusals: ['client_not_found'],
      handle: async (c, { path }) => {
        await realmClients.remove(path.tenant_id, path.client_id, c.var.actor)
        return c.body(null, 204)
      },
    }),
  ]
}
