/**
 * What a signature has to say of itself: that it is of all of its parent, by an algorithm that holds,
 * and by nothing that could leave something out. Pure; what is asked is read from the bytes that its key
 * has signed.
 */
import { ProviderProblem } from '../provider-client.ts'
import { DIGEST_METHODS, DSIG, ENVELOPED, EXCLUSIVE, SIGNATURE_METHODS } from './names.ts'
import { attributeOf, type XmlElement } from './xml.ts'

const PREFIX_LIST_CHARACTERS_MAX = 200
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

interface SignedInfo {
  readonly method: (typeof SIGNATURE_METHODS)[keyof typeof SIGNATURE_METHODS]
  readonly hash: (typeof DIGEST_METHODS)[keyof typeof DIGEST_METHODS]
  /** In base64, as both of them. */
  readonly digest: string
  readonly inclusive: readonly string[]
}

const problem = (text: string) => new ProviderProblem(text)

/** What of it is signed by the key, and by what value. What it says of keys is not looked at. */
export function gateSignature(signature: XmlElement) {
  const [info, value, ...more] = signature.children
  const isWhole =
    isNamed(info, 'SignedInfo') &&
    isNamed(value, 'SignatureValue') &&
    more.length <= 1 &&
    more.every((one) => isNamed(one, 'KeyInfo'))
  if (!isWhole || info === undefined) throw problem('a signature is not made as SAML wants it')
  return { info, value: base64Of(value) }
}

export function gateSignedInfo(info: XmlElement, signed: XmlElement): SignedInfo {
  const [canonical, method, reference, ...others] = info.children
  if (
    !isNamed(canonical, 'CanonicalizationMethod') ||
    !isNamed(method, 'SignatureMethod') ||
    !isNamed(reference, 'Reference') ||
    others.length > 0
  )
    throw problem('a signature must have exactly one reference')
  if (algorithmOf(canonical) !== EXCLUSIVE || canonical?.children.length !== 0)
    throw problem('a signature is canonicalized in a way that is not allowed')
  const by = known(SIGNATURE_METHODS, algorithmOf(method))
  if (by === undefined || method?.children.length !== 0)
    throw problem('a signature is not by RSA or ECDSA with SHA-256 or more')
  return { method: by, ...gateReference(reference, signed) }
}

function gateReference(reference: XmlElement | undefined, signed: XmlElement) {
  const [transforms, digest, value, ...others] = reference?.children ?? []
  const isWhole =
    isNamed(transforms, 'Transforms') &&
    isNamed(digest, 'DigestMethod') &&
    isNamed(value, 'DigestValue') &&
    others.length === 0
  const id = attributeOf(signed, 'ID')
  const isOfParent =
    reference !== undefined && id !== undefined && attributeOf(reference, 'URI') === `#${id}`
  if (!isWhole || !isOfParent) throw problem('a signature is not of the element that it is in')
  const [enveloped, exclusive, ...more] = transforms?.children ?? []
  if (
    !isNamed(enveloped, 'Transform') ||
    !isNamed(exclusive, 'Transform') ||
    algorithmOf(enveloped) !== ENVELOPED ||
    algorithmOf(exclusive) !== EXCLUSIVE ||
    enveloped?.children.length !== 0 ||
    more.length > 0
  )
    throw problem('a signature has a transform that is not allowed')
  const hash = known(DIGEST_METHODS, algorithmOf(digest))
  if (hash === undefined || digest?.children.length !== 0)
    throw problem('a digest is not by SHA-256 or more')
  return { hash, digest: base64Of(value), inclusive: inclusiveOf(exclusive) }
}

/** Prefixes that are to be kept: a few, since each is looked for at each element. */
function inclusiveOf(transform: XmlElement | undefined): readonly string[] {
  const [one, other] = transform?.children ?? []
  if (one === undefined) return []
  const list = attributeOf(one, 'PrefixList') ?? ''
  const isAllowed =
    other === undefined &&
    one.namespace === EXCLUSIVE &&
    one.name === 'InclusiveNamespaces' &&
    one.children.length === 0 &&
    list.length <= PREFIX_LIST_CHARACTERS_MAX
  if (!isAllowed) throw problem('a signature has a transform that is not allowed')
  const prefixes = list.split(' ').filter((prefix) => prefix !== '')
  return prefixes.map((prefix) => (prefix === '#default' ? '' : prefix))
}

function base64Of(element: XmlElement | undefined): string {
  const text = (element?.text ?? '').replace(/[ \t\r\n]+/g, '')
  if (element?.children.length !== 0 || !BASE64.test(text))
    throw problem('a signature is not made as SAML wants it')
  return text
}

const isNamed = (element: XmlElement | undefined, name: string) =>
  element?.namespace === DSIG && element.name === name

const algorithmOf = (element: XmlElement | undefined) =>
  element === undefined ? '' : (attributeOf(element, 'Algorithm') ?? '')

const known = <Table extends object>(table: Table, name: string) =>
  Object.hasOwn(table, name) ? table[name as keyof Table] : undefined
