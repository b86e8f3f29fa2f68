/** go.mod, the packages of a module, and what a package brings along of the project's own. */
import { LIMITS } from '../../../../../shared/limits.ts'
import type { Project } from '../../project/project.ts'
import { folderOf, isAside, nearest, under } from '../folders.ts'
import type { Dependency } from '../manifests/dependencies.ts'
import {
  firstHit,
  hits,
  readSources,
  closeOf,
  stringAt,
  stringsBetween,
  type Source,
} from '../source/source.ts'

export interface GoModule {
  readonly folder: string
  /** What imports of it begin with: `example.com/shop`. */
  readonly path: string
  /** Direct ones. */
  readonly requires: readonly Dependency[]
}

export interface GoPackage {
  readonly folder: string
  readonly module: GoModule
  readonly sources: readonly Source[]
  readonly imports: readonly string[]
}

export interface GoCode {
  readonly modules: readonly GoModule[]
  readonly packages: ReadonlyMap<string, GoPackage>
  readonly remarks: readonly string[]
}

export async function readGoCode(project: Project): Promise<GoCode> {
  const paths = project.files.map(({ path }) => path)
  const manifests = paths.filter((path) => /(?:^|\/)go\.mod$/.test(path) && !isAside(path))
  const modules = new Map<string, GoModule>()
  for (const path of manifests) {
    const text = await project.read(path)
    if (text !== null) modules.set(folderOf(path), readGoMod(text, path))
  }
  const folders = new Set(modules.keys())
  const code = paths.filter(
    (path) =>
      path.endsWith('.go') &&
      !path.endsWith('_test.go') &&
      !isAside(path) &&
      nearest(folders, path) !== null,
  )
  const looked = code.slice(0, LIMITS.detectionSourcesMax)
  const sources = (await readSources(project, looked, 'go')).filter(isBuilt)
  const packages = new Map<string, GoPackage>()
  for (const [folder, own] of byFolder(sources)) {
    const module = modules.get(nearest(folders, under(folder, 'x.go')) ?? '')
    if (module === undefined) continue
    packages.set(folder, { folder, module, sources: own, imports: own.flatMap(importsOf) })
  }
  const remarks =
    looked.length < code.length
      ? [`Only ${looked.length} of ${code.length} Go files were looked at.`]
      : []
  return { modules: [...modules.values()], packages, remarks }
}

function byFolder(sources: readonly Source[]): Map<string, Source[]> {
  const folders = new Map<string, Source[]>()
  for (const source of sources) {
    const own = folders.get(folderOf(source.path)) ?? []
    own.push(source)
    folders.set(folderOf(source.path), own)
  }
  return folders
}

/** `//go:build ignore` is how a script says that it belongs to no program. */
function isBuilt({ text }: Source): boolean {
  return !/^\/\/(?:go:build|\s*\+build)\s+(?:ignore|tools)\b/m.test(text.slice(0, 2000))
}

function readGoMod(text: string, path: string): GoModule {
  const lines = text.split('\n')
  const [, name = ''] = /^module\s+"?([^\s"]+)/m.exec(text) ?? []
  let isInBlock = false
  const requires = lines.flatMap((line, index) => {
    if (/^\s*require\s*\(/.test(line)) isInBlock = true
    else if (/^\s*\)/.test(line)) isInBlock = false
    const [, required, version = null] =
      /^\s*(?:require\s+)?([\w.-]+\.[\w.-]+\/[^\s]+)\s+(v\S+)/.exec(line) ?? []
    const isRequired = isInBlock || /^\s*require\s/.test(line)
    if (required === undefined || !isRequired || /\/\/\s*indirect/.test(line)) return []
    return [{ name: required, version, at: { path, line: index + 1 }, isDev: false }]
  })
  return { folder: folderOf(path), path: name, requires }
}

export function importsOf(source: Source): string[] {
  return hits(source, /^import\b\s*/m).flatMap(({ end }) => {
    if (source.code.charAt(end) === '(')
      return stringsBetween(source, end, closeOf(source, end)).map(({ value }) => value)
    const [name = ''] = /^[\w.]+\s+/.exec(source.code.slice(end)) ?? []
    const single = stringAt(source, end + name.length)
    return single === null ? [] : [single]
  })
}

export function importPlace(source: Source, test: RegExp): number | null {
  const hit = firstHit(source, /^import\b\s*/m)
  if (hit === null) return null
  const all = stringsBetween(source, hit.index, source.code.length)
  return all.find(({ value }) => test.test(value))?.index ?? null
}

/** A package and all of the project's own that it imports, itself first. */
export function closure(code: GoCode, start: GoPackage): GoPackage[] {
  const found = new Map([[start.folder, start]])
  for (const { imports } of found.values())
    for (const imported of imports) {
      const folder = folderOfImport(code, imported)
      const own = folder === null ? undefined : code.packages.get(folder)
      if (own !== undefined) found.set(own.folder, own)
    }
  return [...found.values()]
}

function folderOfImport({ modules }: GoCode, imported: string): string | null {
  const owners = modules.filter(
    ({ path }) => imported === path || (path !== '' && imported.startsWith(`${path}/`)),
  )
  const [owner] = owners.sort((a, b) => b.path.length - a.path.length)
  return owner === undefined ? null : under(owner.folder, imported.slice(owner.path.length))
}
