/** Sign-in by the company's own identity provider. */
import type { Connection } from '../../connections/connections.ts'
import {
  ConnectionAnswer,
  ConnectionPatchBody,
  ConnectionTestAnswer,
  IdentityAnswer,
  NewConnectionBody,
} from '../../requests/connection-fields.ts'
import { fromOutside, viewOf } from '../../requests/field-names.ts'
import { NothingBody } from '../../requests/fields.ts'
import { pageOf } from '../../requests/paging.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import { RemovedUserAnswer } from '../answer-fields.ts'
import { enforcedAnswers, WAITS } from './enforced-answers.ts'
import { offersSignOut, speaksOpenId } from '../../connections/presets.ts'
import { backChannelUrlOf, enteredUrlOf, signedOutUrlOf } from '../../connections/addresses.ts'
import type { ApiWorld } from '../world.ts'

const operator = endpointsOf('connections', 'operator')
const ALL = '/api/v1/operator/tenants/{tenant_id}/connections'
const ONE = `${ALL}/{connection_id}` as const
const OF_PERSON = '/api/v1/operator/tenants/{tenant_id}/users/{user_id}/connections'
const ofTest = viewOf(ConnectionTestAnswer)
const ofIdentity = viewOf(IdentityAnswer)

export function connectionEndpoints(world: ApiWorld): readonly Endpoint[] {
  const { tenants, users, connections, personIdentities, connectionTickets, baseUrl } = world
  const enforcement = enforcedAnswers(world)
  const ofConnection = viewOf(ConnectionAnswer)
  const view = (connection: Connection) =>
    ofConnection({
      ...connection,
      redirectUri: enteredUrlOf(baseUrl, connection),
      postLogoutRedirectUri: offersSignOut(connection.preset)
        ? signedOutUrlOf(baseUrl, connection)
        : null,
      backChannelLogoutUri: speaksOpenId(connection.preset)
        ? backChannelUrlOf(baseUrl, connection)
        : null,
    })
  return [
    operator.post(ALL, {
      summary: 'Creates a connection to an identity provider, as a draft.',
      description:
        'By OpenID Connect, or GitHub’s OAuth. Test it with `/test`, then `/activate` it. The issuer must be `https://` and resolve to ' +
        'public addresses only.',
      body: NewConnectionBody,
      example: {
        preset: 'oidc',
        name: 'Acme',
        issuer: 'https://id.acme.example',
        client_id: 'service',
        client_secret: 'a-secret-of-acme',
      },
      answers: { 201: json(ConnectionAnswer, 'The connection, without its secret.') },
      refusals: ['connections_exhausted'],
      handle: async (c, { path, body }) =>
        c.json(view(await connections.create(path.tenant_id, fromOutside(body), c.var.actor)), 201),
    }),
    operator.get(ALL, {
      summary: 'Lists the connections, oldest first.',
      answers: { 200: json(pageOf(ConnectionAnswer), 'Every connection.') },
      handle: async (c, { path }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        return c.json({ items: (await connections.list(tenantId)).map(view), next: null })
      },
    }),
    operator.get(ONE, {
      summary: 'Shows one connection.',
      answers: { 200: json(ConnectionAnswer, 'The connection, without its secret.') },
      refusals: ['connection_not_found'],
      handle: async (c, { path }) =>
        c.json(view(await connections.get(path.tenant_id, path.connection_id))),
    }),
    operator.patch(ONE, {
      summary: 'Changes a connection; fields you leave out stay.',
      description:
        'With another issuer, client ID, client secret or hosted domain it is a draft again and ' +
        'leaves the sign-in page until it is tested and activated.',
      body: ConnectionPatchBody,
      example: { name: 'Acme staff' },
      answers: { 200: json(ConnectionAnswer, 'The updated connection.') },
      refusals: ['connection_not_found', 'connection_required'],
      handle: async (c, { path, body }) => {
        const { tenant_id: tenantId, connection_id: connectionId } = path
        const patch = fromOutside(body)
        return c.json(view(await connections.patch(tenantId, connectionId, patch, c.var.actor)))
      },
    }),
    operator.delete(ONE, {
      summary: 'Deletes a connection; accounts stay, without their way in by it.',
      answers: { 204: nothing('The connection is deleted.') },
      refusals: ['connection_not_found', 'connection_required'],
      handle: async (c, { path }) => {
        await connections.remove(path.tenant_id, path.connection_id, c.var.actor)
        return c.body(null, 204)
      },
    }),
    operator.post(`${ONE}/test`, {
      summary: 'Makes a link for a test sign-in, which shows every claim and signs nobody in.',
      body: NothingBody,
      answers: { 200: json(ConnectionTestAnswer, 'The link, for ten minutes.') },
      refusals: ['connection_not_found'],
      handle: async (c, { path }) => {
        const connection = await connections.get(path.tenant_id, path.connection_id)
        const { url, until } = connectionTickets.linkFor(baseUrl, connection, c.var.actor.name)
        return c.json(ofTest({ testUrl: url, expiresAt: until }))
      },
    }),
    operator.post(`${ONE}/activate`, {
      summary: 'Puts a tested connection on the sign-in page.',
      body: NothingBody,
      answers: { 200: json(ConnectionAnswer, 'The active connection.') },
      refusals: ['connection_not_found', 'connection_not_tested'],
      handle: async (c, { path }) => {
        const { tenant_id: tenantId, connection_id: connectionId } = path
        return c.json(view(await connections.activate(tenantId, connectionId, c.var.actor)))
      },
    }),
    operator.post(`${ONE}/deactivate`, {
      summary: 'Takes a connection off the sign-in page; existing sessions continue.',
      body: NothingBody,
      answers: { 200: json(ConnectionAnswer, 'The connection, still tested.') },
      refusals: ['connection_not_found', 'connection_required'],
      handle: async (c, { path }) => {
        const { tenant_id: tenantId, connection_id: connectionId } = path
        return c.json(view(await connections.deactivate(tenantId, connectionId, c.var.actor)))
      },
    }),
    operator.get(OF_PERSON, {
      summary: 'Lists the connections that a user signs in with.',
      answers: { 200: json(pageOf(IdentityAnswer), 'Every account at a provider.') },
      handle: async (c, { path }) => {
        const { tenantId, userId } = await users.get(path.tenant_id, path.user_id)
        const items = (await personIdentities.list(tenantId, userId)).map(ofIdentity)
        return c.json({ items, next: null })
      },
    }),
    operator.delete(`${OF_PERSON}/{connection_id}`, {
      summary: 'Disconnects a user from a connection, and ends their sessions.',
      description:
        `${WAITS} Whoever signs in at the provider connects the account again only by showing ` +
        'that it is theirs; at once where the domain of its address is proven for the connection ' +
        'and it has no password or second factor. To keep someone out, disable the account.',
      answers: {
        202: json(RemovedUserAnswer, 'Disconnected, but a gateway has not confirmed it yet.'),
        204: nothing('Disconnected, and every gateway refuses their sessions.'),
      },
      refusals: ['identity_not_found'],
      handle: async (c, { path }) => {
        const { tenantId, userId } = await users.get(path.tenant_id, path.user_id)
        const ended = await personIdentities.remove(
          tenantId,
          userId,
          path.connection_id,
          c.var.actor,
        )
        return enforcement.gone(c, tenantId, await ended.enforced, { user_id: userId })
      },
    }),
  ]
}
