/** Blueprints and routers of Flask and FastAPI: what they put in front of their routes. */
import { joinPaths } from '../health.ts'
import type { Nesting } from '../reader/routes.ts'
import { closeOf, firstHit, hits, stringAt, type Source } from '../source/source.ts'
import { moduleName } from './python-modules.ts'

const PARTS = /\b(\w+)\s*(?::[^=\n]+)?=\s*(?:\w+\.)*(?:APIRouter|Blueprint|APIBlueprint)\s*(?=\()/
const INCLUDES = /(\w+)\s*\.\s*(?:include_router|register_blueprint)\s*(?=\()/
const PREFIX = /\b(?:url_)?prefix\s*=\s*/

/** It is included somewhere in a way that cannot be read. */
const UNKNOWN = { path: '', isKnown: false, above: null }

export function onRouter(
  ...[{ sources }, { source, receiver }]: Parameters<Nesting>
): ReturnType<Nesting> {
  const mounted = mountOf(source, receiver)
  if (mounted !== null) return mounted
  const own = hits(source, PARTS).find(({ match: [, name] }) => name === receiver)
  if (own === undefined) return isImportedPart(source, receiver) ? UNKNOWN : null
  const ownPrefix = prefixIn(sources, source, own.end)
  const included = includeOf(sources, source, receiver)
  if (ownPrefix === null || included === null) return UNKNOWN
  const { open, call, ...above } = included
  const given = prefixIn(sources, included.source, open)
  if (given === null) return UNKNOWN
  // Flask: what is given at the registration takes the place of the blueprint's own
  const isBlueprint = /register_blueprint/.test(call)
  const path = isBlueprint && given !== '' ? given : joinPaths(given, ownPrefix)
  return { path, isKnown: true, above }
}

/** `app.mount('/api/v1', app=api)`: an application within another. */
function mountOf(source: Source, name: string): ReturnType<Nesting> {
  const given = new RegExp(String.raw`^\(\s*[^(),]*,\s*(?:app\s*=\s*)?${name}\s*[,)]`)
  for (const { index, end, match } of hits(source, /(\w+)\s*\.\s*mount\s*(?=\()/)) {
    if (match[1] === name || !given.test(source.code.slice(end))) continue
    const path = stringAt(source, end + 1)
    const above = { source, index, receiver: match[1] ?? '' }
    return path === null ? UNKNOWN : { path, isKnown: true, above }
  }
  return null
}

const isImportedPart = (source: Source, name: string) =>
  firstHit(
    source,
    new RegExp(String.raw`^[ \t]*from\s+[\w.]+\s+import\s+[^\n]*\b${name}\b`, 'm'),
  ) !== null && /router|blueprint|^bp$/i.test(name)

function includeOf(sources: readonly Source[], part: Source, name: string) {
  for (const source of sources)
    for (const { index, end, match } of hits(source, INCLUDES)) {
      const [argument = ''] = /[\w.]+/.exec(source.code.slice(end + 1, end + 200)) ?? []
      if (isSame(source, argument, part, name))
        return { source, index, receiver: match[1] ?? '', open: end, call: match[0] }
    }
  return null
}

/** Whether what `argument` names in one file is the router `name` of another. */
function isSame(source: Source, argument: string, part: Source, name: string): boolean {
  if (source === part) return argument === name
  const module = moduleName(part.path)
  const [owner = '', member] = argument.split('.').slice(-2)
  if (member !== undefined)
    return member === name && (owner === module || isAlias(source, module, owner))
  const named =
    argument === name ? String.raw`${name}\b(?!\s+as\b)` : `${name}\\s+as\\s+${argument}\\b`
  return new RegExp(
    String.raw`^[ \t]*from\s+[\w.]*\b${module}\s+import\s+(?:\([^)]*|[^\n]*)\b${named}`,
    'm',
  ).test(source.code)
}

const isAlias = ({ code }: Source, name: string, alias: string) =>
  new RegExp(String.raw`\b${name}\s+as\s+${alias}\b`).test(code)

/** '' where no prefix is given, null where what is given cannot be read. */
function prefixIn(sources: readonly Source[], source: Source, open: number): string | null {
  const inside = { ...source, code: source.code.slice(0, closeOf(source, open)) }
  const hit = hits(inside, PREFIX).find(({ index }) => index > open)
  if (hit === undefined) return ''
  const name = /^[\w.]+/.exec(inside.code.slice(hit.end))?.[0] ?? ''
  return stringAt(inside, hit.end) ?? setting(sources, name)
}

/** `prefix=settings.API_V1_STR`: a name that is given a text once. */
function setting(sources: readonly Source[], expression: string): string | null {
  const name = expression.split('.').at(-1) ?? ''
  if (name === '') return null
  const assigned = new RegExp(String.raw`^[ \t]*${name}\s*(?::[^=\n]+)?=\s*`, 'm')
  const values = sources.flatMap((source) =>
    hits(source, assigned).map(({ end }) => stringAt(source, end)),
  )
  return values.length === 1 ? (values[0] ?? null) : null
}
