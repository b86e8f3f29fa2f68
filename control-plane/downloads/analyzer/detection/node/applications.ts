/** What was found of one application, as it is told to people and to whoever makes the edits. */
import { placeOf } from '../../syntax/places.ts'
import { isFunction } from '../../syntax/walk.ts'
import type { Application, Confidence, Finding, FrameworkName, Place } from '../application.ts'
import { assemble, finding, weakest } from '../assemble.ts'
import { under } from '../folders.ts'
import type { Codebase, Reach } from './codebase.ts'
import type { Entry } from './entries.ts'
import { healthFinding, healthOf, integrationOf, webSocketsOf } from './facts.ts'
import { asideConfidence, dependencyOf, entryConfidence, nameOf } from './frameworks.ts'
import { fileRouteHealth } from './file-routes.ts'
import { nestPlatform } from './nest.ts'
import { nextOf, type NextFound } from './next.ts'
import { manifestPlace, packageManagerOf, type NodePackage } from './packages.ts'
import { indexOf } from './reach-index.ts'
import { portBeside, portFinding } from './ports.ts'
import { routesOf } from './routes.ts'
import type { Served } from './served.ts'
import { signInOf } from './sign-in.ts'
import { createTracer } from './trace.ts'

/** One that was followed to where it is made. */
export async function describe(
  codebase: Codebase,
  one: NodePackage,
  entry: Entry,
  reach: Reach,
  served: Served,
): Promise<Application> {
  const { framework, making, serving, next, others, routes } = served
  const mount = placeOf(making.source, making.node)
  const platform = framework === 'nest' ? ` on ${nameOf(nestPlatform(making))}` : ''
  const made =
    serving === null
      ? 'an application is created here, but nothing that makes it listen was found'
      : 'the application is created here'
  const said = `${nameOf(framework)}${platform}: ${made}.`
  const unseen = 'Another server is created here. The middleware does not see its requests.'
  const first = `${nameOf(framework)} serves Next.js. Its middleware runs before the pages.`
  const health =
    healthOf(reach, served) ??
    (next && healthFinding((await nextOf(codebase, one))?.health)) ??
    healthFinding(await fileRouteHealth(codebase, one))
  return whole(codebase, one, entry, reach, {
    framework,
    mount,
    confidence: weakest(served.confidence, entryConfidence(codebase, one, entry, framework, mount)),
    findings: [
      finding('mount', framework, mount, served.confidence, said),
      ...others
        .slice(0, 3)
        .map(({ source, node }) =>
          finding('mount', 'node', placeOf(source, node), 'guess', unseen),
        ),
      next && framework !== 'next'
        ? finding('framework', 'next', placeOf(next.source, next.node), 'sure', first)
        : null,
      await portFinding(codebase, one, entry, reach, served),
      health,
      ...routes.findings,
      ...webSocketsOf(reach),
    ],
    modules: making.source.modules,
  })
}

/** Next.js that `next start` serves: no file of the project is run first. */
export async function describeNext(
  codebase: Codebase,
  one: NodePackage,
  entry: Entry,
  { routers, proxy, config, health }: NextFound,
): Promise<Application> {
  const source = proxy && (await codebase.source(proxy.path))
  const reach = {
    entry: source,
    sources: new Map(source ? [[source.path, source]] : []),
    target: () => undefined,
  }
  const asked = `${entry.said} sets port ${entry.port}.`
  const there = ' already exists and runs before the pages.'
  const custom = 'Next.js listens on 3000 by default.'
  const pages = `Pages are in the ${routers.join(' and in the ')} folder.`
  const known = one.dependencies.has('next')
  return whole(codebase, one, { ...entry, path: null }, reach, {
    framework: 'next',
    mount: proxy,
    confidence: weakest(
      known && entry.by === 'command' ? 'sure' : 'likely',
      asideConfidence(one, ''),
    ),
    findings: [
      routers.length === 0 ? null : finding('routes', routers.join(' and '), null, 'sure', pages),
      proxy && finding('mount', 'next', proxy, 'sure', proxy.path + there),
      healthFinding(health),
      entry.port === null
        ? ((await portBeside(codebase, one)) ?? finding('port', 3000, null, 'likely', custom))
        : finding('port', entry.port, entry.at, 'sure', asked),
    ],
    modules:
      source?.modules ??
      (one.manifest.type === 'module' || config?.endsWith('ts') ? 'esm' : 'commonjs'),
  })
}

/** A plugin that fastify-cli makes an application of: its function stands in for one. */
export async function describePlugin(
  codebase: Codebase,
  one: NodePackage,
  entry: Entry,
  reach: Reach,
): Promise<Application | null> {
  const source = reach.entry
  if (source === null) return null
  const tracer = createTracer(reach)
  const plugin = indexOf(source)
    .exports.flatMap((exported) =>
      'value' in exported ? tracer.values({ source, node: exported.value }) : [],
    )
    .find(({ node }) => isFunction(node))
  if (plugin === undefined) return null
  const mount = placeOf(plugin.source, plugin.node)
  const made = 'fastify-cli creates the application and loads this plugin first.'
  const custom = 'fastify-cli listens on 3000 by default.'
  const asked = `${entry.said} sets port ${entry.port}.`
  const routes = routesOf(reach, tracer, plugin)
  return whole(codebase, one, entry, reach, {
    framework: 'fastify',
    mount,
    confidence: weakest('likely', asideConfidence(one, entry.path ?? '')),
    findings: [
      finding('mount', 'fastify', mount, 'likely', made),
      entry.port === null
        ? ((await portBeside(codebase, one)) ?? finding('port', 3000, null, 'likely', custom))
        : finding('port', entry.port, entry.at, 'sure', asked),
      healthFinding(routes.health),
      ...routes.findings,
    ],
    modules: source.modules,
  })
}

interface Parts {
  readonly framework: FrameworkName
  readonly mount: Place | null
  readonly confidence: Confidence
  readonly findings: readonly (Finding | null)[]
  readonly modules: 'esm' | 'commonjs'
}

function whole(
  codebase: Codebase,
  one: NodePackage,
  { path, by, said }: Entry,
  reach: Reach,
  { framework, mount, confidence, findings, modules }: Parts,
): Application {
  const { dependency, manifest: named } = dependencyOf(codebase, one, framework, mount)
  const namedAt = named === null ? mount : { path: named.path, line: 1 }
  const integration = integrationOf(reach)
  const entry = path === null ? null : { path, line: 1 }
  const language = languageOf(codebase, one, mount?.path ?? path)
  const title = language === 'typescript' ? 'TypeScript' : 'JavaScript'
  const used = dependency
    ? `${nameOf(framework)} ${dependency.range} is listed in package.json.`
    : framework === 'node'
      ? 'A node:http server without a framework.'
      : `${nameOf(framework)} is used but not listed in package.json.`
  const byCustom = `Probably the file that starts it, judging by ${said}.`
  const name = one.manifest.name ?? one.folder
  const among = `Part of the workspace ${one.workspace?.folder || 'at the project root'}.`
  return assemble(
    {
      folder: one.folder,
      variant: dependency?.range ?? null,
      modules,
      entry,
      mount,
      integrated: integration?.at ?? null,
      confidence,
    },
    [
      finding('framework', framework, namedAt, confidence, used),
      finding('language', language, mount, 'sure', `Written in ${title}.`),
      packageManagerOf(codebase.project, one).finding,
      entry &&
        (by === 'command'
          ? finding('entry', entry.path, entry, 'sure', `Started by ${said}.`)
          : finding('entry', entry.path, entry, 'likely', byCustom)),
      one.workspace && finding('workspace', name, manifestPlace(one), 'sure', among),
      integration,
      ...signInOf(reach, one),
      ...findings,
    ],
  )
}

function languageOf({ project }: Codebase, one: NodePackage, path: string | null): string {
  const isTypeScript =
    path === null ? project.has(under(one.folder, 'tsconfig.json')) : /\.[cm]?tsx?$/.test(path)
  return isTypeScript ? 'typescript' : 'javascript'
}
