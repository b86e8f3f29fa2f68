/** What we send to a provider: the request for a sign-in, and what this connection is. Pure. */
import { sign } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import { DSIG, METADATA, PERSISTENT, POST_BINDING, PROTOCOL, SAML } from './names.ts'

const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'

interface RequestSettings {
  readonly id: string
  readonly issuedAtMs: number
  readonly ssoUrl: string
  readonly entityId: string
  readonly acsUrl: string
  /** Who somebody is comes from an attribute, so that any NameID will do. */
  readonly takesAnyNameId: boolean
  /** Whoever has a session at the provider proves it anew. */
  readonly isConfirmation: boolean
  /** PEM; undefined: it is not signed. */
  readonly privateKeyPem: string | undefined
}

/** By the redirect binding (SAML bindings, section 3.4.4.1), for a browser to follow. */
export function requestUrl(settings: RequestSettings): string {
  const { ssoUrl, privateKeyPem } = settings
  const deflated = deflateRawSync(requestXml(settings)).toString('base64')
  const query = [['SAMLRequest', deflated]]
  if (privateKeyPem !== undefined) query.push(['SigAlg', RSA_SHA256])
  // signed is what stands in the address, letter by letter
  const text = query.map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`).join('&')
  const signature =
    privateKeyPem === undefined
      ? ''
      : `&Signature=${encodeURIComponent(sign('sha256', Buffer.from(text), privateKeyPem).toString('base64'))}`
  return `${ssoUrl}${ssoUrl.includes('?') ? '&' : '?'}${text}${signature}`
}

function requestXml(settings: RequestSettings): string {
  const { id, issuedAtMs, ssoUrl, entityId, acsUrl, takesAnyNameId, isConfirmation } = settings
  const policy = takesAnyNameId ? '' : `<p:NameIDPolicy AllowCreate="true" Format="${PERSISTENT}"/>`
  return (
    `<p:AuthnRequest xmlns:p="${PROTOCOL}" xmlns:a="${SAML}" ID="${id}" Version="2.0"` +
    ` IssueInstant="${new Date(issuedAtMs).toISOString()}" Destination="${escaped(ssoUrl)}"` +
    ` ProtocolBinding="${POST_BINDING}" AssertionConsumerServiceURL="${escaped(acsUrl)}"` +
    `${isConfirmation ? ' ForceAuthn="true"' : ''}>` +
    `<a:Issuer>${escaped(entityId)}</a:Issuer>${policy}</p:AuthnRequest>`
  )
}

interface OwnMetadata {
  readonly entityId: string
  readonly acsUrl: string
  /** Base64; null: requests are not signed. */
  readonly certificate: string | null
  readonly takesAnyNameId: boolean
}

/** What a provider can read of us. Encrypted assertions are not taken, so no key is named for them. */
export function ownMetadata({ entityId, acsUrl, certificate, takesAnyNameId }: OwnMetadata) {
  const key =
    certificate === null
      ? ''
      : `
    <KeyDescriptor use="signing">
      <KeyInfo xmlns="${DSIG}"><X509Data><X509Certificate>${certificate}</X509Certificate></X509Data></KeyInfo>
    </KeyDescriptor>`
  const format = takesAnyNameId ? '' : `\n    <NameIDFormat>${PERSISTENT}</NameIDFormat>`
  return `<?xml version="1.0" encoding="UTF-8"?>
<EntityDescriptor xmlns="${METADATA}" entityID="${escaped(entityId)}">
  <SPSSODescriptor AuthnRequestsSigned="${certificate !== null}" WantAssertionsSigned="true" protocolSupportEnumeration="${PROTOCOL}">${key}${format}
    <AssertionConsumerService index="0" isDefault="true" Binding="${POST_BINDING}" Location="${escaped(acsUrl)}"/>
  </SPSSODescriptor>
</EntityDescriptor>
`
}

const escaped = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
