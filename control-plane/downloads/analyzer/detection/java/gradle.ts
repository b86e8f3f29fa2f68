/** One build.gradle or build.gradle.kts, with the catalog of versions that it may name. */
import type { Project } from '../../project/project.ts'
import { folderOf, nameOf, under, upwards } from '../folders.ts'
import type { Dependency } from '../manifests/dependencies.ts'
import { isTable, readToml, tableIn, textIn, textsIn, type Table } from '../manifests/toml.ts'
import { blank } from '../source/blank.ts'
import { hits, placeAt, stringAt, type Source } from '../source/source.ts'
import type { JavaModule } from './builds.ts'

const BOOT = 'org.springframework.boot'
const CONFIGURATION =
  /\b(implementation|api|compile|runtimeOnly|compileOnly|developmentOnly|annotationProcessor|kapt|testImplementation|testRuntimeOnly|testCompile|integrationTestImplementation)\b\s*\(?\s*/

export async function gradleModule(
  project: Project,
  path: string,
  text: string,
): Promise<JavaModule> {
  const source = { path, text, code: blank(text, path.endsWith('.kts') ? 'kotlin' : 'groovy') }
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
    const [given] =
      /^(?:project\s*\(\s*(?:path\s*[:=]\s*)?|projects\.[\w.]+)/.exec(source.code.slice(end)) ?? []
    if (given?.startsWith('projects.'))
      own.push(given.slice('projects.'.length).replaceAll('.', '/'))
    else if (given !== undefined)
      own.push((stringAt(source, end + given.length) ?? '').replace(/^:/, '').replaceAll(':', '/'))
  }
  const folder = folderOf(path)
  return {
    folder,
    tool: 'gradle',
    path,
    dependencies,
    own,
    name: nameOf(folder),
    boot: bootOf(source, catalog),
  }
}

/** `"group:artifact:version"`, `libs.spring.web`, `libs.bundles.web`, `group: 'g', name: 'a'` */
function namesAt(
  source: Source,
  start: number,
  catalog: Catalog,
): readonly { name: string; version: string | null }[] {
  const rest = source.code.slice(start, start + 300)
  const literal = stringAt(source, start)
  if (literal !== null) return [coordinates(literal)]
  const map = /^group\s*[:=]\s*/.exec(rest)
  if (map !== null) {
    const name = /\bname\s*[:=]\s*/.exec(rest)
    const group = stringAt(source, start + map[0].length)
    const artifact = name === null ? null : stringAt(source, start + name.index + name[0].length)
    return [{ name: `${group ?? ''}:${artifact ?? ''}`, version: null }]
  }
  const [, alias] = /^libs\.([\w.]+)/.exec(rest) ?? []
  return alias === undefined ? [] : (catalog.libraries.get(normal(alias)) ?? [])
}

function coordinates(text: string): { name: string; version: string | null } {
  const [group = '', artifact = '', version = null] = text.split(':')
  return { name: `${group}:${artifact}`, version }
}

/** Its plugin, however it is named; then any dependency of its group. */
function bootOf(source: Source, catalog: Catalog): JavaModule['boot'] {
  for (const { index, end } of hits(
    source,
    /\b(?:id\s*\(?|apply\s+plugin\s*:|apply\s*\(\s*plugin\s*=)\s*(?=["'])/,
  )) {
    if (stringAt(source, end) !== BOOT) continue
    const line = /^[^\n]*/.exec(source.code.slice(end))?.[0] ?? ''
    const version = /\bversion\s*\(?\s*/.exec(line)
    const literal =
      version === null ? null : stringAt(source, end + version.index + version[0].length)
    return { version: literal, at: placeAt(source, index) }
  }
  for (const {
    index,
    match: [, alias = ''],
  } of hits(source, /\balias\s*\(?\s*libs\.plugins\.([\w.]+)/)) {
    const plugin = catalog.plugins.get(normal(alias))
    if (plugin?.id === BOOT) return { version: plugin.version, at: placeAt(source, index) }
  }
  for (const { index, end } of hits(source, /\bclasspath\s*\(?\s*(?=["'])/)) {
    const { name, version } = coordinates(stringAt(source, end) ?? '')
    if (name === `${BOOT}:spring-boot-gradle-plugin`) return { version, at: placeAt(source, index) }
  }
  return null
}

interface Catalog {
  readonly libraries: ReadonlyMap<string, readonly { name: string; version: string | null }[]>
  readonly plugins: ReadonlyMap<string, { id: string; version: string | null }>
}

const normal = (alias: string) => alias.replaceAll(/[-_]/g, '.').toLowerCase()

/** gradle/libs.versions.toml of the build that the module belongs to. */
async function readCatalog(project: Project, folder: string): Promise<Catalog> {
  const path = upwards(folder)
    .map((folder) => under(folder, 'gradle/libs.versions.toml'))
    .find((path) => project.has(path))
  const { table } = readToml(path === undefined ? '' : ((await project.read(path)) ?? ''))
  const libraries = new Map<string, { name: string; version: string | null }[]>()
  for (const [alias, value] of Object.entries(tableIn(table, 'libraries'))) {
    if (typeof value === 'string') libraries.set(normal(alias), [coordinates(value)])
    else if (isTable(value)) {
      const name =
        textIn(value, 'module') ?? `${textIn(value, 'group') ?? ''}:${textIn(value, 'name') ?? ''}`
      libraries.set(normal(alias), [{ name, version: versionOf(table, value) }])
    }
  }
  const bundles = tableIn(table, 'bundles')
  for (const alias of Object.keys(bundles))
    libraries.set(
      `bundles.${normal(alias)}`,
      textsIn(bundles, alias).flatMap((name) => libraries.get(normal(name)) ?? []),
    )
  const plugins = new Map<string, { id: string; version: string | null }>()
  for (const [alias, value] of Object.entries(tableIn(table, 'plugins'))) {
    if (typeof value === 'string') {
      const [id = '', version = null] = value.split(':')
      plugins.set(normal(alias), { id, version })
    } else if (isTable(value))
      plugins.set(normal(alias), {
        id: textIn(value, 'id') ?? '',
        version: versionOf(table, value),
      })
  }
  return { libraries, plugins }
}

function versionOf(table: Table, entry: Table): string | null {
  const reference = textIn(tableIn(entry, 'version'), 'ref')
  return reference === null
    ? textIn(entry, 'version')
    : textIn(tableIn(table, 'versions'), reference)
}
