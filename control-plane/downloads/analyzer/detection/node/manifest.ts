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

export interface Manifest {
  /** Where it lies; '' where there is none. */
  readonly path: string
  readonly name: string | null
  readonly type: PackageType
  readonly main: string | null
  readonly bins: readonly string[]
  readonly scripts: ReadonlyMap<string, string>
  readonly dependencies: ReadonlyMap<string, Dependency>
  /** `npm`, of `npm@11.2.0`. */
  readonly packageManager: string | null
  readonly workspaces: readonly string[]
  /** `imports`, and what `module-alias` takes: a prefix or a name, and where it leads. */
  readonly aliases: ReadonlyMap<string, string>
  /** What importers of the package get: `exports`, `module`, `main`, in this order. */
  readonly offered: readonly string[]
}

/** null: it cannot be read as a manifest. */
export async function readManifest(project: Project, path: string): Promise<Manifest | null> {
  const whole = parsedJson(await project.read(path))
  return isTable(whole) ? manifestOf(whole, path) : null
}

function manifestOf(whole: Table, path: string): Manifest {
  const { bin, type, workspaces, imports, exports, _moduleAliases } = whole
  const [, packageManager = null] =
    /^(npm|yarn|pnpm|bun)(?:@|$)/.exec(textIn(whole, 'packageManager') ?? '') ?? []
  return {
    path,
    name: textIn(whole, 'name'),
    type: type === 'module' || type === 'commonjs' ? type : undefined,
    main: textIn(whole, 'main'),
    bins: typeof bin === 'string' ? [bin] : namedTexts(bin).map(([, target]) => target),
    scripts: new Map(namedTexts(tableIn(whole, 'scripts'))),
    dependencies: new Map(
      KINDS.flatMap((kind) =>
        namedTexts(tableIn(whole, kind)).map(([name, range]) => [name, { range, kind }] as const),
      ),
    ),
    packageManager,
    workspaces: Array.isArray(workspaces)
      ? textsOf(workspaces)
      : textsIn(tableIn(workspaces), 'packages'),
    aliases: new Map([...targetsOf(imports), ...namedTexts(_moduleAliases)]),
    offered: [
      ...targetsOf(exports).values(),
      ...['source', 'module', 'main', 'types'].flatMap((key) => textIn(whole, key) ?? []),
    ],
  }
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
