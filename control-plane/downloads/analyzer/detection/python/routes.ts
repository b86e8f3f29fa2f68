/** Routes of Flask and FastAPI, with what blueprints and routers put in front of them. */
import { healthClue, healthRank, joinPaths } from '../health.ts'
import type { Clue } from '../assemble.ts'
import { closeOf, firstHit, hits, placeAt, stringAt, type Source } from '../source/source.ts'
import { moduleName, type PythonUnit } from './python-project.ts'

const ROUTE =
  /(\w+)\s*\.\s*(?:get|head|route|api_route|add_api_route|add_url_rule|add_route)\s*\(\s*(?:rule\s*=\s*|path\s*=\s*)?/
const PARTS = /\b(\w+)\s*(?::[^=\n]+)?=\s*(?:\w+\.)*(?:APIRouter|Blueprint|APIBlueprint)\s*(?=\()/
const INCLUDES = /(\w+)\s*\.\s*(?:include_router|register_blueprint)\s*(?=\()/
/** Deeper than that nobody nests them. */
const DEPTH_MAX = 5

export function healthRoute(unit: PythonUnit): Clue<string> | null {
  const found = unit.sources.flatMap((source) =>
    hits(source, ROUTE).flatMap(({ index, end, match: [, receiver = ''] }) => {
      const path = stringAt(source, end)
      if (path === null || (healthRank(path) === null && path !== '')) return []
      const prefix = prefixOf(unit, source, receiver, 0)
      const at = placeAt(source, index)
      return [{ path: joinPaths(prefix ?? '', path), at, isKnown: prefix !== null }]
    }),
  )
  return healthClue(found)
}

/** null: it is included somewhere in a way that cannot be read. */
function prefixOf(
  unit: PythonUnit,
  source: Source,
  receiver: string,
  depth: number,
): string | null {
  const own = hits(source, PARTS).find(({ match: [, name] }) => name === receiver)
  if (own === undefined) return isImportedPart(source, receiver) ? null : ''
  if (depth > DEPTH_MAX) return null
  const ownPrefix = keyword(unit, source, own.end, /\b(?:url_)?prefix\s*=\s*/)
  const included = includeOf(unit, source, receiver)
  if (ownPrefix === null || included === null) return null
  const given = keyword(unit, included.source, included.open, /\b(?:url_)?prefix\s*=\s*/)
  const above = prefixOf(unit, included.source, included.receiver, depth + 1)
  if (given === null || above === null) return null
  // Flask: what is given at the registration takes the place of the blueprint's own
  const isBlueprint = /register_blueprint/.test(included.call)
  return joinPaths(above, isBlueprint && given !== '' ? given : joinPaths(given, ownPrefix))
}

const isImportedPart = (source: Source, name: string) =>
  firstHit(
    source,
    new RegExp(String.raw`^[ \t]*from\s+[\w.]+\s+import\s+[^\n]*\b${name}\b`, 'm'),
  ) !== null && /router|blueprint|^bp$/i.test(name)

interface Include {
  readonly source: Source
  readonly receiver: string
  readonly open: number
  readonly call: string
}

function includeOf(unit: PythonUnit, part: Source, name: string): Include | null {
  for (const source of unit.sources)
    for (const { end, match } of hits(source, INCLUDES)) {
      const [argument = ''] = /[\w.]+/.exec(source.code.slice(end + 1, end + 200)) ?? []
      if (!isSame(source, argument, part, name)) continue
      return { source, receiver: match[1] ?? '', open: end, call: match[0] }
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

/** '' where the keyword is not given, null where what is given cannot be read. */
function keyword(unit: PythonUnit, source: Source, open: number, name: RegExp): string | null {
  const inside = { ...source, code: source.code.slice(0, closeOf(source, open)) }
  const hit = hits(inside, name).find(({ index }) => index > open)
  if (hit === undefined) return ''
  const text = stringAt(inside, hit.end)
  return text ?? setting(unit, /^[\w.]+/.exec(inside.code.slice(hit.end))?.[0] ?? '')
}

/** `prefix=settings.API_V1_STR`: a name that is given a text once. */
function setting(unit: PythonUnit, expression: string): string | null {
  const name = expression.split('.').at(-1) ?? ''
  if (name === '') return null
  const assigned = new RegExp(String.raw`^[ \t]*${name}\s*(?::[^=\n]+)?=\s*`, 'm')
  const values = unit.sources.flatMap((source) =>
    hits(source, assigned).map(({ end }) => stringAt(source, end)),
  )
  return values.length === 1 ? (values[0] ?? null) : null
}
