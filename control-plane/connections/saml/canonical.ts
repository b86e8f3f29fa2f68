/**
 * Exclusive XML Canonicalization 1.0 without comments, for one element with everything inside it. Pure,
 * and linear in what it writes, which has a bound: a namespace that is declared once, around all, is
 * written at each element that uses it. It need not be believed: what is signed are these bytes, and these
 * bytes are what is read afterwards, so a mistake in here could only turn somebody away.
 */
import { ProviderProblem } from '../provider-client.ts'
import { namespaceIn, type XmlAttribute, type XmlElement, type XmlScope } from './xml.ts'

interface Wanted {
  /** With more than that it is refused. */
  readonly charactersMax: number
  /** Left out, as the enveloped signature is: by which child it is, and by nothing that it says. */
  readonly without?: XmlElement | undefined
  /** Prefixes that are declared wherever they are known (`InclusiveNamespaces`). */
  readonly inclusive?: readonly string[]
}

type Put = (...parts: readonly string[]) => void

export function canonical(element: XmlElement, wanted: Wanted): string {
  const out: string[] = []
  let left = wanted.charactersMax
  write(element, { prefixes: new Map(), outer: undefined }, wanted, (...parts) => {
    for (const part of parts) left -= part.length
    if (left < 0) throw new ProviderProblem('what is signed is too large in its canonical form')
    out.push(...parts)
  })
  return out.join('')
}

/** `around`: which namespaces are written there. */
function write(element: XmlElement, around: XmlScope, wanted: Wanted, put: Put) {
  const { prefix, name, attributes, content } = element
  const tag = prefix === '' ? name : `${prefix}:${name}`
  const declared = declarationsOf(element, around, wanted.inclusive ?? [])
  put('<', tag)
  for (const [one, namespace] of declared)
    put(one === '' ? ' xmlns="' : ` xmlns:${one}="`, escapedValue(namespace), '"')
  for (const one of attributes.toSorted(byName))
    put(
      one.prefix === '' ? ` ${one.name}="` : ` ${one.prefix}:${one.name}="`,
      escapedValue(one.value),
      '"',
    )
  put('>')
  const inside = declared.length === 0 ? around : { prefixes: new Map(declared), outer: around }
  for (const one of content) {
    if (typeof one === 'string') put(escapedText(one))
    else if (one !== wanted.without) write(one, inside, wanted, put)
  }
  put('</', tag, '>')
}

/** Namespaces that this element or its attributes use and that are not written around it (section 3). */
function declarationsOf(
  { prefix, attributes, scope }: XmlElement,
  around: XmlScope,
  inclusive: readonly string[],
): [string, string][] {
  const used = new Set([prefix, ...inclusive])
  for (const one of attributes) if (one.prefix !== '') used.add(one.prefix)
  used.delete('xml')
  const declared: [string, string][] = []
  for (const one of used) {
    const namespace = namespaceIn(scope, one)
    const isWritten = (namespaceIn(around, one) ?? '') === (namespace ?? '')
    if (!isWritten) declared.push([one, namespace ?? ''])
  }
  return declared.sort(([one], [other]) => order(one, other))
}

const byName = (one: XmlAttribute, other: XmlAttribute) =>
  order(one.namespace, other.namespace) || order(one.name, other.name)

/** By code point. In what is compared here there are no characters of two units but in namespaces. */
const order = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)

const TEXT = /[&<>\r]/g
const VALUE = /[&<"\t\n\r]/g
const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
}
const escapedText = (text: string) => text.replace(TEXT, (one) => ESCAPES[one] ?? one)
const escapedValue = (text: string) => text.replace(VALUE, (one) => ESCAPES[one] ?? one)
