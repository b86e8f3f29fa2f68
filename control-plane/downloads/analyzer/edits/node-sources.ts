/** Source files of one application, parsed when they are asked for. */
import { LIMITS } from '../../../../shared/limits.ts'
import type { Application } from '../detection/application.ts'
import { folderOf, nearest, under, upwards, within } from '../detection/folders.ts'
import { NO_MANIFEST, readManifest, type Dependency } from '../detection/node/manifest.ts'
import { resolverOf, withServices } from '../detection/node/services.ts'
import type { Project } from '../project/project.ts'
import {
  parseSource,
  SOURCE_EXTENSIONS,
  type PackageType,
  type Parsed,
  type Source,
} from '../syntax/parse.ts'

export interface NodePackage {
  /** `services/api/package.json`; null: there is none at or above the application. */
  readonly manifestPath: string | null
  readonly type: PackageType
  /** All that it depends on, in whatever list. */
  readonly dependencies: ReadonlyMap<string, Dependency>
}

export async function packageOf(project: Project, { folder }: Application): Promise<NodePackage> {
  const manifestPath =
    upwards(folder)
      .map((at) => under(at, 'package.json'))
      .find((path) => project.has(path)) ?? null
  const manifest = manifestPath === null ? null : await readManifest(project, manifestPath)
  const { type, dependencies } = manifest ?? NO_MANIFEST
  return { manifestPath, type, dependencies }
}

export async function sourceAt(project: Project, path: string, type: PackageType): Promise<Parsed> {
  const text = await project.read(path)
  return text === null ? { problem: 'cannot be read' } : parsedIn(project, path, text, type)
}

/** With what the project has of the middleware elsewhere. */
export async function parsedIn(
  project: Project,
  path: string,
  text: string,
  type: PackageType,
): Promise<Parsed> {
  const parsed = parseSource(path, text, type)
  if ('problem' in parsed) return parsed
  return { source: await withServices(project, await resolverOf(project), parsed.source) }
}

const TEST =
  /(?:^|\/)(?:tests?|__tests__|__mocks__|spec|e2e|cypress|examples?|docs)\/|\.(?:test|spec|e2e-spec|stories)\.|\.d\.[mc]?ts$/

/** Those in which `pattern` is found, tests and packages of their own left out; parsing is dear. */
export async function sourcesWith(
  project: Project,
  folder: string,
  type: PackageType,
  pattern: RegExp,
): Promise<Source[]> {
  const manifests = project.files.filter(({ path }) => /(?:^|\/)package\.json$/.test(path))
  const packages = new Set(manifests.map(({ path }) => folderOf(path)).concat(folder))
  const candidates = project.files
    .filter(({ path, bytes }) => {
      const isSource = SOURCE_EXTENSIONS.some((end) => path.endsWith(end))
      if (!isSource || nearest(packages, path) !== folder) return false
      return !TEST.test(within(folder, path)) && bytes <= LIMITS.analyzerSourceCharactersMax
    })
    .slice(0, LIMITS.analyzerSearchedFilesMax)
  const found: Source[] = []
  for (const { path } of candidates) {
    const text = await project.read(path)
    if (text === null || !pattern.test(text)) continue
    const parsed = await parsedIn(project, path, text, type)
    if ('source' in parsed) found.push(parsed.source)
  }
  return found
}
