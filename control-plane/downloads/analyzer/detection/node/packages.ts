/** The packages of a project: workspaces, projects of nx and of Nest, and who manages them. */
import { LIMITS } from '../../../../../shared/limits.ts'
import type { Project } from '../../project/project.ts'
import type { Finding, Place } from '../application.ts'
import { finding } from '../assemble.ts'
import { folderOf, isUnder, under, within } from '../folders.ts'
import {
  parsedJson,
  parsedJsonc,
  parsedYaml,
  tableIn,
  textIn,
  textsIn,
} from '../manifests/tables.ts'
import { NO_MANIFEST, readManifest, type Dependency, type Manifest } from './manifest.ts'
import { isWithin, joined, matchesWorkspace } from './paths.ts'

export interface NodePackage {
  readonly folder: string
  /** Its own, or of the package around it: projects of nx and of Nest have none of their own. */
  readonly manifest: Manifest
  /** The package whose workspaces it is one of. */
  readonly workspace: NodePackage | null
  /** What its `import`s may find: its own, and what is hoisted above it. */
  readonly dependencies: ReadonlyMap<string, Dependency>
  /** Where a tool other than npm says that it starts. */
  readonly entryHints: readonly string[]
}

/** Where what its manifest says stands; null where it has none. */
export function manifestPlace({ manifest }: NodePackage): Place | null {
  return manifest.path === '' ? null : { path: manifest.path, line: 1 }
}

export interface Packages {
  /** A folder before those in it. */
  readonly all: readonly NodePackage[]
  readonly byName: ReadonlyMap<string, NodePackage>
  readonly remarks: readonly string[]
}

export async function packagesOf(project: Project): Promise<Packages> {
  const remarks: string[] = []
  const paths = project.files
    .map(({ path }) => path)
    .filter((path) => /(?:^|\/)package\.json$/.test(path))
    .sort((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1))
  const { analyzerPackagesMax } = LIMITS
  if (paths.length > analyzerPackagesMax)
    remarks.push(
      `Only ${analyzerPackagesMax} of ${paths.length} package.json were looked at. Run this in the folder of one application.`,
    )

  const all: NodePackage[] = []
  for (const path of paths.slice(0, analyzerPackagesMax)) {
    const manifest = await readManifest(project, path)
    if (manifest === null) remarks.push(`${path} is not a JSON object, and was left aside.`)
    // of what was built the manifest lies there once more
    else if (!isCopied(all, folderOf(path), manifest))
      all.push(await packageAt(project, folderOf(path), manifest, all))
  }
  if (!all.some(({ folder }) => folder === ''))
    all.unshift(await packageAt(project, '', NO_MANIFEST, []))
  for (const found of await Promise.all(all.map((around) => innerProjects(project, around))))
    for (const inner of found)
      if (!all.some(({ folder }) => folder === inner.folder)) all.push(inner)
  const byName = new Map(
    all.flatMap((one) => (one.manifest.name ? [[one.manifest.name, one]] : [])),
  )
  return { all, byName, remarks }
}

function isCopied(before: readonly NodePackage[], folder: string, { name }: Manifest): boolean {
  const around = before.findLast((one) => one.folder !== folder && isWithin(one.folder, folder))
  // a member of a workspace may be called like the whole
  return name !== null && around?.manifest.name === name && !isMember(around, folder)
}

/** The innermost package that a file lies in. */
export function innermost({ all }: Packages, path: string): NodePackage | undefined {
  let inner: NodePackage | undefined
  for (const one of all)
    if (isUnder(one.folder, path) && one.folder.length >= (inner?.folder.length ?? 0)) inner = one
  return inner
}

async function packageAt(
  project: Project,
  folder: string,
  manifest: Manifest,
  before: readonly NodePackage[],
): Promise<NodePackage> {
  const patterns = [...manifest.workspaces, ...(await pnpmWorkspaces(project, folder))]
  const around = before.filter((one) => one.folder !== folder && isWithin(one.folder, folder))
  const workspace = around.findLast((one) => isMember(one, folder)) ?? null
  const hoisted = around.flatMap(({ manifest }) => [...manifest.dependencies])
  return {
    folder,
    manifest: { ...manifest, workspaces: patterns },
    workspace,
    dependencies: new Map([...hoisted, ...manifest.dependencies]),
    entryHints: [],
  }
}

function isMember({ folder, manifest }: NodePackage, inner: string): boolean {
  return matchesWorkspace(manifest.workspaces.slice(0, 100), within(folder, inner))
}

async function pnpmWorkspaces(project: Project, folder: string): Promise<string[]> {
  const text = await project.read(under(folder, 'pnpm-workspace.yaml'))
  return textsIn(tableIn(parsedYaml(text)), 'packages')
}

/** nx: a project.json for each; Nest: `projects` of its nest-cli.json. */
async function innerProjects(project: Project, around: NodePackage): Promise<NodePackage[]> {
  const inner = (folder: string, entryHints: readonly string[]): NodePackage => ({
    ...around,
    folder,
    workspace: around,
    entryHints,
  })
  const nest = parsedJsonc(await project.read(under(around.folder, 'nest-cli.json')))
  const projects = Object.entries(tableIn(nest, 'projects')).slice(0, 50)
  const ofNest = projects.flatMap(([name, value]) => {
    const one = tableIn(value)
    if (textIn(one, 'type') === 'library') return []
    const folder = joined(around.folder, textIn(one, 'root') ?? `apps/${name}`)
    const sources = joined(around.folder, textIn(one, 'sourceRoot') ?? `apps/${name}/src`)
    const file = textIn(one, 'entryFile') ?? 'main'
    return folder === null || sources === null ? [] : [inner(folder, [`/${sources}/${file}`])]
  })
  if (!project.has(under(around.folder, 'nx.json'))) return ofNest

  const described = project.files
    .map(({ path }) => path)
    .filter((path) => isWithin(around.folder, path) && /(?:^|\/)project\.json$/.test(path))
    .slice(0, 100)
  const ofNx = await Promise.all(
    described.map(async (path) => {
      const text = await project.read(path)
      if (textIn(tableIn(parsedJson(text)), 'projectType') === 'library') return []
      // of several targets the one that builds names the file that a start runs
      const main = /"main":\s*"([^"]{1,300})"/.exec(text?.slice(0, 64 * 1024) ?? '')?.[1]
      return [inner(folderOf(path), [...(main ? [`/${main}`] : []), 'src/main', 'src/server'])]
    }),
  )
  return [...ofNest, ...ofNx.flat()]
}

/** And whose each is. */
export const LOCKS: readonly (readonly [string, string])[] = [
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
  ['yarn.lock', 'yarn'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
]

/** By the nearest folder that says anything; its own field counts more than lock files. */
export function packageManagerOf(
  project: Project,
  one: NodePackage,
): { finding: Finding | null; remark: string | null } {
  for (let at: NodePackage | null = one; at !== null; at = at.workspace) {
    const { folder, manifest } = at
    const locks = LOCKS.flatMap(([name, manager]) => {
      const path = under(folder, name)
      return project.has(path) ? [{ path, manager }] : []
    })
    const said = manifest.packageManager ?? locks[0]?.manager
    if (said === undefined) continue
    const different = locks.filter(({ manager }) => manager !== said).map(({ path }) => path)
    const by = manifest.packageManager === null ? locks[0]?.path : manifest.path
    const remark =
      different.length === 0
        ? null
        : `${by} says ${said}, and ${different.join(', ')} something else. Remove the lock files that are no longer used.`
    const place = { path: by ?? '', line: 1 }
    const confidence = different.length > 0 ? 'likely' : 'sure'
    const detail = `${by} belongs to ${said}.`
    return { remark, finding: finding('package_manager', said, place, confidence, detail) }
  }
  if (one.manifest.path === '') return { finding: null, remark: null }
  const detail = 'No lock file or packageManager field was found, so npm is assumed.'
  return { finding: finding('package_manager', 'npm', null, 'guess', detail), remark: null }
}
