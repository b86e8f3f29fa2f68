/** What is SAML's own about a connection; all else is as with any other one. */
import { acsUrlOf, entityIdOf } from '../../connections/addresses.ts'
import type { SamlConnection } from '../../connections/saml/saml-connections.ts'
import { fromOutside, iso, viewOf } from '../../requests/field-names.ts'
import { NothingBody } from '../../requests/fields.ts'
import { NewSamlBody, SamlAnswer, SamlPatchBody } from '../../requests/saml-fields.ts'
import { endpointsOf, json, type Endpoint } from '../endpoint.ts'
import type { ApiWorld } from '../world.ts'

const operator = endpointsOf('connections', 'operator')
const ALL = '/api/v1/operator/tenants/{tenant_id}/connections'
const NEW = '/api/v1/operator/tenants/{tenant_id}/saml-connections'
const ONE = `${ALL}/{connection_id}/saml` as const

export function samlEndpoints({ samlConnections, baseUrl }: ApiWorld): readonly Endpoint[] {
  const ofSaml = viewOf(SamlAnswer)
  const view = (connection: SamlConnection) =>
    ofSaml({
      ...connection,
      entityId: entityIdOf(baseUrl, connection),
      acsUrl: acsUrlOf(baseUrl, connection),
      certificates: connection.certificates.map(({ fingerprint, startsAt, endsAt }) => {
        return { fingerprint, starts_at: iso(startsAt), ends_at: iso(endsAt) }
      }),
    })
  return [
    operator.post(NEW, {
      summary: 'Creates a connection to an identity provider by SAML 2.0, as a draft.',
      description:
        'Enter `entity_id` and `acs_url` at the provider, then use `/test` and ' +
        '`/activate`, as for every connection.',
      body: NewSamlBody,
      example: {
        name: 'Acme',
        metadata_url: 'https://id.acme.example/saml/metadata',
        groups_attribute: 'groups',
        groups: [{ value: 'Finance Team', group: 'finance' }],
      },
      answers: { 201: json(SamlAnswer, 'The connection.') },
      refusals: ['connections_exhausted'],
      handle: async (c, { path, body }) =>
        c.json(
          view(await samlConnections.create(path.tenant_id, fromOutside(body), c.var.actor)),
          201,
        ),
    }),
    operator.get(ONE, {
      summary: 'Shows what is SAML’s own about a connection.',
      answers: { 200: json(SamlAnswer, 'The connection.') },
      refusals: ['connection_not_found'],
      handle: async (c, { path }) =>
        c.json(view(await samlConnections.get(path.tenant_id, path.connection_id))),
    }),
    operator.patch(ONE, {
      summary: 'Changes a SAML connection; fields you leave out stay.',
      description:
        'It is a draft again, and leaves the sign-in page, with another `subject_attribute` or `email_attribute`, and ' +
        'with metadata of another entity ID, another sign-in address, or without any of the ' +
        'certificates so far. `subject_attribute` cannot change once people sign in by the connection.',
      body: SamlPatchBody,
      example: { email_attribute: 'mail' },
      answers: { 200: json(SamlAnswer, 'The updated connection.') },
      refusals: ['connection_not_found', 'connection_required'],
      handle: async (c, { path, body }) => {
        const { tenant_id: tenantId, connection_id: connectionId } = path
        const patch = fromOutside(body)
        return c.json(view(await samlConnections.patch(tenantId, connectionId, patch, c.var.actor)))
      },
    }),
    operator.post(`${ONE}/refresh`, {
      summary: 'Reads the metadata at its address now, as it is each day.',
      body: NothingBody,
      answers: { 200: json(SamlAnswer, 'The connection, by its newest metadata.') },
      refusals: ['connection_not_found'],
      handle: async (c, { path }) => {
        const { tenant_id: tenantId, connection_id: connectionId } = path
        return c.json(view(await samlConnections.refresh(tenantId, connectionId, c.var.actor)))
      },
    }),
  ]
}
