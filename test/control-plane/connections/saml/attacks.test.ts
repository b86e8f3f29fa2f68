/**
 * What has been done to SAML relying parties, and is of no use here: each response is an honest one,
 * with one thing about it changed. What an honest one comes to stands first, or none of it would count.
 */
import t from 'tap'
import { ProviderProblem } from '../../../../control-plane/connections/provider-client.ts'
import {
  readMessage,
  readResponse,
} from '../../../../control-plane/connections/saml/message-gate.ts'
import { readAssertion } from '../../../../control-plane/connections/saml/read-assertion.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import {
  assertionXml,
  ECDSA_SHA256,
  ENTITY_ID,
  honestFields,
  newEcKey,
  newSigningKey,
  posted,
  responseXml,
  RSA_SHA1,
  samlTime,
  SHA1,
  signed,
  type Fields,
  type SignWith,
} from '../../realm/connections/saml/saml-peer.ts'

const own = await newSigningKey()
const mallory = await newSigningKey()
const SENT = {
  ...{ requestId: '_request-of-this-test-0123456789', acsUrl: 'https://sp.example/acs' },
  ...{ audience: 'https://sp.example/metadata', isForced: false, xml: '' },
  url: new URL('https://idp.example/'),
}
const GRACE = { nameId: 'grace-1', attributes: { email: ['grace@company.example'] } }
const MALLORY = { nameId: 'mallory', attributes: { email: ['mallory@company.example'] } }

type Part = 'Assertion' | 'Response'

function answer(
  changed: Partial<Fields> = {},
  parts: readonly Part[] = ['Assertion'],
  by: SignWith = own,
  person = GRACE,
) {
  const fields = { ...honestFields(SENT), ...changed }
  let xml = responseXml(fields, assertionXml(fields, person))
  for (const part of parts) xml = signed(xml, part, by)
  return xml
}

/** Whom it names, or why nobody. */
function read(xml: string, certificates = [own.certificate]): string {
  try {
    const expected = { issuer: ENTITY_ID, audience: SENT.audience, acsUrl: SENT.acsUrl }
    const response = readResponse(readMessage(posted(xml)))
    const nowMs = Date.now()
    return `in: ${readAssertion(response, certificates, { ...expected, nowMs }).nameId?.value}`
  } catch (error) {
    if (error instanceof ProviderProblem) return error.message
    throw error
  }
}

const IN = 'in: grace-1'
const assertionOf = (xml: string) => /<saml:Assertion[^]*<\/saml:Assertion>/.exec(xml)?.[0] ?? ''
const signatureOf = (xml: string) => /<Signature[^]*?<\/Signature>/.exec(xml)?.[0] ?? ''
const evilOf = (xml: string, id: string) =>
  xml
    .replace(signatureOf(xml), '')
    .replace('grace-1', 'mallory')
    .replace(/ID="_a[0-9a-f]+"/, `ID="${id}"`)

t.test('an honest response is taken, signed in either place or in both', async (t) => {
  t.equal(read(answer()), IN, 'the assertion alone')
  t.equal(read(answer({}, ['Response'])), IN, 'the response alone')
  t.equal(read(answer({}, ['Assertion', 'Response'])), IN, 'both')
  const algorithm = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512'
  t.equal(read(answer({}, ['Assertion'], { ...own, algorithm })), IN, 'with SHA-512')
  const ec = newEcKey()
  const byEc = answer({}, ['Assertion'], { ...ec, algorithm: ECDSA_SHA256 })
  t.equal(read(byEc, [own.certificate, ec.certificate]), IN, 'by ECDSA')
  t.equal(read(answer(), [mallory.certificate, own.certificate]), IN, 'by the second certificate')
})

t.test('a signature that is moved away from what is read: XSW 1 to 8', async (t) => {
  const ofResponse = answer({}, ['Response'])
  const ofAssertion = answer()
  const [whole, assertion] = [ofResponse, assertionOf(ofAssertion)]
  const signature = signatureOf(ofResponse)
  const bare = whole.replace(signature, '')
  const evilResponse = (inside: string) =>
    bare
      .replace(/ID="_r[0-9a-f]+"/, 'ID="_evil"')
      .replace('grace-1', 'mallory')
      .replace('</samlp:Response>', `${inside}</samlp:Response>`)
  const evil = evilOf(assertion, '_evil')
  const own = signatureOf(assertion)
  const inner = assertion.replace(own, '')
  const xsw = {
    1: evilResponse(signature.replace('</Signature>', `<Object>${bare}</Object></Signature>`)),
    2: evilResponse(`${bare}${signature}`),
    3: ofAssertion.replace(assertion, evil + assertion),
    4: ofAssertion.replace(
      assertion,
      evil.replace('</saml:Assertion>', `${assertion}</saml:Assertion>`),
    ),
    5: ofAssertion.replace(
      assertion,
      evil.replace('</saml:Assertion>', `${own}</saml:Assertion>`) + inner,
    ),
    6: ofAssertion.replace(
      assertion,
      evil.replace(
        '</saml:Assertion>',
        `${own.replace('</Signature>', `<Object>${inner}</Object></Signature>`)}</saml:Assertion>`,
      ),
    ),
    7: ofAssertion.replace(assertion, `<samlp:Extensions>${evil}</samlp:Extensions>${assertion}`),
    8: ofAssertion.replace(
      assertion,
      evil.replace(
        '</saml:Assertion>',
        `${own.replace('</Signature>', `<Object>${assertion.replace(own, '')}</Object></Signature>`)}</saml:Assertion>`,
      ),
    ),
  }
  for (const [number, xml] of Object.entries(xsw)) {
    t.match(xml, 'mallory')
    t.notMatch(read(xml), /^in:/, `XSW ${number}`)
  }
  const under = ofAssertion.replace(assertion, evil.replace('<saml:Issuer>', `${own}<saml:Issuer>`))
  t.match(read(under), /not of the element that it is in/, 'a signature of something that is gone')
  const sameId = evilOf(assertion, /ID="(_a[0-9a-f]+)"/.exec(assertion)?.[1] ?? '')
  const twice = ofAssertion.replace(
    assertion,
    sameId.replace('<saml:Subject>', `${own}<saml:Subject>`),
  )
  t.match(read(twice), /changed after it was signed/, 'its digest is of something else')
})

t.test('ids that name two things, in whatever spelling', async (t) => {
  const xml = answer()
  const id = /ID="(_a[0-9a-f]+)"/.exec(xml)?.[1] ?? ''
  for (const name of ['ID', 'Id', 'id', 'xml:id', 'iD'])
    t.match(
      read(xml.replace('<samlp:Status>', `<samlp:Status ${name}="${id}">`)),
      /an ID is used twice/,
      name,
    )
  const quoted = xml.replace('<samlp:Status>', `<samlp:Status ID="x' or '1'='1">`)
  t.match(read(quoted), /an ID is written in a way/)
})

t.test('an error with a decoy beside it, and no success', async (t) => {
  const status = 'urn:oasis:names:tc:SAML:2.0:status:Responder'
  for (const parts of [['Response'], ['Assertion'], ['Assertion', 'Response']] as const)
    t.equal(read(answer({ status }, parts)), 'the provider did not sign you in (Responder)')
  const evil = answer({}, ['Assertion'], mallory, MALLORY)
  const failed = signed(responseXml({ ...honestFields(SENT), status }, ''), 'Response', own)
  const decoy = failed.replace('</samlp:Response>', `${assertionOf(evil)}</samlp:Response>`)
  t.match(read(decoy), /did not sign you in/)
  const without = answer().replace(/<samlp:Status>.*<\/samlp:Status>/, '')
  t.match(read(without), /did not sign you in/)
  const two = answer().replace('<samlp:Status>', '<samlp:Status/><samlp:Status>')
  t.match(read(two), /did not sign you in/)
})

t.test('what is not signed, or by somebody else', async (t) => {
  t.match(read(answer({}, [])), /neither the response nor the assertion is signed/)
  const forged = answer(
    {},
    ['Assertion'],
    { ...mallory, certificate: mallory.certificate },
    MALLORY,
  )
  t.match(forged, mallory.certificate, 'it brings its certificate along')
  t.match(read(forged), /by no certificate of the provider/)
  const honest = answer({}, ['Assertion'], { ...own, certificate: mallory.certificate })
  t.equal(read(honest), IN, 'what it says of keys is not looked at')
  const half = signed(answer(), 'Response', mallory)
  t.match(read(half), /by no certificate/, 'both signatures have to hold')
  const otherHalf = signed(answer({}, ['Assertion'], mallory), 'Response', own)
  t.match(read(otherHalf), /by no certificate/, 'both, in whichever order')
  t.match(read(answer().replace('grace-1', 'mallory')), /changed after it was signed/)
  const xml = answer()
  const value = /<SignatureValue>[^<]+/.exec(xml)?.[0] ?? ''
  t.match(read(xml.replace(value, `${value.slice(0, -6)}AAAA==`)), /by no certificate|not made/)
  t.match(read(answer().replace(/<SignatureValue>[^<]+/, '<SignatureValue>')), /not made as/)
})

t.test('algorithms that hold nothing, and transforms that leave something out', async (t) => {
  t.match(read(answer({}, ['Assertion'], { ...own, algorithm: RSA_SHA1 })), /not by RSA or ECDSA/)
  t.match(read(answer({}, ['Assertion'], { ...own, digest: SHA1 })), /digest is not by SHA-256/)
  const inclusive = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'
  const by = { ...own, canonicalization: inclusive }
  t.match(read(answer({}, ['Assertion'], by)), /canonicalized in a way/)
  const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature'
  const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'
  for (const transforms of [
    [enveloped, inclusive],
    [exclusive],
    [enveloped, exclusive, exclusive],
    [enveloped, `${exclusive}WithComments`],
  ])
    t.match(
      read(answer({}, ['Assertion'], { ...own, transforms })),
      /has a transform/,
      transforms.join(),
    )
  for (const name of [
    'http://www.w3.org/2000/09/xmldsig#hmac-sha1',
    '__proto__',
    'constructor',
    '',
  ]) {
    const xml = answer().replace(
      /SignatureMethod Algorithm="[^"]*"/,
      `SignatureMethod Algorithm="${name}"`,
    )
    t.match(read(xml), /not by RSA or ECDSA/, name)
  }
  const ec = newEcKey()
  const confused = answer({}, ['Assertion'], { ...ec, algorithm: ECDSA_SHA256 })
  t.match(
    read(confused.replace(ECDSA_SHA256, 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'), [
      ec.certificate,
    ]),
    /by no certificate/,
    'a key of another kind',
  )
  const xml = answer()
  const reference = /<Reference[^]*?<\/Reference>/.exec(xml)?.[0] ?? ''
  t.match(read(xml.replace(reference, reference + reference)), /exactly one reference/)
  t.match(read(xml.replace(reference, '')), /exactly one reference/)
  t.match(read(xml.replace(/URI="#[^"]+"/, 'URI=""')), /not of the element/)
  const withPrefixes = (list: string) =>
    read(
      xml.replace(
        `<Transform Algorithm="${exclusive}"/>`,
        `<Transform Algorithm="${exclusive}"><InclusiveNamespaces xmlns="${exclusive}" PrefixList="${list}"/></Transform>`,
      ),
    )
  t.match(withPrefixes('xs saml'), /by no certificate/, 'as OpenSAML has it, and not signed so')
  t.match(withPrefixes('p '.repeat(101)), /has a transform/)
  const signature = signatureOf(xml)
  const withObject = signature.replace('</Signature>', '<Object/><Object/></Signature>')
  t.match(read(xml.replace(signature, withObject)), /not made as SAML wants/)
  t.match(read(xml.replace(signature, signature + signature)), /not where it belongs/)
})

t.test('text that readers see in two ways', async (t) => {
  const xml = answer({}, ['Assertion'], own, { ...GRACE, nameId: 'grace-1.evil.example' })
  t.match(read(xml.replace('grace-1.evil', 'grace-1<!---->.evil')), /a comment/)
  t.match(read(xml.replace('<samlp:Status>', '<!-- x --><samlp:Status>')), /it has a comment/)
  t.match(read(xml.replace('grace-1.evil', 'grace-1<?x?>.evil')), /not well-formed/)
  t.match(read(xml.replace('grace-1.evil', '<![CDATA[grace-1]]>.evil')), /not allowed here/)
  t.match(read(xml.replace('grace-1.evil', 'grace-1<saml:x/>.evil')), /changed after/)
  const inside = assertionXml(honestFields(SENT), GRACE).replace('grace-1', 'grace-1<saml:x/>')
  const nested = signed(responseXml(honestFields(SENT), inside), 'Assertion', own)
  t.match(read(nested), /not plain text/, 'even where the provider has signed it')
})

t.test('documents that are bombs, or none', async (t) => {
  const xml = answer()
  const doctype = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
  t.match(read(doctype + xml), /DOCTYPE/)
  t.match(read(`<!doctype x>${xml}`), /DOCTYPE/)
  t.match(read(xml.replace('grace-1', '&b;')), /entity that XML does not have/)
  t.match(read(xml.replace('grace-1', '&#0;')), /characters that XML does not allow/)
  t.match(read(xml.replace('grace-1', 'a\u0000b')), /characters that XML does not allow/)
  const deep = (depth: number) => '<x>'.repeat(depth) + '</x>'.repeat(depth)
  const within = (extra: string) =>
    xml.replace('<samlp:Status>', `<samlp:Extensions>${extra}</samlp:Extensions><samlp:Status>`)
  t.equal(read(within(deep(LIMITS.samlDepthMax - 2))), IN)
  t.match(read(within(deep(LIMITS.samlDepthMax - 1))), /nested more than/)
  const used = xml.match(/<[a-zA-Z]/g)?.length ?? 0
  const left = LIMITS.samlElementsMax - used - 1
  t.equal(read(within('<x/>'.repeat(left))), IN)
  t.match(read(within('<x/>'.repeat(left + 1))), /more than 1200 elements/)
  t.match(read(within('<x a="1" b="2" c="3"/>'.repeat(1000))), /more than 3000 attributes/)
  const many = Array.from({ length: 65 }, (_, at) => ` a${at}=""`).join('')
  t.match(read(within(`<x${many}/>`)), /too many attributes/)
  const pad = (bytes: number) => within(' '.repeat(bytes - Buffer.byteLength(within(''))))
  t.equal(read(pad(LIMITS.samlResponseBytesMax)), IN, '256 KiB')
  t.match(read(pad(LIMITS.samlResponseBytesMax + 1)), /too large/, 'and one byte more')
  for (const [what, text] of [
    ['two roots', xml + xml],
    ['text behind it', `${xml}x`],
    ['half of it', xml.slice(0, 500)],
    ['a prefix that nobody has declared', xml.replace('<samlp:Status>', '<nope:x/><samlp:Status>')],
    ['an attribute twice', xml.replace('Version="2.0"', 'Version="2.0" Version="2.0"')],
    ['the same by two prefixes', within('<x xmlns:a="u" xmlns:b="u" a:y="" b:y=""/>')],
    ['UTF-16', `<?xml version="1.0" encoding="UTF-16"?>${xml}`],
    ['no response', assertionOf(xml)],
    ['nothing', ''],
    ['a namespace that is taken', within('<x xmlns:xml="urn:x"/>')],
  ] as const)
    t.notMatch(read(text), /^in:/, what)
  t.equal(read(`\uFEFF<?xml version="1.0" encoding="UTF-8"?>\r\n${xml}`), IN)
  t.throws(() => readMessage('***'), { message: /base64/ })
  t.throws(() => readMessage(Buffer.from([0xff, 0xfe, 0x41]).toString('base64')), {
    message: /UTF-8/,
  })
})

t.test('two assertions, in whatever namespace, an encrypted one, another response', async (t) => {
  const xml = answer()
  const assertion = assertionOf(xml)
  t.match(
    read(xml.replace(assertion, assertion + evilOf(assertion, '_e'))),
    /exactly one assertion/,
  )
  t.match(read(xml.replace(assertion, `<x:Assertion xmlns:x="urn:x"/>${assertion}`)), /exactly one/)
  t.match(read(xml.replace(assertion, '')), /exactly one assertion/)
  const encrypted = '<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"/>'
  t.match(read(xml.replace(assertion, encrypted)), /turn encryption off/)
  t.match(read(xml.replace(assertion, `<x><samlp:Response/></x>${assertion}`)), /holds another one/)
})

t.test('every field of an assertion, wrong and absent', async (t) => {
  const now = Date.now()
  const [past, future] = [samlTime(now - 61_000), samlTime(now + 120_000)]
  const wrong: Readonly<Record<string, Partial<Fields>>> = {
    'another issuer': { issuer: 'https://idp.mallory.example' },
    'an issuer with a slash more': { issuer: `${ENTITY_ID}/` },
    'no issuer': { issuer: null },
    'a response of another issuer': { responseIssuer: 'https://idp.mallory.example' },
    'another audience': { audience: 'https://other.example/metadata' },
    'an audience that begins like ours': { audience: `${SENT.audience}/x` },
    'no audience': { audience: null },
    'another recipient': { recipient: 'https://other.example/acs' },
    'no recipient': { recipient: null },
    'another destination': { destination: 'https://other.example/acs' },
    'no destination': { destination: null },
    'a confirmation for another request': { confirmedFor: '_another' },
    'a confirmation for no request': { confirmedFor: null },
    'a response to another request': { inResponseTo: '_another' },
    'a response to no request': { inResponseTo: null },
    'a holder of a key': { method: 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key' },
    'no method': { method: null },
    'no time of issue': { issuedAt: null },
    'a time of issue in the future': { issuedAt: future },
    'a time of issue that is none': { issuedAt: 'yesterday' },
    'a time of some zone': { issuedAt: '2026-01-01T00:00:00' },
    'not yet': { notBefore: future },
    'a beginning that is none': { notBefore: 'soon' },
    over: { notOnOrAfter: past },
    'no end': { notOnOrAfter: null },
    'a confirmation that is over': { confirmedUntil: past },
    'a confirmation without an end': { confirmedUntil: null },
    'a confirmation that begins': { confirmedFrom: samlTime(now - 1000) },
    'a confirmation of more than a day': { confirmedUntil: samlTime(now + 25 * 3_600_000) },
    'no time of the proof': { authnInstant: null },
    'a proof in the future': { authnInstant: future },
    'a session that is over': { sessionUntil: past },
    'no id': { assertionId: null },
    'another version': { version: '1.1' },
    'no version': { version: null },
    'a response of another version': { responseVersion: '1.1' },
    'a response of no version': { responseVersion: null },
    'a condition that nobody knows': { condition: '<x:Condition xmlns:x="urn:x"/>' },
    'a second restriction, for others': {
      condition:
        '<saml:AudienceRestriction><saml:Audience>https://other.example</saml:Audience></saml:AudienceRestriction>',
    },
  }
  for (const [what, changed] of Object.entries(wrong)) {
    const parts: Part[] = changed.assertionId === null ? ['Response'] : ['Assertion']
    t.notMatch(read(answer(changed, parts)), /^in:/, what)
    if (changed.assertionId !== null)
      t.notMatch(read(answer(changed, ['Assertion', 'Response'])), /^in:/, `${what}, all signed`)
  }
  const right: Readonly<Record<string, Partial<Fields>>> = {
    'a clock that is a little behind': {
      issuedAt: samlTime(now + 55_000),
      authnInstant: samlTime(now + 55_000),
    },
    'an end within the skew': {
      notOnOrAfter: samlTime(now - 30_000),
      confirmedUntil: samlTime(now - 30_000),
    },
    'no beginning': { notBefore: null },
    'a response that names no issuer': { responseIssuer: null },
    'a session that goes on': { sessionUntil: future },
    'one use': { condition: '<saml:OneTimeUse/>' },
  }
  for (const [what, changed] of Object.entries(right)) t.equal(read(answer(changed)), IN, what)
  const xml = assertionXml(honestFields(SENT), GRACE)
  for (const tag of ['Subject', 'Conditions', 'AuthnStatement', 'SubjectConfirmation']) {
    const one = new RegExp(`<saml:${tag}[ >][^]*</saml:${tag}>`).exec(xml)?.[0] ?? ''
    const with_ = (instead: string) =>
      read(signed(responseXml(honestFields(SENT), xml.replace(one, instead)), 'Assertion', own))
    t.notMatch(with_(''), /^in:/, `no ${tag}`)
    t.notMatch(with_(one + one), /^in:/, `two of ${tag}`)
  }
})
