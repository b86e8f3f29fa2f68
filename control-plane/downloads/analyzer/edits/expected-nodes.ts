/** What changes are to add, parsed by itself: to be compared with what they have added. */
import type { Node } from '@babel/types'
import { parseSource, type PackageType } from '../syntax/parse.ts'
import { placeOf, type Change } from './changes.ts'

interface ExpectedNodes {
  readonly statements: readonly Node[]
  readonly callees: readonly Node[]
  readonly links: readonly Node[]
}

export function expectedNodes(
  path: string,
  changes: readonly Change[],
  packageType: PackageType,
): ExpectedNodes {
  const inOrder = [...changes].sort((a, b) => placeOf(a) - placeOf(b))
  const parsed = (code: string) => nodesOf(path, code, packageType)
  const statements: Node[] = []
  const callees: Node[] = []
  const links: Node[] = []
  for (const change of inOrder)
    if (change.kind === 'statements') statements.push(...parsed(change.text))
    else {
      const code = change.kind === 'wrapping' ? change.callee : `x${change.text}`
      const [statement] = parsed(code)
      const expression =
        statement?.type === 'ExpressionStatement' ? statement.expression : undefined
      if (expression === undefined) continue
      if (change.kind === 'wrapping') callees.push(expression)
      else if (
        expression.type === 'CallExpression' &&
        expression.callee.type === 'MemberExpression'
      )
        links.push(expression.callee.property, ...expression.arguments)
    }
  return { statements, callees, links }
}

/** In an async method, where `await` is one and `this.#app` has a class; imports stay outside. */
function nodesOf(path: string, code: string, packageType: PackageType): readonly Node[] {
  const imports = code.match(/^[ \t]*import .*$/gm) ?? []
  const rest = code.replaceAll(/^[ \t]*import .*$/gm, '')
  const names = [...new Set(rest.match(/#[\w$]+/g) ?? [])].map((name) => `${name};`).join(' ')
  const text = `${imports.join('\n')}\nclass Around { ${names} async around() {\n${rest}\n} }`
  const parsed = parseSource(path, text, packageType)
  if ('problem' in parsed) return []
  const { body } = parsed.source.file.program
  const last = body.at(-1)
  const method = last?.type === 'ClassDeclaration' ? last.body.body.at(-1) : undefined
  return method?.type === 'ClassMethod' ? [...body.slice(0, -1), ...method.body.body] : []
}
