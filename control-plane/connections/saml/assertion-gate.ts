/**
 * What verified bytes have to say before anybody is believed to be who they name. Pure. Every field is
 * needed, unless the comment beside it says otherwise; what is missing refuses as what is wrong does.
 */
import { MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ProviderProblem } from '../provider-client.ts'
import { BEARER, SAML } from './names.ts'
import { attributeOf, childrenOf, onlyChildOf, type XmlElement } from './xml.ts'

const SKEW_MS = MINUTE_MS

/** What this connection is at the provider, and what the provider is here. */
export interface Expected {
  /** The entity ID of the provider. */
  readonly issuer: string
  /** Ours, of this connection. */
  readonly audience: string
  readonly acsUrl: string
  readonly nowMs: number
}

interface NameId {
  readonly value: string
  readonly format: string
  /** Another one may be called the same here. */
  readonly isOfOthers: boolean
}

export interface GatedAssertion {
  readonly assertionId: string
  /** Of the request that it answers. */
  readonly inResponseTo: string
  /** After which it is worth nothing, with what clocks may differ by. */
  readonly endsAt: number
  readonly nameId: NameId | undefined
  readonly attributes: ReadonlyMap<string, readonly string[]>
  readonly authnContext: string | undefined
  /** In epoch seconds. */
  readonly provenAt: number
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/

const problem = (text: string) => new ProviderProblem(text)

/** Of the response, where it says something: it need not be signed, and so decides nothing by itself. */
export function gateResponse(response: XmlElement, { issuer, acsUrl }: Expected): string {
  const said = onlyChildOf(response, SAML, 'Issuer')?.text.trim()
  if (childrenOf(response, SAML, 'Issuer').length > 0 && said !== issuer)
    throw problem('the response is of another issuer')
  // needed where the response is signed (SAML bindings, section 3.5.5.2); here it always is
  if (attributeOf(response, 'Destination') !== acsUrl)
    throw problem('the response is for another address (Destination)')
  const inResponseTo = attributeOf(response, 'InResponseTo')
  if (inResponseTo === undefined) throw problem('the response answers no request (InResponseTo)')
  return inResponseTo
}

export function gateAssertion(assertion: XmlElement, expected: Expected): GatedAssertion {
  if (assertion.namespace !== SAML || assertion.name !== 'Assertion')
    throw problem('the response must have exactly one assertion')
  if (attributeOf(assertion, 'Version') !== '2.0') throw problem('the assertion is not of SAML 2.0')
  const assertionId = attributeOf(assertion, 'ID')
  if (assertionId === undefined) throw problem('the assertion has no ID')
  if (onlyChildOf(assertion, SAML, 'Issuer')?.text.trim() !== expected.issuer)
    throw problem('the assertion is of another issuer')
  requireIssuedNow(assertion, expected)
  requireConditions(assertion, expected)
  const subject = onlyChildOf(assertion, SAML, 'Subject')
  if (subject === undefined) throw problem('the assertion has no subject')
  const confirmed = confirmationOf(subject, expected)
  const nameId = onlyChildOf(subject, SAML, 'NameID')
  return {
    ...{ assertionId, ...confirmed },
    nameId: nameId && {
      value: valueOf(nameId),
      format: attributeOf(nameId, 'Format') ?? '',
      isOfOthers: isOfOthers(nameId, expected),
    },
    attributes: attributesOf(assertion),
    ...authenticationOf(assertion, expected),
  }
}

/** A persistent NameID is one person's among those of its qualifiers; without them, of who asks whom (8.3.7). */
function isOfOthers(nameId: XmlElement, { issuer, audience }: Expected): boolean {
  const [by = issuer, to = audience] = [
    attributeOf(nameId, 'NameQualifier'),
    attributeOf(nameId, 'SPNameQualifier'),
  ]
  return by !== issuer || to !== audience
}

function requireIssuedNow(assertion: XmlElement, { nowMs }: Expected) {
  const issuedAt = timeOf(assertion, 'IssueInstant')
  if (issuedAt === undefined) throw problem('the assertion does not say when it was issued')
  if (issuedAt > nowMs + SKEW_MS)
    throw problem('the assertion was issued in the future: check the clocks of both sides')
}

function requireConditions(assertion: XmlElement, { audience, nowMs }: Expected) {
  const conditions = onlyChildOf(assertion, SAML, 'Conditions')
  if (conditions === undefined) throw problem('the assertion has no conditions')
  requireInTime(conditions, nowMs)
  // each has to hold; one that is not known cannot be kept (SAML core, section 2.5.1)
  const known = ['AudienceRestriction', 'OneTimeUse', 'ProxyRestriction']
  if (conditions.children.some((one) => one.namespace !== SAML || !known.includes(one.name)))
    throw problem('the assertion has a condition that is not known here')
  const restrictions = childrenOf(conditions, SAML, 'AudienceRestriction')
  const isForUs = ({ children }: XmlElement) =>
    children.some(({ namespace, name, text }) => {
      return namespace === SAML && name === 'Audience' && text.trim() === audience
    })
  if (restrictions.length === 0 || !restrictions.every(isForUs))
    throw problem('the assertion is for another application (Audience)')
}

/** Of several ways to confirm it, one of a bearer must hold in every point. */
function confirmationOf(subject: XmlElement, expected: Expected) {
  const bearers = childrenOf(subject, SAML, 'SubjectConfirmation').filter(
    (one) => attributeOf(one, 'Method') === BEARER,
  )
  const [bearer, other] = bearers
  if (bearer === undefined || other !== undefined)
    throw problem('the assertion must be confirmed for its bearer, once (SubjectConfirmation)')
  const data = onlyChildOf(bearer, SAML, 'SubjectConfirmationData')
  if (data === undefined) throw problem('the assertion is not confirmed (SubjectConfirmationData)')
  if (attributeOf(data, 'Recipient') !== expected.acsUrl)
    throw problem('the assertion is for another address (Recipient)')
  const inResponseTo = attributeOf(data, 'InResponseTo')
  if (inResponseTo === undefined) throw problem('the assertion answers no request (InResponseTo)')
  // SAML profiles, section 4.1.4.2, forbids it
  if (attributeOf(data, 'NotBefore') !== undefined)
    throw problem('the confirmation of the assertion must not have a beginning (NotBefore)')
  requireInTime(data, expected.nowMs)
  const endsAt = (timeOf(data, 'NotOnOrAfter') ?? 0) + SKEW_MS
  if (endsAt > expected.nowMs + LIMITS.samlAssertionSecondsMax * SECOND_MS)
    throw problem('the assertion counts for longer than a day')
  return { inResponseTo, endsAt }
}

/** It has to end; when it begins it need not say. */
function requireInTime(element: XmlElement, nowMs: number) {
  const begins = timeOf(element, 'NotBefore')
  const hasBegun = attributeOf(element, 'NotBefore') === undefined || begins !== undefined
  if (!hasBegun || (begins !== undefined && begins > nowMs + SKEW_MS))
    throw problem('the assertion does not count yet: check the clocks of both sides (NotBefore)')
  const ends = timeOf(element, 'NotOnOrAfter')
  if (ends === undefined) throw problem('the assertion has no end (NotOnOrAfter)')
  if (ends + SKEW_MS <= nowMs) throw problem('the assertion is over (NotOnOrAfter)')
}

function authenticationOf(assertion: XmlElement, { nowMs }: Expected) {
  const statements = childrenOf(assertion, SAML, 'AuthnStatement')
  const [statement, other] = statements
  if (statement === undefined || other !== undefined)
    throw problem('the assertion must say once how somebody signed in (AuthnStatement)')
  const provenAt = timeOf(statement, 'AuthnInstant')
  if (provenAt === undefined || provenAt > nowMs + SKEW_MS)
    throw problem('the assertion does not say when somebody signed in (AuthnInstant)')
  const isOver = (timeOf(statement, 'SessionNotOnOrAfter') ?? Infinity) + SKEW_MS <= nowMs
  if (isOver) throw problem('the session at the provider is over (SessionNotOnOrAfter)')
  const context = onlyChildOf(statement, SAML, 'AuthnContext')
  const reference = context && onlyChildOf(context, SAML, 'AuthnContextClassRef')
  return {
    provenAt: Math.floor(provenAt / SECOND_MS),
    authnContext: reference === undefined ? undefined : valueOf(reference),
  }
}

/** By name; the values of two that have the same one come to one list. */
function attributesOf(assertion: XmlElement): ReadonlyMap<string, readonly string[]> {
  const attributes = new Map<string, string[]>()
  for (const statement of childrenOf(assertion, SAML, 'AttributeStatement'))
    for (const attribute of childrenOf(statement, SAML, 'Attribute')) {
      const name = attributeOf(attribute, 'Name') ?? ''
      if (name === '' || name.length > LIMITS.connectionFieldCharactersMax)
        throw problem('an attribute has no name that can be used')
      const values = attributes.getOrInsertComputed(name, () => [])
      // some providers put elements into one, which is no text that could be gone by
      for (const one of childrenOf(attribute, SAML, 'AttributeValue'))
        if (one.children.length === 0) values.push(valueOf(one))
    }
  if (attributes.size > LIMITS.samlAttributeNamesMax)
    throw problem(`the assertion has more than ${LIMITS.samlAttributeNamesMax} attributes`)
  return attributes
}

/** Text and nothing else: with elements in between nobody knows what is meant. */
function valueOf({ children, text }: XmlElement): string {
  if (children.length > 0) throw problem('a value in the assertion is not plain text')
  return text.trim()
}

function timeOf(element: XmlElement, name: string): number | undefined {
  const text = attributeOf(element, name)
  const at = text !== undefined && TIME.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}
