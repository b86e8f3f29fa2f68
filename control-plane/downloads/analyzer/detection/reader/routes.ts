/** The path that says an application is well, with all that stands in front of it. */
import type { Confidence } from '../application.ts'
import { clue, type Clue } from '../assemble.ts'
import { bestHealth, healthRank, joinPaths } from '../health.ts'
import {
  firstHit,
  hits,
  hitsAround,
  placeAt,
  stringAt,
  type Hit,
  type Source,
} from '../source/source.ts'
import type { ReadPart } from './part.ts'
import { filesOf } from './rules.ts'

/** Where a route is named, and on what: `api` of `api.get('/up')`. */
interface RoutePlace {
  readonly source: Source
  readonly index: number
  readonly receiver: string
}

/** `isKnown`: all of it could be read. `above`: what the rest stands behind in its turn. */
interface Prefix {
  readonly path: string
  readonly isKnown: boolean
  readonly above: RoutePlace | null
}

/** What one way to nest puts in front; null: nothing is nested like this here; `none`: it is no route. */
export type Nesting = (part: ReadPart, place: RoutePlace) => Prefix | 'none' | null

export interface RouteRule {
  readonly in?: RegExp
  /** The path stands behind it; group 1 is what it is called on. */
  readonly calls: RegExp
  /** What else than a string is a path. */
  readonly path?: (source: Source, hit: Hit, part: ReadPart) => string | null
  /** The first that applies is taken. */
  readonly nested?: readonly Nesting[]
  /** It says itself what it is for: whatever the path is called, it goes before all others. */
  readonly isForHealth?: true
  /** A path that begins with a slash stands for itself. */
  readonly isAbsolute?: true
  readonly confidence?: Confidence
  readonly detail?: string
}

/** Deeper than that nobody nests them. */
const DEPTH_MAX = 5

export function healthOf(part: ReadPart, rules: readonly RouteRule[]): Clue<string> | null {
  const found = rules.flatMap((rule) =>
    filesOf(part, rule.in).flatMap((source) =>
      hits(source, rule.calls).flatMap((hit) => {
        const own =
          rule.path === undefined ? stringAt(source, hit.end) : rule.path(source, hit, part)
        if (own === null || !(rule.isForHealth || mayBeHealth(own))) return []
        const receiver = hit.match[1] ?? ''
        const place = { source, index: hit.index, receiver }
        const prefix = prefixOf(part, place, rule.nested ?? [], 0)
        if (prefix === null) return []
        const before = rule.isAbsolute && own.startsWith('/') ? '' : prefix.path
        const path = own === '' ? joinPaths(before) : joinPaths(before, own)
        return [{ rule, path, source, index: hit.index, isKnown: prefix.isKnown }]
      }),
    ),
  )
  const best = found.find(({ rule }) => rule.isForHealth) ?? bestHealth(found)
  if (best === null) return null
  const { confidence = 'sure', detail } = best.rule
  const at = placeAt(best.source, best.index)
  const unclear = 'A route for it is there; what stands in front of it is not clear.'
  return best.isKnown
    ? clue(best.path, at, confidence, detail ?? 'A route for it is there.')
    : clue(best.path, at, 'guess', detail ?? unclear)
}

/** Of itself, or by what stands in front of it. */
const mayBeHealth = (path: string) => healthRank(path) !== null || /^\/*$/.test(path)

function prefixOf(
  part: ReadPart,
  place: RoutePlace,
  nestings: readonly Nesting[],
  depth: number,
): { readonly path: string; readonly isKnown: boolean } | null {
  if (depth > DEPTH_MAX) return { path: '', isKnown: false }
  for (const nesting of nestings) {
    const own = nesting(part, place)
    if (own === 'none') return null
    if (own === null) continue
    const above = own.above && prefixOf(part, own.above, nestings, depth + 1)
    return {
      path: joinPaths(above?.path ?? '', own.path),
      isKnown: own.isKnown && (above?.isKnown ?? true),
    }
  }
  return { path: '', isKnown: true }
}

/** `r.Route("/api", func(r chi.Router) { … })`: within the brackets of the call. */
export function inBlockOf(opens: RegExp): Nesting {
  return (_, { source, index }) => {
    const around = hitsAround(source, opens, index).at(-1)
    if (around === undefined) return null
    const above = { source, index: around.index, receiver: around.match[1] ?? '' }
    return { path: stringAt(source, around.end + 1) ?? '', isKnown: true, above }
  }
}

/** `api := r.Group("/api")`: group 1 is the name, group 2 what it is a part of. */
export function onGroupOf(assigned: RegExp): Nesting {
  return (_, { source, index, receiver }) => {
    const group = hits(source, assigned)
      .filter((hit) => hit.index < index && hit.match[1] === receiver)
      .at(-1)
    if (group === undefined) return null
    const path = stringAt(source, group.end)
    const above = { source, index: group.index, receiver: group.match[2] ?? '' }
    return { path: path ?? '', isKnown: path !== null, above }
  }
}

/** `@RequestMapping("/api") class …`: in front of all inside, which alone are routes. */
export function inClassOf(opens: RegExp, annotation: RegExp): Nesting {
  return ({ sources }, { source, index }) => {
    const [type] = hitsAround(source, opens, index)
    if (type === undefined) return 'none'
    const [base] = /(?<=:\s*)\w+/.exec(type.match[0]) ?? []
    const path = pathAbove(source, type) ?? (base === undefined ? null : inherited(sources, base))
    const name = (type.match[1] ?? '').toLowerCase()
    return { path: (path ?? '').replaceAll('[controller]', name), isKnown: true, above: null }
  }

  function pathAbove(source: Source, type: Hit): string | null {
    const start = source.code.lastIndexOf(';', type.index)
    const above = hits(source, annotation)
      .filter((hit) => hit.index > start && hit.index < type.index)
      .at(-1)
    return above === undefined ? null : stringAt(source, above.end)
  }

  /** What stands above the class that it is derived from counts for it as well. */
  function inherited(sources: readonly Source[], base: string): string | null {
    const declares = new RegExp(String.raw`\bclass\s+${base}\b`)
    for (const source of sources) {
      const type = firstHit(source, declares)
      if (type !== null) return pathAbove(source, type)
    }
    return null
  }
}
