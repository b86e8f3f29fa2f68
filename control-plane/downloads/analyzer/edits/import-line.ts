/** The line that brings `service-node` into a file, and its place: behind the other imports. */
import type { Node, Statement } from '@babel/types'
import { moduleOfCall } from '../syntax/imports.ts'
import type { Source } from '../syntax/parse.ts'
import { endOf, startOf } from '../syntax/places.ts'
import { functionAround } from '../syntax/walk.ts'
import type { Insertion } from './changes.ts'
import { lineEndBehind } from './line-places.ts'
import { contains } from './made-applications.ts'
import type { Style } from './style.ts'
import type { GuardName } from './wishes.ts'

export const PACKAGE = 'service-node'

interface ImportWish {
  readonly guard: GuardName
  /** What the guard is to be called in this file. */
  readonly local: string
}

/** `import a = require('a')` is TypeScript of CommonJS, where `import` is at home as well. */
export function moduleFormOf(source: Source): Source['modules'] {
  const { body } = source.file.program
  return body.some(({ type }) => type === 'TSImportEqualsDeclaration') ? 'esm' : source.modules
}

export function importCode(modules: Source['modules'], style: Style, wish: ImportWish): string {
  const { guard, local } = wish
  const { quote, semicolon, space } = style
  const from = `${quote}${PACKAGE}${quote}`
  if (modules === 'esm') {
    const name = local === guard ? guard : `${guard} as ${local}`
    return `import {${space}${name}${space}} from ${from}${semicolon}`
  }
  if (style.constant === 'var') return `var ${local} = require(${from}).${guard}${semicolon}`
  const name = local === guard ? guard : `${guard}: ${local}`
  return `const {${space}${name}${space}} = require(${from})${semicolon}`
}

type ImportPlace =
  | Insertion
  /** There is no import at the top to stand behind: it goes where it is used. */
  | 'where it is used'
  | { readonly problem: string }

/** `user`: what is to use it. */
export function importPlace(source: Source, style: Style, code: string, user: Node): ImportPlace {
  const { body } = source.file.program
  const modules = moduleFormOf(source)
  const around = body.find((statement) => contains(statement, user))
  const others = body.filter(
    (statement) =>
      (modules === 'esm' ? isImport(statement) : isRequire(source, statement)) &&
      (modules === 'esm' || around === undefined || startOf(statement) < startOf(around)),
  )
  const anchor = modules === 'esm' ? lastBefore(others, user) : others.at(-1)
  if (anchor === undefined)
    return modules === 'esm'
      ? { problem: 'it has no import to add this after' }
      : 'where it is used'
  const at = lineEndBehind(source, endOf(anchor))
  if (at === null)
    return { problem: `line ${anchor.loc?.end.line ?? 1} contains more than an import` }
  return { kind: 'statements', at, text: `${style.lineBreak}${code}` }
}

/** Imports are hoisted, but who reads expects them together. */
function lastBefore(imports: readonly Statement[], user: Node): Statement | undefined {
  return imports.findLast((statement) => startOf(statement) < startOf(user)) ?? imports.at(-1)
}

function isImport({ type }: Statement): boolean {
  return type === 'ImportDeclaration' || type === 'TSImportEqualsDeclaration'
}

function isRequire(source: Source, statement: Statement): boolean {
  if (statement.type === 'ImportDeclaration' || statement.type === 'TSImportEqualsDeclaration')
    return true
  if (statement.type !== 'VariableDeclaration' && statement.type !== 'ExpressionStatement')
    return false
  return source.nodes.some(
    (node) =>
      node.type === 'CallExpression' &&
      contains(statement, node) &&
      moduleOfCall(source, node)?.form === 'require' &&
      functionAround(source.parents, node) === null,
  )
}
