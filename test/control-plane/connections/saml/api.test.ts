/** SAML connections by the operator API: what each call answers is as the document says. */
import t from 'tap'
import * as v from 'valibot'
import { SamlAnswer } from '../../../../control-plane/requests/saml-fields.ts'
import { ConnectionAnswer } from '../../../../control-plane/requests/connection-fields.ts'
import { startApi } from '../../../support/api.ts'
import { ACTOR, tenantNamed } from '../../../support/control-plane.ts'
import { startPeer } from '../../realm/connections/provider-peer.ts'
import {
  ENTITY_ID,
  metadataXml,
  newEcKey,
  newSigningKey,
} from '../../realm/connections/saml/saml-peer.ts'

t.test('a connection is made, shown, changed and read anew', async (t) => {
  const peer = await startPeer(t)
  const { call, services } = await startApi(t, { receivers: peer.receivers })
  await services.tenants.create(tenantNamed('acme', { hostnames: ['acme.localhost'] }), ACTOR)
  const [key, next] = [await newSigningKey(), newEcKey()]
  let document = metadataXml([key.certificate])
  peer.answerWith((_path, response) => {
    response.writeHead(200).end(document)
    return true
  })
  const ALL = '/api/v1/operator/tenants/acme/connections'
  const groups = [{ value: 'CN=Finance,DC=acme', group: 'finance' }]
  const made = await call('POST', '/api/v1/operator/tenants/acme/saml-connections', {
    ...{ name: 'Acme', metadata_url: `${peer.issuer}/metadata` },
    ...{ groups_attribute: 'groups', groups },
  })
  t.equal(made.status, 201)
  const said = v.parse(SamlAnswer, made.body)
  t.match(said, { state: 'draft', issuer: ENTITY_ID, subject_attribute: null, groups })
  t.equal(said.certificates.length, 1)
  t.match(said.acs_url, `/connections/${said.connection_id}/acs`)
  const ONE = `${ALL}/${said.connection_id}`
  t.same((await call('GET', `${ONE}/saml`)).body, made.body)
  const shared = v.parse(ConnectionAnswer, (await call('GET', ONE)).body)
  t.match(shared, { preset: 'saml', client_id: '', redirect_uri: said.acs_url })
  t.match(
    shared,
    { post_logout_redirect_uri: null, back_channel_logout_uri: null },
    'nothing to enter there that is refused here',
  )

  document = metadataXml([key.certificate, next.certificate])
  const refreshed = await call('POST', `${ONE}/saml/refresh`, {})
  t.equal(v.parse(SamlAnswer, refreshed.body).certificates.length, 2)
  const patch = { signs_requests: true, mfa_values: ['urn:x'], name: 'Acme staff' }
  const changed = await call('PATCH', `${ONE}/saml`, patch)
  t.match(v.parse(SamlAnswer, changed.body), { signs_requests: true, name: 'Acme staff' })

  for (const [field, body] of [
    ['groups_attribute', { groups_attribute: null }],
    ['metadata', { metadata: 'x' }],
    ['metadata', { metadata: document, metadata_url: `${peer.issuer}/metadata` }],
    ['groups', { groups: [{ value: 'x', group: '../x' }] }],
    ['subject_attribute', { subject_attribute: '' }],
  ] as const) {
    const refused = await call('PATCH', `${ONE}/saml`, body)
    t.match([refused.status, refused.body], [400, { error: 'field_invalid', field }], field)
  }
  const oidc = await call('POST', ALL, {
    preset: 'saml',
    name: 'x',
    issuer: 'https://x.example',
    client_id: 'x',
    client_secret: 'x',
  })
  t.match([oidc.status, oidc.body], [400, { field: 'preset' }])
  t.match([(await call('PATCH', ONE, { issuer: 'https://x.example' })).status], [400])
  t.equal((await call('PATCH', ONE, { name: 'By both ways' })).status, 200)
  t.equal((await call('GET', `${ALL}/con_${'0'.repeat(32)}/saml`)).status, 404)
})
