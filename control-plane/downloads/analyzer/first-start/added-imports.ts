/** What a file imports since it was edited. */
import { PACKAGE } from '../edits/import-line.ts'
import type { FileEdit } from '../plan.ts'
import { importsOf } from '../syntax/imports.ts'
import { parseSource, type PackageType } from '../syntax/parse.ts'

export interface AddedImports {
  /** As they are written, ours left out. */
  readonly others: readonly string[]
  /** null: the middleware is not imported here, or was before. */
  readonly ours: {
    readonly isRequired: boolean
    /** Of what it takes from there. */
    readonly names: readonly string[]
    readonly adapters: readonly string[]
  } | null
}

const ADAPTER = /\.(express|nest|koa|fastify|hono|node|next|upgrade)\(/g

export function addedImports(
  { path, before, after }: Pick<FileEdit, 'path' | 'before' | 'after'>,
  packageType: PackageType,
): AddedImports {
  const known = new Set(importedIn(path, before ?? '', packageType).map(({ module }) => module))
  const added = importedIn(path, after, packageType).filter(({ module }) => !known.has(module))
  const ours = added.filter(({ module }) => module === PACKAGE)
  return {
    others: [...new Set(added.map(({ module }) => module))].filter((one) => one !== PACKAGE),
    ours:
      ours.length === 0
        ? null
        : {
            isRequired: ours.some(({ form }) => form === 'require'),
            names: ours.flatMap(({ imported }) => (isName(imported) ? [imported] : [])),
            adapters: addedAdapters(before ?? '', after),
          },
  }
}

const isName = (imported: string | null): imported is string =>
  imported !== null && imported !== '*' && imported !== 'default'

function importedIn(path: string, text: string, packageType: PackageType) {
  const parsed = parseSource(path, text, packageType)
  return 'problem' in parsed ? [] : importsOf(parsed.source).filter(({ isTypeOnly }) => !isTypeOnly)
}

function addedAdapters(before: string, after: string): string[] {
  const known = new Set(before.split('\n'))
  const added = after.split('\n').filter((line) => !known.has(line))
  const found = [...added.join('\n').matchAll(ADAPTER)].map(([, name = '']) => name)
  return [...new Set(found)]
}
