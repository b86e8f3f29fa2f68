/** A package.json as far as it matters here: strangers write it, so each part is looked at before it is believed. */
import type { Project } from '../../project/project.ts'
import type { PackageType } from '../../syntax/parse.ts'
import {
  isTable,
  namedTexts,
  parsedJson,
  tableIn,
  textIn,
  textsIn,
  textsOf,
  type Table,
} from '../manifests/tables.ts'

/** The last that names a package counts. */
const KINDS = [
  'peerDependencies',
  'devDependencies',
  'optionalDependencies',
  'dependencies',
] as const

export interface Dependency {
  readonly range: string
  readonly kind: (typeof KINDS)[number]
}

export type Manifest = Readonly<ReturnType<typeof manifestOf>>

/** null: it cannot be read as a manifest. */
export async function readManifest(project: Project, path: string): Promise<Manifest | null> {
  const whole = parsedJson(await project.read(path))
  return isTable(whole) ? manifestOf(whole, path) : null
}

function manifestOf(whole: Table, path: string) {
  const { bin, workspaces, imports, exports, _moduleAliases } = whole
  const said = textIn(whole, 'type')
  const type: PackageType = said === 'module' || said === 'commonjs' ? said : undefined
  const [, packageManager = null] =
    /^(npm|yarn|pnpm|bun)(?:@|$)/.exec(textIn(whole, 'packageManager') ?? '') ?? []
  return {
    /** Where it lies; '' where there is none. */
    path,
    name: textIn(whole, 'name'),
    type,
    main: textIn(whole, 'main') ?? mainOf(exports),
    bins: typeof bin === 'string' ? [bin] : namedTexts(bin).map(([, target]) => target),
    scripts: new Map(namedTexts(tableIn(whole, 'scripts'))),
    dependencies: new Map<string, Dependency>(
      KINDS.flatMap((kind) =>
        namedTexts(tableIn(whole, kind)).map(([name, range]) => [name, { range, kind }] as const),
      ),
    ),
    /** `npm`, of `npm@11.2.0`. */
    packageManager,
    workspaces: Array.isArray(workspaces)
      ? textsOf(workspaces)
      : textsIn(tableIn(workspaces), 'packages'),
    /** `imports`, and what `module-alias` takes: a prefix or a name, and where it leads. */
    aliases: new Map([...targetsOf(imports), ...namedTexts(_moduleAliases)]),
    /** What importers of the package get, in this order. */
    offered: [
      ...targetsOf(exports).values(),
      ...['source', 'module', 'main', 'types'].flatMap((key) => textIn(whole, key) ?? []),
    ],
  }
}

/** What `exports` gives to those that run it. */
function mainOf(exports: unknown): string | null {
  if (typeof exports === 'string') return exports
  const whole = textIn(tableIn(exports), '.')
  if (whole !== null) return whole
  const ways = tableIn(exports, '.')
  for (const way of ['node', 'import', 'require', 'default']) {
    const target = textIn(ways, way) ?? textIn(tableIn(ways, way), 'default')
    if (target !== null && !target.endsWith('.d.ts')) return target
  }
  return null
}

export const NO_MANIFEST = manifestOf({}, '')

/** `exports` and `imports`: a target, a list of them, or one for each condition. */
function targetsOf(value: unknown, depth = 0): Map<string, string> {
  if (typeof value === 'string') return new Map([['.', value]])
  const found = new Map<string, string>()
  if (depth > 5) return found
  for (const [key, target] of Object.entries(tableIn(value)).slice(0, 200)) {
    const [first] = targetsOf(target, depth + 1).values()
    if (first !== undefined) found.set(key, first)
  }
  return found
}
