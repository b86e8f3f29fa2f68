/** What an application on Node takes: the middleware, its package and the keys. */
import type { Application } from '../detection/application.ts'
import { folderOf } from '../detection/folders.ts'
import { buildFirst, builtStart } from '../detection/node/built-start.ts'
import { NO_PARTS, shown, together, type FileEdit, type ManualStep, type Parts } from '../plan.ts'
import type { Project } from '../project/project.ts'
import type { Source } from '../syntax/parse.ts'
import { installCommand } from './install-command.ts'
import { keyPart } from './key-file.ts'
import { withDependency } from './manifest-edit.ts'
import { mountedIn, shownStep, snippetFor, type Planned } from './mounted.ts'
import { mountedFramework } from './mounted-frameworks.ts'
import { nextMounting } from './next-plan.ts'
import { packageOf, parsedIn, sourceAt } from './node-sources.ts'
import { notesFor } from './notes.ts'
import { OPEN_MARK } from './open-on-purpose.ts'
import { unguardedIn, type Unguarded } from './unguarded.ts'
import { websocketSteps } from './websockets.ts'
import type { Wishes } from './wishes.ts'

export async function nodeParts(
  project: Project,
  application: Application,
  wishes: Wishes,
  others: readonly Application[],
): Promise<Parts> {
  const pack = await packageOf(project, application)
  const at: Planned = { project, application, wishes, pack }
  const notes = notesFor(application, wishes)
  if (application.confidence === 'guess') {
    const problem = 'this may not be a separate application'
    const step = shownStep(at, application.mount ?? application.entry, problem)
    return together(notes, step, { ...NO_PARTS, commands: [`npm install ${wishes.sdkUrl}`] })
  }
  // scripts of a package.json run where it lies, whichever folder below it the application is in
  const startFolder = pack.manifestPath === null ? application.folder : folderOf(pack.manifestPath)
  const mounted = await mountedParts(at)
  const edited = await sourcesOf(at, mounted.edits)
  const manual = [
    ...(await openSteps(at, mounted, edited, others)),
    ...(await websocketSteps({ project, folder: application.folder, pack, wishes }, edited)),
  ]
  const built = await builtStart(project, application)
  return together(
    notes,
    { ...NO_PARTS, notes: built === null ? [] : [buildFirst(built)] },
    mounted,
    await manifestPart(at),
    { ...NO_PARTS, manual },
    await keyPart(project, startFolder, wishes),
  )
}

async function mountedParts(at: Planned): Promise<Parts> {
  const { project, application, pack } = at
  const { framework } = application
  if (framework === 'next') return nextMounting(at)
  const place = application.mount ?? application.entry
  if (framework === 'hono' && !pack.dependencies.has('@hono/node-server')) {
    const problem =
      'service-node runs on Node.js, but this application does not use @hono/node-server'
    return shownStep(at, place, problem)
  }
  if (place === null)
    return shownStep(at, null, 'it was not found where the application is created')
  const parsed = await sourceAt(project, place.path, pack.type)
  if ('problem' in parsed) return shownStep(at, place, `the file ${parsed.problem}`)
  return mountedIn(at, parsed.source, mountedFramework(framework), place.line)
}

/** What of the package answers without the guard, where no step says so already. */
async function openSteps(
  { project, application, wishes }: Planned,
  { edits, manual }: Parts,
  edited: ReadonlyMap<string, Source>,
  planned: readonly Application[],
): Promise<ManualStep[]> {
  const others = planned.filter((other) => other !== application)
  const places = [...manual, ...others.flatMap(({ mount }) => mount ?? [])]
  const said = new Set(places.map(({ path, line }) => `${path}:${line}`))
  const open = await unguardedIn(project, application, edited)
  return open.flatMap((one) => {
    const { path, line, framework, problem, receiver, modules, reason } = one
    if (reason !== null) return []
    // steps about the code as it was name its lines as they were
    const place = `${path}:${lineBefore(edits, one)}`
    if (said.has(place)) return []
    said.add(place)
    const code = snippetFor(framework, wishes, receiver, modules)
    const what =
      framework === 'node'
        ? 'Put the code that answers here behind the guard'
        : 'Mount the middleware before everything else, right after this application is created'
    const text = `${what}: ${problem}. To keep it open on purpose, say why in the line above: // ${OPEN_MARK}: the reason.`
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

async function manifestPart({
  project,
  application,
  wishes: { sdkUrl },
  pack: { manifestPath },
}: Planned): Promise<Parts> {
  const code = `"service-node": "${sdkUrl}"`
  if (manifestPath === null) {
    const text =
      'No package.json found. Install service-node where the application loads its packages from.'
    return shown('package.json', null, text, code)
  }
  const before = await project.read(manifestPath)
  const edit = withDependency(before, sdkUrl)
  if (edit.kind === 'there already') return NO_PARTS
  if (edit.kind === 'edit') {
    const why = 'Adds the package with the middleware.'
    const edits = [{ path: manifestPath, before, after: edit.after, why }]
    const command = installCommand(project, application)
    return { ...NO_PARTS, edits, commands: [command] }
  }
  const text = `Add the package with the middleware under "dependencies". Not done automatically because ${edit.problem}.`
  return shown(manifestPath, edit.line, text, code)
}

async function sourcesOf(
  { project, pack: { type } }: Planned,
  edits: readonly FileEdit[],
): Promise<ReadonlyMap<string, Source>> {
  const sources = new Map<string, Source>()
  for (const { path, after } of edits) {
    const parsed = await parsedIn(project, path, after, type)
    if ('source' in parsed) sources.set(path, parsed.source)
  }
  return sources
}
