/** Our canonical bytes are those of xml-crypto, which providers' own libraries agree with. */
import { createRequire } from 'node:module'
import t from 'tap'
import { canonical } from '../../../../control-plane/connections/saml/canonical.ts'
import { normalised, readXml } from '../../../../control-plane/connections/saml/xml.ts'

const load = createRequire(import.meta.url)
const { ExclusiveCanonicalization } = load('xml-crypto/lib/exclusive-canonicalization.js') as {
  ExclusiveCanonicalization: new () => {
    process(node: unknown, options: { inclusiveNamespacesPrefixList: readonly string[] }): string
  }
}
const { DOMParser } = load('@xmldom/xmldom') as {
  DOMParser: new () => { parseFromString(xml: string, type: string): { documentElement: unknown } }
}

const LIMITS = { elementsMax: 1000, depthMax: 24, attributesMax: 3000 }
const theirs = (xml: string, inclusive: readonly string[]) =>
  new ExclusiveCanonicalization().process(
    new DOMParser().parseFromString(xml, 'text/xml').documentElement,
    { inclusiveNamespacesPrefixList: inclusive },
  )
const ours = (xml: string, inclusive: readonly string[]) =>
  canonical(readXml(normalised(xml), LIMITS), { charactersMax: Infinity, inclusive })

/** The same ones each time. */
function randomFrom(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) % below
  }
}

const PREFIXES = ['', 'a', 'b', 'c']
const TEXTS = [
  'x',
  ' ',
  '\n',
  '&amp;',
  '&lt;',
  '&gt;',
  '&quot;',
  '&#xD;',
  '&#9;',
  'ü',
  '\u{1F600}',
  "'",
  '"',
]
const VALUES = TEXTS.filter((text) => text !== '"')

function document(random: (below: number) => number): string {
  const pick = <Item>(items: readonly Item[]) => items[random(items.length)] as Item
  function element(depth: number, isRoot: boolean): string {
    const declared = new Set(isRoot ? PREFIXES.slice(1) : PREFIXES.filter(() => random(4) === 0))
    const prefix = pick(PREFIXES)
    const declarations = [...declared].map((one) =>
      one === '' ? ` xmlns="urn:${random(3)}"` : ` xmlns:${one}="urn:${one}${random(2)}"`,
    )
    const names = [...new Set([pick(PREFIXES), pick(PREFIXES)])].map(
      (one) => `${one === '' ? '' : `${one}:`}${pick(['n', 'm'])}`,
    )
    const attributes = names.map((name) => ` ${name}="${pick(VALUES)}${pick(VALUES)}"`)
    const tag = `${prefix === '' ? '' : `${prefix}:`}${pick(['E', 'F'])}`
    const count = depth === 0 ? 0 : random(4)
    const inside = Array.from({ length: count }, () => pick(TEXTS) + element(depth - 1, false))
    return `<${tag}${declarations.join('')}${attributes.join('')}>${inside.join('')}${pick(TEXTS)}</${tag}>`
  }
  return element(4, true)
}

t.test('a thousand documents, with prefixes that are kept and without', async (t) => {
  const differing: string[] = []
  let elements = 0
  for (let seed = 1; seed <= 1000; seed++) {
    const xml = document(randomFrom(seed))
    elements += xml.match(/<[a-zA-Z]/g)?.length ?? 0
    for (const inclusive of [[], ['a'], ['b', 'c']])
      if (ours(xml, inclusive) !== theirs(xml, inclusive)) differing.push(`${seed}: ${xml}`)
  }
  t.ok(elements > 5000, `${elements} elements`)
  t.same(differing, [])
})
