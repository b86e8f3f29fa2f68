/** Which files Node reads when it finds and loads the middleware: the project, and its packages. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { PACKAGE } from '../edits/import-line.ts'

/** Absolute paths; a folder is meant with all that is in it. `folder`: of the file that imports it. */
export function readByLoading(root: string, folder: string, keyFile: string | undefined): string[] {
  const above = ancestorsOf(folder)
  const named = above.find((at) => existsSync(join(at, 'node_modules', PACKAGE)))
  const real = resolvedFrom(folder)
  return [
    ...new Set([
      root,
      ...(named === undefined ? [] : [join(named, 'node_modules')]),
      ...(real === null ? [] : [packagesAround(real)]),
      // looked at for the type of its modules
      ...above.map((at) => join(at, 'package.json')),
      ...(keyFile === undefined ? [] : [isAbsolute(keyFile) ? keyFile : resolve(folder, keyFile)]),
    ]),
  ]
}

/** null: Node would not find it either, for a package.json that is none, say; the load tells why. */
function resolvedFrom(folder: string): string | null {
  try {
    return createRequire(join(folder, 'file.js')).resolve(PACKAGE)
  } catch {
    return null
  }
}

function ancestorsOf(folder: string): string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...ancestorsOf(parent)]
}

/** What it depends on lies beside it, or, where one store holds all packages, further up in that. */
function packagesAround(file: string): string {
  const parts = file.split(sep)
  const outermost = parts.indexOf('node_modules')
  if (outermost !== -1) return parts.slice(0, outermost + 1).join(sep)
  return ancestorsOf(dirname(file)).find((at) => existsSync(join(at, 'package.json'))) ?? file
}
