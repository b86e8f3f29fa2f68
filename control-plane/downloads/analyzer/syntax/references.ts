/**
 * What an expression is made of: the module it came from, and the way to it. `express.Router`,
 * `require('express').Router` and `(0, express_1.Router)` are all `Router` of `express`.
 */
import type { Node } from '@babel/types'
import { keyOf } from './bindings.ts'
import { moduleOfCall, specifiedBy } from './imports.ts'
import type { Source } from './parse.ts'

interface Reference {
  readonly module: string
  /** `default` is left out: it is the module itself to half of all code. */
  readonly members: readonly string[]
}

/** A chain of names longer than this is not followed. */
const STEPS_MAX = 50

export function referenceOf(source: Source, expression: Node, steps = 0): Reference | null {
  if (steps > STEPS_MAX) return null
  const node = bare(expression)
  const asked = moduleOfCall(source, node)
  if (asked !== null) return { module: asked.module, members: [] }
  switch (node.type) {
    case 'MemberExpression':
    case 'OptionalMemberExpression': {
      const key = node.computed && node.property.type === 'Identifier' ? null : keyOf(node.property)
      if (key === null) return null
      const from = referenceOf(source, node.object, steps + 1)
      return from ? memberOf(from, key) : referenceOfProperty(source, node.object, key, steps)
    }
    case 'CallExpression': {
      // what compilers wrap a `require` into
      const inner = interopArgument(node)
      return inner === null ? null : referenceOf(source, inner, steps + 1)
    }
    case 'Identifier':
      return referenceOfName(source, node, steps)
    default:
      return null
  }
}

/** `@koa/router.Router` */
export function qualifiedName(source: Source, expression: Node): string | null {
  const reference = referenceOf(source, expression)
  return reference && [reference.module, ...reference.members].join('.')
}

function referenceOfName(source: Source, use: Node, steps: number): Reference | null {
  if (use.type !== 'Identifier') return null
  const binding = source.bindings.resolve(use)
  if (binding === undefined) return null
  if (binding.kind === 'import') {
    const { module, imported } = specifiedBy(source, binding.node) ?? {}
    if (module === undefined || imported === undefined) return null
    const whole = { module, members: [] }
    return imported === '*' ? whole : memberOf(whole, imported)
  }
  // let express = require('express'); express = __toESM(express)
  const values = binding.values.filter(({ expression }) => {
    const wrapped = interopArgument(bare(expression))
    return wrapped?.type !== 'Identifier' || wrapped.name !== use.name
  })
  const [value, more] = values
  if (value === undefined || more !== undefined || value.expression === use) return null
  const from = referenceOf(source, value.expression, steps + 1)
  return from && value.members.reduce(memberOf, from)
}

/** `const servers = { http: require('http') }` */
function referenceOfProperty(source: Source, object: Node, key: string, steps: number) {
  const binding = object.type === 'Identifier' ? source.bindings.resolve(object) : undefined
  const [value, more] = binding?.values ?? []
  if (!value || more || value.members.length > 0) return null
  const { expression } = value
  if (expression.type !== 'ObjectExpression') return null
  const property = expression.properties.find(
    (one) => one.type === 'ObjectProperty' && !one.computed && keyOf(one.key) === key,
  )
  return property?.type === 'ObjectProperty' ? referenceOf(source, property.value, steps + 1) : null
}

function memberOf({ module, members }: Reference, key: string): Reference {
  return { module, members: key === 'default' ? members : [...members, key] }
}

/** Without what only types, awaits or groups it: `(await x)!`, `x as Type`, `(0, x)`. */
export function bare(expression: Node): Node {
  let node = expression
  for (;;)
    switch (node.type) {
      case 'AwaitExpression':
        node = node.argument
        break
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
      case 'TSNonNullExpression':
      case 'TSTypeAssertion':
      case 'TSInstantiationExpression':
      case 'TypeCastExpression':
        node = node.expression
        break
      case 'SequenceExpression': {
        const last = node.expressions.at(-1)
        if (last === undefined) return node
        node = last
        break
      }
      default:
        return node
    }
}

/** What compilers put around a `require`. */
const INTEROP =
  /^(?:_{0,2}(?:importDefault|importStar|toESM)|_?interopRequire(?:Default|Wildcard))$/

export function interopArgument(call: Node): Node | null {
  if (call.type !== 'CallExpression') return null
  const callee = bare(call.callee)
  const name = keyOf(callee.type === 'MemberExpression' ? callee.property : callee)
  return name !== null && INTEROP.test(name) ? (call.arguments[0] ?? null) : null
}
