/** What stands before a mounted middleware on the same application, and so answers without it. */
import type { Node } from '@babel/types'
import { compact, contains } from '../edits/made-applications.ts'
import { reasonToLeaveOpen } from '../edits/open-on-purpose.ts'
import { keyOf } from '../syntax/bindings.ts'
import type { Source } from '../syntax/parse.ts'
import { lineOf, startOf, textOf } from '../syntax/places.ts'
import { bare, referenceOf } from '../syntax/references.ts'
import { ancestorsOf, functionAround, isFunction } from '../syntax/walk.ts'
import { isRoute, type CarriesRoutes } from './carried-routes.ts'
import type { Moment, When } from './when-mounted.ts'

interface Mounted {
  readonly source: Source
  readonly call: Node
  /** `app`; null where there is nothing to stand before it. */
  readonly receiver: Node | null
}

export interface Earlier {
  readonly line: number
  readonly text: string
  /** 2: it answers; 1: it may; 0: it only looks. */
  readonly weight: 0 | 1 | 2
  /** Why a person leaves it open; null: nobody says so. */
  readonly reason: string | null
}

/** Packages that look at requests and answer none. */
const LOOKS =
  /^(?:morgan|helmet|koa-helmet|compression|koa-compress|pino-http|express-pino-logger|koa-pino-logger|express-winston|cookie-parser|response-time|express-request-id|koa-requestid|cls-rtracer|@sentry\/.*|@opentelemetry\/.*|dd-trace|newrelic|elastic-apm-node|@fastify\/(?:helmet|compress|cookie|sensible)|hono\/(?:logger|secure-headers|request-id|compress|timing))$/
const ANSWERS =
  /^(?:cors|koa-cors|@koa\/cors|@fastify\/cors|hono\/cors|serve-static|koa-static|koa-mount|@fastify\/static|@hono\/node-server\/serve-static|serve-index|serve-favicon|http-proxy-middleware|express-http-proxy)$/

/** What is done with the same application, and comes first. */
export function earlierThan(
  mounted: Mounted,
  { moments }: When,
  carriesRoutes: CarriesRoutes,
): Earlier[] {
  const { receiver } = mounted
  if (receiver === null) return []
  return moments.flatMap((moment) =>
    earlierInFunction(mounted.source, receiver, moment, carriesRoutes),
  )
}

function earlierInFunction(
  source: Source,
  receiver: Node,
  { at, isLater }: Moment,
  carriesRoutes: CarriesRoutes,
): Earlier[] {
  const home = functionAround(source.parents, at)
  return source.nodes.flatMap((node): Earlier[] => {
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return []
    if (isLater ? contains(at, node) : startOf(node) >= startOf(at) || contains(node, at)) return []
    if (functionAround(source.parents, node) !== home && !isFieldBefore(source, home, node))
      return []
    const { callee } = node
    const isOwn = callee.type === 'MemberExpression' && isSame(source, callee.object, receiver)
    const found = isOwn
      ? weightOfMethod(source, callee.property, node.arguments)
      : handsOn(source, node, receiver) || isPutInside(source, callee, receiver)
        ? 1
        : 0
    // what is called back may also come later
    const most = isLater ? 1 : found === 1 && carriesRoutes(source, node) ? 2 : found
    const weight = found === 0 ? 0 : most
    const reason = weight === 0 ? null : reasonToLeaveOpen(source, node)
    return [{ line: lineOf(source, node), text: `(${nameOf(source, callee)})`, weight, reason }]
  })
}

/** Fields of a class are there before the first line of its constructor. */
function isFieldBefore(source: Source, home: Node | null, node: Node): boolean {
  if (home?.type !== 'ClassMethod' || home.kind !== 'constructor') return false
  const body = source.parents.get(home)
  for (const around of ancestorsOf(source.parents, node)) {
    if (isFunction(around)) return false
    if (around.type === 'ClassProperty') return source.parents.get(around) === body
  }
  return false
}

const nameOf = (source: Source, callee: Node) => textOf(source, callee).slice(0, 80)

function weightOfMethod(source: Source, property: Node, given: readonly Node[]): 0 | 1 | 2 {
  const method = keyOf(property) ?? ''
  if (isRoute(method, given)) return 2
  // it runs before every plugin that comes later
  if (method === 'addHook') return 1
  return method === 'use' || method === 'register' ? weightOf(source, given) : 0
}

/** One name for one thing: two functions may each have an `app` of their own. */
function isSame(source: Source, one: Node, other: Node): boolean {
  if (one.type === 'Identifier' && other.type === 'Identifier')
    return (
      one.name === other.name && source.bindings.resolve(one) === source.bindings.resolve(other)
    )
  return compact(textOf(source, one)) === compact(textOf(source, other))
}

/** `app.router.get(…)`, `app.middleware.push(…)`, `app.getHttpAdapter().get(…)` */
function isPutInside(source: Source, callee: Node, receiver: Node): boolean {
  if (callee.type !== 'MemberExpression') return false
  const method = keyOf(callee.property) ?? ''
  if (!isRoute(method, []) && !/^(?:use|push|unshift|addHook)$/.test(method)) return false
  let node: Node = callee.object
  for (let isInside = false; ;) {
    if (node.type === 'CallExpression') node = node.callee
    else if (node.type === 'MemberExpression') {
      isInside ||= INSIDE.test(keyOf(node.property) ?? '')
      node = node.object
    } else return false
    if (isSame(source, node, receiver)) return isInside
  }
}

const INSIDE = /^(?:_?router|middleware|stack|getHttpAdapter|getInstance)$/

/** `routes(app)`, or a function of this file that has routes put on it. */
function handsOn(source: Source, call: Call, receiver: Node): boolean {
  const callee = bare(call.callee)
  const name = callee.type === 'MemberExpression' ? keyOf(callee.property) : null
  if (TAKES_NO_ROUTES.test(name ?? (callee.type === 'Identifier' ? callee.name : ''))) return false
  if (call.arguments.some((argument) => isGiven(source, argument, receiver))) return true
  const binding = callee.type === 'Identifier' ? source.bindings.resolve(callee) : undefined
  const called = [binding?.node, ...(binding?.values ?? []).map(({ expression }) => expression)]
  return called.some((where) => where && isFunction(where) && routesWithin(source, where, receiver))
}

type Call = Node & { type: 'CallExpression' | 'NewExpression' }

/** A server calls it with each request; what carries it comes before it anyway. */
const TAKES_NO_ROUTES = /^(?:create(?:Secure)?Server|Server|use|route|mount|register|log|debug)$/

/** `routes(app)`, `routes({ app })` */
function isGiven(source: Source, argument: Node, receiver: Node): boolean {
  if (argument.type === 'ObjectExpression')
    return argument.properties.some(
      (property) =>
        property.type === 'ObjectProperty' && isSame(source, bare(property.value), receiver),
    )
  return isSame(source, bare(argument), receiver)
}

function routesWithin(source: Source, where: Node, receiver: Node): boolean {
  return source.nodes.some((node) => {
    if (node.type !== 'CallExpression' || !contains(where, node)) return false
    if (node.callee.type !== 'MemberExpression') return false
    if (!isSame(source, node.callee.object, receiver)) return false
    return weightOfMethod(source, node.callee.property, node.arguments) > 0
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
