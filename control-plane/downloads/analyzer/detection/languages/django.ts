/** Django: settings may be one file, or a package of files that build on each other. */
import type { Place } from '../application.ts'
import { clue, type Clue } from '../assemble.ts'
import { folderOf, isUnder } from '../folders.ts'
import type { Found } from '../reader/language.ts'
import { healthOf, type Nesting } from '../reader/routes.ts'
import {
  firstHit,
  hits,
  placeAt,
  stringAt,
  stringBehind,
  stringsBehind,
  stringsBetween,
  type Source,
} from '../source/source.ts'
import {
  findModule,
  importedModule,
  moduleAt,
  type PythonCode,
  type PythonPart,
} from './python-modules.ts'
import { packagesOfSignIn, signInOfApp } from './python-sign-in.ts'

const MIDDLEWARE = /^[ \t]*MIDDLEWARE(?:_CLASSES)?\s*(?::[^=\n]+)?=\s*/m

export function djangoStarts(part: PythonCode): Found<PythonPart>[] {
  const managers = part.sources.filter(
    (source) =>
      /(?:^|\/)manage\.py$/.test(source.path) && firstHit(source, /\bexecute_from_command_line\b/),
  )
  const started = managers.length > 0 ? managers : servers(part).slice(0, 1)
  return started.map((start) => foundOf(part, start, managers.length > 1))
}

/** wsgi.py and asgi.py: what production runs, so their settings count more than manage.py's. */
function servers({ sources }: PythonCode): Source[] {
  return sources.filter((source) => firstHit(source, /\bget_[aw]sgi_application\s*\(/) !== null)
}

function foundOf(part: PythonCode, start: Source, isOneOfSeveral: boolean): Found<PythonPart> {
  const base = folderOf(start.path)
  const chain = settingsChain(part, base, start)
  const middleware = chain === null ? searched(part, base) : ofChain(chain)
  const settings = chain ?? (middleware === null ? [] : [middleware.source])
  const health = healthIn(part, base, settings)
  const integrated = integratedIn(settings)
  return {
    part,
    folder: isOneOfSeveral ? base : part.folder,
    made: { at: placeAt(start, 0), detail: '' },
    sources: settings,
    entry: clue(start.path, lineOfStart(start), 'sure', 'This file starts Django.'),
    mount: middleware,
    ...(health && { health }),
    signIn: [...installedApps(settings), ...packagesOfSignIn(part)],
    ...(integrated && { integrated }),
  }
}

function lineOfStart(start: Source): Place {
  const hit =
    firstHit(start, /^if __name__\b/m) ?? firstHit(start, /\bget_[aw]sgi_application\s*\(/)
  return placeAt(start, hit?.index ?? 0)
}

interface Middleware extends Clue<string> {
  readonly at: Place
  readonly source: Source
}

/** Its settings, from the module that is named to what it builds on; null: not to be found. */
function settingsChain(part: PythonCode, base: string, start: Source): Source[] | null {
  const naming = [...servers(part).filter(({ path }) => isUnder(base, path)), start]
  for (const source of naming)
    for (const { end } of hits(source, /\bsetdefault\s*\(|\benviron\s*(?=\[)/)) {
      const [name, module] = stringsBetween(source, end, end + 200).map(({ value }) => value)
      if (name !== 'DJANGO_SETTINGS_MODULE' || module === undefined) continue
      const settings = moduleAt(part, base, module) ?? findModule(part, module)
      if (settings !== null) return withBases(part, settings, new Set())
    }
  return null
}

function withBases(part: PythonCode, settings: Source, seen: Set<string>): Source[] {
  if (seen.has(settings.path) || seen.size > 10) return []
  seen.add(settings.path)
  const stars = hits(settings, /^[ \t]*from\s+([\w.]+)\s+import\s+\*/m).reverse()
  return [
    settings,
    ...stars.flatMap(({ match: [, module = ''] }) => {
      const base = importedModule(part, settings, module)
      return base === null ? [] : withBases(part, base, seen)
    }),
  ]
}

function ofChain(chain: readonly Source[]): Middleware | null {
  for (const source of chain) {
    const hit = firstHit(source, MIDDLEWARE)
    if (hit === null) continue
    const at = placeAt(source, source.code.indexOf('MIDDLEWARE', hit.index))
    const [confidence, detail] = /^[[(]/.test(source.code.slice(hit.end))
      ? (['sure', 'The list of middleware: the first of it sees a request first.'] as const)
      : (['guess', 'The list of middleware is put together from others here.'] as const)
    return { ...clue('MIDDLEWARE', at, confidence, detail), at, source }
  }
  return null
}

/** No file says which settings are meant: one list of middleware is likely the one. */
function searched(part: PythonCode, base: string): Middleware | null {
  const found = part.sources.filter(
    (source) => isUnder(base, source.path) && firstHit(source, MIDDLEWARE),
  )
  const middleware = ofChain(found)
  if (middleware === null) return null
  const confidence = found.length === 1 && middleware.confidence === 'sure' ? 'likely' : 'guess'
  return { ...middleware, confidence }
}

function installedApps(settings: readonly Source[]): Clue<string>[] {
  return settings.flatMap((source) =>
    stringsBehind(source, /\b[A-Z_]*APPS\s*(?::[^=\n]+)?\+?=\s*(?=[[(])/).flatMap(
      ({ value, index }) => {
        const name = signInOfApp(value)
        if (name === undefined) return []
        return [clue(name, placeAt(source, index), 'sure', 'It is one of the installed apps.')]
      },
    ),
  )
}

function integratedIn(settings: readonly Source[]): Place | null {
  const list = new RegExp(`${MIDDLEWARE.source}(?=[[(])`, 'm')
  for (const source of settings)
    for (const { value, index } of stringsBehind(source, list))
      if (/(?:^|\.)ServiceClaims$/.test(value)) return placeAt(source, index)
  return null
}

const PATH = /\b(?:re_)?(?:path|url)\s*\(\s*/

/** Paths of the root URL configuration, and of those that it includes by name. */
function healthIn(part: PythonCode, base: string, settings: readonly Source[]) {
  const root = rootUrls(part, base, settings)
  const inUrlpatterns: Nesting = (_, { source, index }) => {
    const prefix = source === root ? '' : includedAt(root, source)
    // other lists of a file are included somewhere, behind something
    const lists = hits(source, /^(\w+)\s*(?::[^=\n]+)?\+?=\s*(?:\w+\s*\()?[[(]/m)
    const list = lists.filter((one) => one.index < index).at(-1)?.match[1]
    return { path: prefix ?? '', isKnown: prefix !== null && list === 'urlpatterns', above: null }
  }
  const urls = part.sources.filter(
    ({ path }) => isUnder(base, path) && /(?:^|\/)\w*urls?\w*(?:\/\w+)?\.py$/.test(path),
  )
  const path = (source: Source, { end }: { readonly end: number }) => pathAt(source, end)
  return healthOf({ ...part, sources: urls }, [{ calls: PATH, path, nested: [inUrlpatterns] }])
}

function rootUrls(part: PythonCode, base: string, settings: readonly Source[]): Source | null {
  for (const source of settings) {
    const module = stringBehind(source, /^[ \t]*ROOT_URLCONF\s*=\s*/m)
    if (module !== null) return moduleAt(part, base, module) ?? findModule(part, module)
  }
  return null
}

/** `path('healthz/', …)`, `re_path(r'^healthz/?$', …)` */
function pathAt(source: Source, index: number): string | null {
  return (
    stringAt(source, index)
      ?.replace(/^\^/, '')
      .replace(/\/?\??\$$/, '/') ?? null
  )
}

/** What the root puts in front of the paths of an included file. */
function includedAt(root: Source | null, source: Source): string | null {
  if (root === null) return null
  const module = source.path.replace(/(?:\/__init__)?\.py$/, '').replaceAll('/', '.')
  for (const { end } of hits(root, PATH)) {
    const path = pathAt(root, end)
    const include = /^[a-zA-Z]{0,2}(["'])[^"']*\1\s*,\s*include\s*\(\s*\(?\s*/
    const named = stringBehind(root, include, end, end + 500)
    if (path !== null && named !== null && `.${module}`.endsWith(`.${named}`)) return path
  }
  return null
}
