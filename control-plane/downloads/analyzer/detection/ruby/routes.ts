/** config/routes.rb: paths with the namespaces and scopes that stand around them. */
import type { Clue } from '../assemble.ts'
import { healthClue, healthRank, joinPaths } from '../health.ts'
import { hits, placeAt, stringAt, stringsBetween, type Source } from '../source/source.ts'

const ROUTE = /^[ \t]*(?:get|match|head|mount)\b[ (]\s*/m

export function healthRoute(sources: readonly Source[]): Clue<string> | null {
  const found = sources.flatMap((source) =>
    hits(source, ROUTE).flatMap(({ index, end }) => {
      const path = pathAt(source, end)
      if (path === null || healthRank(path) === null) return []
      const prefix = prefixAt(source, index)
      return [
        {
          path: joinPaths(prefix ?? '', path),
          at: placeAt(source, index),
          isKnown: prefix !== null,
        },
      ]
    }),
  )
  return healthClue(found)
}

/** `get 'up' => …`, `get :health`, `mount Health::Engine => '/health'` */
function pathAt(source: Source, start: number): string | null {
  const direct = stringAt(source, start)
  if (direct !== null) return direct.replace(/\(\.:format\)$/, '')
  const line = /^[^\n]*/.exec(source.code.slice(start))?.[0] ?? ''
  const [, symbol] = /^:(\w+)/.exec(line) ?? []
  if (symbol !== undefined) return symbol
  const behind = /=>\s*|\bat:\s*/.exec(line)
  return behind === null ? null : stringAt(source, start + behind.index + behind[0].length)
}

/** null: around it stands what has a path that is not clear, such as `resources`. */
function prefixAt(source: Source, index: number): string | null {
  const open: (string | null)[] = []
  let offset = 0
  for (const line of source.code.slice(0, index).split('\n')) {
    if (/\bdo\b\s*(?:\|[^|]*\|)?\s*$/.test(line)) open.push(pathOf(source, line, offset))
    else if (/^\s*(?:if|unless|case|begin|def)\b/.test(line)) open.push('')
    else if (/^\s*end\b/.test(line)) open.pop()
    offset += line.length + 1
  }
  return open.includes(null) ? null : open.join('/')
}

function pathOf(source: Source, line: string, offset: number): string | null {
  const [, word = '', symbol] = /^\s*(\w+)\b[ (]*(?::(\w+))?/.exec(line) ?? []
  if (
    /^(?:Rails|constraints|authenticated?|unauthenticated|concern|defaults|with_options|devise_scope|draw)$/.test(
      word,
    )
  )
    return ''
  const strings = stringsBetween(source, offset, offset + line.length)
  const path = /\bpath:\s*/.exec(line)
  if (path !== null) return stringAt(source, offset + path.index + path[0].length)
  if (word === 'namespace') return symbol ?? strings[0]?.value ?? null
  if (word !== 'scope') return null
  if (symbol !== undefined) return symbol
  return /^\s*scope[ (]+["']/.test(line) ? (strings[0]?.value ?? null) : ''
}
