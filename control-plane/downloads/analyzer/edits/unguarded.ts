/**
 * What of a package's programs would answer without the guard: servers, listeners around an application,
 * applications that listen and are not mounted. A plan tells each by a step, and so does the check
 * of what is there: both lean on this, so that neither claims what the other denies.
 */
import type { Node } from '@babel/types'
import type { Application, FrameworkName } from '../detection/application.ts'
import { createCodebase, reachFrom, type Codebase } from '../detection/node/codebase.ts'
import { makingsIn, type Making } from '../detection/node/makings.ts'
import { packagesOf } from '../detection/node/packages.ts'
import { servingsOf } from '../detection/node/serving.ts'
import { createTracer } from '../detection/node/trace.ts'
import type { Project } from '../project/project.ts'
import type { Source } from '../syntax/parse.ts'
import { lineOf } from '../syntax/places.ts'
import { guardedMakings } from './guarded-makings.ts'
import { applicationsIn } from './made-applications.ts'
import { mountedFramework } from './mounted-frameworks.ts'
import { carriedByNest, openAdapters } from './open-adapters.ts'
import { listenersOf } from './open-listeners.ts'
import { packageOf, sourcesWith } from './node-sources.ts'
import { reasonToLeaveOpen } from './open-on-purpose.ts'
import { isPartOfAnother } from './sub-applications.ts'

export interface Unguarded {
  readonly path: string
  readonly line: number
  /** What the lines to paste are to be those of. */
  readonly framework: FrameworkName
  /** What they are to be put on: `app`, `server`. */
  readonly receiver: string
  readonly modules: Source['modules']
  /** What is the matter: the end of a sentence, without its full stop. */
  readonly problem: string
  /** Why a person leaves it open; null: nobody says so. */
  readonly reason: string | null
  /** A start of the application leads to its file; of others it is not known who runs them. */
  readonly isStarted: boolean
}

const ANSWERS =
  /\bcreate(?:Secure)?Server\b|\.listen\s*\(|\bserve\s*\(|\bServer\s*\(|\bserverFactory\b|\bcheck(?:Continue|Expectation)\b|NestFactory/

const NOT_MOUNTED = 'this application also listens, but the middleware is not mounted on it'

/** `edited`: files as they are going to be, by path; all others are taken as they are. */
export async function unguardedIn(
  project: Project,
  application: Application,
  edited: ReadonlyMap<string, Source> = new Map(),
): Promise<Unguarded[]> {
  const after: Project = {
    ...project,
    has: (path) => project.has(path),
    read: async (path) => edited.get(path)?.text ?? (await project.read(path)),
  }
  const { type } = await packageOf(after, application)
  const found = await sourcesWith(after, application.folder, type, ANSWERS)
  const mount = application.mount?.path
  const paths = [
    ...new Set([...(mount === undefined ? [] : [mount]), ...found.map(({ path }) => path)]),
  ]
  const codebase = createCodebase(after, await packagesOf(after))
  const reach = await reachFrom(codebase, paths)
  const isStarted = await startedFiles(codebase, application)
  const tracer = createTracer(reach)
  const sources = paths.flatMap((path) => reach.sources.get(path) ?? [])
  const carried = carriedByNest(sources, tracer)
  const mounted = guardedMakings(reach.sources.values(), tracer)
  const guarded = { has: (making: Making) => carried.has(making.node) || mounted.has(making) }
  const { open, served } = listenersOf(sources, tracer)
  const listening = servingsOf(reach, tracer)
    .filter(({ at }) => paths.includes(at.source.path))
    .map(({ making }) => making)
  const beside = sources.flatMap((source) => listeningHere(source))
  const makings = [
    ...new Map([...served, ...listening, ...beside].map((one) => [one.node, one])).values(),
  ]
  return [
    ...makings
      .filter(({ framework }) => mountedFramework(framework) !== undefined)
      .filter((making) => !guarded.has(making))
      .map((making) => ({
        ...unguardedApplication(making),
        reason: reasonToLeaveOpen(making.source, making.node),
        isStarted: isStarted(making.source.path),
      })),
    ...[...open, ...openAdapters(sources, tracer, guarded)].map(({ source, node, problem }) => ({
      path: source.path,
      line: lineOf(source, node),
      framework: 'node' as const,
      receiver: 'server',
      modules: source.modules,
      problem,
      reason: reasonToLeaveOpen(source, node),
      isStarted: isStarted(source.path),
    })),
  ]
}

/** By its imports; where one of them is only named as it runs, any file may be among them. */
async function startedFiles(
  codebase: Codebase,
  { entry, mount }: Application,
): Promise<(path: string) => boolean> {
  const starts = [entry, mount].flatMap((place) => place?.path ?? [])
  if (starts.length === 0) return () => true
  const { sources } = await reachFrom(codebase, starts)
  const loadsAny = [...sources.values()].some((source) => source.nodes.some(isNamedAsItRuns))
  return (path) => loadsAny || sources.has(path)
}

/** `require(join(folder, file))`, `import(path)` */
function isNamedAsItRuns(node: Node): boolean {
  const asked =
    node.type === 'ImportExpression'
      ? node.source
      : node.type === 'CallExpression' &&
          (node.callee.type === 'Import' ||
            (node.callee.type === 'Identifier' && node.callee.name === 'require'))
        ? node.arguments[0]
        : undefined
  return asked !== undefined && !/^(?:String|Template)Literal$/.test(asked.type)
}

/** Made in a file that listens, by whatever name: leads that cannot be followed end here. */
function listeningHere(source: Source): Making[] {
  if (!/\.listen\(|\bserve\(/.test(source.text)) return []
  return makingsIn(source).filter((making) => {
    const framework = mountedFramework(making.framework)
    if (making.kind !== 'application' || framework === undefined) return false
    const all = applicationsIn(source, framework)
    return !isPartOfAnother(source, making.node, all)
  })
}

function unguardedApplication({ source, node, framework }: Making) {
  const mounted = mountedFramework(framework)
  const own = mounted && applicationsIn(source, mounted).find(({ call }) => call === node)
  return {
    path: source.path,
    line: lineOf(source, node),
    framework,
    receiver: own && 'made' in own ? own.made.receiver : 'app',
    modules: source.modules,
    problem: NOT_MOUNTED,
  }
}
