/** Go: which packages are programs, what they bring along of the project's own, and where they serve. */
import type { Confidence } from '../application.ts'
import { folderOf, under } from '../folders.ts'
import type { Part, ReadPart } from '../reader/part.ts'
import {
  closeOf,
  firstHit,
  hits,
  stringAt,
  stringsBetween,
  type Hit,
  type Source,
} from '../source/source.ts'

interface GoPackage {
  readonly module: ReadPart
  readonly folder: string
  readonly sources: Source[]
}

/** Where a handler is handed to a server. */
interface Serving {
  readonly source: Source
  readonly index: number
  /** Of the router's own `Run()` or `Start()`. */
  readonly router: Router | null
  /** Where its address is said. */
  readonly addressAt: number | null
  /** Metrics and profiles, beside what is served to people. */
  readonly isAside: boolean
  /** Here the router is made; where it serves is its own affair, or a library's. */
  readonly isMaking?: true
}

export interface GoProgram {
  readonly module: ReadPart
  /** Its own, and those of all that it imports of the project. */
  readonly own: readonly Source[]
  readonly sources: readonly Source[]
  readonly serving: Serving
  readonly confidence: Confidence
}

export interface Router {
  readonly name: string
  readonly imported: RegExp
  /** What makes one, what its type is called, and what has it serve. */
  readonly serves?: readonly [makes: RegExp, type: RegExp, method: string]
}

export const ROUTERS: readonly Router[] = [
  {
    name: 'gin',
    imported: /^github\.com\/gin-gonic\/gin$/,
    serves: [/\bgin\.(?:Default|New)\s*\(/, /\*gin\.Engine\b/, 'Run(?:TLS|Listener|Unix)?'],
  },
  {
    name: 'echo',
    imported: /^github\.com\/labstack\/echo(?:\/v\d+)?$/,
    serves: [/\becho\.New\s*\(/, /\*echo\.Echo\b/, 'Start(?:TLS|AutoTLS|Server|H2CServer)?'],
  },
  { name: 'chi', imported: /^github\.com\/go-chi\/chi(?:\/v\d+)?$/ },
  {
    name: 'fiber',
    imported: /^github\.com\/gofiber\/fiber(?:\/v\d+)?$/,
    serves: [/\bfiber\.New\s*\(/, /\*fiber\.App\b/, 'Listen(?:TLS|er)?'],
  },
  {
    name: 'pocketbase',
    imported: /^github\.com\/pocketbase\/pocketbase$/,
    serves: [
      /\bpocketbase\.New(?:WithConfig)?\s*\(/,
      /\*pocketbase\.PocketBase\b/,
      'Start|Execute',
    ],
  },
  { name: 'gorilla/mux', imported: /^github\.com\/gorilla\/mux$/ },
  { name: 'httprouter', imported: /^github\.com\/julienschmidt\/httprouter$/ },
]

export const MAIN = /^func\s+main\s*\(\s*\)/m

/** The programs that serve anything, whatever module they lie in. */
export function servingPrograms(modules: readonly ReadPart[]): GoProgram[] {
  const packages = packagesOf(modules)
  const programs = [...packages.values()].filter(({ sources }) =>
    sources.some(
      (source) => /^package\s+main\b/m.test(source.code) && firstHit(source, MAIN) !== null,
    ),
  )
  const found = programs.flatMap(({ module, sources: own, folder }) => {
    const sources = broughtAlong(packages, modules, folder)
    const servings = servingsIn(sources)
    const chosen = choose(own, servings.length > 0 ? servings : makings(sources))
    return chosen === null ? [] : [{ module, own, sources, ...chosen }]
  })
  // a package that several programs import does not tell which of them serves
  const isShared = ({ serving }: GoProgram) =>
    found.filter((other) => other.serving.source === serving.source).length > 1
  const forPeople = found.filter(({ serving }) => !serving.isAside)
  return (forPeople.length > 0 ? forPeople : found).map((one) =>
    isShared(one) && one.confidence === 'sure' ? { ...one, confidence: 'likely' as const } : one,
  )
}

/** Those of the program itself before those of what it imports; metrics and profiles last. */
function choose(
  own: readonly Source[],
  servings: readonly Serving[],
): Pick<GoProgram, 'serving' | 'confidence'> | null {
  const forPeople = servings.filter(({ isAside }) => !isAside)
  const left = forPeople.length > 0 ? forPeople : servings
  const inProgram = left.filter(({ source }) => own.includes(source))
  const named = left.filter(({ source }) => SERVER_FILE.test(source.path))
  const nearest = [inProgram, named, left].find(({ length }) => length > 0) ?? []
  const [serving] = nearest
  if (serving === undefined) return null
  const isOneFile = nearest.every(({ source }) => source === serving.source)
  if (forPeople.length === 0 || !isOneFile) return { serving, confidence: 'guess' }
  return { serving, confidence: nearest.length === 1 ? 'sure' : 'likely' }
}

const SERVER_FILE = /(?:^|\/)\w*(?:serv(?:er|e|ing)|https?|web|router?|api)\w*\.go$/i

function packagesOf(modules: readonly ReadPart[]): Map<string, GoPackage> {
  const packages = new Map<string, GoPackage>()
  for (const module of modules)
    for (const source of module.sources.filter(isBuilt)) {
      const folder = folderOf(source.path)
      const known = packages.get(folder)
      if (known === undefined) packages.set(folder, { module, folder, sources: [source] })
      else known.sources.push(source)
    }
  return packages
}

/** `//go:build ignore` is how a script says that it belongs to no program. */
function isBuilt({ text }: Source): boolean {
  return !/^\/\/(?:go:build|\s*\+build)\s+(?:ignore|tools)\b/m.test(text.slice(0, 2000))
}

/** Of a package and all of the project's own that it imports, itself first. */
function broughtAlong(
  packages: ReadonlyMap<string, GoPackage>,
  modules: readonly Part[],
  start: string,
): Source[] {
  const folders = new Set([start])
  for (const folder of folders)
    for (const source of packages.get(folder)?.sources ?? [])
      for (const { value } of importsOf(source)) {
        const imported = folderOfImport(modules, value)
        if (imported !== null && packages.has(imported)) folders.add(imported)
      }
  return [...folders].flatMap((folder) => packages.get(folder)?.sources ?? [])
}

/** A module is called as imports of it begin: `example.com/shop`. */
function folderOfImport(modules: readonly Part[], imported: string): string | null {
  const owners = modules.flatMap(({ folder, called = '' }) =>
    called !== '' && `${imported}/`.startsWith(`${called}/`) ? [{ folder, called }] : [],
  )
  const [owner] = owners.sort((a, b) => b.called.length - a.called.length)
  return owner === undefined ? null : under(owner.folder, imported.slice(owner.called.length))
}

export function importsOf(source: Source): { value: string; index: number }[] {
  return hits(source, /^import\b\s*(?:[\w.]+\s+)?/m).flatMap(({ end }) => {
    if (source.code.charAt(end) === '(') return stringsBetween(source, end, closeOf(source, end))
    const value = stringAt(source, end)
    return value === null ? [] : [{ value, index: end }]
  })
}

function servingsIn(sources: readonly Source[]): Serving[] {
  const imports = new Map(sources.map((source) => [source, importsOf(source)]))
  const importing = (test: RegExp) =>
    sources.filter((source) => imports.get(source)?.some(({ value }) => test.test(value)))
  return [
    // behind an edge it is the plain one that serves
    ...importing(/^net\/http$/)
      .flatMap((source) => [...listens(source), ...servers(source)])
      .toSorted((a, b) => Number(isOverTls(a)) - Number(isOverTls(b))),
    ...ROUTERS.flatMap((router) => {
      if (router.serves === undefined) return []
      const [makes, type, method] = router.serves
      const names = importing(router.imported).flatMap((source) => namesOf(source, makes, type))
      // without a name for it, nobody calls it
      if (names.length === 0) return []
      const calls = new RegExp(String.raw`(?<![\w.])(?:\w+\.)*(\w+)\.(?:${method})\s*(?=\()`)
      return sources.flatMap((source) =>
        hits(source, calls)
          .filter(({ match: [, name = ''] }) => names.includes(name))
          .flatMap((hit) => ofRouter(source, hit, router)),
      )
    }),
  ]
}

function isOverTls({ source, index }: Serving): boolean {
  const start = source.code.indexOf('{', index)
  const [call = ''] = /^[^({]*/.exec(source.code.slice(index, index + 60)) ?? []
  const isServer = /http\.Server\s*$/.test(call)
  return /TLS/.test(isServer ? source.code.slice(start, closeOf(source, start)) : call)
}

/** `http.ListenAndServe(":8080", handler)` */
function listens(source: Source): Serving[] {
  return hits(source, /(?<![\w.])http\.(?:ListenAndServe(?:TLS)?|Serve(?:TLS)?)\s*(?=\()/).map(
    ({ index, end }) => {
      const given = source.code.slice(end + 1, closeOf(source, end) - 1)
      return servingAt(source, index, end + 1, given)
    },
  )
}

/** `&http.Server{Addr: …, Handler: …}`; not `*http.Server {`, which is a type. */
function servers(source: Source): Serving[] {
  return hits(source, /(?<![*\w.])&?\s*http\.Server\s*(?=\{)/).flatMap(({ index, end }) => {
    const before = lineBefore(source, index)
    if (/\bfunc\b/.test(before)) return []
    const inside = source.code.slice(end, closeOf(source, end))
    const address = /\bAddr\s*:\s*/.exec(inside)
    const [handler = ''] = /\bHandler\s*:\s*[^,\n]*/.exec(inside) ?? []
    const addressAt = address && end + address.index + address[0].length
    return [servingAt(source, index, addressAt, `${before} ${handler}`)]
  })
}

const ASIDE =
  /metric|telemetr|prom|pprof|debug|profil|probe|redirect|HTTPHandler\(nil|challenge|autocert|callback|loopback/i

function servingAt(
  source: Source,
  index: number,
  addressAt: number | null,
  words: string,
): Serving {
  const address = addressAt === null ? null : stringAt(source, addressAt)
  const within = hits(source, /^func\s+(?:\([^)]*\)\s*)?(\w+)/m)
    .filter((head) => head.index < index)
    .at(-1)?.match[1]
  const isAside =
    ASIDE.test(words) ||
    ASIDE.test(within ?? '') ||
    /:6060$/.test(address ?? '') ||
    /(?:^|\/)(?:metrics|pprof|debug)\.go$/.test(source.path)
  return { source, index, router: null, addressAt, isAside }
}

/** Where routers are made that serve by themselves. */
export function makings(
  sources: readonly Source[],
  routers: readonly Router[] = ROUTERS,
): Serving[] {
  return routers.flatMap((router) => {
    if (router.serves === undefined) return []
    const [makes] = router.serves
    return sources.flatMap((source) =>
      hits(source, makes).map(({ index }) => ({
        ...{ source, index, router, addressAt: null, isMaking: true as const },
        isAside: /install|setup/i.test(source.path),
      })),
    )
  })
}

/** `r.Run(":8080")`, where `r` is made by the router or is of its type somewhere in the program. */
function ofRouter(source: Source, { index, end }: Hit, router: Router): Serving[] {
  const given = source.code.slice(end + 1, closeOf(source, end) - 1).trim()
  // StartServer(&http.Server{…}) is seen as that server
  if (/http\.Server/.test(given)) return []
  return [{ source, index, router, addressAt: given === '' ? null : end + 1, isAside: false }]
}

function namesOf(source: Source, makes: RegExp, type: RegExp): string[] {
  const made = hits(source, makes).map(
    ({ index }) => /(\w+)\s*(?::=|=|:)\s*$/.exec(lineBefore(source, index))?.[1],
  )
  const typed = hits(source, new RegExp(String.raw`\b(\w+)\s+${type.source}`)).map(
    ({ match: [, name] }) => name,
  )
  return [...made, ...typed].filter((name) => name !== undefined && name !== 'func') as string[]
}

function lineBefore({ code }: Source, index: number): string {
  return code.slice(code.lastIndexOf('\n', index - 1) + 1, index)
}
