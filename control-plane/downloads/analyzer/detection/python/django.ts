/** Django: settings may be one file, or a package of files that build on each other. */
import type { Application, Place } from '../application.ts'
import { assemble, type Clue } from '../assemble.ts'
import { folderOf, isUnder } from '../folders.ts'
import { healthClue, joinPaths } from '../health.ts'
import { integratedIn } from '../integrated.ts'
import { needed } from '../manifests/dependencies.ts'
import {
  closeOf,
  firstHit,
  hits,
  placeAt,
  stringAt,
  stringsBetween,
  type Source,
} from '../source/source.ts'
import { findModule, importedModule, moduleAt, type PythonUnit } from './python-project.ts'
import { DJANGO_SIGN_IN, packagesOfSignIn } from './sign-in.ts'

const MIDDLEWARE = /^[ \t]*MIDDLEWARE(?:_CLASSES)?\s*(?::[^=\n]+)?=\s*/m

export function djangoApplications(unit: PythonUnit): Application[] {
  const managers = unit.sources.filter(
    (source) =>
      /(?:^|\/)manage\.py$/.test(source.path) && firstHit(source, /\bexecute_from_command_line\b/),
  )
  const started = managers.length > 0 ? managers : servers(unit).slice(0, 1)
  return started.map((start) => application(unit, start, managers.length > 1))
}

/** wsgi.py and asgi.py: what production runs, so their settings count more than manage.py's. */
function servers({ sources }: PythonUnit): Source[] {
  return sources.filter((source) => firstHit(source, /\bget_[aw]sgi_application\s*\(/) !== null)
}

function application(unit: PythonUnit, start: Source, isOneOfSeveral: boolean): Application {
  const base = folderOf(start.path)
  const dependency = needed(unit.dependencies, 'django')
  const chain = settingsChain(unit, base, start)
  const middleware = chain === null ? searched(unit, base) : ofChain(chain)
  const settings = chain ?? (middleware === null ? [] : [middleware.source])
  return assemble({
    folder: isOneOfSeveral ? base : unit.folder,
    framework: {
      value: 'django',
      at: dependency?.at ?? placeAt(start, 0),
      confidence: dependency === null ? 'likely' : 'sure',
      detail:
        dependency === null
          ? 'The code imports Django.'
          : 'Django is a dependency, and the code starts it.',
    },
    variant: dependency?.version ?? null,
    language: { value: 'python', at: null, confidence: 'sure', detail: 'It is written in Python.' },
    packageManager: unit.packageManager,
    entry: {
      value: start.path,
      at: lineOfStart(start),
      confidence: 'sure',
      detail: 'This file starts Django.',
    },
    mount: middleware,
    health: health(unit, base, settings) ?? unit.deployment.health,
    port: unit.deployment.port ?? {
      value: 8000,
      at: null,
      confidence: 'likely',
      detail: 'Django and Gunicorn listen there unless told otherwise.',
    },
    signIn: [...signIn(settings), ...packagesOfSignIn(unit)],
    integrated: integrated(settings) ?? integratedIn(settings),
  })
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
function settingsChain(unit: PythonUnit, base: string, start: Source): Source[] | null {
  const naming = [...servers(unit).filter(({ path }) => isUnder(base, path)), start]
  for (const source of naming)
    for (const { end } of hits(source, /\bsetdefault\s*\(|\benviron\s*(?=\[)/)) {
      const [name, module] = stringsBetween(source, end, end + 200).map(({ value }) => value)
      if (name !== 'DJANGO_SETTINGS_MODULE' || module === undefined) continue
      const settings = moduleAt(unit, base, module) ?? findModule(unit, module)
      if (settings !== null) return withBases(unit, settings, new Set())
    }
  return null
}

function withBases(unit: PythonUnit, settings: Source, seen: Set<string>): Source[] {
  if (seen.has(settings.path) || seen.size > 10) return []
  seen.add(settings.path)
  const stars = hits(settings, /^[ \t]*from\s+([\w.]+)\s+import\s+\*/m).reverse()
  return [
    settings,
    ...stars.flatMap(({ match: [, module = ''] }) => {
      const base = importedModule(unit, settings, module)
      return base === null ? [] : withBases(unit, base, seen)
    }),
  ]
}

function ofChain(chain: readonly Source[]): Middleware | null {
  for (const source of chain) {
    const hit = firstHit(source, MIDDLEWARE)
    if (hit === null) continue
    const isList = /^[[(]/.test(source.code.slice(hit.end))
    return {
      value: 'MIDDLEWARE',
      source,
      at: placeAt(source, source.code.indexOf('MIDDLEWARE', hit.index)),
      confidence: isList ? 'sure' : 'guess',
      detail: isList
        ? 'The list of middleware: the first of it sees a request first.'
        : 'The list of middleware is put together from others here.',
    }
  }
  return null
}

/** No file says which settings are meant: one list of middleware is likely the one. */
function searched(unit: PythonUnit, base: string): Middleware | null {
  const found = unit.sources.filter(
    (source) => isUnder(base, source.path) && firstHit(source, MIDDLEWARE),
  )
  const middleware = ofChain(found)
  if (middleware === null) return null
  const confidence = found.length === 1 && middleware.confidence === 'sure' ? 'likely' : 'guess'
  return { ...middleware, confidence }
}

function signIn(settings: readonly Source[]): Clue<string>[] {
  return settings.flatMap((source) =>
    hits(source, /\b[A-Z_]*APPS\s*(?::[^=\n]+)?\+?=\s*(?=[[(])/).flatMap(({ end }) =>
      stringsBetween(source, end, closeOf(source, end)).flatMap(({ value, index }) => {
        const name = Object.hasOwn(DJANGO_SIGN_IN, value) ? DJANGO_SIGN_IN[value] : undefined
        if (name === undefined) return []
        const detail = 'It is one of the installed apps.'
        return [{ value: name, at: placeAt(source, index), confidence: 'sure' as const, detail }]
      }),
    ),
  )
}

function integrated(settings: readonly Source[]): Place | null {
  for (const source of settings)
    for (const { end } of hits(source, new RegExp(`${MIDDLEWARE.source}(?=[[(])`, 'm'))) {
      const named = stringsBetween(source, end, closeOf(source, end))
      const ours = named.find(({ value }) => /(?:^|\.)ServiceClaims$/.test(value))
      if (ours !== undefined) return placeAt(source, ours.index)
    }
  return null
}

/** Paths of the root URL configuration, and of those that it includes by name. */
function health(unit: PythonUnit, base: string, settings: readonly Source[]): Clue<string> | null {
  const root = rootUrls(unit, base, settings)
  const found = unit.sources
    .filter(({ path }) => isUnder(base, path) && /(?:^|\/)\w*urls?\w*(?:\/\w+)?\.py$/.test(path))
    .flatMap((source) => {
      const prefix = source === root ? '' : prefixOf(root, source)
      return routes(source).map(({ path, index }) => ({
        path: joinPaths(prefix ?? '', path),
        at: placeAt(source, index),
        isKnown: prefix !== null && isOfUrlpatterns(source, index),
      }))
    })
  return healthClue(found)
}

/** Other lists of a file are included somewhere, behind something. */
function isOfUrlpatterns({ code }: Source, index: number): boolean {
  const lists = [
    ...code.slice(0, index).matchAll(/^(\w+)\s*(?::[^=\n]+)?\+?=\s*(?:\w+\s*\()?[[(]/gm),
  ]
  return lists.at(-1)?.[1] === 'urlpatterns'
}

function rootUrls(unit: PythonUnit, base: string, settings: readonly Source[]): Source | null {
  for (const source of settings) {
    const hit = firstHit(source, /^[ \t]*ROOT_URLCONF\s*=\s*/m)
    const module = hit === null ? null : stringAt(source, hit.end)
    if (module !== null) return moduleAt(unit, base, module) ?? findModule(unit, module)
  }
  return null
}

/** `path('healthz/', …)`, `re_path(r'^healthz/?$', …)` */
function routes(source: Source): { path: string; index: number; end: number }[] {
  return hits(source, /\b(?:re_)?(?:path|url)\s*\(\s*/).flatMap(({ index, end }) => {
    const text = stringAt(source, end)
    return text === null
      ? []
      : [{ path: text.replace(/^\^/, '').replace(/\/?\??\$$/, '/'), index, end }]
  })
}

/** What the root puts in front of the paths of an included file. */
function prefixOf(root: Source | null, source: Source): string | null {
  if (root === null) return null
  const module = source.path.replace(/(?:\/__init__)?\.py$/, '').replaceAll('/', '.')
  for (const { path, end } of routes(root)) {
    const include = /^[a-zA-Z]{0,2}(["'])[^"']*\1\s*,\s*include\s*\(\s*\(?\s*/.exec(
      root.code.slice(end, end + 500),
    )
    const named = include === null ? null : stringAt(root, end + include[0].length)
    if (named !== null && `.${module}`.endsWith(`.${named}`)) return path
  }
  return null
}
