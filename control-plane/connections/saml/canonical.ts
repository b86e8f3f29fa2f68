/**
 * Exclusive XML Canonicalization 1.0 without comments, for one element with everything inside it. Pure,
 * and linear in what it writes. It need not be believed: what is signed are these bytes, and these bytes
 * are what is read afterwards, so a mistake in here could only turn somebody away.
 */
import { namespaceIn, type XmlAttribute, type XmlElement } from './xml.ts'

interface Wanted {
  /** Left out, as the enveloped signature is: by which child it is, and by nothing that it says. */
  readonly without?: XmlElement | undefined
  /** Prefixes that are declared wherever they are known (`InclusiveNamespaces`). */
  readonly inclusive?: readonly string[]
}

type Rendered = ReadonlyMap<string, string>

export function canonical(element: XmlElement, wanted: Wanted = {}): string {
  const out: string[] = []
  write(element, new Map(), wanted, out)
  return out.join('')
}

function write(element: XmlElement, around: Rendered, wanted: Wanted, out: string[]) {
  const { prefix, name, attributes, content } = element
  const tag = prefix === '' ? name : `${prefix}:${name}`
  const declared = declarationsOf(element, around, wanted.inclusive ?? [])
  out.push('<', tag)
  for (const [one, namespace] of declared)
    out.push(one === '' ? ' xmlns="' : ` xmlns:${one}="`, escapedValue(namespace), '"')
  for (const one of attributes.toSorted(byName))
    out.push(
      one.prefix === '' ? ` ${one.name}="` : ` ${one.prefix}:${one.name}="`,
      escapedValue(one.value),
      '"',
    )
  out.push('>')
  const inside = declared.length === 0 ? around : new Map([...around, ...declared])
  for (const one of content) {
    if (typeof one === 'string') out.push(escapedText(one))
    else if (one !== wanted.without) write(one, inside, wanted, out)
  }
  out.push('</', tag, '>')
}

/** Namespaces that this element or its attributes use and that are not written around it (section 3). */
function declarationsOf(
  { prefix, attributes, scope }: XmlElement,
  around: Rendered,
  inclusive: readonly string[],
): [string, string][] {
  const used = new Set([prefix, ...inclusive])
  for (const one of attributes) if (one.prefix !== '') used.add(one.prefix)
  used.delete('xml')
  const declared: [string, string][] = []
  for (const one of used) {
    const namespace = namespaceIn(scope, one)
    const isWritten = (around.get(one) ?? '') === (namespace ?? '')
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
