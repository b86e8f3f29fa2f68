/** ASP.NET Core: minimal hosting in Program.cs, or the older pair of Program and Startup. */
import { LIMITS } from '../../../../../shared/limits.ts'
import type { Project } from '../../project/project.ts'
import type { Application, Detection } from '../application.ts'
import { assemble, type Clue } from '../assemble.ts'
import { readDeployment } from '../deployment.ts'
import { nearest } from '../folders.ts'
import { bestHealth, healthRank, joinPaths } from '../health.ts'
import { integratedIn } from '../integrated.ts'
import {
  closeOf,
  firstHit,
  hits,
  placeAt,
  readSources,
  stringAt,
  type Source,
} from '../source/source.ts'
import { readDotnetProjects, type DotnetProject } from './projects.ts'
import { portOf } from './settings.ts'
import { signInOf } from './sign-in.ts'

const BUILDER =
  /\bWebApplication\s*\.\s*Create(?:Slim|Empty)?Builder\s*\(|\bWebApplication\s*\.\s*Create\s*\(/
const HOST =
  /\bCreate(?:Web)?HostBuilder\s*\(|\bHost\s*\.\s*CreateDefaultBuilder\s*\(|\bWebHost\s*\.\s*CreateDefaultBuilder\s*\(|\bnew\s+WebHostBuilder\s*\(/
const BUILT = /\b\w+\s*=\s*(?:await\s+)?\w+(?:\s*\.\s*\w+\s*\([^()]*\))*\s*\.\s*Build\s*\(\s*\)/
const CONFIGURE = /\bvoid\s+Configure\s*\(\s*(?=[^)]*\bIApplicationBuilder\b)/

export async function detectDotnet(project: Project): Promise<Detection> {
  const projects = await readDotnetProjects(project)
  if (projects.length === 0) return { applications: [], remarks: [] }
  const folders = new Set(projects.map(({ folder }) => folder))
  const paths = project.files.map(({ path }) => path).filter((path) => path.endsWith('.cs'))
  const looked = paths.slice(0, LIMITS.detectionSourcesMax)
  const remarks =
    looked.length < paths.length
      ? [`Only ${looked.length} of ${paths.length} C# files were looked at.`]
      : []
  const applications: Application[] = []
  for (const one of projects) {
    if (!one.isWeb || one.isTest) continue
    const own = looked.filter((path) => nearest(folders, path) === one.folder)
    applications.push(
      await application(
        project,
        one,
        await readSources(project, own, 'csharp'),
        projects.length > 1,
      ),
    )
  }
  return { applications, remarks }
}

async function application(
  project: Project,
  one: DotnetProject,
  sources: readonly Source[],
  isOneOfSeveral: boolean,
): Promise<Application> {
  const deployment = await readDeployment(project, one.folder)
  return assemble({
    folder: one.folder,
    framework: {
      value: 'aspnet',
      at: one.webAt,
      confidence: 'sure',
      detail: 'The project is built with the SDK of ASP.NET Core.',
    },
    variant: one.framework,
    language: {
      value: one.language,
      at: { path: one.path, line: 1 },
      confidence: 'sure',
      detail: 'Its project file says so.',
    },
    packageManager: {
      value: 'dotnet',
      at: { path: one.path, line: 1 },
      confidence: 'sure',
      detail: `${one.path} is there.`,
    },
    entry: entryOf(sources),
    mount: mountOf(sources),
    health: healthOf(sources) ?? deployment.health,
    port: (await portOf(project, one.folder, sources)) ??
      deployment.port ?? {
        value: 5000,
        at: null,
        confidence: 'likely',
        detail:
          'ASP.NET Core listens there unless told otherwise; in containers on 8080 since .NET 8.',
      },
    signIn: signInOf(one, sources),
    integrated: integratedIn(sources, /\bUseMiddleware\s*<\s*(?:\w+\.)*ServiceClaims\s*>/),
    workspace: isOneOfSeveral
      ? {
          value: one.path,
          at: { path: one.path, line: 1 },
          confidence: 'sure',
          detail: 'It is one of several projects.',
        }
      : null,
  })
}

function entryOf(sources: readonly Source[]) {
  for (const pattern of [BUILDER, HOST])
    for (const source of sources) {
      const hit = firstHit(source, pattern)
      if (hit === null) continue
      const main = firstHit(
        source,
        /\bstatic\s+(?:async\s+)?(?:void|int|Task(?:<int>)?)\s+Main\s*\(/,
      )
      const at = placeAt(source, main?.index ?? hit.index)
      return { value: at.path, at, confidence: 'sure', detail: 'The program starts here.' } as const
    }
  return null
}

/** Behind `builder.Build()` stands what sees requests first; of a Startup class it is Configure(). */
function mountOf(sources: readonly Source[]) {
  const minimal = sources.filter((source) => firstHit(source, BUILDER) !== null)
  for (const source of minimal) {
    const made = firstHit(source, BUILT) ?? firstHit(source, /\bWebApplication\s*\.\s*Create\s*\(/)
    if (made === null) continue
    return {
      value: 'WebApplication',
      at: placeAt(source, made.index),
      confidence: minimal.length === 1 ? 'sure' : 'guess',
      detail: 'The application is made here: the middleware goes right behind it.',
    } as const
  }
  const startups = sources.flatMap((source) => {
    const hit = firstHit(source, CONFIGURE)
    return hit === null ? [] : [{ source, hit }]
  })
  const [first] = startups
  if (first === undefined) return null
  return {
    value: 'Configure',
    at: placeAt(first.source, first.hit.index),
    confidence: startups.length === 1 ? 'sure' : 'guess',
    detail: 'The middleware of all requests is set here, in its order.',
  } as const
}

const ROUTE = /\.\s*Map(?:HealthChecks|Get|Methods)\s*\(\s*(?:pattern\s*:\s*)?/
const GROUP = /\b(\w+)\s*=\s*(\w+)\s*\.\s*MapGroup\s*\(\s*/

function healthOf(sources: readonly Source[]): Clue<string> | null {
  const found = sources.flatMap((source) => [...minimalRoutes(source), ...attributeRoutes(source)])
  const best = bestHealth(found, ({ path }) => path)
  if (best === null) return null
  return {
    value: best.path,
    at: placeAt(best.source, best.index),
    confidence: best.isSure ? 'sure' : 'likely',
    detail: 'A route for it is there.',
  }
}

function minimalRoutes(source: Source) {
  return hits(source, ROUTE).flatMap(({ index, end, match: [text] }) => {
    const path = stringAt(source, end)
    const isCheck = text.includes('HealthChecks')
    if (path === null || (!isCheck && healthRank(path) === null)) return []
    const [, receiver = ''] = /(\w+)\s*$/.exec(source.code.slice(0, index)) ?? []
    const group = hits(source, GROUP).find(({ match: [, name] }) => name === receiver)
    const prefix = group === undefined ? '' : (stringAt(source, group.end) ?? '')
    return [{ path: joinPaths(prefix, path), source, index, isSure: true }]
  })
}

/** `[Route("api/[controller]")] class HealthController { [HttpGet] … }` */
function attributeRoutes(source: Source) {
  return hits(source, /\bclass\s+(\w+?)(?:Controller)?\b[^{;]*(?=\{)/).flatMap(
    ({ index, end, match: [, name = ''] }) => {
      const above = Math.max(...['{', '}', ';'].map((mark) => source.code.lastIndexOf(mark, index)))
      const route = hits(source, /\[(?:\w+\(\)\s*,\s*)?Route\s*\(\s*/)
        .filter((hit) => hit.index < index && hit.index > above)
        .at(-1)
      const prefix =
        route === undefined
          ? ''
          : (stringAt(source, route.end) ?? '').replaceAll('[controller]', name.toLowerCase())
      const close = closeOf(source, end)
      return hits(source, /\[HttpGet\b\s*(?:\(\s*)?/)
        .filter((hit) => hit.index > end && hit.index < close)
        .flatMap((hit) => {
          const own = stringAt(source, hit.end) ?? ''
          const path = own.startsWith('/') ? own : joinPaths(prefix, own)
          return healthRank(path) === null
            ? []
            : [{ path, source, index: hit.index, isSure: false }]
        })
    },
  )
}
