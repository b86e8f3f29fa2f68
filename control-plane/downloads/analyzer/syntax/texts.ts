/** Texts that code writes out, and paths that it puts together of them and of where its own file lies. */
import type { CallExpression, MemberExpression, NewExpression, Node } from '@babel/types'
import { posix } from 'node:path'
import { keyOf } from './bindings.ts'
import type { Source } from './parse.ts'
import { isFunction } from './walk.ts'

/** The text that stands there, with nothing in it to be worked out. */
export function literal(node: Node | null | undefined): string | null {
  if (node?.type === 'StringLiteral') return node.value
  if (node?.type === 'TemplateLiteral' && node.expressions.length === 0)
    return node.quasis[0]?.value.cooked ?? null
  return null
}

/** Also `path.join(__dirname, '..', 'app.js')` and `lib + '/app.js'`, as they are to this file. */
export function fileText(source: Source, node: Node | null | undefined): string | null {
  const direct = literal(node)
  if (direct !== null || !node) return direct
  const text = textOf(source, node)
  // './config/' + (kind || 'development')
  if (!text?.startsWith(HERE))
    return /^(?:Identifier|ConditionalExpression)$/.test(node.type) || text?.startsWith('.')
      ? text
      : null
  const path = posix.normalize(`.${text.slice(HERE.length)}`).replace(/(?<=.)\/$/, '')
  if (path === '.') return null
  return /^\.\.?(?:\/|$)/.test(path) ? path : `./${path}`
}

/** Begins a path that starts at the folder of the file itself. */
const HERE = '\0'
const FILE = `${HERE}/.`
const DEPTH_MAX = 12

function textOf(source: Source, node: Node, depth = 0): string | null {
  const text = literal(node)
  if (text !== null || depth > DEPTH_MAX) return text
  const inner = (one: Node | null | undefined) => (one ? textOf(source, one, depth + 1) : null)
  switch (node.type) {
    case 'Identifier': {
      const binding = source.bindings.resolve(node)
      if (binding === undefined) return GLOBALS.get(node.name) ?? null
      if (binding.kind === 'parameter') return inner(realPathFor(source, binding.node))
      const [value, more] = binding.values
      return value && !more && value.members.length === 0 ? inner(value.expression) : null
    }
    case 'BinaryExpression':
      return node.operator === '+' ? glued([node.left, node.right].map(inner)) : null
    case 'TemplateLiteral':
      return glued(
        node.quasis.flatMap(({ value }, index) => [
          value.cooked ?? null,
          ...(index < node.expressions.length ? [inner(node.expressions[index])] : []),
        ]),
      )
    case 'MemberExpression':
      return ofImportMeta(node)
    case 'ConditionalExpression':
      return inner(node.alternate) ?? inner(node.consequent)
    case 'LogicalExpression':
      return node.operator === '&&' ? null : (inner(node.left) ?? inner(node.right))
    case 'NewExpression':
    case 'CallExpression':
      return textOfCall(node, inner)
    default:
      return null
  }
}

/** `fs.realpath(__filename, (error, file) => …)` */
function realPathFor({ parents }: Source, parameter: Node): Node | null {
  const around = parents.get(parameter)
  const call = around && isFunction(around) ? parents.get(around) : undefined
  if (call?.type !== 'CallExpression' || call.arguments.at(-1) !== around) return null
  return keyOf(call.callee.type === 'MemberExpression' ? call.callee.property : call.callee) ===
    'realpath'
    ? (call.arguments[0] ?? null)
    : null
}

const GLOBALS: ReadonlyMap<string, string> = new Map([
  ['__dirname', HERE],
  ['__filename', FILE],
])

function glued(parts: readonly (string | null)[]): string | null {
  return parts.every((part) => part !== null) ? parts.join('') : null
}

/** `import.meta.dirname` */
function ofImportMeta({ object, property }: MemberExpression): string | null {
  if (object.type !== 'MetaProperty') return null
  const key = keyOf(property)
  return key === 'dirname' ? HERE : key === 'filename' || key === 'url' ? FILE : null
}

/** What `path`, `url` and `fs` make of a path. */
function textOfCall(
  { callee, arguments: given }: CallExpression | NewExpression,
  inner: (node: Node | null | undefined) => string | null,
): string | null {
  const name = keyOf(callee.type === 'MemberExpression' ? callee.property : callee)
  const [first, second] = given
  switch (name) {
    case 'join':
    case 'resolve': {
      // only a path that begins at the file: `['a', 'b'].join('/')` is none
      const parts = given.map(inner)
      const [start] = parts
      return start?.startsWith(HERE) ? joined(parts) : null
    }
    case 'dirname': {
      const path = inner(first)
      if (!path?.startsWith(HERE)) return null
      return path === FILE ? HERE : joined([path, '..'])
    }
    case 'URL': {
      const from = inner(second)
      const path = inner(first)
      return from === FILE && path !== null ? joined([HERE, path]) : null
    }
    case 'fileURLToPath':
    case 'realpathSync':
    case 'normalize':
      return inner(first)
    default:
      return null
  }
}

const joined = (parts: readonly (string | null)[]) =>
  parts.every((part) => part !== null) ? parts.join('/') : null
