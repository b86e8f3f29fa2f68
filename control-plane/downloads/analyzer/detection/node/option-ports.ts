/** The default of an option of the command line, as the packages that read these are told of it. */
import type { Node } from '@babel/types'
import { keyOf, methodCall } from '../../syntax/bindings.ts'
import { placeOf } from '../../syntax/places.ts'
import { bare } from '../../syntax/references.ts'
import { literal } from '../../syntax/texts.ts'
import type { Finding } from '../application.ts'
import { finding } from '../assemble.ts'
import { spotsIn, type Reach, type Spot } from './codebase.ts'
import { portOf } from './literals.ts'
import type { Tracer } from './trace.ts'

const CALLS: ReadonlySet<string> = new Set([
  ...['option', 'options', 'default', 'addOption', 'Option', 'requiredOption'],
  ...['add_argument', 'addArgument'],
])

export function declaredPort(
  reach: Reach,
  tracer: Tracer,
  asked: ReadonlySet<string>,
): Finding | null {
  const names = new Set([...asked].map(plain))
  for (const { node } of spotsIn(reach)) for (const name of aliasOf(node, names)) names.add(name)
  for (const { source, node } of spotsIn(reach)) {
    const port = portAt({ source, node }, tracer, names)
    if (port === null) continue
    const detail = `Listens on ${port} unless another port is set at start.`
    return finding('port', port, placeOf(source, node), 'likely', detail)
  }
  return null
}

/** `.alias('p', 'port')`: the short one stands for the same. */
function aliasOf(node: Node, names: ReadonlySet<string>): string[] {
  const called = methodCall(node)
  if (called?.name !== 'alias') return []
  const both = called.given.flatMap((one) => literal(one) ?? []).map(plain)
  return both.some((name) => names.has(name)) ? both : []
}

const plain = (name: string) => name.toLowerCase().replace(/[-_]/g, '')

function portAt(spot: Spot, tracer: Tracer, names: ReadonlySet<string>): number | null {
  const { source, node } = spot
  const inner = (node: Node) => portOf({ source, node }, tracer)
  const isNamed = (name: string | null) => name !== null && names.has(plain(name))
  if (node.type === 'CallExpression' || node.type === 'NewExpression') {
    const called = methodCall(node)
    const name = called?.name ?? keyOf(node.callee)
    // new Option('-p, --port <port>').default(3000)
    if (name === 'default' && called?.object.type === 'NewExpression') {
      const flags = flagsIn(literal(called.object.arguments[0]) ?? '')
      return flags.some(isNamed) ? defaultAmong(node.arguments, inner) : null
    }
    const [first, ...rest] = node.arguments
    const said = [first, rest[0]].flatMap((one) => literal(one) ?? [])
    if (!CALLS.has(name ?? '') || literal(first) === null) return null
    const flags = [said[0] ?? null, ...flagsIn(said.join(' '))]
    return flags.some(isNamed) ? defaultAmong(rest, inner) : null
  }
  // port: { default: 3000 }, PORT: number({ default: 3000 }), 'http-port': ['h', 'Port', 'number', 1080]
  if (node.type === 'ObjectProperty' && isNamed(keyOf(node.key))) {
    const value = bare(node.value)
    if (value.type === 'ObjectExpression') return defaultOf(value, inner)
    if (value.type === 'CallExpression') return defaultOfCall(value, inner)
    if (value.type !== 'ArrayExpression') return null
    return defaultAmong(value.elements.filter((one) => one !== null).slice(1), inner)
  }
  // { key: 'port', default: 80 }, { envName: 'PORT', defaultVal: '80' }
  if (node.type !== 'ObjectExpression') return null
  const isIts = node.properties.some(
    (one) =>
      one.type === 'ObjectProperty' &&
      /^(?:key|long|(?:\w*[a-z])?(?:name|path)|env)$/i.test(keyOf(one.key) ?? '') &&
      isNamed(literal(one.value)),
  )
  return isIts ? defaultOf(node, inner) : null
}

/** `-p, --port <port>`, and what argparse takes as two texts. */
const flagsIn = (said: string) =>
  [...said.matchAll(/(?:^|[\s,])--?([\w-]+)/g)].map(([, flag = '']) => flag)

/** `Type.Number({ default: 3000 })`, `z.coerce.number().min(1).default(3000).optional()` */
function defaultOfCall(call: Node, inner: (node: Node) => number | null): number | null {
  for (let at = call; at.type === 'CallExpression';) {
    const method = methodCall(at)
    const [first] = at.arguments
    if (method?.name === 'default' && first) return inner(first)
    for (const one of at.arguments) {
      const port = one.type === 'ObjectExpression' ? defaultOf(one, inner) : null
      if (port !== null) return port
    }
    if (method === null) return null
    at = method.object
  }
  return null
}

const SAID = /default\w*[^0-9\n]{0,12}(\d{2,5})\b|[[(](\d{2,5})[\])]/i

/** What stands behind the name: a number, an object with a default, or a text that tells. */
function defaultAmong(given: readonly Node[], inner: (node: Node) => number | null): number | null {
  let told: number | null = null
  for (const one of given) {
    const node = bare(one)
    const port = node.type === 'ObjectExpression' ? defaultOf(node, inner) : inner(node)
    if (port !== null) return port
    const [, a, b] = SAID.exec(literal(node) ?? '') ?? []
    told ??= Number(a ?? b) || null
  }
  return told
}

function defaultOf(
  object: Node & { type: 'ObjectExpression' },
  inner: (node: Node) => number | null,
): number | null {
  const valueOf = (name: RegExp) => {
    for (const one of object.properties)
      if (one.type === 'ObjectProperty' && name.test(keyOf(one.key) ?? '')) return one.value
    return null
  }
  // { value: 3000, description: 'Where it listens' }
  const value =
    valueOf(/default/i) ?? (valueOf(/^(?:type|desc\w*|doc|env\w*)$/) && valueOf(/^value$/))
  return value && inner(value)
}
