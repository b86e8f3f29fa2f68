/** Go programs that serve HTTP: net/http, and the routers that people put on it. */
import type { Project } from '../../project/project.ts'
import type { Application, Confidence, Detection, Place } from '../application.ts'
import { assemble, weakest, type Clue } from '../assemble.ts'
import { readDeployment, type Deployment } from '../deployment.ts'
import { integratedIn } from '../integrated.ts'
import { firstHit, placeAt, type Source } from '../source/source.ts'
import {
  closure,
  importPlace,
  importsOf,
  readGoCode,
  type GoCode,
  type GoModule,
  type GoPackage,
} from './modules.ts'
import { portOf } from './port.ts'
import { healthRoute } from './routes.ts'
import { ROUTERS, servingsIn, type RouterName, type Serving } from './serving.ts'
import { SIGN_IN_MODULES } from './sign-in.ts'

const MAIN = /^func\s+main\s*\(\s*\)/m

export async function detectGo(project: Project): Promise<Detection> {
  const code = await readGoCode(project)
  const programs = [...code.packages.values()].filter(isProgram)
  const serving = programs.flatMap((program) => {
    const packages = closure(code, program)
    const servings = servingsIn(packages)
    return servings.length === 0 ? [] : [{ program, packages, servings }]
  })
  const applications: Application[] = []
  for (const { program, packages, servings } of serving) {
    const chosen = choose(program, servings)
    // a package that several programs import does not tell which of them serves
    const isShared = serving.some(
      (other) =>
        other.program !== program && choose(other.program, other.servings).source === chosen.source,
    )
    const deployment = await readDeployment(project, program.module.folder)
    applications.push(application(code, program, packages, { ...chosen, isShared }, deployment))
  }
  return { applications, remarks: code.remarks }
}

function isProgram({ sources }: GoPackage): boolean {
  return sources.some(
    (source) => /^package\s+main\b/m.test(source.code) && firstHit(source, MAIN) !== null,
  )
}

interface Chosen extends Serving {
  readonly confidence: Confidence
}

/** Those of the program itself before those of what it imports; metrics and profiles last. */
function choose(program: GoPackage, servings: readonly Serving[]): Chosen {
  const forPeople = servings.filter(({ isAside }) => !isAside)
  const left = forPeople.length > 0 ? forPeople : servings
  const own = left.filter(({ source }) => program.sources.includes(source))
  const nearest = own.length > 0 ? own : left
  const [first] = nearest
  if (first === undefined) throw new RangeError('a program that serves nothing')
  const isOneFile = nearest.every(({ source }) => source === first.source)
  const confidence =
    forPeople.length === 0
      ? 'guess'
      : nearest.length === 1
        ? 'sure'
        : isOneFile
          ? 'likely'
          : 'guess'
  return { ...first, confidence }
}

function application(
  code: GoCode,
  program: GoPackage,
  packages: readonly GoPackage[],
  chosen: Chosen & { readonly isShared: boolean },
  deployment: Deployment,
): Application {
  const { module } = program
  const sources = packages.flatMap(({ sources }) => sources)
  const router = routerOf(chosen, sources)
  const main = program.sources.find((source) => firstHit(source, MAIN) !== null) ?? chosen.source
  const entry = placeAt(main, firstHit(main, MAIN)?.index ?? 0)
  // an adapter of fasthttp's is not the contract's net/http
  const isServedByNetHttp = router.name !== 'fiber'
  const confidence = weakest(
    chosen.confidence,
    chosen.isShared ? 'likely' : 'sure',
    isServedByNetHttp ? 'sure' : 'guess',
  )
  return assemble({
    folder: module.folder,
    framework: {
      value: 'go',
      at: router.at ?? entry,
      confidence: 'sure',
      detail: `Its requests are served by ${router.name}.`,
    },
    variant: router.name,
    language: { value: 'go', at: null, confidence: 'sure', detail: 'It is written in Go.' },
    packageManager: {
      value: 'go',
      at: { path: module.folder === '' ? 'go.mod' : `${module.folder}/go.mod`, line: 1 },
      confidence: 'sure',
      detail: 'go.mod is there.',
    },
    entry: { value: entry.path, at: entry, confidence: 'sure', detail: 'The program starts here.' },
    mount: {
      value: router.name,
      at: placeAt(chosen.source, chosen.index),
      confidence,
      detail: isServedByNetHttp
        ? 'The handler is served here: the middleware goes around it.'
        : 'The handler is served here, but not by net/http: the middleware has to be adapted.',
    },
    health: healthRoute(sources) ?? deployment.health,
    port: portOf(chosen, program.sources, sources) ?? deployment.port,
    signIn: signIn(code.modules, module, sources),
    integrated: integratedIn([chosen.source, main, ...sources]),
    workspace:
      code.modules.length > 1
        ? {
            value: module.path,
            at: null,
            confidence: 'sure',
            detail: 'It is one of several Go modules.',
          }
        : null,
  })
}

function routerOf(
  { source, router }: Serving,
  sources: readonly Source[],
): { name: RouterName; at: Place | null } {
  const names = router === null ? (Object.keys(ROUTERS) as (keyof typeof ROUTERS)[]) : [router]
  for (const one of new Set([source, ...sources]))
    for (const name of names) {
      if (name === 'net/http') continue
      const index = importPlace(one, ROUTERS[name])
      if (index !== null) return { name, at: placeAt(one, index) }
    }
  return { name: router ?? 'net/http', at: null }
}

function signIn(
  modules: readonly GoModule[],
  own: GoModule,
  sources: readonly Source[],
): Clue<string>[] {
  const required = [own, ...modules].flatMap(({ requires }) => requires)
  return SIGN_IN_MODULES.flatMap(([pattern, value]) => {
    const source = sources.find((source) => importsOf(source).some((name) => pattern.test(name)))
    const dependency = required.find(({ name }) => pattern.test(name))
    if (source === undefined) return []
    const index = importPlace(source, pattern)
    return [
      {
        value,
        at: index === null ? (dependency?.at ?? null) : placeAt(source, index),
        confidence: 'sure' as const,
        detail: 'The code imports it.',
      },
    ]
  })
}
