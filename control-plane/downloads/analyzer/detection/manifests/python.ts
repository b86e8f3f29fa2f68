/** What a Python project is built on, whichever of its many manifests says so. */
import { nameOf, within } from '../folders.ts'
import { sourceOf, stringsBehind } from '../source/source.ts'
import { lineOf, type Dependency } from './dependencies.ts'
import { isTable, readToml, tableIn, textIn, textsIn, type Table } from './tables.ts'

/** What one of them says. */
export interface PythonManifest {
  readonly path: string
  readonly dependencies: readonly Dependency[]
  /** By whom it is written, if that is to be seen. */
  readonly manager?: string | undefined
  /** It is built into a package for others: without an application object it is a library. */
  readonly isPackaged?: boolean
  /** `[project.scripts]`, and what pyproject says elsewhere that a start is. */
  readonly scripts?: readonly string[]
  readonly problem?: string | null
}

/** Up to the folder that it speaks for. */
export const PYTHON_MANIFEST =
  /(?:^|\/)(?:pyproject\.toml|setup\.py|setup\.cfg|Pipfile|requirements\/[^/]*\.(?:txt|in)|[\w.-]*(?:[Rr]equirements|REQUIREMENTS)[\w.-]*\.(?:txt|in))$/

export const PYTHON_LOCKS = {
  'uv.lock': 'uv',
  'poetry.lock': 'poetry',
  'Pipfile.lock': 'pipenv',
  'pdm.lock': 'pdm',
} as const

const FOR_DEVELOPERS =
  /(?:^|[-_./])(?:dev|develop|development|tests?|testing|lint|docs?|ci|types?|typing|tooling)(?:[-_./]|$)/i

export function readPythonManifest(text: string, path: string, folder: string): PythonManifest {
  const listed = listing(text, path)
  switch (nameOf(path)) {
    case 'setup.py': {
      const source = sourceOf(path, text)
      const required = stringsBehind(source, /\binstall_requires\s*=\s*(?=\[)/)
      const lists = required.map(({ value }) => value)
      return { path, isPackaged: true, dependencies: listed(lists, false) }
    }
    case 'setup.cfg': {
      const [, block = ''] =
        /^install_requires\s*=[ \t]*((?:.*\n?)(?:[ \t]+.*\n?)*)/m.exec(text) ?? []
      const isPackaged = /^\[metadata\]/m.test(text)
      return { path, isPackaged, dependencies: listed(block.split('\n'), false) }
    }
    case 'Pipfile': {
      const { table, problem } = readToml(text)
      const dependencies = [
        ...ofTable(tableIn(table, 'packages'), text, path, false),
        ...ofTable(tableIn(table, 'dev-packages'), text, path, true),
      ]
      return { path, manager: 'pipenv', dependencies, problem }
    }
    case 'pyproject.toml':
      return ofPyproject(text, path)
    default: {
      const isDev = FOR_DEVELOPERS.test(within(folder, path))
      const lines = text.split('\n').map((line) => (/^\s*-/.test(line) ? '' : line))
      return { path, dependencies: listed(lines, isDev, (index) => index + 1) }
    }
  }
}

/** `Django [bcrypt] >= 4.2 ; python_version > "3"`; names are the same in any case and with `_`. */
function listing(text: string, path: string) {
  return (
    requirements: readonly string[],
    isDev: boolean,
    line?: (index: number) => number,
  ): Dependency[] =>
    requirements.flatMap((requirement, index) => {
      const [, name, given = ''] =
        /^\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(@\s*\S+|[(]?[=<>!~][^;#]*)?/.exec(
          requirement,
        ) ?? []
      if (name === undefined) return []
      const version = given.replaceAll(/[()\s\\]/g, '').replace(/--hash.*$/, '')
      const at = { path, line: line?.(index) ?? lineOf(text, normal(name)) }
      return [{ name: normal(name), version: version === '' ? null : version, isDev, at }]
    })
}

const normal = (name: string) => name.toLowerCase().replaceAll(/[-_.]+/g, '-')

function ofPyproject(text: string, path: string): PythonManifest {
  const { table, problem } = readToml(text)
  const listed = listing(text, path)
  const project = tableIn(table, 'project')
  const poetry = tableIn(table, 'tool', 'poetry')
  const inGroups = (groups: Table, isDev = false) =>
    Object.keys(groups).flatMap((name) =>
      listed(textsIn(groups, name), isDev || FOR_DEVELOPERS.test(name)),
    )
  const scripts = [tableIn(project, 'scripts'), tableIn(poetry, 'scripts')].flatMap((scripts) =>
    Object.values(scripts).filter((value) => typeof value === 'string'),
  )
  // `fastapi run` reads this one
  const entrypoint = textIn(tableIn(table, 'tool', 'fastapi'), 'entrypoint')
  return {
    path,
    problem,
    manager: ['poetry', 'uv', 'pdm'].find((name) => name in tableIn(table, 'tool')),
    isPackaged: 'build-system' in table || textIn(project, 'name') !== null,
    scripts: entrypoint === null ? scripts : [...scripts, entrypoint],
    dependencies: [
      ...listed(textsIn(project, 'dependencies'), false),
      ...ofTable(tableIn(poetry, 'dependencies'), text, path, false),
      ...inGroups(tableIn(project, 'optional-dependencies')),
      ...inGroups(tableIn(table, 'dependency-groups')),
      ...Object.entries(tableIn(poetry, 'group')).flatMap(([name, group]) =>
        isTable(group)
          ? ofTable(tableIn(group, 'dependencies'), text, path, FOR_DEVELOPERS.test(name))
          : [],
      ),
      ...ofTable(tableIn(poetry, 'dev-dependencies'), text, path, true),
      ...listed(textsIn(tableIn(table, 'tool', 'uv'), 'dev-dependencies'), true),
      ...inGroups(tableIn(table, 'tool', 'pdm', 'dev-dependencies'), true),
    ],
  }
}

/** `flask = "^3.0"`, `flask = { version = "^3.0", extras = ["async"] }` */
function ofTable(table: Table, text: string, path: string, isDev: boolean): Dependency[] {
  return Object.entries(table).map(([name, value]) => {
    const version = textIn(isTable(value) ? value : { version: value }, 'version')
    const at = { path, line: lineOf(text, name) }
    return { name: normal(name), version: version === '*' ? null : version, isDev, at }
  })
}
