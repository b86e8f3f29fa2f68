/**
 * A SAML identity provider that does what a test wants: responses of an honest one, with anything about
 * them changed, before it is signed or after. Nobody asks it anything: tests carry its answers.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes, sign } from 'node:crypto'
import { inflateRawSync } from 'node:zlib'
import { xmlCrypto } from './xml-crypto.ts'
import { ofTheRun } from '../../../../support/keys-of-the-run.ts'
import { createOwnKey } from '../../../../../control-plane/connections/saml/own-key.ts'

const MORE = 'http://www.w3.org/2001/04/xmldsig-more#'
export const RSA_SHA256 = `${MORE}rsa-sha256`
export const RSA_SHA1 = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1'
export const ECDSA_SHA256 = `${MORE}ecdsa-sha256`
export const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256'
export const SHA1 = 'http://www.w3.org/2000/09/xmldsig#sha1'
const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature'
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#'
export const PERSISTENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'

export const ENTITY_ID = 'https://idp.company.example/saml'
export const SSO_URL = 'https://idp.company.example/sso?tenant=1'

export interface SignWith {
  readonly privateKeyPem: string
  readonly certificate?: string
  readonly algorithm?: string
  readonly digest?: string
  readonly transforms?: readonly string[]
  readonly canonicalization?: string
  readonly prefixes?: readonly string[]
}

export interface Person {
  readonly nameId: string
  readonly nameIdFormat?: string | null
  readonly nameQualifier?: string
  readonly spNameQualifier?: string
  readonly attributes?: Readonly<Record<string, readonly string[]>>
  readonly authnContext?: string
  readonly authnInstant?: number
}

/** What an honest response says; null: it says nothing of it. */
export interface Fields {
  readonly issuer: string | null
  readonly responseIssuer: string | null
  readonly audience: string | null
  readonly recipient: string | null
  readonly destination: string | null
  readonly inResponseTo: string | null
  readonly confirmedFor: string | null
  readonly method: string | null
  readonly issuedAt: string | null
  readonly notBefore: string | null
  readonly notOnOrAfter: string | null
  readonly confirmedUntil: string | null
  readonly confirmedFrom: string | null
  readonly authnInstant: string | null
  readonly sessionUntil: string | null
  readonly assertionId: string | null
  readonly version: string | null
  readonly responseVersion: string | null
  readonly status: string
  readonly condition: string
}

export interface Sent {
  readonly requestId: string
  readonly acsUrl: string
  readonly audience: string
  readonly isForced: boolean
  readonly xml: string
  readonly url: URL
}

/** What is in the address that a browser is sent to. */
export function requestIn(url: string): Sent {
  const at = new URL(url)
  const deflated = Buffer.from(at.searchParams.get('SAMLRequest') ?? '', 'base64')
  const xml = inflateRawSync(deflated).toString()
  const of = (pattern: RegExp) => pattern.exec(xml)?.[1] ?? ''
  return {
    requestId: of(/ ID="([^"]+)"/),
    acsUrl: of(/AssertionConsumerServiceURL="([^"]+)"/),
    audience: of(/<a:Issuer>([^<]+)</),
    isForced: xml.includes('ForceAuthn="true"'),
    ...{ xml, url: at },
  }
}

export const samlTime = (ms: number) => new Date(ms).toISOString()

const attribute = (name: string, value: string | null) =>
  value === null ? '' : ` ${name}="${escaped(value)}"`
const element = (tag: string, value: string | null) =>
  value === null ? '' : `<${tag}>${escaped(value)}</${tag}>`
export const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

export function honestFields(sent: Sent, nowMs = Date.now()): Fields {
  return {
    ...{ issuer: ENTITY_ID, responseIssuer: ENTITY_ID, audience: sent.audience },
    ...{ recipient: sent.acsUrl, destination: sent.acsUrl },
    ...{ inResponseTo: sent.requestId, confirmedFor: sent.requestId },
    method: 'urn:oasis:names:tc:SAML:2.0:cm:bearer',
    issuedAt: samlTime(nowMs),
    notBefore: samlTime(nowMs - 60_000),
    notOnOrAfter: samlTime(nowMs + 300_000),
    confirmedUntil: samlTime(nowMs + 300_000),
    ...{ confirmedFrom: null, sessionUntil: null },
    authnInstant: samlTime(nowMs),
    assertionId: `_a${randomBytes(16).toString('hex')}`,
    ...{ version: '2.0', responseVersion: '2.0' },
    status: 'urn:oasis:names:tc:SAML:2.0:status:Success',
    condition: '',
  }
}

export function assertionXml(fields: Fields, person: Person): string {
  const { nameId, attributes = {}, authnContext } = person
  const format = person.nameIdFormat === undefined ? PERSISTENT : person.nameIdFormat
  const rows = Object.entries(attributes).map(
    ([name, values]) =>
      `<saml:Attribute Name="${escaped(name)}">${values.map((value) => `<saml:AttributeValue xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string">${escaped(value)}</saml:AttributeValue>`).join('')}</saml:Attribute>`,
  )
  return (
    `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"${attribute('ID', fields.assertionId)}${attribute('Version', fields.version)}${attribute('IssueInstant', fields.issuedAt)}>` +
    `${element('saml:Issuer', fields.issuer)}<saml:Subject><saml:NameID${attribute('Format', format)}${attribute('NameQualifier', person.nameQualifier ?? null)}${attribute('SPNameQualifier', person.spNameQualifier ?? null)}>${escaped(nameId)}</saml:NameID>` +
    `<saml:SubjectConfirmation${attribute('Method', fields.method)}><saml:SubjectConfirmationData${attribute('Recipient', fields.recipient)}${attribute('InResponseTo', fields.confirmedFor)}${attribute('NotBefore', fields.confirmedFrom)}${attribute('NotOnOrAfter', fields.confirmedUntil)}/></saml:SubjectConfirmation></saml:Subject>` +
    `<saml:Conditions${attribute('NotBefore', fields.notBefore)}${attribute('NotOnOrAfter', fields.notOnOrAfter)}>${fields.audience === null ? '' : `<saml:AudienceRestriction>${element('saml:Audience', fields.audience)}</saml:AudienceRestriction>`}${fields.condition}</saml:Conditions>` +
    `<saml:AuthnStatement${attribute('AuthnInstant', person.authnInstant === undefined ? fields.authnInstant : samlTime(person.authnInstant))}${attribute('SessionNotOnOrAfter', fields.sessionUntil)}><saml:AuthnContext><saml:AuthnContextClassRef>${escaped(authnContext ?? 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport')}</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>` +
    `${rows.length === 0 ? '' : `<saml:AttributeStatement>${rows.join('')}</saml:AttributeStatement>`}</saml:Assertion>`
  )
}

export function responseXml(fields: Fields, assertion: string): string {
  return (
    `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_r${randomBytes(16).toString('hex')}"${attribute('Version', fields.responseVersion)} IssueInstant="${samlTime(Date.now())}"${attribute('Destination', fields.destination)}${attribute('InResponseTo', fields.inResponseTo)}>` +
    `${fields.responseIssuer === null ? '' : `<saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${escaped(fields.responseIssuer)}</saml:Issuer>`}` +
    `<samlp:Status><samlp:StatusCode Value="${fields.status}"/></samlp:Status>${assertion}</samlp:Response>`
  )
}

/** Behind the issuer of what is signed, where the schema has it. */
export function signed(xml: string, of: 'Assertion' | 'Response', by: SignWith): string {
  const xpath = of === 'Response' ? '/*' : "//*[local-name(.)='Assertion']"
  const { algorithm = RSA_SHA256, digest = SHA256, privateKeyPem, certificate } = by
  const { SignedXml } = xmlCrypto
  const signer = new SignedXml({
    privateKey: privateKeyPem,
    signatureAlgorithm: algorithm,
    canonicalizationAlgorithm: by.canonicalization ?? EXCLUSIVE,
    getKeyInfoContent: () =>
      certificate === undefined
        ? null
        : `<X509Data><X509Certificate>${certificate}</X509Certificate></X509Data>`,
  })
  signer.SignatureAlgorithms[ECDSA_SHA256] = EcdsaSha256
  signer.addReference({
    xpath,
    transforms: [...(by.transforms ?? [ENVELOPED, EXCLUSIVE])],
    digestAlgorithm: digest,
    ...(by.prefixes && { inclusiveNamespacesPrefixList: by.prefixes }),
  })
  const issuer = `${xpath}/*[local-name(.)='Issuer']`
  const hasIssuer = of === 'Assertion' ? /<saml:Assertion[^>]*><saml:Issuer/.test(xml) : true
  signer.computeSignature(xml, {
    location: hasIssuer
      ? { reference: issuer, action: 'after' }
      : { reference: xpath, action: 'prepend' },
  })
  return signer.getSignedXml()
}

class EcdsaSha256 {
  getAlgorithmName = () => ECDSA_SHA256
  getSignature = (text: string, key: string) =>
    sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64')
  verifySignature = () => false
}

export type SigningKey = Awaited<ReturnType<typeof createOwnKey>>

let given = 0

/** RSA, as most have it; another one with each call. */
export async function newSigningKey(): Promise<SigningKey> {
  const make = async () => JSON.stringify(await createOwnKey())
  return JSON.parse(await ofTheRun(`saml-key-${given++}`, make)) as SigningKey
}

/** P-256, with a certificate by OpenSSL. */
export function newEcKey(): SigningKey {
  const pem = execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ...['-days', '30', '-subj', '/CN=idp', '-keyout', '-'],
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  ).toString()
  const part = (label: string) =>
    new RegExp(`-----BEGIN ${label}-----[^-]+-----END ${label}-----`).exec(pem)?.[0] ?? ''
  return {
    certificate: part('CERTIFICATE').replace(/-----[^-]+-----|\s/g, ''),
    privateKeyPem: part('PRIVATE KEY'),
  }
}

export function metadataXml(
  certificates: readonly string[],
  { entityId = ENTITY_ID, ssoUrl = SSO_URL, attributes = '' } = {},
): string {
  const keys = certificates.map(
    (one) =>
      `<KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${one}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>`,
  )
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<!-- made by a provider -->\n<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${escaped(entityId)}"${attributes}>` +
    `<IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${keys.join('')}` +
    `<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${escaped(ssoUrl)}"/>` +
    `<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${escaped(ssoUrl)}"/>` +
    `</IDPSSODescriptor></EntityDescriptor>`
  )
}

export const posted = (xml: string) => Buffer.from(xml).toString('base64')
