/** What was found of one application, as it is told to people and to whoever makes the edits. */
import { placeOf } from '../../syntax/places.ts'
import { isFunction } from '../../syntax/walk.ts'
import type { Application, Confidence, Finding, FrameworkName, Place } from '../application.ts'
import { weakest } from '../assemble.ts'
import type { Codebase, Reach } from './codebase.ts'
import type { Entry } from './entries.ts'
import {
  healthFinding,
  healthOf,
  integrationOf,
  portBeside,
  portFinding,
  webSocketsOf,
} from './facts.ts'
import { asideConfidence, dependencyOf, entryConfidence, nameOf } from './frameworks.ts'
import { nestPlatform } from './nest.ts'
import { nextOf, type NextFound } from './next.ts'
import { packageManagerOf, type NodePackage } from './packages.ts'
import { indexOf } from './reach-index.ts'
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
  const { framework, making, serving, next } = served
  const mount = placeOf(making.source, making.node)
  const platform = framework === 'nest' ? ` on ${nameOf(nestPlatform(making))}` : ''
  const confidence = weakest(
    served.confidence,
    entryConfidence(codebase, one, entry, framework, mount),
  )
  const findings: (Finding | null)[] = [
    {
      about: 'mount',
      value: framework,
      at: mount,
      confidence: served.confidence,
      detail:
        serving === null
          ? `${nameOf(framework)}${platform}: an application is made here; what makes it listen was not found.`
          : `${nameOf(framework)}${platform}: the application that listens is made here.`,
    },
    ...served.others.slice(0, 3).map((other): Finding => ({
      about: 'mount',
      value: 'node',
      at: placeOf(other.source, other.node),
      confidence: 'guess',
      detail: 'Another server is made here, whose requests the middleware does not see.',
    })),
    next === null || framework === 'next'
      ? null
      : {
          about: 'framework',
          value: 'next',
          at: placeOf(next.source, next.node),
          confidence: 'sure',
          detail: `Next.js is served by ${nameOf(framework)}, whose middleware comes before its pages.`,
        },
    await portFinding(codebase, one, reach, served),
    healthOf(reach, served) ?? (next && (await nextHealth(codebase, one))),
    ...served.routes.findings,
    ...webSocketsOf(reach),
  ]
  return whole(codebase, one, entry, reach, {
    framework,
    mount,
    confidence,
    findings,
    modules: making.source.modules,
  })
}

/** Next.js that `next start` serves: no file of the project is run first. */
export async function describeNext(
  codebase: Codebase,
  one: NodePackage,
  entry: Entry,
  found: NextFound,
): Promise<Application> {
  const proxies = found.proxy === null ? [] : [found.proxy.path]
  const source = found.proxy === null ? null : await codebase.source(found.proxy.path)
  const reach = {
    entry: source,
    sources: new Map(source ? [[proxies[0] ?? '', source]] : []),
    target: () => undefined,
  }
  const port =
    entry.port === null
      ? await portBeside(codebase, one)
      : portFindingOf(entry.port, entry.at, 'sure', `${entry.said} names the port ${entry.port}.`)
  const findings: (Finding | null)[] = [
    {
      about: 'routes',
      value: found.routers.join(' and '),
      at: null,
      confidence: 'sure',
      detail: `Pages are in the ${found.routers.join(' and in the ')} folder.`,
    },
    found.proxy && {
      about: 'mount',
      value: 'next',
      at: found.proxy,
      confidence: 'sure',
      detail: `${found.proxy.path} sees requests before its pages do, and is there already.`,
    },
    found.health && healthFinding(found.health, 'sure'),
    port ??
      portFindingOf(3000, null, 'likely', 'Next.js listens on 3000 unless it is told otherwise.'),
  ]
  const known = one.dependencies.has('next')
  return whole(codebase, one, { ...entry, path: null }, reach, {
    framework: 'next',
    mount: found.proxy,
    confidence: weakest(
      known && entry.by === 'command' ? 'sure' : 'likely',
      asideConfidence(one, ''),
    ),
    findings,
    modules:
      source?.modules ??
      (one.manifest.type === 'module' || found.config?.endsWith('ts') ? 'esm' : 'commonjs'),
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
  return whole(codebase, one, entry, reach, {
    framework: 'fastify',
    mount,
    confidence: weakest('likely', asideConfidence(one, entry.path ?? '')),
    findings: [
      {
        about: 'mount',
        value: 'fastify',
        at: mount,
        confidence: 'likely',
        detail: 'fastify-cli makes the application, and this plugin is its first.',
      },
      await portBeside(codebase, one),
    ],
    modules: source.modules,
  })
}

async function nextHealth(codebase: Codebase, one: NodePackage): Promise<Finding | null> {
  const health = (await nextOf(codebase, one))?.health ?? null
  return health && healthFinding(health, 'sure')
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
  entry: Entry,
  reach: Reach,
  parts: Parts,
): Application {
  const { framework, mount, confidence } = parts
  const { dependency, manifest: named } = dependencyOf(codebase, one, framework, mount)
  const { finding: manager } = packageManagerOf(codebase.project, one)
  const signIn = signInOf(reach, one)
  const integration = integrationOf(reach)
  const manifest = one.manifest.path === '' ? null : { path: one.manifest.path, line: 1 }
  const language = languageOf(codebase, one, mount?.path ?? entry.path)
  const findings = [
    {
      about: 'framework',
      value: framework,
      at: named === null ? mount : { path: named.path, line: 1 },
      confidence,
      detail:
        dependency === undefined
          ? framework === 'node'
            ? 'A server of node:http, without a framework.'
            : `${nameOf(framework)} is used; package.json does not name it.`
          : `${nameOf(framework)} ${dependency.range} is among the dependencies.`,
    } satisfies Finding,
    {
      about: 'language',
      value: language,
      at: mount,
      confidence: 'sure',
      detail:
        language === 'typescript' ? 'Its sources are TypeScript.' : 'Its sources are JavaScript.',
    } satisfies Finding,
    manager,
    entry.path === null
      ? null
      : ({
          about: 'entry',
          value: entry.path,
          at: { path: entry.path, line: 1 },
          confidence: entry.by === 'command' ? 'sure' : 'likely',
          detail:
            entry.by === 'command'
              ? `This is what ${entry.said} starts.`
              : `This is what starts, going by ${entry.said}.`,
        } satisfies Finding),
    one.workspace === null
      ? null
      : ({
          about: 'workspace',
          value: one.manifest.name ?? one.folder,
          at: manifest,
          confidence: 'sure',
          detail: `It is one of the packages of ${one.workspace.folder === '' ? 'this project' : one.workspace.folder}.`,
        } satisfies Finding),
    integration,
    ...signIn.findings,
    ...parts.findings,
  ].filter((finding): finding is Finding => finding !== null)
  const first = (about: Finding['about']) => findings.find((finding) => finding.about === about)
  const port = first('port')
  return {
    folder: one.folder,
    framework,
    variant: dependency?.range ?? null,
    language,
    packageManager: manager?.value ?? null,
    modules: parts.modules,
    entry: entry.path === null ? null : { path: entry.path, line: 1 },
    mount,
    healthPath: first('health')?.value ?? null,
    port: port === undefined ? null : Number(port.value),
    signIn: signIn.names,
    integrated: integration?.at ?? null,
    confidence,
    findings,
  }
}

function languageOf({ project }: Codebase, one: NodePackage, path: string | null): string {
  if (path !== null) return /\.[cm]?tsx?$/.test(path) ? 'typescript' : 'javascript'
  return project.has(one.folder === '' ? 'tsconfig.json' : `${one.folder}/tsconfig.json`)
    ? 'typescript'
    : 'javascript'
}

function portFindingOf(
  port: number,
  at: Place | null,
  confidence: Confidence,
  detail: string,
): Finding {
  return { about: 'port', value: String(port), at, confidence, detail }
}
