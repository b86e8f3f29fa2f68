/**
 * The applications of a project that run on Node: for each package the files that a start runs, what
 * these lead to, and among it the application that listens. Code is read as text, and never run.
 */
import { LIMITS } from '../../../../../shared/limits.ts'
import type { Project } from '../../project/project.ts'
import type { Application, Detection } from '../application.ts'
import { describe, describeNext, describePlugin } from './applications.ts'
import { nameOf } from '../folders.ts'
import { runElsewhere } from '../named-only.ts'
import { createCodebase, packageFiles, reachFrom, type Codebase } from './codebase.ts'
import { entriesOf, type Entry } from './entries.ts'
import { makingsIn, type Making } from './makings.ts'
import { nextOf } from './next.ts'
import { innermost, packageManagerOf, packagesOf, type NodePackage } from './packages.ts'
import { isAside, isTest, joined } from './paths.ts'
import { isBeside } from './ranking.ts'
import { routesOf } from './routes.ts'
import { isFramework, isHeard, servedBy, type Served } from './served.ts'
import { createTracer } from './trace.ts'

const FRAMEWORKS = [
  'express',
  'connect',
  'micro',
  'fastify',
  'koa',
  'hono',
  '@nestjs/core',
  'next',
  '@hono/zod-openapi',
]
const MENTIONS =
  /['"](?:express|connect|micro|union|http-proxy|fastify|koa|hono(?:\/(?:quick|tiny))?|@hono\/zod-openapi|@nestjs\/core|next|(?:node:)?https?2?)['"]/

export async function detectNode(project: Project): Promise<Detection> {
  const packages = await packagesOf(project)
  const codebase = createCodebase(project, packages)
  const remarks = new Set(packages.remarks)
  // inner packages first: what a root starts of them is theirs
  const inner = [...packages.all].reverse()
  const started = new Map<NodePackage, Application[]>()
  for (const find of [startedIn, unstarted])
    for (const one of inner) {
      if (started.get(one)?.length) continue
      const found = await find(codebase, one)
      started.set(
        one,
        found.filter((application) => !isKnown(started, application)),
      )
    }
  for (const [one, { length }] of started) {
    const { remark } = packageManagerOf(project, one)
    if (length > 0 && remark !== null) remarks.add(remark)
  }
  for (const [path, problem] of [...codebase.problems].slice(0, PROBLEMS_MAX))
    remarks.add(`${path} ${problem} and was skipped.`)
  if (codebase.isSpent)
    remarks.add(
      'Only part of the code was analyzed because there is too much of it. Run this in the folder of one application.',
    )
  const found = packages.all.flatMap((one) => started.get(one) ?? [])
  const { onNode, remarks: elsewhere } = runElsewhere(project, found)
  return { applications: onNode, remarks: [...remarks, ...elsewhere] }
}

const PROBLEMS_MAX = 10

/** Of an inner package: one that this one starts, or whose code it only shows. */
function isKnown(started: ReadonlyMap<NodePackage, Application[]>, found: Application): boolean {
  const others = [...started.values()].flat()
  return others.some(
    (other) =>
      isSameMount(other, found) &&
      (found.entry === null ||
        found.confidence === 'guess' ||
        other.entry?.path === found.entry.path),
  )
}

/** Without a mount: an application of Next.js, of which a folder holds one. */
function isSameMount(a: Application, b: Application): boolean {
  if (a.mount === null || b.mount === null)
    return a.folder === b.folder && a.framework === b.framework
  return a.mount.path === b.mount.path && a.mount.line === b.mount.line
}

async function startedIn(codebase: Codebase, one: NodePackage): Promise<Application[]> {
  if (!(await mayServe(codebase, one))) return []
  const found: Started[] = []
  const entries = await entriesOf(codebase, one)
  for (const by of ['command', 'manifest', 'custom'] as const) {
    for (const entry of entries.filter((entry) => entry.by === by).slice(0, ENTRIES_MAX))
      for (const started of await startedBy(codebase, one, entry)) {
        const at = found.findIndex((other) => isSameMount(other.application, started.application))
        const other = found[at]
        if (other === undefined) found.push(started)
        // the one that makes it listen is what a start runs
        else if (started.isHeard && !other.isHeard) found[at] = started
      }
    if (found.some(({ isHeard }) => isHeard)) break
  }
  return found.map(({ application }) => application)
}

interface Started {
  readonly application: Application
  readonly isHeard: boolean
}

const ENTRIES_MAX = 12

/** Before anything is parsed: does any file of the package name a framework, or a server of Node's? */
async function mayServe(codebase: Codebase, one: NodePackage): Promise<boolean> {
  if (dependsOnFramework(codebase, one)) return true
  const commands = one.manifest.bins.flatMap((bin) => joined(one.folder, bin) ?? [])
  for (const path of [
    ...commands,
    ...sourcesOf(codebase, one).slice(0, LIMITS.analyzerReachFilesMax),
  ])
    if (MENTIONS.test((await codebase.project.read(path)) ?? '')) return true
  return false
}

/** By itself, or by packages beside it. */
function dependsOnFramework(codebase: Codebase, { manifest }: NodePackage, depth = 0): boolean {
  if (FRAMEWORKS.some((name) => manifest.dependencies.has(name))) return true
  return [...manifest.dependencies.keys()].some((name) => {
    const beside = codebase.packages.byName.get(name)
    return beside !== undefined && depth < 2 && dependsOnFramework(codebase, beside, depth + 1)
  })
}

/** The package's own code, nearest to its root first. */
function sourcesOf(codebase: Codebase, one: NodePackage): string[] {
  return packageFiles(codebase, one.folder)
    .filter((path) => /\.[cm]?[jt]sx?$/.test(path) && !isTest(path))
    .filter((path) => !isAside(one.folder === '' ? path : path.slice(one.folder.length)))
    .sort((a, b) => a.split('/').length - b.split('/').length || +isBeside(a) - +isBeside(b))
}

async function startedBy(codebase: Codebase, one: NodePackage, entry: Entry): Promise<Started[]> {
  const isHeardOf = (application: Application) => ({ application, isHeard: true })
  if (entry.framework === 'next') {
    const next = await nextOf(codebase, one, true)
    return next === null ? [] : [isHeardOf(await describeNext(codebase, one, entry, next))]
  }
  if (entry.path === null) return []
  const own = innermost(codebase.packages, entry.path)
  // of another package, which says itself what it is
  if (own !== undefined && own.folder !== one.folder && own.folder.length > one.folder.length)
    return []
  const reach = await reachFrom(codebase, [entry.path])
  if (entry.framework === 'fastify-cli') {
    const plugin = await describePlugin(codebase, one, entry, reach)
    return plugin === null ? [] : [isHeardOf(plugin)]
  }
  // a file that only happens to be called like an entry takes more to be believed than a command
  const found = servedBy(reach).filter(({ serving }) => entry.by === 'command' || serving !== null)
  // node cli.js view
  const isNamed = ({ making }: Served) =>
    (entry.given ?? []).includes(nameOf(making.source.path).replace(/\.\w+$/, ''))
  return Promise.all(
    [...found.filter(isNamed), ...found.filter((one) => !isNamed(one))].map(async (served) => ({
      application: await describe(codebase, one, entry, reach, served),
      isHeard: isHeard(served.serving),
    })),
  )
}

/** What the package offers to be run or imported, and leads to this file. */
async function importerOf(
  codebase: Codebase,
  one: NodePackage,
  path: string,
): Promise<Entry | null> {
  for (const entry of (await entriesOf(codebase, one)).slice(0, ENTRIES_MAX))
    if (entry.path !== null && entry.by !== 'custom') {
      const { sources } = await reachFrom(codebase, [entry.path])
      if (sources.has(path)) return entry
    }
  return firstOf(codebase, await entriesOf(codebase, one))
}

/** What is run, though nothing was found on the way from it: it loads that in a way of its own. */
async function firstOf(codebase: Codebase, entries: readonly Entry[]): Promise<Entry | null> {
  for (const entry of entries)
    if (entry.path !== null && entry.by !== 'custom' && !isAside(entry.path))
      if ((await codebase.source(entry.path)) !== null) return entry
  return null
}

/** Nothing says how it starts; but code of it makes an application. */
async function unstarted(codebase: Codebase, one: NodePackage): Promise<Application[]> {
  const next = one.manifest.dependencies.get('next')
  const found = next === undefined ? null : await nextOf(codebase, one)
  const nowhere: Entry = {
    path: null,
    framework: null,
    by: 'custom',
    said: 'nothing',
    at: null,
    port: null,
  }
  if (found !== null && next?.kind !== 'peerDependencies')
    return [await describeNext(codebase, one, nowhere, found)]

  const depends = FRAMEWORKS.some(
    (name) => one.manifest.dependencies.get(name)?.kind === 'dependencies',
  )
  if (depends) {
    const made = await madeIn(codebase, one, nowhere, isFramework)
    if (made !== null) return [made]
  }
  // a server without a framework: only of a package that is run
  const started = await firstOf(codebase, await entriesOf(codebase, one))
  const isRun = started?.by === 'command' || one.manifest.bins.length > 0
  const made = isRun ? await madeIn(codebase, one, nowhere, isServer) : null
  return made === null ? [] : [made]
}

/** With something to call for each request. */
function isServer({ framework, isHandler, node }: Making): boolean {
  const given =
    node.type === 'CallExpression' || node.type === 'NewExpression' ? node.arguments : []
  return framework === 'node' && !isHandler && given.length > 0
}

/** The first that its code makes, nearest to its root. */
async function madeIn(
  codebase: Codebase,
  one: NodePackage,
  nowhere: Entry,
  isWanted: (making: Making) => boolean,
): Promise<Application | null> {
  for (const path of sourcesOf(codebase, one).slice(0, LIMITS.analyzerReachFilesMax)) {
    if (!MENTIONS.test((await codebase.project.read(path)) ?? '')) continue
    const source = await codebase.source(path)
    const [making] = source === null ? [] : makingsIn(source).filter(isWanted)
    if (making === undefined) continue
    const entry = (await importerOf(codebase, one, path)) ?? nowhere
    const reach = await reachFrom(codebase, entry.path === null ? [path] : [path, entry.path])
    const tracer = createTracer(reach)
    const served = {
      framework: making.framework,
      making,
      serving: null,
      routes: routesOf(reach, tracer, making),
      tracer,
      confidence: 'guess',
      others: [],
      next: null,
    } as const
    return describe(codebase, one, entry, reach, served)
  }
  return null
}
