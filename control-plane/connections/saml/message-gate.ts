/**
 * What a response has to look like before anything about it is verified, and which of it is signed.
 * Everything else is refused here: two assertions, signatures elsewhere, ids that name two things.
 */
import { LIMITS } from '../../../shared/limits.ts'
import { ProviderProblem } from '../provider-client.ts'
import { DSIG, PROTOCOL, SAML, SUCCESS } from './names.ts'
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

/** With the signatures that it has. */
export interface GatedMessage {
  readonly response: XmlElement
  readonly assertion: XmlElement
  readonly ofResponse: XmlElement | undefined
  readonly ofAssertion: XmlElement | undefined
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
const XML_ID = /^[A-Za-z_][A-Za-z0-9_.-]{0,255}$/
const STATUS_CODE = /^urn:oasis:names:tc:SAML:2\.0:status:([A-Za-z]{1,40})$/

const problem = (text: string) => new ProviderProblem(text)

/** What a form has brought: base64 of XML in UTF-8. */
export function readMessage(posted: string): string {
  const base64 = posted.replace(/[ \t\r\n]+/g, '')
  if (!BASE64.test(base64) || base64.length % 4 !== 0)
    throw problem('the response is not written in base64')
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length > LIMITS.samlResponseBytesMax) throw problem('the response is too large')
  try {
    return normalised(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw problem('the response is not written in UTF-8')
  }
}

/** Canonical bytes declare a namespace wherever it is used: at most once more for each name. */
export const readSigned = (xml: string) => readParts(xml, LIMITS.samlAttributesMax * 3)

function readParts(source: string, attributesMax: number): XmlElement {
  try {
    return readXml(source, {
      elementsMax: LIMITS.samlElementsMax,
      depthMax: LIMITS.samlDepthMax,
      attributesMax,
    })
  } catch (error) {
    if (error instanceof XmlProblem) throw problem(`the response cannot be read: ${error.message}`)
    throw error
  }
}

/** Nothing is known of it yet but that it can be read. */
export function readResponse(source: string): XmlElement {
  const root = readParts(source, LIMITS.samlAttributesMax)
  if (root.namespace === PROTOCOL && root.name === 'Response') return root
  throw problem('the answer is no SAML response')
}

export function gateMessage(response: XmlElement): GatedMessage {
  requireSuccess(response)
  if (attributeOf(response, 'Version') !== '2.0') throw problem('the response is not of SAML 2.0')
  const all = [...withDescendants(response)]
  requireOwnIds(all)
  if (all.some(({ name }) => name === 'EncryptedAssertion' || name === 'EncryptedID'))
    throw problem('the assertion is encrypted: turn encryption off at the provider')
  // by name alone, in whatever namespace: readers differ in what they look for
  const assertions = all.filter(({ name }) => name === 'Assertion')
  const [assertion] = childrenOf(response, SAML, 'Assertion')
  if (assertions.length !== 1 || assertions[0] !== assertion || assertion === undefined)
    throw problem('the response must have exactly one assertion')
  if (all.filter(({ name }) => name === 'Response').length !== 1)
    throw problem('the response holds another one')
  const signatures = all.filter(({ name }) => name === 'Signature')
  const ofResponse = onlyChildOf(response, DSIG, 'Signature')
  const ofAssertion = onlyChildOf(assertion, DSIG, 'Signature')
  const known = [ofResponse, ofAssertion].filter((one) => one !== undefined)
  if (signatures.length !== known.length || !signatures.every((one) => known.includes(one)))
    throw problem('a signature is not where it belongs')
  return { response, assertion, ofResponse, ofAssertion }
}

/** A provider that did not sign somebody in says so; no assertion beside that counts. */
function requireSuccess(response: XmlElement) {
  const status = onlyChildOf(response, PROTOCOL, 'Status')
  const code = status && onlyChildOf(status, PROTOCOL, 'StatusCode')
  const value = code === undefined ? '' : (attributeOf(code, 'Value') ?? '')
  if (value === SUCCESS) return
  const inner = code && onlyChildOf(code, PROTOCOL, 'StatusCode')
  const names = [value, inner === undefined ? '' : (attributeOf(inner, 'Value') ?? '')]
    .map((one) => STATUS_CODE.exec(one)?.[1])
    .filter((one) => one !== undefined)
  const said = names.length === 0 ? '' : ` (${names.join(', ')})`
  throw problem(`the provider did not sign you in${said}`)
}

/** In any spelling of it: a reference must not be able to mean something else for another reader. */
function requireOwnIds(all: readonly XmlElement[]) {
  const ids = new Set<string>()
  for (const { attributes } of all)
    for (const { name, value } of attributes) {
      if (name.toLowerCase() !== 'id') continue
      if (!XML_ID.test(value)) throw problem('an ID is written in a way that is not allowed')
      if (ids.has(value)) throw problem('an ID is used twice')
      ids.add(value)
    }
}
