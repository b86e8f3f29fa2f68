/** Numbers and texts that code settles on: as they stand, or where the environment says nothing. */
import type { CallExpression, Node } from '@babel/types'
import { keyOf, methodCall } from '../../syntax/bindings.ts'
import type { Source } from '../../syntax/parse.ts'
import { bare } from '../../syntax/references.ts'
import { literal } from '../../syntax/texts.ts'
import type { Spot } from './codebase.ts'
import { indexOf } from './reach-index.ts'
import type { Tracer } from './trace.ts'

const DEPTH_MAX = 12

/** `3000`, `env.PORT || 3000`, `Number(PORT)`, `{ port: 3000 }`, `app.get('port')` and the like. */
export function portOf(spot: Spot, tracer: Tracer, depth = 0): number | null {
  if (depth > DEPTH_MAX) return null
  const { source } = spot
  const node = bare(spot.node)
  const next = (node: Node | null | undefined): number | null =>
    node ? portOf({ source, node }, tracer, depth + 1) : null
  switch (node.type) {
    case 'NumericLiteral':
      return validPort(node.value)
    case 'StringLiteral':
      return /^\d{1,5}$/.test(node.value) ? validPort(Number(node.value)) : null
    case 'LogicalExpression':
      // what the first stands for, where that is known: env.PORT is not
      return (node.operator === '&&' ? null : next(node.left)) ?? next(node.right)
    case 'ConditionalExpression':
      return next(node.alternate) ?? next(node.consequent)
    case 'UnaryExpression':
      return node.operator === '+' || node.operator === '~' ? next(node.argument) : null
    case 'BinaryExpression':
      return node.operator === '|' ? (next(node.left) ?? next(node.right)) : null
    case 'AssignmentExpression':
      return next(node.right)
    case 'ObjectExpression':
      for (const property of node.properties)
        if (property.type === 'ObjectProperty' && keyOf(property.key) === 'port')
          return next(property.value)
      return null
    case 'CallExpression': {
      // z.coerce.number().default(3000)
      if (methodCall(node)?.name === 'default') return next(node.arguments[0])
      return portOfCall(source, node, next) ?? portAmong(spot, tracer, depth)
    }
    default:
      return portAmong({ source, node }, tracer, depth)
  }
}

const PORTS_MAX = 3

/** All that it may be, by whatever way it came there. */
export function portsOf(spot: Spot, tracer: Tracer): number[] {
  const ports = tracer.values(spot).flatMap((value) => portOf(value, tracer) ?? [])
  return [...new Set(ports)].slice(0, PORTS_MAX)
}

/** Of all that a name or a call stands for, the first that is a port. */
function portAmong(spot: Spot, tracer: Tracer, depth: number): number | null {
  for (const value of tracer.values(spot))
    if (value.node !== spot.node) {
      const port = portOf(value, tracer, depth + 1)
      if (port !== null) return port
    }
  return portOfCalls(spot, tracer, depth)
}

/** `const port = await findPort(3000)`, whatever that does before it answers. */
function portOfCalls({ source, node }: Spot, tracer: Tracer, depth: number): number | null {
  const values = node.type === 'Identifier' ? source.bindings.resolve(node)?.values : undefined
  for (const { expression, members } of values ?? []) {
    const call = bare(expression)
    if (call.type !== 'CallExpression' || members.length > 0) continue
    const port = portOfCall(source, call, (inner) =>
      inner ? portOf({ source, node: inner }, tracer, depth + 1) : null,
    )
    if (port !== null) return port
  }
  return null
}

/** `Number(x)`, `parseInt(x, 10)`, `normalizePort(x)`, `config.get('PORT', 3000)`; `app.set('port', x)` before. */
function portOfCall(
  source: Source,
  call: CallExpression,
  next: (node: Node | undefined) => number | null,
): number | null {
  const [first, second] = call.arguments
  const method = methodCall(call)
  if (method !== null && first?.type === 'StringLiteral') {
    if (second !== undefined) return next(second)
    if (method.name !== 'get' || !/port/i.test(first.value)) return null
    const [value] = settings(source, first.value)
    return next(value)
  }
  const name = method?.name ?? keyOf(call.callee)
  // numberFromEnv('PORT', 3000), whatever that is called
  if (first?.type === 'StringLiteral')
    return second !== undefined && /port$/i.test(first.value) ? next(second) : null
  return name !== null && /port|^Number$|^String$|^parseInt$|^int$/i.test(name) ? next(first) : null
}

/** What `app.set('port', …)` says in this file, of whatever it is a setting. */
export function settings(source: Source, name: string): Node[] {
  return (indexOf(source).calls.get('set') ?? []).flatMap(({ arguments: [key, value] }) =>
    value && literal(key) === name ? [value] : [],
  )
}

export function validPort(port: number): number | null {
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : null
}

/** A text that is written there, or a name for one. */
export function textAt(spot: Spot, tracer: Tracer): string | null {
  const direct = literal(spot.node)
  if (direct !== null) return direct
  const texts = tracer.values(spot).map(({ node }) => literal(node))
  return texts.length === 1 ? (texts[0] ?? null) : null
}
