/** What a file imports, however it says so: `import`, `require`, `await import`. */
import type { CallExpression, Node } from '@babel/types'
import { keyOf, namesOf } from './bindings.ts'
import { oncePer } from './once-per.ts'
import type { Source } from './parse.ts'
import { fileText, literal } from './texts.ts'

interface Import {
  /** As it is written: `express`, `./app.js`, `@/server`. */
  readonly module: string
  readonly form: 'import' | 'export' | 'require' | 'dynamic'
  /** `default`, a name, `*` for all of it; null: for its effects alone, or used where it stands. */
  readonly imported: string | null
  readonly local: string | null
  readonly isTypeOnly: boolean
  /** The whole declaration, or the call. */
  readonly node: Node
}

/** In the order of the file, one for each name. */
export const importsOf = oncePer((source: Source): readonly Import[] =>
  source.nodes.flatMap((node) => {
    switch (node.type) {
      case 'ImportDeclaration': {
        const isTypeOnly = node.importKind === 'type' || node.importKind === 'typeof'
        const base = { module: node.source.value, form: 'import' as const, isTypeOnly, node }
        if (node.specifiers.length === 0) return [{ ...base, imported: null, local: null }]
        return node.specifiers.map((specifier) => ({
          ...base,
          imported: importedName(specifier),
          local: specifier.local.name,
          isTypeOnly:
            isTypeOnly || (specifier.type === 'ImportSpecifier' && specifier.importKind === 'type'),
        }))
      }
      case 'ExportAllDeclaration':
      case 'ExportNamedDeclaration': {
        if (!node.source) return []
        const isTypeOnly = node.exportKind === 'type'
        const module = node.source.value
        return [{ module, form: 'export' as const, imported: null, local: null, isTypeOnly, node }]
      }
      case 'TSImportEqualsDeclaration': {
        const isTypeOnly = node.importKind === 'type'
        const asked = specifiedBy(source, node)
        const local = node.id.name
        return asked ? [{ ...asked, form: 'require' as const, local, isTypeOnly, node }] : []
      }
      case 'ImportExpression':
      case 'CallExpression':
        return importsOfCall(source, node)
      default:
        return []
    }
  }),
)

function importsOfCall(source: Source, call: Node): Import[] {
  const asked = moduleOfCall(source, call)
  if (asked === null) return []
  const base = { ...asked, isTypeOnly: false, node: call }
  const names = namesGiven(source, call)
  return names.length === 0
    ? [{ ...base, imported: null, local: null }]
    : names.map((name) => ({ ...base, ...name }))
}

/** `require('x')` and `import('x')`; a `require` of the file's own is none. */
export function moduleOfCall(
  source: Source,
  call: Node,
): { module: string; form: 'require' | 'dynamic' } | null {
  if (call.type === 'ImportExpression') {
    const module = literal(call.source)
    return module === null ? null : { module, form: 'dynamic' }
  }
  if (call.type !== 'CallExpression') return null
  const module = isRequire(source, call) ? fileText(source, call.arguments[0]) : null
  return module === null ? null : { module, form: 'require' }
}

function isRequire({ bindings }: Source, { callee }: CallExpression): boolean {
  if (callee.type !== 'Identifier' || callee.name !== 'require') return false
  const binding = bindings.resolve(callee)
  // const require = createRequire(import.meta.url)
  const made = binding?.values[0]?.expression
  return (
    binding === undefined ||
    (made?.type === 'CallExpression' && keyOf(made.callee) === 'createRequire')
  )
}

/** `const a = require('x')`, `const { b: c } = await import('x')`, `const d = require('x').e`. */
function namesGiven(source: Source, call: Node): { imported: string; local: string }[] {
  let from: Node = call
  let members: string | null = null
  for (let at = source.parents.get(from); at !== undefined; at = source.parents.get(at)) {
    if (at.type === 'MemberExpression' && at.object === from && members === null) {
      members = at.computed ? null : keyOf(at.property)
      if (members === null) return []
    } else if (at.type === 'VariableDeclarator' && at.init === from) {
      if (at.id.type === 'Identifier') return [{ imported: members ?? '*', local: at.id.name }]
      if (at.id.type !== 'ObjectPattern' || members !== null) return []
      return namesOf(at.id, at.init).flatMap(({ name, value }) => {
        const [imported, inner] = value?.members ?? []
        return imported && inner === undefined ? [{ imported, local: name }] : []
      })
    } else if (at.type !== 'AwaitExpression' && at.type !== 'TSAsExpression') return []
    from = at
  }
  return []
}

/** What a name of an import stands for: `Router` of `express`; of a whole module `*`. */
export function specifiedBy(
  source: Source,
  specifier: Node,
): { module: string; imported: string } | null {
  if (specifier.type === 'TSImportEqualsDeclaration') {
    const { moduleReference } = specifier
    if (moduleReference.type !== 'TSExternalModuleReference') return null
    return { module: moduleReference.expression.value, imported: '*' }
  }
  const declaration = source.parents.get(specifier)
  return declaration?.type === 'ImportDeclaration'
    ? { module: declaration.source.value, imported: importedName(specifier) }
    : null
}

function importedName(specifier: Node): string {
  if (specifier.type === 'ImportDefaultSpecifier') return 'default'
  if (specifier.type !== 'ImportSpecifier') return '*'
  return keyOf(specifier.imported) ?? '*'
}
