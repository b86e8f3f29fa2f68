/**
 * XML as SAML needs it, read strictly and in one pass: elements, attributes and text in namespaces.
 * No document type, so no entities but the five; no comments in messages, since readers differ in what
 * text they are in; no processing instructions, no CDATA. Whatever else a document has refuses it.
 */

/** Why a document could not be read, in words for an administrator, without a word of its content. */
export class XmlProblem extends Error {
  override readonly name = 'XmlProblem'
}

export interface XmlAttribute {
  readonly namespace: string
  readonly prefix: string
  readonly name: string
  readonly value: string
}

export interface XmlElement {
  readonly namespace: string
  readonly prefix: string
  readonly name: string
  readonly attributes: readonly XmlAttribute[]
  readonly children: readonly XmlElement[]
  /** What stands in it and in none of its children. */
  readonly text: string
  /** Text and children, as they come. */
  readonly content: readonly (string | XmlElement)[]
  /** Which namespace a prefix is for in it; the empty one is the default. */
  readonly scope: XmlScope
}

interface XmlLimits {
  readonly elementsMax: number
  readonly depthMax: number
  /** Of all elements together, with declarations of namespaces. */
  readonly attributesMax: number
  /** Documents that are only read, and not verified, may have them between elements. */
  readonly areCommentsSkipped?: boolean
}

interface OpenElement extends XmlElement {
  readonly tag: string
  readonly attributes: XmlAttribute[]
  readonly children: XmlElement[]
  readonly content: (string | XmlElement)[]
  text: string
  hasComment: boolean
}

/** Declared there, and around it. */
export interface XmlScope {
  readonly prefixes: ReadonlyMap<string, string>
  readonly outer: XmlScope | undefined
}

const XML = 'http://www.w3.org/XML/1998/namespace'
const XMLNS = 'http://www.w3.org/2000/xmlns/'
const ATTRIBUTES_PER_ELEMENT_MAX = 64
/** Each is compared, and written in canonical form, wherever it is used. */
const NAMESPACE_CHARACTERS_MAX = 512

const NOT_XML = /[^\t\n\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u
const NAME = '[A-Za-z_][A-Za-z0-9_.-]*'
const TAG = new RegExp(`<((?:${NAME}:)?${NAME})`, 'y')
const ATTRIBUTE = new RegExp(
  `[ \\t\\n]+((?:${NAME}:)?${NAME})[ \\t\\n]*=[ \\t\\n]*(?:"([^"<]*)"|'([^'<]*)')`,
  'y',
)
const TAG_END = /[ \t\n]*(\/?)>/y
const END_TAG = new RegExp(`</((?:${NAME}:)?${NAME})[ \\t\\n]*>`, 'y')
const DECLARATION = /<\?xml[ \t\n]+version=["']1\.[01]["']([^<>?]{0,100})\?>/y
const ENCODING = /encoding[ \t\n]*=[ \t\n]*["'](?:utf-8|us-ascii)["']/i
const REFERENCE = /&(?:#x([0-9A-Fa-f]{1,6})|#([0-9]{1,7})|(amp|lt|gt|quot|apos));|&/g
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
}

/** As a parser has it: with line ends of one kind (XML 1.0, section 2.11), without a byte order mark. */
export const normalised = (source: string): string =>
  source.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')

/** `source` is normalised. */
export function readXml(source: string, limits: XmlLimits): XmlElement {
  if (NOT_XML.test(source)) throw new XmlProblem('it holds characters that XML does not allow')
  let at = afterDeclaration(source)
  const open: OpenElement[] = []
  let root: XmlElement | undefined
  let elements = 0
  let attributes = 0

  function close(element: OpenElement) {
    open.pop()
    if (element.hasComment && element.text.trim() !== '')
      throw new XmlProblem('there is a comment inside of a value')
    if (open.length === 0) root = element
  }

  while (at < source.length) {
    const next = source.indexOf('<', at)
    const end = next < 0 ? source.length : next
    const inside = open.at(-1)
    if (end > at) {
      const text = source.slice(at, end)
      if (inside !== undefined) {
        const read = decoded(text)
        inside.text += read
        inside.content.push(read)
      } else if (text.trim() !== '') throw new XmlProblem('there is text outside of its element')
      at = end
      continue
    }
    if (source.startsWith('<!', at)) {
      at = afterComment(source, at, limits)
      if (inside !== undefined) inside.hasComment = true
      continue
    }
    if (source.startsWith('</', at)) {
      const [whole = '', tag] = matched(END_TAG, source, at)
      if (inside === undefined || inside.tag !== tag)
        throw new XmlProblem('an element ends that was not begun')
      at += whole.length
      close(inside)
      continue
    }
    if (root !== undefined) throw new XmlProblem('it has more than one root')
    if (++elements > limits.elementsMax)
      throw new XmlProblem(`it has more than ${limits.elementsMax} elements`)
    if (open.length >= limits.depthMax)
      throw new XmlProblem(`its elements are nested more than ${limits.depthMax} deep`)
    const begun = readTag(source, at, inside?.scope)
    attributes += begun.written
    if (attributes > limits.attributesMax)
      throw new XmlProblem(`it has more than ${limits.attributesMax} attributes`)
    at = begun.end
    inside?.children.push(begun.element)
    inside?.content.push(begun.element)
    open.push(begun.element)
    if (begun.isEmpty) close(begun.element)
  }
  if (root === undefined) throw new XmlProblem('it is not complete')
  return root
}

function afterDeclaration(source: string): number {
  if (!source.startsWith('<?')) return 0
  DECLARATION.lastIndex = 0
  const [whole, rest = ''] = DECLARATION.exec(source) ?? []
  if (whole === undefined || (rest.includes('encoding') && !ENCODING.test(rest)))
    throw new XmlProblem('it must be XML in UTF-8')
  return whole.length
}

function afterComment(source: string, at: number, limits: XmlLimits): number {
  if (/^<!DOCTYPE/i.test(source.slice(at, at + 9)))
    throw new XmlProblem('it has a document type (DOCTYPE)')
  const end = source.startsWith('<!--', at) ? source.indexOf('-->', at + 4) : -1
  if (end < 0) throw new XmlProblem('it has markup that is not allowed here')
  if (limits.areCommentsSkipped !== true) throw new XmlProblem('it has a comment')
  return end + 3
}

function readTag(source: string, start: number, outer: XmlScope | undefined) {
  const [head = '', tag = ''] = matched(TAG, source, start)
  let at = start + head.length
  const written = new Map<string, string>()
  for (;;) {
    ATTRIBUTE.lastIndex = at
    const found = ATTRIBUTE.exec(source)
    if (found === null) break
    const [whole, name = '', quoted, single] = found
    if (written.has(name)) throw new XmlProblem('an attribute is written twice')
    if (written.size >= ATTRIBUTES_PER_ELEMENT_MAX)
      throw new XmlProblem('an element has too many attributes')
    written.set(name, decoded((quoted ?? single ?? '').replace(/[\t\n]/g, ' ')))
    at += whole.length
  }
  const [tail = '', slash] = matched(TAG_END, source, at)
  const scope = scopeOf(written, outer)
  const attributes: XmlAttribute[] = []
  const seen = new Set<string>()
  for (const [name, value] of written) {
    if (name === 'xmlns' || name.startsWith('xmlns:')) continue
    const one = { ...named(name, scope, false), value }
    const key = `${one.namespace} ${one.name}`
    if (seen.has(key)) throw new XmlProblem('an attribute is written twice')
    seen.add(key)
    attributes.push(one)
  }
  const element: OpenElement = {
    ...named(tag, scope, true),
    ...{ tag, attributes, children: [], content: [], text: '', hasComment: false, scope },
  }
  return { element, isEmpty: slash === '/', end: at + tail.length, written: written.size }
}

function scopeOf(written: ReadonlyMap<string, string>, outer: XmlScope | undefined): XmlScope {
  const prefixes = new Map<string, string>()
  for (const [name, value] of written) {
    if (name !== 'xmlns' && !name.startsWith('xmlns:')) continue
    const prefix = name.slice('xmlns:'.length)
    const isReserved = prefix === 'xml' || prefix === 'xmlns' || value === XML || value === XMLNS
    if (isReserved || (prefix !== '' && value === ''))
      throw new XmlProblem('a namespace is declared that cannot be')
    if (value.length > NAMESPACE_CHARACTERS_MAX)
      throw new XmlProblem('the name of a namespace is too long')
    prefixes.set(prefix, value)
  }
  return prefixes.size === 0 && outer !== undefined ? outer : { prefixes, outer }
}

function named(tag: string, scope: XmlScope, isElement: boolean) {
  const colon = tag.indexOf(':')
  const prefix = colon < 0 ? '' : tag.slice(0, colon)
  const name = tag.slice(colon + 1)
  if (prefix === '' && !isElement) return { namespace: '', prefix, name }
  if (prefix === 'xml') return { namespace: XML, prefix, name }
  const namespace = namespaceIn(scope, prefix)
  if (namespace !== undefined) return { namespace, prefix, name }
  if (prefix === '') return { namespace: '', prefix, name }
  throw new XmlProblem('a prefix is used that is not declared')
}

export function namespaceIn(scope: XmlScope, prefix: string): string | undefined {
  for (let one: XmlScope | undefined = scope; one !== undefined; one = one.outer) {
    const namespace = one.prefixes.get(prefix)
    if (namespace !== undefined) return namespace
  }
  return undefined
}

function decoded(text: string): string {
  if (text.includes(']]>')) throw new XmlProblem('it has markup that is not allowed here')
  if (!text.includes('&')) return text
  return text.replace(REFERENCE, (whole, hex?: string, decimal?: string, entity?: string) => {
    if (entity !== undefined) return ENTITIES[entity] ?? ''
    if (hex === undefined && decimal === undefined)
      throw new XmlProblem('it uses an entity that XML does not have')
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    const isOne = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
    const character = isOne ? String.fromCodePoint(code) : '\0'
    if (character !== '\r' && NOT_XML.test(character))
      throw new XmlProblem('it holds characters that XML does not allow')
    return character
  })
}

function matched(pattern: RegExp, source: string, at: number): RegExpExecArray {
  pattern.lastIndex = at
  const found = pattern.exec(source)
  if (found === null) throw new XmlProblem('it is not well-formed')
  return found
}

export const attributeOf = (element: XmlElement, name: string): string | undefined =>
  element.attributes.find((one) => one.namespace === '' && one.name === name)?.value

export const childrenOf = (element: XmlElement, namespace: string, name: string) =>
  element.children.filter((one) => one.namespace === namespace && one.name === name)

/** The only child of that name: with two of them nobody knows which one is meant. */
export function onlyChildOf(element: XmlElement, namespace: string, name: string) {
  const [one, other] = childrenOf(element, namespace, name)
  return other === undefined ? one : undefined
}

/** With everything inside it, in the order of the document. */
export function* withDescendants(element: XmlElement): Generator<XmlElement> {
  const waiting = [element]
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    yield one
    for (const child of one.children.toReversed()) waiting.push(child)
  }
}
