/** Modules of Python, by the names that code has for them. */
import { folderOf, under } from '../folders.ts'
import type { Part, ReadPart } from '../reader/part.ts'
import type { Source } from '../source/source.ts'

export interface PythonPart extends Part {
  /** A package for others: without an application object it is a library. */
  readonly isPackaged: boolean
  /** What its manifests and .flaskenv say that a start is. */
  readonly scripts: readonly string[]
}

export type PythonCode = ReadPart<PythonPart>

export function sourceAt(part: PythonCode, path: string): Source | null {
  return part.sources.find((source) => source.path === path) ?? null
}

/** `pkg.web.app` as seen from some folder; of a package its `__init__.py`. */
export function moduleAt(part: PythonCode, base: string, module: string): Source | null {
  const path = module.replaceAll('.', '/')
  return (
    sourceAt(part, under(base, `${path}.py`)) ?? sourceAt(part, under(base, `${path}/__init__.py`))
  )
}

/** From wherever Python might look for it: the part itself, `src`, or any folder of it. */
export function findModule(part: PythonCode, module: string): Source | null {
  const direct =
    moduleAt(part, part.folder, module) ?? moduleAt(part, under(part.folder, 'src'), module)
  if (direct !== null) return direct
  const path = module.replaceAll('.', '/')
  const ends = [`/${path}.py`, `/${path}/__init__.py`]
  const found = part.sources.filter((source) => ends.some((end) => source.path.endsWith(end)))
  return found.length === 1 ? (found[0] ?? null) : null
}

/** `from ..base import *` in some file: the file that is meant. */
export function importedModule(part: PythonCode, from: Source, module: string): Source | null {
  const [, dots = '', rest = ''] = /^(\.*)(.*)$/.exec(module) ?? []
  if (dots === '') return findModule(part, module)
  const base = under(folderOf(from.path), '../'.repeat(dots.length - 1))
  return rest === '' ? sourceAt(part, under(base, '__init__.py')) : moduleAt(part, base, rest)
}

/** `services/api/app.py` → `app`, `app/__init__.py` → `app`: the last name of its module. */
export function moduleName(path: string): string {
  const parts = path.replace(/(?:\/__init__)?\.py$/, '').split('/')
  return parts.at(-1) ?? ''
}
