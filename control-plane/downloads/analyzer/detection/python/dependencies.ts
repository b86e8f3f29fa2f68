/** What a Python project is built on, whichever of its many manifests says so. */
import type { Project } from '../../project/project.ts'
import { folderOf, isUnder, nameOf, under, within } from '../folders.ts'
import { byName, lineOf, type Dependencies, type Dependency } from '../manifests/dependencies.ts'
import { isTable, readToml, tableIn, textIn, textsIn, type Table } from '../manifests/toml.ts'
import { blank } from '../source/blank.ts'
import { closeOf, hits, stringsBetween } from '../source/source.ts'

export interface PythonManifests {
  readonly dependencies: Dependencies
  readonly packageManager: { readonly name: string; readonly path: string } | null
  /** It is built into a package for others: without an application object it is a library. */
  readonly isPackaged: boolean
  /** `[project.scripts]`, and what pyproject says elsewhere that a start is. */
  readonly scripts: readonly string[]
  readonly problems: readonly string[]
}

const REQUIREMENTS = /^[\w.-]*requirements[\w.-]*\.(?:txt|in)$/i
const FOR_DEVELOPERS =
  /(?:^|[-_./])(?:dev|develop|development|tests?|testing|lint|docs?|ci|types?|typing|tooling)(?:[-_./]|$)/i

/** The folder that a manifest speaks for; null: it is none. */
export function manifestFolder(path: string): string | null {
  const name = nameOf(path)
  const folder = folderOf(path)
  if (/^(?:pyproject\.toml|setup\.py|setup\.cfg|Pipfile)$/.test(name)) return folder
  if (nameOf(folder) === 'requirements' && /\.(?:txt|in)$/.test(name)) return folderOf(folder)
  return REQUIREMENTS.test(name) ? folder : null
}

export async function readPythonManifests(
  project: Project,
  folder: string,
): Promise<PythonManifests> {
  const found: Dependency[] = []
  const scripts: string[] = []
  const problems: string[] = []
  let isPackaged = false
  let manager: PythonManifests['packageManager'] = null
  const paths = project.files
    .map(({ path }) => path)
    .filter((path) => isUnder(folder, path) && manifestFolder(path) === folder)
  for (const path of paths) {
    const text = await project.read(path)
    if (text === null) continue
    const name = nameOf(path)
    if (/\.(?:txt|in)$/.test(name)) found.push(...ofRequirements(text, path, within(folder, path)))
    else if (name === 'setup.py') {
      isPackaged = true
      found.push(...ofSetup(text, path))
    } else if (name === 'setup.cfg') {
      found.push(...ofSetupCfg(text, path))
      isPackaged ||= /^\[metadata\]/m.test(text)
    } else {
      const { table, problem } = readToml(text)
      if (problem !== null) problems.push(`${path} cannot be read: ${problem}.`)
      if (name === 'Pipfile') {
        manager ??= { name: 'pipenv', path }
        found.push(...ofTable(tableIn(table, 'packages'), text, path, false))
        found.push(...ofTable(tableIn(table, 'dev-packages'), text, path, true))
      } else {
        isPackaged ||= 'build-system' in table || textIn(tableIn(table, 'project'), 'name') !== null
        manager ??= managerOf(table, path)
        found.push(...ofPyproject(table, text, path))
        scripts.push(...scriptsOf(table))
      }
    }
  }
  const dependencies = byName(found)
  return { dependencies, packageManager: manager, isPackaged, scripts, problems }
}

/** `Django [bcrypt] >= 4.2 ; python_version > "3"`; names are the same in any case and with `_`. */
function ofRequirement(text: string): { name: string; version: string | null } | null {
  const [, name, version = ''] =
    /^\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(@\s*\S+|[(]?[=<>!~][^;#]*)?/.exec(text) ?? []
  if (name === undefined) return null
  const trimmed = version.replaceAll(/[()\s\\]/g, '').replace(/--hash.*$/, '')
  return { name: normal(name), version: trimmed === '' ? null : trimmed }
}

const normal = (name: string) => name.toLowerCase().replaceAll(/[-_.]+/g, '-')

function ofRequirements(text: string, path: string, inside: string): Dependency[] {
  const isDev = FOR_DEVELOPERS.test(inside)
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*(?:-|#|$)/.test(line)) return []
    const one = ofRequirement(line)
    return one === null ? [] : [{ ...one, at: { path, line: index + 1 }, isDev }]
  })
}

/** Strings of `install_requires=[…]`; one that is put together elsewhere is not seen. */
function ofSetup(text: string, path: string): Dependency[] {
  const source = { path, text, code: blank(text, 'python') }
  return hits(source, /\binstall_requires\s*=\s*(?=\[)/).flatMap(({ end }) =>
    listed(
      stringsBetween(source, end, closeOf(source, end)).map(({ value }) => value),
      text,
      path,
      false,
    ),
  )
}

function ofSetupCfg(text: string, path: string): Dependency[] {
  const [, block = ''] = /^install_requires\s*=[ \t]*((?:.*\n?)(?:[ \t]+.*\n?)*)/m.exec(text) ?? []
  return listed(block.split('\n'), text, path, false)
}

function ofPyproject(table: Table, text: string, path: string): Dependency[] {
  const project = tableIn(table, 'project')
  const poetry = tableIn(table, 'tool', 'poetry')
  const groups = tableIn(table, 'dependency-groups')
  const extras = tableIn(project, 'optional-dependencies')
  const inGroups = (groups: Table) =>
    Object.keys(groups).flatMap((name) =>
      listed(textsIn(groups, name), text, path, FOR_DEVELOPERS.test(name)),
    )
  return [
    ...listed(textsIn(project, 'dependencies'), text, path, false),
    ...ofTable(tableIn(poetry, 'dependencies'), text, path, false),
    ...inGroups(extras),
    ...inGroups(groups),
    ...Object.entries(tableIn(poetry, 'group')).flatMap(([name, group]) =>
      isTable(group)
        ? ofTable(tableIn(group, 'dependencies'), text, path, FOR_DEVELOPERS.test(name))
        : [],
    ),
    ...ofTable(tableIn(poetry, 'dev-dependencies'), text, path, true),
    ...listed(textsIn(tableIn(table, 'tool', 'uv'), 'dev-dependencies'), text, path, true),
    ...inGroups(tableIn(table, 'tool', 'pdm', 'dev-dependencies')).map((one) => ({
      ...one,
      isDev: true,
    })),
  ]
}

function listed(
  texts: readonly string[],
  text: string,
  path: string,
  isDev: boolean,
): Dependency[] {
  return texts.flatMap((requirement) => {
    const one = ofRequirement(requirement)
    return one === null ? [] : [{ ...one, isDev, at: { path, line: lineOf(text, one.name) } }]
  })
}

/** `flask = "^3.0"`, `flask = { version = "^3.0", extras = ["async"] }` */
function ofTable(table: Table, text: string, path: string, isDev: boolean): Dependency[] {
  return Object.entries(table).map(([name, value]) => {
    const version = isTable(value)
      ? textIn(value, 'version')
      : typeof value === 'string'
        ? value
        : null
    return {
      name: normal(name),
      version: version === '*' ? null : version,
      isDev,
      at: { path, line: lineOf(text, name) },
    }
  })
}

function managerOf(table: Table, path: string): PythonManifests['packageManager'] {
  const tools = tableIn(table, 'tool')
  const name = ['poetry', 'uv', 'pdm'].find((name) => name in tools)
  return name === undefined ? null : { name, path }
}

function scriptsOf(table: Table): string[] {
  const tables = [tableIn(table, 'project', 'scripts'), tableIn(table, 'tool', 'poetry', 'scripts')]
  const scripts = tables.flatMap((scripts) =>
    Object.values(scripts).filter((value) => typeof value === 'string'),
  )
  // `fastapi run` reads this one
  const entrypoint = textIn(tableIn(table, 'tool', 'fastapi'), 'entrypoint')
  return entrypoint === null ? scripts : [...scripts, entrypoint]
}

const LOCKS = {
  'uv.lock': 'uv',
  'poetry.lock': 'poetry',
  'Pipfile.lock': 'pipenv',
  'pdm.lock': 'pdm',
}

export function lockedBy(project: Project, folder: string): PythonManifests['packageManager'] {
  for (const [file, name] of Object.entries(LOCKS)) {
    const path = under(folder, file)
    if (project.has(path)) return { name, path }
  }
  return null
}
