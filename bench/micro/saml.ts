/**
 * How long the largest SAML responses that are taken hold the event loop: read, gated, verified, and what
 * was signed read again. Each is signed rightly, since a wrong one ends earlier, and has as much of one
 * thing as is allowed: text, elements, depth, attributes, namespaces, certificates that do not fit.
 */
import { readMessage, readResponse } from '../../control-plane/connections/saml/message-gate.ts'
import { readAssertion } from '../../control-plane/connections/saml/read-assertion.ts'
import { ProviderProblem } from '../../control-plane/connections/provider-client.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  assertionXml,
  ENTITY_ID,
  honestFields,
  newSigningKey,
  posted,
  responseXml,
  signed,
} from '../../test/control-plane/realm/connections/saml/saml-peer.ts'

const ROUNDS = 15
const SENT = {
  ...{ requestId: '_request-of-the-bench-0123456789', acsUrl: 'https://sp.example/acs' },
  ...{ audience: 'https://sp.example/metadata', isForced: false, xml: '' },
  url: new URL('https://idp.example/'),
}
const own = await newSigningKey()
const others = await Promise.all(Array.from({ length: 7 }, newSigningKey))
const pinned = [...others, own].map(({ certificate }) => certificate)

/** Within what is left of 256 KiB when both are signed. */
const room = LIMITS.samlResponseBytesMax - 12_000
const elementsLeft = LIMITS.samlElementsMax - 60
const attributesLeft = LIMITS.samlAttributesMax - 120
const times = (count: number, one: (at: number) => string) =>
  Array.from({ length: Math.max(0, Math.floor(count)) }, (_, at) => one(at)).join('')

function nested(depth: number, count: number, attributes: (at: number) => string): string {
  const open = times(depth, (at) => `<saml:v${attributes(at)}>`)
  return times(count / depth, () => open + '</saml:v>'.repeat(depth))
}

const extras: Readonly<Record<string, string>> = {
  'an honest one': '',
  'one long text': `<saml:AttributeValue>${'x'.repeat(room)}</saml:AttributeValue>`,
  'text of references': `<saml:AttributeValue>${'&#65;'.repeat(room / 5)}</saml:AttributeValue>`,
  'text of line ends': `<saml:AttributeValue>${'\n'.repeat(room)}</saml:AttributeValue>`,
  'elements side by side': times(
    elementsLeft,
    () => '<saml:AttributeValue>x</saml:AttributeValue>',
  ),
  'elements as deep as it goes': nested(16, elementsLeft, () => ''),
  'attributes, two to an element': times(elementsLeft, (at) => `<saml:v a="${at}" b="${at}"/>`),
  'attributes, sixty to an element': times(
    attributesLeft / 60,
    () => `<saml:v${times(60, (at) => ` a${at}="x"`)}/>`,
  ),
  'namespaces, two to an element': times(
    elementsLeft,
    (at) => `<n${at}:v xmlns:n${at}="urn:${at}" xmlns="urn:d${at}"/>`,
  ),
  'namespaces, nested and used': nested(
    16,
    elementsLeft,
    (at) => ` xmlns:n${at}="urn:${at}" n${at}:a=""`,
  ),
  'namespaces, sixty around all': `<saml:v${times(60, (at) => ` xmlns:n${at}="urn:${at}"`)}>${times(elementsLeft, (at) => `<n${at % 60}:v n${(at + 1) % 60}:a=""/>`)}</saml:v>`,
  'a long namespace, used everywhere': `<saml:v xmlns:q="${'u'.repeat(512)}">${times(elementsLeft, () => '<q:v/>')}</saml:v>`,
  'one attribute as long as it goes': `<saml:v a="${'x'.repeat(room)}"/>`,
}

function run(base64: string, certificates: readonly string[]) {
  const nowMs = Date.now()
  const expected = { issuer: ENTITY_ID, audience: SENT.audience, acsUrl: SENT.acsUrl, nowMs }
  readAssertion(readResponse(readMessage(base64)), certificates, expected)
}

/** Milliseconds of each round, in order; what refuses it is part of it. */
function timed(base64: string, certificates: readonly string[]): number[] {
  return Array.from({ length: ROUNDS }, () => {
    const began = performance.now()
    try {
      run(base64, certificates)
    } catch (error) {
      if (!(error instanceof ProviderProblem)) throw error
    }
    return performance.now() - began
  })
}

function line(name: string, xml: string, certificates: readonly string[]) {
  const took = timed(posted(xml), certificates)
  const sorted = took.toSorted((one, other) => one - other)
  const of = (ms = 0) => `${ms.toFixed(1)} ms`.padStart(9)
  const kib = `${(Buffer.byteLength(xml) / 1024).toFixed(0)} KiB`.padStart(8)
  const [middle, worst] = [sorted[ROUNDS >> 1], sorted.at(-1)]
  console.log(name.padEnd(36), kib, of(middle), of(worst), of(took[0]))
}

console.log(''.padEnd(36), '    size', '   median', '    worst', '    first')
for (const [name, extra] of Object.entries(extras)) {
  const person = { nameId: 'grace', attributes: { email: ['grace@company.example'] } }
  const plain = assertionXml(honestFields(SENT), person)
  const statement = '</saml:AttributeStatement>'
  const attribute = `<saml:Attribute Name="x">${extra}</saml:Attribute>`
  let xml = responseXml(honestFields(SENT), plain.replace(statement, attribute + statement))
  for (const part of ['Assertion', 'Response'] as const) xml = signed(xml, part, own)
  line(name, xml, pinned)
  line('  … signed by a stranger', xml, pinned.slice(0, 7))
}
