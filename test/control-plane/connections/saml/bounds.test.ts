/**
 * What is little in a message and much in its canonical form: a namespace that is declared once, around
 * all, is written at each element that uses it. Bounds are of characters, so that no clock decides.
 */
import t from 'tap'
import { ProviderProblem } from '../../../../control-plane/connections/provider-client.ts'
import { canonical } from '../../../../control-plane/connections/saml/canonical.ts'
import {
  readMessage,
  readResponse,
} from '../../../../control-plane/connections/saml/message-gate.ts'
import { readMetadata } from '../../../../control-plane/connections/saml/metadata.ts'
import { readAssertion } from '../../../../control-plane/connections/saml/read-assertion.ts'
import { readXml } from '../../../../control-plane/connections/saml/xml.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import {
  assertionXml,
  ENTITY_ID,
  honestFields,
  newSigningKey,
  posted,
  responseXml,
  signed,
} from '../../realm/connections/saml/saml-peer.ts'

const own = await newSigningKey()
const SENT = {
  ...{ requestId: '_request-of-this-test-0123456789', acsUrl: 'https://sp.example/acs' },
  ...{ audience: 'https://sp.example/metadata', isForced: false, xml: '' },
  url: new URL('https://idp.example/'),
}
const GRACE = { nameId: 'grace-1', attributes: { email: ['grace@company.example'] } }
const NAMESPACE_MAX = 512

const answer = () => responseXml(honestFields(SENT), assertionXml(honestFields(SENT), GRACE))
const around = (xml: string, namespace: string) =>
  xml.replace('<samlp:Response ', `<samlp:Response xmlns:q='${namespace}' `)

/** Whom it names, or why nobody. */
function read(xml: string): string {
  try {
    const expected = { issuer: ENTITY_ID, audience: SENT.audience, acsUrl: SENT.acsUrl }
    const whole = { ...expected, nowMs: Date.now() }
    const response = readResponse(readMessage(posted(xml)))
    return `in: ${readAssertion(response, [own.certificate], whole).nameId?.value}`
  } catch (error) {
    if (error instanceof ProviderProblem) return error.message
    throw error
  }
}

t.test('names of namespaces have a bound, in messages and in metadata', async (t) => {
  const most = 'u'.repeat(NAMESPACE_MAX)
  t.equal(read(signed(around(answer(), most), 'Assertion', own)), 'in: grace-1')
  const tooLong = /the name of a namespace is too long/
  t.match(read(signed(around(answer(), `${most}u`), 'Assertion', own)), tooLong)
  t.match(
    read(around(answer(), `${'u'.repeat(NAMESPACE_MAX - 1)}&#38;u`)),
    tooLong,
    'as it is read',
  )
  const metadata = `<EntityDescriptor xmlns="${most}u" entityID="x"/>`
  t.throws(() => readMetadata(metadata, Date.now()), { message: tooLong })
})

t.test('what a stranger has canonicalized has a bound of its own', async (t) => {
  const xml = signed(around(answer(), '"'.repeat(NAMESPACE_MAX)), 'Assertion', own)
  t.equal(read(xml), 'in: grace-1')
  const swollen = xml.replace('</SignedInfo>', `${'<q:x/>'.repeat(1000)}</SignedInfo>`)
  t.not(swollen, xml)
  t.match(read(swollen), /too large in its canonical form/)
  t.ok(LIMITS.samlSignedInfoCharactersMax < NAMESPACE_MAX * 1000)
})

t.test('what a provider has signed has one, too', async (t) => {
  const xml = around(answer(), 'u'.repeat(NAMESPACE_MAX))
  const withMany = (count: number) =>
    signed(
      xml.replace('</saml:AttributeStatement>', `${'<q:x/>'.repeat(count)}$&`),
      'Assertion',
      own,
    )
  t.equal(read(withMany(10)), 'in: grace-1')
  t.match(read(withMany(1050)), /too large in its canonical form/)
})

t.test('the bound is of all that is written', (t) => {
  const bounds = { elementsMax: 9, depthMax: 9, attributesMax: 9 }
  const root = readXml('<a:b xmlns:a="urn:a" c="&lt;">&gt;<d/></a:b>', bounds)
  const charactersMax = canonical(root, { charactersMax: Infinity }).length
  t.equal(canonical(root, { charactersMax }).length, charactersMax)
  const less = { charactersMax: charactersMax - 1 }
  t.throws(() => canonical(root, less), ProviderProblem)
  t.end()
})
