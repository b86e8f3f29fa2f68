/** Metadata: what can be used of it, and what it changes where it is read anew. */
import t from 'tap'
import { readMetadata } from '../../../../control-plane/connections/saml/metadata.ts'
import { ownMetadata } from '../../../../control-plane/connections/saml/own-messages.ts'
import { schema } from '../../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { ACTOR, startWorld } from '../../realm/realm-world.ts'
import { startPeer } from '../../realm/connections/provider-peer.ts'
import { SETTINGS } from '../../realm/connections/saml/connected-by-saml.ts'
import {
  ENTITY_ID,
  metadataXml,
  newEcKey,
  newSigningKey,
  SSO_URL,
} from '../../realm/connections/saml/saml-peer.ts'
import { clockOf } from '../../../support/clocks.ts'

const one = await newSigningKey()
const two = newEcKey()
const read = (xml: string) => readMetadata(xml, Date.now())

t.test('who it is, where people sign in, and every certificate that signs', async (t) => {
  const xml = metadataXml([one.certificate, two.certificate, one.certificate])
  const found = read(xml)
  t.same([found.entityId, found.ssoUrl], [ENTITY_ID, SSO_URL])
  t.same(
    found.certificates.map(({ der }) => der),
    [one.certificate, two.certificate],
  )
  t.match(found.certificates[0]?.fingerprint, /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/)
  const wrapped = metadataXml([one.certificate.replace(/.{64}/g, '$&\n')])
  t.same(read(wrapped).certificates.length, 1)
  const inOne = xml.replace(/<\?xml[^>]*>\n/, '')
  const entities = (inside: string) =>
    `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata">${inside}</EntitiesDescriptor>`
  t.equal(read(entities(inOne)).entityId, ENTITY_ID)
  t.throws(() => read(entities(inOne + inOne)), { message: /2 providers/ })
  const over = 'validUntil="2020-01-01T00:00:00Z"'
  for (const group of [
    entities(inOne).replace('xmlns=', `${over} xmlns=`),
    entities(entities(inOne).replace('xmlns=', `${over} xmlns=`)),
  ])
    t.throws(() => read(group), { message: /no longer valid/ }, 'nor with the group around it')
  const encryption = xml.replace('use="signing"', 'use="encryption"')
  t.equal(read(encryption).certificates.length, 2, 'two of three are left')
})

t.test('what cannot be used says why', async (t) => {
  const xml = metadataXml([one.certificate])
  const own = ownMetadata({
    ...{ entityId: 'https://sp.example', acsUrl: 'https://sp.example/acs' },
    ...{ certificate: null, takesAnyNameId: false },
  })
  for (const [message, text] of [
    [/larger than 256 KiB/, xml + ' '.repeat(LIMITS.providerAnswerBytesMax)],
    [/DOCTYPE/, xml.replace('<EntityDescriptor', '<!DOCTYPE x>\n<EntityDescriptor')],
    [/not that of one identity provider/, own],
    [/not that of one/, xml.replaceAll('SAML:2.0:protocol', 'SAML:1.1:protocol')],
    [/no entity ID/, xml.replace(/entityID="[^"]*"/, '')],
    [/no entity ID/, metadataXml([one.certificate], { entityId: 'with space' })],
    [/HTTP-Redirect/, xml.replace('HTTP-Redirect', 'HTTP-Artifact')],
    [/must be https/, metadataXml([one.certificate], { ssoUrl: 'http://idp.example/' })],
    [/must be https/, metadataXml([one.certificate], { ssoUrl: 'https://u:p@idp.example/' })],
    [/no certificate that can be used/, metadataXml([])],
    [/no certificate that can be used/, metadataXml(['AAAA'])],
    [/no certificate that can be used/, metadataXml([one.certificate.slice(0, -8)])],
    [
      /no longer valid/,
      metadataXml([one.certificate], { attributes: ' validUntil="2020-01-01T00:00:00Z"' }),
    ],
    [/no longer valid/, metadataXml([one.certificate], { attributes: ' validUntil="soon"' })],
    [/more than 8 certificates/, metadataXml(Array.from({ length: 9 }, () => one.certificate))],
    [/not SAML metadata/, '<html></html>'],
    [/cannot be read/, 'https://idp.example/metadata'],
    [/cannot be read/, ''],
    [/comment inside/, xml.replace('</X509Certificate>', '<!-- x --></X509Certificate>')],
  ] as const)
    t.throws(() => read(text), { name: 'ProviderProblem', message }, String(message))
})

t.test('it is fetched as discovery is, each day, and never makes another provider', async (t) => {
  let aheadMs = 0
  const clock = clockOf(() => Date.now() + aheadMs)
  const peer = await startPeer(t)
  const world = await startWorld(t, { receivers: peer.receivers, clock })
  await world.tenant('acme')
  const { samlConnections: saml, connections, jobs, store } = world
  let document = metadataXml([one.certificate])
  let status = 200
  let asked = 0
  peer.answerWith((_path, response) => {
    asked++
    response.writeHead(status, status === 302 ? { location: '/x' } : {}).end(document)
    return true
  })
  const metadataUrl = `${peer.issuer}/metadata`
  const wished = { ...SETTINGS, metadata: null, metadataUrl }
  for (const url of ['http://id.company.example/', 'https://10.0.0.1/', 'https://[::1]/', 'x'])
    await t.rejects(
      saml.create('acme', { ...wished, metadataUrl: url }, ACTOR),
      { code: 'field_invalid', fields: { field: 'metadata_url' } },
      url,
    )
  status = 302
  const moved = await saml.create('acme', wished, ACTOR).catch((error: unknown) => error)
  t.match(moved, { code: 'field_invalid', detail: /status 302/ }, 'no redirect')
  status = 200
  await t.rejects(saml.create('acme', { ...wished, metadata: document }, ACTOR), {
    code: 'field_invalid',
  })
  await t.rejects(saml.create('acme', { ...wished, metadataUrl: null }, ACTOR), {
    code: 'field_invalid',
  })
  const { connectionId, updatedAt } = await saml.create('acme', wished, ACTOR)
  await connections.noteTested('acme', connectionId, updatedAt, ACTOR)
  await connections.activate('acme', connectionId, ACTOR)
  const round = async () => {
    await jobs.run()
    await world.metadataRefresh.settled() // others' servers are not waited for
    return saml.get('acme', connectionId)
  }
  const before = asked
  await jobs.run()
  t.equal(asked, before, 'not before a day is over')

  aheadMs += LIMITS.samlMetadataEveryMs + 1000
  document = metadataXml([one.certificate, two.certificate], {
    ssoUrl: 'https://idp.company.example/new',
  })
  const rolled = await round()
  t.same([rolled.state, rolled.certificates.length], ['active', 2])
  t.equal(rolled.ssoUrl, 'https://idp.company.example/new')

  for (const [wrong, problem] of [
    [
      metadataXml([one.certificate], { entityId: 'https://idp.mallory.example' }),
      /another provider/,
    ],
    [metadataXml([]), /no certificate/],
    ['x'.repeat(LIMITS.providerAnswerBytesMax + 1), /./],
  ] as const) {
    document = wrong
    aheadMs += LIMITS.samlMetadataEveryMs + 1000
    const kept = await round()
    t.match(kept.metadataProblem, problem)
    t.same([kept.issuer, kept.state, kept.certificates.length], [ENTITY_ID, 'active', 2])
  }
  await t.rejects(saml.refresh('acme', connectionId, ACTOR), { code: 'field_invalid' })
  document = metadataXml([two.certificate])
  const mended = await saml.refresh('acme', connectionId, ACTOR)
  t.same([mended.metadataProblem, mended.certificates.length], [null, 1])

  const audit = await store.read.select().from(schema.audit)
  const actions = audit.map(({ action, actor }) => `${action} (${actor})`)
  t.same(
    actions.filter((action) => action.startsWith('connection.metadata')),
    [
      'connection.metadata_changed (service)',
      ...Array.from({ length: 3 }, () => 'connection.metadata_failed (service)'),
      `connection.metadata_changed (${ACTOR.name})`,
    ],
  )
  const changed = audit.find(({ action }) => action === 'connection.metadata_changed')
  t.match(JSON.stringify(changed), /certificates_added.*sso_url|sso_url.*certificates_added/)

  const uploaded = {
    metadata: metadataXml([two.certificate], { ssoUrl: 'https://idp.company.example/other' }),
  }
  const other = await saml.patch('acme', connectionId, uploaded, ACTOR)
  t.same([other.metadataUrl, other.metadataDueAt, other.state], [null, null, 'draft'])
  await t.rejects(saml.refresh('acme', connectionId, ACTOR), { code: 'field_invalid' })
  const oidc = { issuer: 'https://id.mallory.example' }
  await t.rejects(connections.patch('acme', connectionId, oidc, ACTOR), { code: 'field_invalid' })
  await connections.remove('acme', connectionId, ACTOR)
  t.same(await store.read.select().from(schema.samlConnections), [])
})
