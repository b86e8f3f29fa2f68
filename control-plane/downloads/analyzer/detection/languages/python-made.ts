/** Where `Flask(…)` and `FastAPI(…)` are called, and which of these calls is the application. */
import type { Confidence, Place } from '../application.ts'
import { folderOf, nameOf } from '../folders.ts'
import { firstHit, hits, placeAt, type Source } from '../source/source.ts'
import {
  findModule,
  importedModule,
  moduleAt,
  sourceAt,
  type PythonCode,
} from './python-modules.ts'

interface Made {
  readonly source: Source
  readonly index: number
  /** `app` of `app = Flask(…)`. */
  readonly variable: string | null
  /** `create_app`, if it is made in there. */
  readonly factory: string | null
}

/** An application, and the file by which it is started. */
export interface Started {
  readonly made: Made
  readonly entry: Place
  readonly entrySource: Source
  readonly entryConfidence: Confidence
  readonly mountConfidence: Confidence
}

export function madeIn(
  part: PythonCode,
  imports: RegExp,
  module: string,
  classes: readonly string[],
): Made[] {
  const importing = part.sources.filter((source) => firstHit(source, imports) !== null)
  const makes = new RegExp(
    String.raw`(?<![\w.])(?:${module}\s*\.\s*)?(?:${classes.join('|')})\s*\(`,
  )
  const derived = subclasses(importing, classes)
  const all = part.sources.flatMap((source) =>
    [
      ...(importing.includes(source) ? hits(source, makes) : []),
      ...(derived === null ? [] : hits(source, derived)),
    ].map(({ index }) => ({ source, index, ...namesOf(source, index) })),
  )
  return all.filter((made) => !isMounted(part, made))
}

const DERIVED_MAX = 20

/** `class Shop(Flask):` makes one as well, wherever it is called. */
function subclasses(importing: readonly Source[], classes: readonly string[]): RegExp | null {
  const declares = new RegExp(
    String.raw`^class\s+(\w+)\s*\(\s*(?:\w+\.)?(?:${classes.join('|')})\s*[,)]`,
    'm',
  )
  const names = importing.flatMap((source) =>
    hits(source, declares).map(({ match: [, name = ''] }) => name),
  )
  const any = names.slice(0, DERIVED_MAX).join('|')
  return any === '' ? null : new RegExp(String.raw`(?<![\w.]|class\s+)(?:${any})\s*\(`)
}

function namesOf({ code }: Source, index: number) {
  const lineStart = code.lastIndexOf('\n', index - 1) + 1
  const line = code.slice(lineStart, index)
  const [, variable = null] = /(\w+)\s*(?::\s*[\w.[\]]+\s*)?=\s*(?:\w+\s*=\s*)?$/.exec(line) ?? []
  const indent = /^[ \t]*/.exec(line)?.[0].length ?? 0
  if (indent === 0) return { variable, factory: null }
  const above = [
    ...code.slice(0, lineStart).matchAll(/^([ \t]*)(?:async\s+)?def\s+(\w+)/gm),
  ].reverse()
  const [, , factory = null] = above.find(([, around = '']) => around.length < indent) ?? []
  return { variable, factory }
}

/** `app.mount('/admin', admin_app)`: a part of another one. */
function isMounted(part: PythonCode, { variable, source }: Made): boolean {
  if (variable === null) return false
  const mounts = new RegExp(
    String.raw`\.mount\s*\([^()]*,\s*(?:app\s*=\s*)?(?:\w+\.)*${variable}\s*[,)]`,
  )
  return part.sources.some(
    (other) =>
      firstHit(other, mounts) !== null &&
      (other === source || reaches(part, other, { source, variable, factory: null, index: 0 }, 0)),
  )
}

/** Which are started, by the best that there is to go by: commands, then code, then custom. */
export function startedOnes(part: PythonCode, made: readonly Made[]): Started[] {
  for (const { sources, confidence, isCommanded } of startLevels(part)) {
    const started = new Map<Made, Started>()
    for (const source of sources) {
      const own = made.filter((one) => one.source === source)
      const reached = own.length > 0 ? own : made.filter((one) => reaches(part, source, one, 0))
      const [first] = [...reached].sort(
        (a, b) => Number(b.factory === null) - Number(a.factory === null),
      )
      if (first === undefined || started.has(first)) continue
      const starter = confidence === 'sure' && isCommanded ? source : starterOf(part, source)
      started.set(first, {
        made: first,
        entrySource: starter,
        entry: startIn(starter, first),
        entryConfidence: confidence,
        mountConfidence: reached.length === 1 ? 'sure' : 'likely',
      })
    }
    if (started.size > 0) return [...started.values()]
  }
  // nothing starts it that can be seen: a server is pointed at it, from outside
  const [first] = [...made].sort((a, b) => depthOf(a.source) - depthOf(b.source))
  if (first === undefined) return []
  const { source, index } = first
  const confidence = made.length === 1 ? 'likely' : 'guess'
  const confidences = { entryConfidence: confidence, mountConfidence: confidence } as const
  const starter = starterOf(part, source)
  const entry = starter === source ? placeAt(source, index) : startIn(starter, first)
  return [{ made: first, entry, entrySource: starter, ...confidences }]
}

const depthOf = ({ path }: Source) => path.split('/').length

interface StartLevel {
  readonly sources: readonly Source[]
  readonly confidence: Confidence
  /** A command names the file itself. */
  readonly isCommanded?: true
}

function startLevels(part: PythonCode): StartLevel[] {
  const runs =
    /\b(?:uvicorn|hypercorn|waitress)\s*\.\s*(?:run|serve)\s*\(|\b(?:app|application|api|server)\s*\.\s*run\s*\(|\bserve\s*\(\s*app\b/
  const customary = [
    'wsgi.py',
    'asgi.py',
    '__main__.py',
    'main.py',
    'app.py',
    'run.py',
    'server.py',
    'application.py',
    'api.py',
  ]
  return [
    { sources: ofCommands(part), confidence: 'sure', isCommanded: true },
    {
      sources: part.sources.filter((source) => firstHit(source, runs) !== null),
      confidence: 'sure',
    },
    {
      sources: customary
        .flatMap((name) => part.sources.filter(({ path }) => nameOf(path) === name))
        .sort((a, b) => depthOf(a) - depthOf(b)),
      confidence: 'likely',
    },
  ]
}

/** `uvicorn app.main:app`, `gunicorn 'shop:create_app()'`, `python -m shop`, `fastapi run main.py` */
function ofCommands(part: PythonCode): Source[] {
  const texts = [...part.deployment.commands.map(({ text }) => text), ...part.scripts]
  const found = texts.flatMap((text) => {
    const modules = [...text.matchAll(/(?<![\w/.:-])([A-Za-z_][\w.]*):[A-Za-z_]\w*/g)].map(
      ([, name = '']) => name,
    )
    const named = [...text.matchAll(/(?:python3?\s+-m|--app[ =]|FLASK_APP=)\s*([A-Za-z_][\w.]*)/g)]
    const files = [...text.matchAll(/(?<![\w./-])(?:\.\/)?([\w./-]+\.py)\b/g)].map(
      ([, path = '']) => path,
    )
    return [
      ...[...modules, ...named.map(([, name = '']) => name)].map(
        (name) => findModule(part, name) ?? findModule(part, `${name}.__main__`),
      ),
      ...files.map((path) => sourceAt(part, [part.folder, path].filter(Boolean).join('/'))),
    ]
  })
  return [...new Set(found.filter((source) => source !== null))]
}

/** Whether a file gets this application by importing it, or the function that makes it. */
function reaches(part: PythonCode, from: Source, made: Made, depth: number): boolean {
  if (from === made.source) return true
  if (depth > 3) return false
  const names = [made.variable, made.factory].filter((name) => name !== null)
  const imports = hits(from, /^[ \t]*from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)/m)
  for (const {
    match: [, module = '', list = ''],
  } of imports) {
    const imported = list.split(/[(),\s]+/)
    const target = importedModule(part, from, module)
    if (names.some((name) => imported.includes(name)) && target !== null)
      if (reaches(part, target, made, depth + 1)) return true
    // from shop import app: a module of that package
    for (const name of imported.filter((name) => name !== '')) {
      const inside = target === null ? null : moduleAt(part, folderOf(target.path), name)
      if ((inside ?? importedModule(part, from, `${module}.${name}`)) === made.source) return true
    }
  }
  return hits(from, /^[ \t]*import\s+([\w.]+)/m).some(
    ({ match: [, module = ''] }) => findModule(part, module) === made.source,
  )
}

/** What is run, of the files that lead to this one; itself, if it is run. */
function starterOf(part: PythonCode, source: Source): Source {
  if (isRun(source)) return source
  const starters = part.sources.filter((one) => isRun(one) && leadsTo(part, one, source, 2))
  return starters.toSorted((a, b) => depthOf(a) - depthOf(b))[0] ?? source
}

const isRun = (source: Source) =>
  nameOf(source.path) === '__main__.py' || firstHit(source, /^if\s+__name__\s*==/m) !== null

function leadsTo(part: PythonCode, from: Source, to: Source, depth: number): boolean {
  const imports = hits(
    from,
    /^[ \t]*(?:import\s+([\w.]+)|from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*))/m,
  )
  const targets = imports.flatMap(({ match: [, whole, module = '', list = ''] }) =>
    [whole ?? module, ...(list.match(/\w+/g)?.map((name) => `${module}.${name}`) ?? [])].flatMap(
      (name) => importedModule(part, from, name) ?? [],
    ),
  )
  return (
    targets.includes(to) ||
    (depth > 1 && targets.some((target) => target !== from && leadsTo(part, target, to, depth - 1)))
  )
}

function startIn(source: Source, made: Made): Place {
  const hit =
    firstHit(source, /^if __name__\b/m) ??
    firstHit(source, /\b(?:uvicorn|hypercorn|waitress)\s*\.\s*(?:run|serve)\s*\(|\.run\s*\(/)
  if (hit !== null) return placeAt(source, hit.index)
  if (source === made.source) return placeAt(source, made.index)
  const called =
    made.factory === null
      ? null
      : firstHit(source, new RegExp(String.raw`(?<!def\s+)\b${made.factory}\s*\(`))
  const named =
    made.variable === null ? null : firstHit(source, new RegExp(String.raw`\b${made.variable}\b`))
  return placeAt(source, (called ?? named)?.index ?? 0)
}
