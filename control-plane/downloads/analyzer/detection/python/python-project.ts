/** The part of a project that one set of manifests speaks for, and its modules. */
import type { Dependencies } from '../manifests/dependencies.ts'
import type { Clue } from '../assemble.ts'
import type { Deployment } from '../deployment.ts'
import { folderOf, under } from '../folders.ts'
import type { Source } from '../source/source.ts'

export interface PythonUnit {
  readonly folder: string
  readonly dependencies: Dependencies
  readonly packageManager: Clue<string> | null
  readonly isPackaged: boolean
  readonly scripts: readonly string[]
  readonly deployment: Deployment
  /** Without tests, documents and examples. */
  readonly sources: readonly Source[]
}

export function sourceAt(unit: PythonUnit, path: string): Source | null {
  return unit.sources.find((source) => source.path === path) ?? null
}

/** `pkg.web.app` as seen from some folder; of a package its `__init__.py`. */
export function moduleAt(unit: PythonUnit, base: string, module: string): Source | null {
  const path = module.replaceAll('.', '/')
  return (
    sourceAt(unit, under(base, `${path}.py`)) ?? sourceAt(unit, under(base, `${path}/__init__.py`))
  )
}

/** From wherever Python might look for it: the unit itself, `src`, or any folder of it. */
export function findModule(unit: PythonUnit, module: string): Source | null {
  const direct =
    moduleAt(unit, unit.folder, module) ?? moduleAt(unit, under(unit.folder, 'src'), module)
  if (direct !== null) return direct
  const path = module.replaceAll('.', '/')
  const ends = [`/${path}.py`, `/${path}/__init__.py`]
  const found = unit.sources.filter((source) => ends.some((end) => source.path.endsWith(end)))
  return found.length === 1 ? (found[0] ?? null) : null
}

/** `from ..base import *` in some file: the file that is meant. */
export function importedModule(unit: PythonUnit, from: Source, module: string): Source | null {
  const [, dots = '', rest = ''] = /^(\.*)(.*)$/.exec(module) ?? []
  if (dots === '') return findModule(unit, module)
  const base = under(folderOf(from.path), '../'.repeat(dots.length - 1))
  return rest === '' ? sourceAt(unit, under(base, '__init__.py')) : moduleAt(unit, base, rest)
}

/** `services/api/app.py` → `app`, `app/__init__.py` → `app`: the last name of its module. */
export function moduleName(path: string): string {
  const parts = path.replace(/(?:\/__init__)?\.py$/, '').split('/')
  return parts.at(-1) ?? ''
}
