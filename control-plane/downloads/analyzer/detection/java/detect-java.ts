/** Spring Boot, built by Maven or Gradle, in Java or Kotlin, in one module or many. */
import { LIMITS } from '../../../../../shared/limits.ts'
import type { Project } from '../../project/project.ts'
import type { Application, Detection } from '../application.ts'
import { assemble, type Clue } from '../assemble.ts'
import { readDeployment } from '../deployment.ts'
import { isAside, nearest } from '../folders.ts'
import { integratedIn } from '../integrated.ts'
import { firstHit, placeAt, readSources, type Hit, type Source } from '../source/source.ts'
import { readModules, withBases, type JavaModule } from './builds.ts'
import { healthOf } from './health.ts'
import { readSettings } from './properties.ts'
import { signInOf } from './sign-in.ts'

const MAIN = /\bstatic\s+void\s+main\s*\(|\bfun\s+main\s*\(/
const WEB =
  /:(?:spring-boot-starter-(?:web|webmvc|webflux|jersey|graphql|data-rest|hateoas|websocket|thymeleaf)|spring-web(?:mvc|flux)?|spring-cloud-starter-gateway[\w-]*|spring-cloud-config-server|spring-cloud-starter-netflix-eureka-server|spring-boot-admin-starter-server)$/
const ANSWERS = /@(?:Rest)?Controller\b(?!Advice)|\bRouterFunction\s*</

export async function detectJava(project: Project): Promise<Detection> {
  const modules = await readModules(project)
  if (modules.size === 0) return { applications: [], remarks: [] }
  const folders = new Set(modules.keys())
  const paths = project.files
    .map(({ path }) => path)
    .filter((path) => /\.(?:java|kt)$/.test(path) && !isOfTests(path))
  const looked = paths.slice(0, LIMITS.detectionSourcesMax)
  const sources = [
    ...(await readSources(
      project,
      looked.filter((path) => path.endsWith('.java')),
      'java',
    )),
    ...(await readSources(
      project,
      looked.filter((path) => path.endsWith('.kt')),
      'kotlin',
    )),
  ]
  const remarks =
    looked.length < paths.length
      ? [`Only ${looked.length} of ${paths.length} Java and Kotlin files were looked at.`]
      : []
  const applications: Application[] = []
  for (const module of modules.values()) {
    const own = sources.filter(({ path }) => nearest(folders, path) === module.folder)
    const booting = own.filter((source) => bootOf(source) !== null)
    const [source] = booting.sort((a, b) => Number(startsItself(b)) - Number(startsItself(a)))
    if (source === undefined) continue
    const bases = withBases(modules, module)
    if (!servesPeople(bases, own, sources, folders))
      remarks.push(
        `${source.path} starts Spring Boot, but no web server was found among its libraries.`,
      )
    else
      applications.push(
        await application(project, modules, module, bases, own, source, booting.length),
      )
  }
  return { applications, remarks }
}

/** `com.example.demo` is a package like any other: only what lies in front of it tells. */
function isOfTests(path: string): boolean {
  const [, folder = '', kind = ''] = /^(.*?)(?:^|\/)src\/(\w+)\//.exec(path) ?? []
  return /^(?:test|integrationTest|it|testFixtures)$/.test(kind) || isAside(`${folder}/`)
}

/** The annotation of them all, or the older one beside the call that starts it. */
function bootOf(source: Source): Hit | null {
  const starts = /\bSpringApplication\s*\.\s*run\b|\brunApplication\b/
  const older = firstHit(source, starts) === null ? null : /@EnableAutoConfiguration\b/
  return firstHit(source, /@SpringBootApplication\b/) ?? (older && firstHit(source, older))
}

const startsItself = (source: Source) => firstHit(source, MAIN) !== null

function servesPeople(
  bases: readonly JavaModule[],
  own: readonly Source[],
  sources: readonly Source[],
  folders: ReadonlySet<string>,
): boolean {
  if (
    bases.some(({ dependencies }) =>
      dependencies.some(({ name, isDev }) => !isDev && WEB.test(name)),
    )
  )
    return true
  const inBases = new Set(bases.map(({ folder }) => folder))
  const around = sources.filter(({ path }) => inBases.has(nearest(folders, path) ?? ''))
  return [...own, ...around].some((source) => firstHit(source, ANSWERS) !== null)
}

async function application(
  project: Project,
  modules: ReadonlyMap<string, JavaModule>,
  module: JavaModule,
  bases: readonly JavaModule[],
  own: readonly Source[],
  source: Source,
  bootingCount: number,
): Promise<Application> {
  const boot = bases.map(({ boot }) => boot).find((boot) => boot !== null && boot.version !== null)
  const named = boot ?? bases.map(({ boot }) => boot).find((boot) => boot !== null) ?? null
  const settings = await readSettings(project, module.folder)
  const deployment = await readDeployment(project, module.folder)
  const isKotlin = source.path.endsWith('.kt')
  const starts = firstHit(source, MAIN)
  const boots = bootOf(source)
  const entry = placeAt(source, starts?.index ?? boots?.index ?? 0)
  const port = settings.get('server.port')
  return assemble({
    folder: module.folder,
    framework: {
      value: 'spring',
      at: named?.at ?? placeAt(source, boots?.index ?? 0),
      confidence: named === null ? 'likely' : 'sure',
      detail: 'The build names Spring Boot, and the code starts it.',
    },
    variant: named?.version ?? null,
    language: isKotlin
      ? { value: 'kotlin', at: null, confidence: 'sure', detail: 'It is written in Kotlin.' }
      : { value: 'java', at: null, confidence: 'sure', detail: 'It is written in Java.' },
    packageManager: {
      value: module.tool,
      at: { path: module.path, line: 1 },
      confidence: 'sure',
      detail: `${module.path} is there.`,
    },
    entry: {
      value: entry.path,
      at: entry,
      confidence: starts === null ? 'likely' : 'sure',
      detail: 'The program starts here.',
    },
    mount: {
      value: '@SpringBootApplication',
      at: placeAt(source, boots?.index ?? 0),
      confidence: bootingCount === 1 ? 'sure' : 'guess',
      detail: 'Components in this package and below are found from here.',
    },
    health: healthOf(bases, own, settings) ?? deployment.health,
    port: portOf(port) ??
      deployment.port ?? {
        value: 8080,
        at: null,
        confidence: 'likely',
        detail: 'Spring Boot listens there unless told otherwise.',
      },
    signIn: signInOf(bases),
    integrated: integratedIn(own, /\bclass\s+ServiceClaims\w*/),
    workspace:
      modules.size > 1
        ? {
            value: module.name,
            at: { path: module.path, line: 1 },
            confidence: 'sure',
            detail: 'It is one of several modules.',
          }
        : null,
  })
}

function portOf(
  setting: { value: string; at: { path: string; line: number } } | undefined,
): Clue<number> | null {
  if (setting === undefined || !/^\d{2,5}$/.test(setting.value)) return null
  return {
    value: Number(setting.value),
    at: setting.at,
    confidence: 'sure',
    detail: 'The settings say so.',
  }
}
