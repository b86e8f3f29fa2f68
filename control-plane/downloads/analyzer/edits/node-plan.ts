/** The plan for an application on Node: the middleware, its package and the keys. */
import type { Application, Place } from '../detection/application.ts'
import { folderOf } from '../detection/folders.ts'
import type { FileEdit, ManualStep, Plan } from '../plan.ts'
import type { Project } from '../project/project.ts'
import type { Source } from '../syntax/parse.ts'
import { installCommand } from './install-command.ts'
import { keyPart } from './key-file.ts'
import { unguardedIn, type Unguarded } from './unguarded.ts'
import { withDependency } from './manifest-edit.ts'
import { mountInSource } from './mount-source.ts'
import { mountedFrom, shownStep, wishOf, type Mounted } from './mounted.ts'
import { mountedFramework } from './mounted-frameworks.ts'
import { nextMounting } from './next-plan.ts'
import { notesFor } from './notes.ts'
import { snippetFor } from './node-snippets.ts'
import { websocketSteps } from './websockets.ts'
import type { Wishes } from './wishes.ts'
import { wrapListeners } from './wrap-listener.ts'
import { packageOf, parsedIn, sourceAt, type NodePackage } from './node-sources.ts'

/** Scripts of a package.json run where it lies, whichever folder below it the application is in. */
function startFolderOf({ folder }: Application, { manifestPath }: NodePackage): string {
  return manifestPath === null ? folder : folderOf(manifestPath)
}

export async function nodePlan(
  project: Project,
  application: Application,
  wishes: Wishes,
  together: readonly Application[] = [],
): Promise<Plan> {
  const pack = await packageOf(project, application)
  const isSure = application.confidence !== 'guess'
  const mounted = isSure
    ? await mountedParts(project, application, wishes, pack)
    : {
        edits: [],
        manual: [
          shownStep(
            application,
            wishes,
            placeOf(application),
            'it is not sure that this is an application of its own',
          ),
        ],
      }
  const edited = await sourcesOf(project, mounted.edits, pack)
  const further = isSure
    ? [
        ...(await openSteps(project, application, wishes, mounted, edited, together)),
        ...(await websocketSteps(project, application, pack, edited)),
      ]
    : []
  const key = isSure
    ? await keyPart(project, startFolderOf(application, pack), wishes)
    : { edits: [], manual: [], notes: [] }
  const manifest = isSure ? await manifestPart(project, pack, wishes) : null
  const isNamed = manifest !== null && manifest.edits.length === 0
  const command = isSure
    ? installCommand(project, {
        ...application,
        folder: startFolderOf(application, pack),
      })
    : `npm install ${wishes.sdkUrl}`
  return {
    framework: application.framework,
    source: { kind: 'rules' },
    edits: [...mounted.edits, ...(manifest?.edits ?? []), ...key.edits],
    manual: [...mounted.manual, ...(manifest?.manual ?? []), ...further, ...key.manual],
    commands: isNamed ? [] : [command],
    notes: [...notesFor(application, wishes), ...key.notes],
  }
}

async function mountedParts(
  project: Project,
  application: Application,
  wishes: Wishes,
  pack: NodePackage,
): Promise<Mounted> {
  if (application.framework === 'next') return nextMounting(project, application, wishes, pack)
  const place = placeOf(application)
  const problem = unsuitable(application, pack)
  if (place === null || problem !== null)
    return {
      edits: [],
      manual: [
        shownStep(application, wishes, place, problem ?? 'it is not known where it is made'),
      ],
    }
  return mountedAt(project, application, wishes, pack, place)
}

function unsuitable({ framework }: Application, { dependencies }: NodePackage): string | null {
  if (framework === 'hono' && !dependencies.has('@hono/node-server'))
    return 'service-node runs on Node.js, and this application is not served by @hono/node-server'
  return null
}

const placeOf = ({ mount, entry }: Application): Place | null => mount ?? entry

async function mountedAt(
  project: Project,
  application: Application,
  wishes: Wishes,
  pack: NodePackage,
  place: Place,
): Promise<Mounted> {
  const parsed = await sourceAt(project, place.path, pack.type)
  if ('problem' in parsed)
    return {
      edits: [],
      manual: [shownStep(application, wishes, place, `the file ${parsed.problem}`)],
    }
  const { source } = parsed
  const framework = mountedFramework(application.framework)
  const mounting = framework
    ? mountInSource(source, wishOf(source, framework, wishes, pack))
    : wrapListeners(source, { mode: wishes.mode, packageType: pack.type })
  return mountedFrom(application, wishes, source, mounting, place.line)
}

/** What of the package answers without the guard, where no step says so already. */
async function openSteps(
  project: Project,
  application: Application,
  wishes: Wishes,
  { edits, manual }: Mounted,
  edited: ReadonlyMap<string, Source>,
  together: readonly Application[],
): Promise<ManualStep[]> {
  const others = together.filter((other) => other !== application && other.mount !== null)
  const places = [...manual, ...others.flatMap(({ mount }) => mount ?? [])]
  const said = new Set(places.map(({ path, line }) => `${path}:${line}`))
  const open = await unguardedIn(project, application, edited)
  return open.flatMap((one) => {
    const { path, line, framework, problem, receiver, modules } = one
    // steps about the code as it was name its lines as they were
    const place = `${path}:${lineBefore(edits, one)}`
    if (said.has(place)) return []
    said.add(place)
    const code = snippetFor(framework, wishes, receiver, modules)
    const what =
      framework === 'node'
        ? 'Put what answers here behind the guard'
        : 'Put the middleware in front of everything else, right behind the place where this application is made'
    const text = `${what}: ${problem}. Leave it only if it is never started, or nothing that it answers needs a sign-in.`
    return [{ path, line, text, code }]
  })
}

/** Edits add lines and keep the others in their order. */
function lineBefore(edits: readonly FileEdit[], { path, line }: Unguarded): number {
  const edit = edits.find((one) => one.path === path)
  if (edit === undefined || edit.before === null) return line
  const before = edit.before.split('\n')
  const after = edit.after.split('\n')
  let at = 0
  for (const [index, text] of after.slice(0, line - 1).entries()) {
    const isAdded = text !== before[at] && after.slice(index + 1).includes(before[at] ?? '')
    if (!isAdded) at++
  }
  return at + 1
}

async function manifestPart(project: Project, { manifestPath }: NodePackage, { sdkUrl }: Wishes) {
  const code = `"service-node": "${sdkUrl}"`
  if (manifestPath === null) {
    const text =
      'There is no package.json. Install service-node where the application finds its packages.'
    return { edits: [], manual: [{ path: 'package.json', line: null, text, code }] }
  }
  const before = await project.read(manifestPath)
  const edit = before === null ? null : withDependency(before, sdkUrl)
  if (edit?.kind === 'there already') return { edits: [], manual: [] }
  if (before !== null && edit?.kind === 'edit') {
    const why = 'The package with the middleware.'
    return { edits: [{ path: manifestPath, before, after: edit.after, why }], manual: [] }
  }
  const problem = edit?.kind === 'manual' ? edit.problem : 'it cannot be read'
  const line = edit?.kind === 'manual' ? edit.line : 1
  const text = `Name the package with the middleware under "dependencies". It was not done for you: ${problem}.`
  return { edits: [], manual: [{ path: manifestPath, line, text, code }] }
}

async function sourcesOf(
  project: Project,
  edits: readonly FileEdit[],
  { type }: NodePackage,
): Promise<ReadonlyMap<string, Source>> {
  const sources = new Map<string, Source>()
  for (const { path, after } of edits) {
    const parsed = await parsedIn(project, path, after, type)
    if ('source' in parsed) sources.set(path, parsed.source)
  }
  return sources
}
