/** Where a Go program hands its handler to a server: there the middleware goes around it. */
import { closeOf, hits, stringAt, stringsBetween, type Source } from '../source/source.ts'
import { importsOf, type GoPackage } from './modules.ts'

export const ROUTERS = {
  gin: /^github\.com\/gin-gonic\/gin$/,
  echo: /^github\.com\/labstack\/echo(?:\/v\d+)?$/,
  chi: /^github\.com\/go-chi\/chi(?:\/v\d+)?$/,
  fiber: /^github\.com\/gofiber\/fiber(?:\/v\d+)?$/,
  'gorilla/mux': /^github\.com\/gorilla\/mux$/,
  httprouter: /^github\.com\/julienschmidt\/httprouter$/,
} as const
export type RouterName = keyof typeof ROUTERS | 'net/http'

export interface Serving {
  readonly source: Source
  readonly index: number
  /** Of the router's own `Run()` or `Start()`. */
  readonly router: RouterName | null
  /** Where the address is said: a text of the code, or an expression. */
  readonly address: string | null
  readonly isLiteral: boolean
  /** Metrics and profiles, beside what is served to people. */
  readonly isAside: boolean
}

const HTTP = /^net\/http$/
const ASIDE = /metric|prom|pprof|debug|profil|probe|redirect|challenge|autocert/i

export function servingsIn(packages: readonly GoPackage[]): Serving[] {
  const sources = packages.flatMap(({ sources }) => sources)
  const imports = new Map(sources.map((source) => [source, importsOf(source)]))
  const imported = (test: RegExp) =>
    sources.filter((source) => imports.get(source)?.some((name) => test.test(name)))
  return [
    ...imported(HTTP).flatMap((source) => [...listens(source), ...servers(source)]),
    ...(['gin', 'echo', 'fiber'] as const).flatMap((router) => {
      const [makes, type] = MAKES[router]
      const names = imported(ROUTERS[router]).flatMap((source) => [
        ...namesBefore(source, makes),
        ...namesOfType(source, type),
      ])
      // without a name for it, nobody calls it
      return names.length === 0
        ? []
        : sources.flatMap((source) => ofRouter(source, router, new Set(names)))
    }),
  ]
}

/** `http.ListenAndServe(":8080", handler)` */
function listens(source: Source): Serving[] {
  return hits(source, /\bhttp\.(?:ListenAndServe(?:TLS)?|Serve(?:TLS)?)\s*(?=\()/).map(
    ({ index, end }) => {
      const close = closeOf(source, end)
      const argumentsText = source.code.slice(end + 1, close - 1)
      const literal = stringAt(source, end + 1)
      return {
        source,
        index,
        router: null,
        address: literal ?? argumentsText.split(',')[0]?.trim() ?? null,
        isLiteral: literal !== null,
        isAside: isAside(source, argumentsText, literal),
      }
    },
  )
}

/** `&http.Server{Addr: …, Handler: …}`; not `*http.Server {`, which is a type. */
function servers(source: Source): Serving[] {
  return hits(source, /(?<![*\w.])&?\s*http\.Server\s*(?=\{)/).flatMap(({ index, end }) => {
    const before = source.code.slice(source.code.lastIndexOf('\n', index - 1) + 1, index)
    if (/\bfunc\b/.test(before)) return []
    const close = closeOf(source, end)
    const inside = source.code.slice(end, close)
    const addressAt = /\bAddr\s*:\s*/.exec(inside)
    const start = addressAt === null ? null : end + addressAt.index + addressAt[0].length
    const literal = start === null ? null : stringAt(source, start)
    const expression =
      start === null ? null : (/^[^,\n}]*/.exec(source.code.slice(start))?.[0] ?? null)
    const [handler = ''] = /\bHandler\s*:\s*[^,\n]*/.exec(inside) ?? []
    return [
      {
        source,
        index,
        router: null,
        address: literal ?? expression,
        isLiteral: literal !== null,
        isAside: isAside(source, `${before} ${handler}`, literal),
      },
    ]
  })
}

function isAside(source: Source, words: string, address: string | null): boolean {
  return (
    ASIDE.test(words) ||
    /:6060$/.test(address ?? '') ||
    /(?:^|\/)(?:metrics|pprof|debug)\.go$/.test(source.path)
  )
}

const MAKES = {
  gin: [/\bgin\.(?:Default|New)\s*\(/, /\*gin\.Engine\b/, 'Run(?:TLS|Listener|Unix)?'],
  echo: [/\becho\.New\s*\(/, /\*echo\.Echo\b/, 'Start(?:TLS|AutoTLS|Server|H2CServer)?'],
  fiber: [/\bfiber\.New\s*\(/, /\*fiber\.App\b/, 'Listen(?:TLS|er)?'],
} as const

/** `r.Run(":8080")`, where `r` is made by the router or is of its type somewhere in the program. */
function ofRouter(
  source: Source,
  router: keyof typeof MAKES,
  names: ReadonlySet<string>,
): Serving[] {
  const [, , method] = MAKES[router]
  const calls = new RegExp(String.raw`(?<![\w.])((?:\w+\.)*)(\w+)\.${method}\s*(?=\()`)
  return hits(source, calls).flatMap(({ index, end, match: [, , name = ''] }) => {
    if (!names.has(name)) return []
    const close = closeOf(source, end)
    const argument = source.code.slice(end + 1, close - 1).trim()
    const literal = stringAt(source, end + 1)
    // StartServer(&http.Server{…}) is seen as that server
    if (/http\.Server/.test(argument)) return []
    const address = argument === '' ? null : (literal ?? argument)
    const isLiteral =
      literal !== null &&
      stringsBetween(source, end, close).length === 1 &&
      /^(["`]).*\1$/s.test(argument)
    return [{ source, index, router, address, isLiteral, isAside: false }]
  })
}

function namesBefore(source: Source, makes: RegExp): string[] {
  return hits(source, makes).flatMap(({ index }) => {
    const line = source.code.slice(source.code.lastIndexOf('\n', index - 1) + 1, index)
    const [, name] = /(\w+)\s*(?::=|=|:)\s*$/.exec(line) ?? []
    return name === undefined ? [] : [name]
  })
}

function namesOfType(source: Source, type: RegExp): string[] {
  return hits(source, new RegExp(String.raw`\b(\w+)\s+${type.source}`)).flatMap(
    ({ match: [, name] }) => (name === undefined || name === 'func' ? [] : [name]),
  )
}
