/**
 * What a provider says of itself in its metadata: who it is, where browsers are sent, and by which
 * certificates it signs, all of those that it names. Its own signature is not looked at: metadata is
 * believed for where it comes from, an administrator or an address over https.
 */
import { LIMITS } from '../../../shared/limits.ts'
import { readReceiverUrl } from '../../outbound/public-address.ts'
import { ProviderProblem } from '../provider-client.ts'
import { readCertificate, type SigningCertificate } from './certificates.ts'
import { DSIG, METADATA, PROTOCOL, REDIRECT_BINDING } from './names.ts'
import {
  attributeOf,
  childrenOf,
  normalised,
  onlyChildOf,
  readXml,
  withDescendants,
  XmlProblem,
  type XmlElement,
} from './xml.ts'

export interface ProviderMetadata {
  readonly entityId: string
  readonly ssoUrl: string
  readonly certificates: readonly SigningCertificate[]
  /** It wants to see who asks. */
  readonly wantsSignedRequests: boolean
}

/** URIs, and names that look like none: spaces would be lost on the way. */
const ENTITY_ID = /^[\x21-\x7e]{1,512}$/

/** A `ProviderProblem` where it cannot be used. */
export function readMetadata(source: string, nowMs: number): ProviderMetadata {
  if (Buffer.byteLength(source) > LIMITS.providerAnswerBytesMax)
    throw new ProviderProblem('the metadata is larger than 256 KiB')
  const root = rootOf(source)
  const entity = entityIn(root)
  const entityId = attributeOf(entity, 'entityID') ?? ''
  if (!ENTITY_ID.test(entityId)) throw new ProviderProblem('the metadata has no entity ID')
  const roles = childrenOf(entity, METADATA, 'IDPSSODescriptor').filter(speaksSaml2)
  const [role, other] = roles
  if (role === undefined || other !== undefined)
    throw new ProviderProblem('the metadata is not that of one identity provider for SAML 2.0')
  const groups = [...withDescendants(root)].filter(isGroup)
  for (const one of [...groups, entity, role]) requireValid(one, nowMs)
  return {
    entityId,
    ssoUrl: ssoUrlOf(role),
    certificates: certificatesOf(role),
    wantsSignedRequests: isTrue(attributeOf(role, 'WantAuthnRequestsSigned')),
  }
}

function rootOf(source: string): XmlElement {
  try {
    return readXml(normalised(source), {
      elementsMax: LIMITS.samlMetadataElementsMax,
      depthMax: LIMITS.samlDepthMax,
      attributesMax: LIMITS.samlMetadataElementsMax * 2,
      areCommentsSkipped: true,
    })
  } catch (error) {
    if (error instanceof XmlProblem)
      throw new ProviderProblem(`the metadata cannot be read: ${error.message}`)
    throw error
  }
}

function entityIn(root: XmlElement): XmlElement {
  if (root.namespace === METADATA && root.name === 'EntityDescriptor') return root
  if (!isGroup(root))
    throw new ProviderProblem('this is not SAML metadata: it must begin with an EntityDescriptor')
  const entities = [...withDescendants(root)].filter(
    ({ namespace, name }) => namespace === METADATA && name === 'EntityDescriptor',
  )
  const [entity, other] = entities
  if (entity === undefined || other !== undefined)
    throw new ProviderProblem(
      `the metadata is that of ${entities.length} providers: give that of one`,
    )
  return entity
}

const isGroup = ({ namespace, name }: XmlElement) =>
  namespace === METADATA && name === 'EntitiesDescriptor'

const speaksSaml2 = (role: XmlElement) =>
  (attributeOf(role, 'protocolSupportEnumeration') ?? '').split(/[ \t\n]+/).includes(PROTOCOL)

function requireValid(element: XmlElement, nowMs: number) {
  const until = attributeOf(element, 'validUntil')
  if (until !== undefined && !(Date.parse(until) > nowMs))
    throw new ProviderProblem('the metadata is no longer valid (validUntil)')
}

function ssoUrlOf(role: XmlElement): string {
  const services = childrenOf(role, METADATA, 'SingleSignOnService')
  const redirect = services.find((one) => attributeOf(one, 'Binding') === REDIRECT_BINDING)
  if (redirect === undefined)
    throw new ProviderProblem('the provider offers no sign-in by the binding HTTP-Redirect')
  try {
    const url = readReceiverUrl(attributeOf(redirect, 'Location') ?? '')
    if (url.href.length > LIMITS.connectionFieldCharactersMax) throw new Error('too long')
    return url.href
  } catch {
    throw new ProviderProblem('the address of the sign-in must be https:// and public')
  }
}

/** Two at once is how a certificate is replaced. A key that is for encryption alone signs nothing. */
function certificatesOf(role: XmlElement): SigningCertificate[] {
  const keys = childrenOf(role, METADATA, 'KeyDescriptor').filter(
    (one) => (attributeOf(one, 'use') ?? 'signing') === 'signing',
  )
  const written = keys.flatMap((key) => {
    const info = onlyChildOf(key, DSIG, 'KeyInfo')
    const data = info === undefined ? [] : childrenOf(info, DSIG, 'X509Data')
    return data.flatMap((one) => childrenOf(one, DSIG, 'X509Certificate'))
  })
  if (written.length > LIMITS.samlCertificatesMax)
    throw new ProviderProblem(
      `the metadata names more than ${LIMITS.samlCertificatesMax} certificates`,
    )
  const byDer = new Map<string, SigningCertificate>()
  for (const { text } of written) {
    const read = readCertificate(text)
    if (read !== undefined) byDer.set(read.der, read)
  }
  if (byDer.size === 0)
    throw new ProviderProblem(
      'the metadata names no certificate that can be used: RSA of 2048 bits and more, or P-256, P-384 or P-521',
    )
  return [...byDer.values()]
}

const isTrue = (value: string | undefined) => value === 'true' || value === '1'
