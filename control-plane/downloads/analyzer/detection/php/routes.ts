/** Laravel's routes: those of routes/api.php stand behind `/api`, those of web.php behind nothing. */
import type { Clue } from '../assemble.ts'
import { nameOf } from '../folders.ts'
import { bestHealth, healthRank, joinPaths } from '../health.ts'
import { closeOf, firstHit, hits, placeAt, stringAt, type Source } from '../source/source.ts'

export function healthOf(bootstrap: Source, routes: readonly Source[]): Clue<string> | null {
  return configured(bootstrap) ?? routed(bootstrap, routes)
}

/** `->withRouting(health: '/up')` */
function configured(bootstrap: Source): Clue<string> | null {
  const hit = firstHit(bootstrap, /\bhealth\s*:\s*(?=["'])/)
  const path = hit === null ? null : stringAt(bootstrap, hit.end)
  if (hit === null || path === null) return null
  const at = placeAt(bootstrap, hit.index)
  return { value: joinPaths(path), at, confidence: 'sure', detail: "Laravel's own health route." }
}

function routed(bootstrap: Source, routes: readonly Source[]): Clue<string> | null {
  const found = routes.flatMap((source) =>
    hits(source, /\bRoute::(?:get|any|view)\s*\(\s*/).flatMap(({ index, end }) => {
      const path = stringAt(source, end)
      if (path === null || healthRank(path) === null) return []
      const prefix = prefixAt(source, index)
      const at = placeAt(source, index)
      return [
        {
          path: joinPaths(base(bootstrap, source), prefix ?? '', path),
          at,
          isKnown: prefix !== null,
        },
      ]
    }),
  )
  const best = bestHealth(
    found,
    ({ path }) => path,
    ({ isKnown }) => isKnown,
  )
  if (best === null) return null
  return {
    value: best.path,
    at: best.at,
    confidence: best.isKnown ? 'likely' : 'guess',
    detail: 'A route for it is there.',
  }
}

function base(bootstrap: Source, { path }: Source): string {
  if (nameOf(path) !== 'api.php') return ''
  const hit = firstHit(bootstrap, /\bapiPrefix\s*:\s*/)
  return (hit === null ? null : stringAt(bootstrap, hit.end)) ?? 'api'
}

/** `Route::prefix('v1')->group(function () { … })`; null: a group whose prefix is not clear. */
function prefixAt(source: Source, index: number): string | null {
  const groups = hits(source, /->\s*group\s*(?=\()|\bRoute::group\s*(?=\()/).filter(
    ({ index: start, end }) => start < index && closeOf(source, end) > index,
  )
  const prefixes = groups.map(({ index: start, end }) => {
    const from = source.code.lastIndexOf('Route::', start)
    const until = source.code.indexOf('function', end)
    const head = source.code.slice(from, until === -1 ? end : until)
    const given = /\bprefix\s*\(\s*|["'] *["']\s*=>\s*(?=["'])/.exec(head)
    if (given === null) return ''
    const path = stringAt(source, from + given.index + given[0].length)
    const isPrefix =
      given[0].startsWith('prefix') || source.text.startsWith('prefix', from + given.index + 1)
    return isPrefix ? path : ''
  })
  return prefixes.includes(null) ? null : prefixes.join('/')
}
