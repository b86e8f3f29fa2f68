/** One build.gradle or build.gradle.kts, with the catalog of versions that it may name. */
import type { Project } from '../../project/project.ts'
import { folderOf, nameOf, under, upwards } from '../folders.ts'
import { hits, placeAt, sourceOf, stringAt, stringBehind, type Source } from '../source/source.ts'
import { BOOT, type BuildModule, type Dependency } from './dependencies.ts'
import { readToml, tableIn, textIn, textsIn, type Table } from './tables.ts'

const CONFIGURATION =
  /\b(implementation|api|compile|runtimeOnly|compileOnly|developmentOnly|annotationProcessor|kapt|testImplementation|testRuntimeOnly|testCompile|integrationTestImplementation)\b\s*\(?\s*/

export async function gradleModule(
  project: Project,
  path: string,
  text: string,
): Promise<BuildModule> {
  const source = sourceOf(path, text)
  const catalog = await readCatalog(project, folderOf(path))
  const own: string[] = []
  const dependencies: Dependency[] = []
  for (const {
    index,
    end,
    match: [, configuration = ''],
  } of hits(source, CONFIGURATION)) {
    const at = placeAt(source, index)
    const isDev = /^(?:test|integrationTest)/.test(configuration)
    const names = namesAt(source, end, catalog)
    dependencies.push(...names.map(({ name, version }) => ({ name, version, isDev, at })))
    const [, accessor] = /^projects\.([\w.]+)/.exec(source.code.slice(end)) ?? []
    const named = stringBehind(source, /^project\s*\(\s*(?:path\s*[:=]\s*)?/, end)
    if (accessor !== undefined) own.push(accessor.replaceAll('.', '/'))
    else if (named !== null) own.push(named.replace(/^:/, '').replaceAll(':', '/'))
  }
  return {
    path,
    name: nameOf(folderOf(path)),
    tool: 'gradle',
    dependencies,
    own,
    boot: bootOf(source, catalog),
  }
}

interface Named {
  readonly name: string
  readonly version: string | null
}

/** `"group:artifact:version"`, `libs.spring.web`, `libs.bundles.web`, `group: 'g', name: 'a'` */
function namesAt(source: Source, start: number, catalog: Catalog): readonly Named[] {
  const rest = source.code.slice(start, start + 300)
  const literal = stringAt(source, start)
  if (literal !== null) return [coordinates(literal)]
  if (/^group\s*[:=]/.test(rest)) {
    const [group = '', name = ''] = [/^group\s*[:=]\s*/, /\bname\s*[:=]\s*/].map(
      (key) => stringBehind(source, key, start, start + 300) ?? '',
    )
    return [{ name: `${group}:${name}`, version: null }]
  }
  const [, alias] = /^libs\.([\w.]+)/.exec(rest) ?? []
  return alias === undefined ? [] : (catalog.libraries.get(normal(alias)) ?? [])
}

function coordinates(text: string): Named {
  const [group = '', artifact = '', version = null] = text.split(':')
  return { name: `${group}:${artifact}`, version }
}

/** Its plugin, however it is named. */
function bootOf(source: Source, catalog: Catalog): Dependency | null {
  const found = (index: number, version: string | null): Dependency => ({
    name: BOOT,
    version,
    isDev: false,
    at: placeAt(source, index),
  })
  const plugins = /\b(?:id\s*\(?|apply\s+plugin\s*:|apply\s*\(\s*plugin\s*=)\s*(?=["'])/
  for (const { index, end } of hits(source, plugins)) {
    if (stringAt(source, end) !== BOOT) continue
    return found(index, stringBehind(source, /^[^\n]*?\bversion[ \t]*\(?[ \t]*/, end))
  }
  for (const { index, match } of hits(source, /\balias\s*\(?\s*libs\.plugins\.([\w.]+)/)) {
    const plugin = catalog.plugins.get(normal(match[1] ?? ''))
    if (plugin?.name === BOOT) return found(index, plugin.version)
  }
  for (const { index, end } of hits(source, /\bclasspath\s*\(?\s*(?=["'])/)) {
    const { name, version } = coordinates(stringAt(source, end) ?? '')
    if (name === `${BOOT}:spring-boot-gradle-plugin`) return found(index, version)
  }
  return null
}

interface Catalog {
  readonly libraries: ReadonlyMap<string, readonly Named[]>
  readonly plugins: ReadonlyMap<string, Named>
}

const normal = (alias: string) => alias.replaceAll(/[-_]/g, '.').toLowerCase()

/** gradle/libs.versions.toml of the build that the module belongs to. */
async function readCatalog(project: Project, folder: string): Promise<Catalog> {
  const path = upwards(folder)
    .map((folder) => under(folder, 'gradle/libs.versions.toml'))
    .find((path) => project.has(path))
  const { table } = readToml(path === undefined ? '' : ((await project.read(path)) ?? ''))
  const libraries = new Map<string, readonly Named[]>()
  for (const [alias, entry] of Object.entries(tableIn(table, 'libraries'))) {
    const said = tableIn(entry)
    const apart = `${textIn(said, 'group') ?? ''}:${textIn(said, 'name') ?? ''}`
    const name = textIn(said, 'module') ?? apart
    const library =
      typeof entry === 'string' ? coordinates(entry) : { name, version: versionOf(table, said) }
    libraries.set(normal(alias), [library])
  }
  const bundles = tableIn(table, 'bundles')
  for (const alias of Object.keys(bundles)) {
    const bundled = textsIn(bundles, alias).flatMap((name) => libraries.get(normal(name)) ?? [])
    libraries.set(`bundles.${normal(alias)}`, bundled)
  }
  const plugins = new Map<string, Named>()
  for (const [alias, entry] of Object.entries(tableIn(table, 'plugins'))) {
    const [id = '', said = null] = typeof entry === 'string' ? entry.split(':') : []
    const name = textIn(tableIn(entry), 'id') ?? id
    plugins.set(normal(alias), { name, version: said ?? versionOf(table, tableIn(entry)) })
  }
  return { libraries, plugins }
}

function versionOf(table: Table, entry: Table): string | null {
  const reference = textIn(tableIn(entry, 'version'), 'ref')
  return reference === null
    ? textIn(entry, 'version')
    : textIn(tableIn(table, 'versions'), reference)
}
