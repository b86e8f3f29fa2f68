/** What stands before a mounted middleware on the same application, and so answers without it. */
import type { Node } from '@babel/types'
import { keyOf } from '../syntax/bindings.ts'
import type { Source } from '../syntax/parse.ts'
import { lineOf, startOf, textOf } from '../syntax/places.ts'
import { bare, referenceOf } from '../syntax/references.ts'
import { functionAround } from '../syntax/walk.ts'

export interface Mounted {
  readonly source: Source
  readonly call: Node
  /** `app`; null where there is nothing to stand before it. */
  readonly receiver: string | null
}

export interface Earlier {
  readonly line: number
  readonly text: string
  /** 2: it answers; 1: it may; 0: it only looks. */
  readonly weight: 0 | 1 | 2
}

const ROUTES =
  /^(?:get|post|put|patch|delete|del|all|any|head|options|route|on|mount|ws|useStaticAssets)$/
/** Packages that look at requests and answer none. */
const LOOKS =
  /^(?:morgan|helmet|koa-helmet|compression|koa-compress|pino-http|express-pino-logger|koa-pino-logger|express-winston|cookie-parser|response-time|express-request-id|koa-requestid|cls-rtracer|@sentry\/.*|@opentelemetry\/.*|dd-trace|newrelic|elastic-apm-node|@fastify\/(?:helmet|compress|cookie|sensible)|hono\/(?:logger|secure-headers|request-id|compress|timing))$/
const ANSWERS =
  /^(?:cors|koa-cors|@koa\/cors|@fastify\/cors|hono\/cors|serve-static|koa-static|koa-mount|@fastify\/static|@hono\/node-server\/serve-static|serve-index|serve-favicon|http-proxy-middleware|express-http-proxy)$/

/** Calls on the same application, in the same function, that come first. */
export function earlierThan({ source, call, receiver }: Mounted): Earlier[] {
  if (receiver === null) return []
  const home = functionAround(source.parents, call)
  return source.nodes.flatMap((node): Earlier[] => {
    if (node.type !== 'CallExpression' || startOf(node) >= startOf(call)) return []
    if (node.callee.type !== 'MemberExpression') return []
    if (textOf(source, node.callee.object) !== receiver) return []
    if (functionAround(source.parents, node) !== home) return []
    const method = keyOf(node.callee.property) ?? ''
    const line = lineOf(source, node)
    const text = `(${receiver}.${method})`
    // app.get('env') reads a setting
    const isRead = method === 'get' && node.arguments.length === 1
    if (ROUTES.test(method) && !isRead) return [{ line, text, weight: 2 }]
    if (method !== 'use' && method !== 'register') return []
    return [{ line, text, weight: weightOf(source, node.arguments) }]
  })
}

function weightOf(source: Source, given: readonly Node[]): 0 | 1 | 2 {
  let weight: 0 | 1 | 2 = 0
  for (const argument of given) {
    const node = bare(argument)
    if (node.type === 'StringLiteral' || node.type === 'ObjectExpression') continue
    const callee = node.type === 'CallExpression' ? bare(node.callee) : node
    const reference = referenceOf(source, callee)
    const module = reference?.module ?? ''
    if (LOOKS.test(module)) continue
    const isStatic = reference?.members.includes('static') === true
    const isRouter = callee.type === 'MemberExpression' && keyOf(callee.property) === 'routes'
    if (ANSWERS.test(module) || isStatic || isRouter || isOwnRouter(source, node)) return 2
    weight = 1
  }
  return weight
}

/** `const api = express.Router()`, `new Router()`, or a file of the project called so. */
function isOwnRouter(source: Source, node: Node): boolean {
  if (node.type !== 'Identifier') return false
  const [value] = source.bindings.resolve(node)?.values ?? []
  const made = value === undefined ? null : bare(value.expression)
  if (made?.type === 'CallExpression' || made?.type === 'NewExpression') {
    const reference = referenceOf(source, made.callee)
    if (reference !== null && /Router$/i.test(reference.members.at(-1) ?? reference.module))
      return true
  }
  const imported = referenceOf(source, node)
  return imported !== null && /^[.@~#].*rout/i.test(imported.module)
}
