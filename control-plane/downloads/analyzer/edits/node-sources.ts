/** Source files of one application, parsed when they are asked for. */
import { LIMITS } from '../../../../shared/limits.ts'
import type { Application } from '../detection/application.ts'
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
  /** Names of all that it depends on, in whatever list. */
  readonly dependencies: ReadonlySet<string>
}

export async function packageOf(project: Project, { folder }: Application): Promise<NodePackage> {
  for (const path of manifestsAbove(folder)) {
    if (!project.has(path)) continue
    const manifest = asObject(parsedJson(await project.read(path)))
    const lists = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']
    const names = lists.flatMap((list) => Object.keys(asObject(manifest[list])))
    const { type } = manifest
    return {
      manifestPath: path,
      type: type === 'module' || type === 'commonjs' ? type : undefined,
      dependencies: new Set(names),
    }
  }
  return { manifestPath: null, type: undefined, dependencies: new Set() }
}

function* manifestsAbove(folder: string): Generator<string> {
  const segments = folder === '' ? [] : folder.split('/')
  for (let length = segments.length; length >= 0; length--)
    yield [...segments.slice(0, length), 'package.json'].join('/')
}

export const inFolder = (folder: string, path: string) =>
  folder === '' ? path : `${folder}/${path}`

export const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')))

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
  const start = folder === '' ? '' : `${folder}/`
  const nested = project.files
    .map(({ path }) => path)
    .filter(
      (path) =>
        path.startsWith(start) && path.endsWith('/package.json') && path !== `${start}package.json`,
    )
    .map((path) => path.slice(0, -'package.json'.length))
  const candidates = project.files
    .filter(({ path }) => !nested.some((other) => path.startsWith(other)))
    .filter(
      ({ path }) => path.startsWith(start) && SOURCE_EXTENSIONS.some((end) => path.endsWith(end)),
    )
    .filter(
      ({ path, bytes }) =>
        !TEST.test(path.slice(start.length)) && bytes <= LIMITS.analyzerSourceCharactersMax,
    )
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

function parsedJson(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text)
  } catch {
    return null
  }
}

export function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
