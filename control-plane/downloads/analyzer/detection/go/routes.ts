/** Routes of Go's routers, with the groups that stand in front of them. */
import type { Clue } from '../assemble.ts'
import { healthClue, healthRank, joinPaths } from '../health.ts'
import { closeOf, hits, placeAt, stringAt, type Source } from '../source/source.ts'

const ROUTE = /(\w+)\s*\.\s*(?:Get|GET|Head|HEAD|Handle|HandleFunc|HandlerFunc|Any|Path)\s*\(\s*/
const BLOCK = /(\w+)\s*\.\s*(?:Route|Group)\s*(?=\()/
const DEPTH_MAX = 5

interface Prefix {
  readonly path: string
  readonly isKnown: boolean
}

export function healthRoute(sources: readonly Source[]): Clue<string> | null {
  const found = sources.flatMap((source) =>
    hits(source, ROUTE).flatMap(({ index, end, match: [, receiver = ''] }) => {
      // net/http since Go 1.22: "GET /healthz"
      const path = stringAt(source, end)
        ?.replace(/^(?:GET|HEAD)\s+/, '')
        .replace(/\{\$\}$/, '')
      if (path === undefined || healthRank(path) === null) return []
      const prefix = prefixAt(sources, source, index, receiver, 0)
      const at = placeAt(source, index)
      return [{ path: joinPaths(prefix.path, path), at, isKnown: prefix.isKnown }]
    }),
  )
  return healthClue(found)
}

/** What blocks around it, groups it is of and mounts of its function put in front of a route. */
function prefixAt(
  sources: readonly Source[],
  source: Source,
  index: number,
  receiver: string,
  depth: number,
): Prefix {
  if (depth > DEPTH_MAX) return { path: '', isKnown: false }
  const block = hits(source, BLOCK)
    .filter(({ index: start, end }) => start < index && closeOf(source, end) > index)
    .at(-1)
  if (block !== undefined) {
    const own = stringAt(source, block.end + 1)
    const above = prefixAt(sources, source, block.index, block.match[1] ?? '', depth + 1)
    return { path: joinPaths(above.path, own ?? ''), isKnown: above.isKnown }
  }
  const group = hits(
    source,
    new RegExp(String.raw`\b${receiver}\s*:?=\s*(\w+)\s*\.\s*(?:Group|PathPrefix|Route)\s*\(\s*`),
  )
    .filter(({ index: start }) => start < index)
    .at(-1)
  if (group !== undefined) {
    const own = stringAt(source, group.end)
    const above = prefixAt(sources, source, group.index, group.match[1] ?? '', depth + 1)
    return { path: joinPaths(above.path, own ?? ''), isKnown: above.isKnown && own !== null }
  }
  return mountedAt(sources, source, index, receiver, depth)
}

/** `r.Mount("/api", routes())`: the function that the route stands in is mounted somewhere. */
function mountedAt(
  sources: readonly Source[],
  source: Source,
  index: number,
  receiver: string,
  depth: number,
): Prefix {
  const heads = hits(source, /^func\s+(?:\([^)]*\)\s*)?(\w+)\s*(?=\()/m).filter(
    (one) => one.index < index,
  )
  const head = heads.at(-1)
  const name = head?.match[1] ?? ''
  if (head === undefined || name === 'main') return { path: '', isKnown: true }
  for (const other of sources)
    for (const { index: mount, end, match } of hits(other, /(\w+)\s*\.\s*Mount\s*(?=\()/)) {
      const inside = other.code.slice(end, closeOf(other, end))
      if (!new RegExp(String.raw`\b${name}\s*\(`).test(inside)) continue
      const own = stringAt(other, end + 1)
      const above = prefixAt(sources, other, mount, match[1] ?? '', depth + 1)
      return { path: joinPaths(above.path, own ?? ''), isKnown: above.isKnown && own !== null }
    }
  // a group that was handed in: nobody sees here which one
  const parameters = source.code.slice(head.end, closeOf(source, head.end))
  const isGroup = new RegExp(
    String.raw`\b${receiver}\s+\*?(?:gin\.RouterGroup|gin\.IRouter|echo\.Group|chi\.Router|fiber\.Router)\b`,
  )
  return { path: '', isKnown: !isGroup.test(parameters) }
}
