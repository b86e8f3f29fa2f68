/** A package.json as far as it matters here: strangers write it, so each part is looked at before it is believed. */
import type { Project } from '../../project/project.ts'
import type { PackageType } from '../../syntax/parse.ts'

export interface Dependency {
  readonly range: string
  readonly kind: 'dependencies' | 'devDependencies' | 'optionalDependencies' | 'peerDependencies'
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

export const NO_MANIFEST: Manifest = {
  path: '',
  name: null,
  type: undefined,
  main: null,
  bins: [],
  scripts: new Map(),
  dependencies: new Map(),
  packageManager: null,
  workspaces: [],
  aliases: new Map(),
  offered: [],
}

/** null: it cannot be read as a manifest. */
export async function readManifest(project: Project, path: string): Promise<Manifest | null> {
  const whole = recordOf(parsedJson(await project.read(path)))
  if (whole === null) return null
  const bin = whole.get('bin')
  const type = whole.get('type')
  return {
    path,
    name: textIn(whole, 'name'),
    type: type === 'module' || type === 'commonjs' ? type : undefined,
    main: textIn(whole, 'main'),
    bins: typeof bin === 'string' ? [bin] : [...textsIn(bin).values()],
    scripts: textsIn(whole.get('scripts')),
    dependencies: dependenciesOf(whole),
    packageManager:
      /^(npm|yarn|pnpm|bun)(?:@|$)/.exec(textIn(whole, 'packageManager') ?? '')?.[1] ?? null,
    workspaces: workspacesOf(whole.get('workspaces')),
    aliases: new Map([...targetsOf(whole.get('imports')), ...textsIn(whole.get('_moduleAliases'))]),
    offered: [
      ...[...targetsOf(whole.get('exports')).values()],
      ...['source', 'module', 'main', 'types'].flatMap((key) => textIn(whole, key) ?? []),
    ],
  }
}

/** undefined where it is none. */
export function parsedJson(text: string | null): unknown {
  if (text === null) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** With comments and commas behind the last item, as tsconfig.json has them. */
export function parsedJsonc(text: string | null): unknown {
  if (text === null) return undefined
  const STRING_OR_COMMENT = /"(?:\\.|[^"\\\n])*"|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)/g
  const bare = text.replace(STRING_OR_COMMENT, (part) => (part.startsWith('"') ? part : ''))
  return parsedJson(
    bare.replace(/"(?:\\.|[^"\\\n])*"|,(?=\s*[}\]])/g, (part) => (part === ',' ? '' : part)),
  )
}

/** A Map, so that `__proto__` is a key like any other. */
export function recordOf(value: unknown): Map<string, unknown> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  return new Map(Object.entries(value))
}

export function textIn(record: ReadonlyMap<string, unknown> | null, key: string): string | null {
  const value = record?.get(key)
  return typeof value === 'string' && value !== '' ? value : null
}

function textsIn(value: unknown): Map<string, string> {
  const entries = [...(recordOf(value) ?? [])]
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

export function listIn(value: unknown): string[] {
  return Array.isArray(value)
    ? (value as unknown[]).filter((item): item is string => typeof item === 'string')
    : []
}

function dependenciesOf(whole: ReadonlyMap<string, unknown>): Map<string, Dependency> {
  const kinds = [
    'peerDependencies',
    'devDependencies',
    'optionalDependencies',
    'dependencies',
  ] as const
  return new Map(
    kinds.flatMap((kind) =>
      [...textsIn(whole.get(kind))].map(([name, range]): [string, Dependency] => [
        name,
        { range, kind },
      ]),
    ),
  )
}

function workspacesOf(value: unknown): string[] {
  return Array.isArray(value) ? listIn(value) : listIn(recordOf(value)?.get('packages'))
}

/** `exports` and `imports`: a target, a list of them, or one for each condition. */
function targetsOf(value: unknown, depth = 0): Map<string, string> {
  if (typeof value === 'string') return new Map([['.', value]])
  const entries = [...(recordOf(value) ?? [])].slice(0, 200)
  const found = new Map<string, string>()
  if (depth > 5) return found
  for (const [key, target] of entries) {
    const first = [...targetsOf(target, depth + 1).values()][0]
    if (first !== undefined) found.set(key, first)
  }
  return found
}
