/**
 * Before a person starts the application: can Node read what was written, is there what is imported,
 * and does the middleware load and take its settings? A crash at the first start is found here.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { PEM_FILENAME } from '../../../../shared/integration/contract.ts'
import { PACKAGE } from '../edits/import-line.ts'
import type { FileEdit } from '../plan.ts'
import { SOURCE_EXTENSIONS, type PackageType } from '../syntax/parse.ts'
import { addedImports } from './added-imports.ts'
import { loadMiddleware } from './load-middleware.ts'
import type { Environment } from './node-child.ts'
import { syntaxFault } from './syntax-faults.ts'

export interface DryRunWish {
  /** Absolute: where `path` of an edit begins. */
  readonly root: string
  readonly edits: readonly Pick<FileEdit, 'path' | 'before' | 'after'>[]
  readonly packageType: PackageType
  readonly baseUrl: string
  readonly tenantId: string | null
  /** The package manager has run: what is missing now will be missing at the start. */
  readonly isInstalled: boolean
  readonly environment: Environment
  /** Of this Node's command line, where they are not as it says. */
  readonly nodeFlags?: ReadonlySet<string>
}

interface StartFault {
  readonly path: string
  readonly detail: string
}

export interface DryRun {
  /** skip: nothing was edited that Node reads, the middleware is not installed yet, or it cannot be told. */
  readonly status: 'pass' | 'fail' | 'skip'
  readonly faults: readonly StartFault[]
  /** Why it cannot be told, where there would be something to load. */
  readonly reason?: string
}

export async function dryRun(wish: DryRunWish): Promise<DryRun> {
  const sources = wish.edits.filter(({ path }) =>
    SOURCE_EXTENSIONS.some((extension) => path.endsWith(extension)),
  )
  const looked = await Promise.all(sources.map((edit) => lookAtOne(wish, edit)))
  const faults = looked.flatMap(({ faults }) => faults)
  const isLoaded = looked.some(({ isLoaded }) => isLoaded)
  const reason = looked.find(({ reason }) => reason !== undefined)?.reason
  if (faults.length > 0) return { status: 'fail', faults }
  return { status: isLoaded ? 'pass' : 'skip', faults, ...(reason !== undefined && { reason }) }
}

interface LookedAt {
  readonly faults: readonly StartFault[]
  readonly isLoaded: boolean
  readonly reason?: string
}

async function lookAtOne(wish: DryRunWish, edit: DryRunWish['edits'][number]): Promise<LookedAt> {
  const { root, packageType, environment, isInstalled } = wish
  const { path } = edit
  const file = join(root, path)
  const { others, ours } = addedImports(edit, packageType)
  const faults: StartFault[] = []
  const fault = (detail: string | null) => void (detail !== null && faults.push({ path, detail }))
  fault(await syntaxFault(root, edit, packageType, environment))
  for (const module of others)
    if (!isThere(file, module)) fault(`imports ${module}, which cannot be found from there`)
  if (ours === null || existsSync(join(root, '.pnp.cjs'))) return { faults, isLoaded: false }
  const isFound = isThere(file, PACKAGE)
  if (!isFound && isInstalled) fault(`imports ${PACKAGE}, which cannot be found from there`)
  if (!isFound) return { faults, isLoaded: false }
  const keys = wish.edits.find(({ path }) => path.endsWith(PEM_FILENAME))
  const loading = { ...wish, imports: ours, folder: dirname(file) }
  const loaded = await loadMiddleware({
    ...loading,
    keyFile: keys === undefined ? null : join(root, keys.path),
  })
  if (loaded.kind === 'untold') return { faults, isLoaded: false, reason: loaded.reason }
  if (loaded.kind === 'fault') fault(loaded.detail)
  return { faults, isLoaded: true }
}

/** As Node looks for it, and as compilers do: nothing of it is run. */
function isThere(file: string, module: string): boolean {
  if (/^[#@~]\/|^#|^\w+:/.test(module)) return true // an alias, or what Node brings along
  if (/^\.{1,2}(?:\/|$)/.test(module)) return isFileThere(join(dirname(file), module))
  // TypeScript finds modules by paths of its own
  if (module !== PACKAGE && /\.[cm]?tsx?$/.test(file)) return true
  try {
    createRequire(file).resolve(module)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND'
  }
}

/** `./auth.js` may be written as `auth.ts`. */
function isFileThere(at: string): boolean {
  const bare = at.replace(/\.[cm]?jsx?$/, '')
  const names = SOURCE_EXTENSIONS.flatMap((end) => [
    `${bare}${end}`,
    `${at}${end}`,
    join(at, `index${end}`),
  ])
  return [at, ...names].some((name) => existsSync(name))
}
