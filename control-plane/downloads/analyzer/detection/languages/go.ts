/** Go programs that serve HTTP: net/http, and the routers that people put on it. */
import type { Place } from '../application.ts'
import { clue, type Clue } from '../assemble.ts'
import { isAside } from '../folders.ts'
import type { Found, Language } from '../reader/language.ts'
import type { Part, ReadPart } from '../reader/part.ts'
import { inBlockOf, onGroupOf, type Nesting } from '../reader/routes.ts'
import {
  firstHit,
  placeAt,
  stringAt,
  stringBehind,
  type Hit,
  type Source,
} from '../source/source.ts'
import { portOf } from './go-ports.ts'
import { inFunction, onMounted } from './go-routes.ts'
import {
  importsOf,
  MAIN,
  makings,
  ROUTERS,
  servingPrograms,
  type GoProgram,
  type Router,
} from './go-programs.ts'

const SIGN_IN: readonly (readonly [RegExp, string])[] = [
  [/^github\.com\/gorilla\/sessions\b/, 'gorilla/sessions'],
  [/^github\.com\/alexedwards\/scs\b/, 'scs'],
  [/^github\.com\/markbates\/goth\b/, 'goth'],
  [/^github\.com\/golang-jwt\/jwt\b/, 'golang-jwt'],
  [/^github\.com\/dgrijalva\/jwt-go\b/, 'jwt-go'],
  [/^github\.com\/lestrrat-go\/jwx\b/, 'jwx'],
  [/^github\.com\/go-jose\/go-jose\b/, 'go-jose'],
  [/^github\.com\/coreos\/go-oidc\b/, 'go-oidc'],
  [/^github\.com\/zitadel\/oidc\b/, 'zitadel/oidc'],
  [/^golang\.org\/x\/oauth2\b/, 'oauth2'],
  [/^github\.com\/gin-contrib\/sessions\b/, 'gin-contrib/sessions'],
  [/^github\.com\/appleboy\/gin-jwt\b/, 'gin-jwt'],
  [/^github\.com\/labstack\/echo-jwt\b/, 'echo-jwt'],
  [/^github\.com\/labstack\/echo-contrib\b/, 'echo-contrib'],
  [/^github\.com\/go-chi\/jwtauth\b/, 'chi/jwtauth'],
  [/^github\.com\/volatiletech\/authboss\b/, 'authboss'],
  [/^github\.com\/ory\//, 'ory'],
  [/^github\.com\/auth0\//, 'auth0'],
  [/^github\.com\/clerk\//, 'clerk'],
]

const NESTED: readonly Nesting[] = [
  inBlockOf(/(\w+)\s*\.\s*(?:Route|Group)\s*(?=\()/),
  onGroupOf(/\b(\w+)\s*:?=\s*(\w+)\s*\.\s*(?:Group|PathPrefix|Route)\s*\(\s*/),
  onMounted,
  inFunction,
]

export const GO: Language = {
  name: 'go',
  title: 'Go',
  files: /(?<!_test)\.go$/,
  isAside,
  parts: { manifest: /(?:^|\/)go\.mod$/, manager: 'go', called: /^module\s+"?([^\s"]+)/m },
  several: 'It is one of several Go modules.',
  frameworks: [
    {
      name: 'go',
      title: 'Go',
      packages: [],
      detail: [''],
      made: ({ parts }) => servingPrograms(parts).map(foundOf),
      entry: [{ code: MAIN, confidence: 'sure', detail: 'The program starts here.' }],
      routes: [
        {
          calls:
            /(\w+)\s*\.\s*(?:Get|GET|Head|HEAD|Handle|Handler|HandleFunc|HandlerFunc|Any|All|Path|Match|Method|MethodFunc)\s*\(\s*/,
          path: pathOf,
          nested: NESTED,
        },
        // behind a prefix of their own: `WithBase("/healthz")`
        {
          calls:
            /(\w+)\s*\.\s*(?:Get|GET|Head|HEAD|Handle|Handler|HandleFunc|HandlerFunc|Any|All|Path|Match|Method|MethodFunc)\s*\(\s*(?:\w+\.)*\w*(?:[Bb]ase|[Pp]refix|[Pp]ath|[Uu]rl|URL)\w*\s*\(\s*(?=["`])/,
          nested: NESTED,
          confidence: 'likely',
          detail: 'A route for it is there; what it is wrapped in may put something in front.',
        },
        // a switch over the path, instead of a router
        { calls: /\bURL\.Path\s*==\s*/, path: pathOf, confidence: 'likely' },
        // middleware that answers by itself
        { calls: /\bmiddleware\.Heartbeat\s*\(\s*/, isForHealth: true },
        { calls: /\b(?:R|rest)\.Ping\b(?!\s*\()/, path: () => '/ping', isForHealth: true },
      ],
      port: ['deployment'],
    },
  ],
}

/** Behind methods: `[]string{"GET"}, "/health"`; net/http since Go 1.22: `"GET /healthz"`. */
function pathOf(source: Source, { end }: Hit, { sources }: ReadPart): string | null {
  const before =
    /^(?:["'`](?:GET|HEAD)["'`]|\w+\.Method(?:Get|Head)|\[\]string\s*\{[^}]*\})\s*,\s*/.exec(
      source.text.slice(end, end + 200),
    )?.[0] ?? ''
  const path =
    stringAt(source, end + before.length) ?? constant(sources, source, end + before.length)
  return path?.replace(/^(?:GET|HEAD)\s+/, '').replace(/\{\$\}$/, '') ?? null
}

/** `apiHealthPath`, with `apiHealthPath = "/v1/health"` in whichever file. */
function constant(sources: readonly Source[], source: Source, index: number): string | null {
  const [, name] =
    /^(?:\w+\.)?(\w*(?:health|live|ready|ping|alive|heartbeat)\w*)\s*[,)\n&|{]/i.exec(
      source.code.slice(index, index + 100),
    ) ?? []
  if (name === undefined) return null
  const assigned = new RegExp(String.raw`^\s*(?:(?:const|var)\s+)?${name}\b[\w \t]*=\s*`, 'm')
  for (const one of sources) {
    const text = stringBehind(one, assigned)
    if (text !== null) return text
  }
  return null
}

const SERVED = 'The handler is served here'

function foundOf(program: GoProgram): Found<Part> {
  const { module, own, sources, serving, confidence } = program
  const main = own.find((source) => firstHit(source, MAIN) !== null) ?? serving.source
  const router = routerOf(program)
  const name = router?.name ?? 'net/http'
  const guarded = guardedAt(program)
  const served = placeAt(guarded.source, guarded.index)
  // an adapter of fasthttp's is not the contract's net/http; a hook of PocketBase's serves by its own
  const mount =
    name === 'fiber' || name === 'pocketbase'
      ? clue(
          name,
          served,
          'guess',
          `${SERVED}, but not by net/http: the middleware has to be adapted.`,
        )
      : guarded.isMaking
        ? clue(
            name,
            served,
            confidence,
            'The router is made here: the middleware goes right behind it.',
          )
        : clue(name, served, confidence, `${SERVED}: the middleware goes around it.`)
  const port = portOf(program)
  const detail = `Its requests are served by ${name}.`
  const at = router?.at ?? placeAt(main, firstHit(main, MAIN)?.index ?? 0)
  return {
    part: module,
    made: { at, detail },
    sources: [...new Set([serving.source, main, ...sources])],
    framework: clue('go', at, 'sure', detail),
    variant: name,
    mount,
    ...(port && { port }),
    signIn: SIGN_IN.flatMap(([pattern, value]): Clue<string>[] => {
      const at = importedAt(sources, pattern)
      return at ? [clue(value, at, 'sure', 'The code imports it.')] : []
    }),
  }
}

/** A handler goes around no `Start()` of Echo's own: middleware goes right behind what makes it. */
function guardedAt({ serving, sources }: GoProgram): GoProgram['serving'] {
  const { router, source } = serving
  if (router?.name !== 'echo' && router?.name !== 'fiber') return serving
  return makings([...new Set([source, ...sources])], [router])[0] ?? serving
}

function routerOf({ serving, sources }: GoProgram): { name: string; at: Place | null } | null {
  const routers: readonly Router[] = serving.router === null ? ROUTERS : [serving.router]
  for (const source of new Set([serving.source, ...sources]))
    for (const { name, imported } of routers) {
      const at = importedAt([source], imported)
      if (at !== null) return { name, at }
    }
  return serving.router && { name: serving.router.name, at: null }
}

function importedAt(sources: readonly Source[], test: RegExp): Place | null {
  for (const source of sources) {
    const found = importsOf(source).find(({ value }) => test.test(value))
    if (found !== undefined) return placeAt(source, found.index)
  }
  return null
}
