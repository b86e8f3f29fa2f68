/** The elements of a manifest in XML: no entities but the five, no schema, and no wrong text is a crash. */

export interface XmlElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly XmlElement[]
  readonly text: string
  /** Counts from 1. */
  readonly line: number
}

interface Open extends XmlElement {
  readonly children: XmlElement[]
  text: string
}

const TOKEN =
  /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[(?<cdata>[\s\S]*?)(?:\]\]>|$)|<[?!][^>]*>?|<\/(?<close>[^\s>]+)\s*>?|<(?<open>[\w:.-]+)(?<attributes>(?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(?<empty>\/?)>|(?<text>[^<]+)|</g

/** The element at the top; null: there is none. */
export function readXml(text: string): XmlElement | null {
  const top: Open = { name: '', attributes: {}, children: [], text: '', line: 1 }
  const open: Open[] = [top]
  let line = 1
  for (const match of text.matchAll(TOKEN)) {
    const { cdata, close, open: name, attributes = '', empty, text: plain } = match.groups ?? {}
    const current = open.at(-1) ?? top
    if (plain !== undefined) current.text += unescaped(plain)
    else if (cdata !== undefined) current.text += cdata
    else if (name !== undefined) {
      const element = { name, attributes: attributesOf(attributes), children: [], text: '', line }
      current.children.push(element)
      if (empty === '') open.push(element)
    } else if (close !== undefined && open.some((one) => one.name === close))
      while (open.length > 1 && open.pop()?.name !== close);
    line += match[0].split('\n').length - 1
  }
  return top.children[0] ?? null
}

function attributesOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)].map(([, name = '', a, b]) => [
      name,
      unescaped(a ?? b ?? ''),
    ]),
  )
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&amp;': '&',
}
const unescaped = (text: string) =>
  text.replaceAll(/&(?:lt|gt|quot|apos|amp);/g, (entity) => ENTITIES[entity] ?? entity)

/** Those that lie there: `childrenAt(project, 'dependencies', 'dependency')`. */
export function childrenAt(element: XmlElement | null, ...names: readonly string[]): XmlElement[] {
  let at = element === null ? [] : [element]
  for (const name of names)
    at = at.flatMap(({ children }) => children.filter((child) => child.name === name))
  return at
}

export function textAt(element: XmlElement | null, ...names: readonly string[]): string | null {
  const [found] = childrenAt(element, ...names)
  return found === undefined ? null : found.text.trim()
}
