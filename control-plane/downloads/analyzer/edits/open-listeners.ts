/** What answers the requests of a program's servers: an application as it is, what the guard is around, or neither. */
import type { CallExpression, NewExpression, Node } from '@babel/types'
import type { Spot } from '../detection/node/codebase.ts'
import { makingAt, type Making } from '../detection/node/makings.ts'
import type { Tracer } from '../detection/node/trace.ts'
import { keyOf } from '../syntax/bindings.ts'
import type { Source } from '../syntax/parse.ts'
import { bare, referenceOf } from '../syntax/references.ts'
import { functionAround, isFunction } from '../syntax/walk.ts'
import { contains } from './made-applications.ts'
import { isRequestGuard } from './mounted-already.ts'
import { mountedFramework } from './mounted-frameworks.ts'

export interface OpenListener extends Spot {
  readonly problem: string
}

interface Listeners {
  readonly open: readonly OpenListener[]
  /** Applications that are handed to a server as they are: it is for them to be mounted. */
  readonly served: readonly Making[]
}

const OWN = 'this server answers requests with its own listener'
const AROUND = 'this listener answers before the application it calls'
const BESIDE = 'this listener answers requests in addition to the one of the server'
const UNSURE = 'it is unclear what answers the requests of this server'
const FACTORY = 'this server is created by a function that was not analyzed'

const EVENTS: ReadonlySet<string> = new Set(['request', 'checkContinue', 'checkExpectation'])
const LISTENS = /^(?:on|once|addListener|prependListener|prependOnceListener)$/

export function listenersOf(sources: readonly Source[], tracer: Tracer): Listeners {
  const open: OpenListener[] = []
  const served: Making[] = []
  const judge = (spot: Spot, otherwise: string) => {
    const answering = applicationsAt(spot, tracer)
    if (answering !== null) served.push(...answering)
    else open.push({ ...spot, problem: callsApplication(spot, tracer) ? AROUND : otherwise })
  }
  const added = sources.flatMap((source) => addedListeners(source, tracer))
  for (const { listener, isAlone } of added) judge(listener, isAlone ? OWN : BESIDE)
  for (const source of sources)
    for (const node of source.nodes) {
      if (isUnknownFactory(source, node)) open.push({ source, node, problem: FACTORY })
      if (node.type !== 'CallExpression' && node.type !== 'NewExpression') continue
      const given = givenTo(source, node, tracer)
      if (given === null) continue
      if (given.length === 0 && !added.some(({ servers }) => servers.has(node)))
        open.push({ source, node, problem: UNSURE })
      for (const listener of given) judge({ source, node: listener }, OWN)
    }
  return { open, served }
}

/** The listeners that a server is made with; null: no server is made here. */
function givenTo(
  source: Source,
  call: CallExpression | NewExpression,
  tracer: Tracer,
): Node[] | null {
  if (isFetchServer(source, call)) return fetchGiven(source, call, tracer)
  if (!isServer(source, call)) return null
  const given = call.arguments.filter((argument) => !isOptions(source, argument, tracer))
  return given.slice(-1)
}

function isOptions(source: Source, node: Node, tracer: Tracer): boolean {
  if (node.type === 'ObjectExpression') return true
  const values = tracer.values({ source, node })
  return values.length > 0 && values.every(({ node }) => node.type === 'ObjectExpression')
}

/** Not of TCP alone, and not what bundles for a developer's browser. */
const NO_SERVERS = /^(?:(?:node:)?(?:net|tls|dgram)|vite)$/

/** `http.createServer(…)`, and what is called alike of any package or of nobody knows what. */
function isServer(source: Source, call: CallExpression | NewExpression): boolean {
  const making = makingAt(source, call)
  if (making !== null) return making.framework === 'node' && !making.isHandler
  const callee = bare(call.callee)
  const name = callee.type === 'MemberExpression' ? keyOf(callee.property) : nameOf(callee)
  if (call.type !== 'CallExpression' || !/^create(?:Secure)?Server$/.test(name ?? '')) return false
  const reference = referenceOf(source, callee)
  // a function of the project's own is looked at where it stands
  if (reference !== null)
    return !/^[.@~#/]|^$/.test(reference.module) && !NO_SERVERS.test(reference.module)
  if (callee.type !== 'Identifier')
    return callee.type !== 'MemberExpression' || callee.object.type !== 'ThisExpression'
  return source.bindings.resolve(callee)?.kind !== 'function' && !isOwnFunction(source, callee)
}

function isOwnFunction(source: Source, callee: Node): boolean {
  if (callee.type !== 'Identifier') return false
  const values = source.bindings.resolve(callee)?.values ?? []
  return values.length > 0 && values.every(({ expression }) => isFunction(bare(expression)))
}

const nameOf = (node: Node) => (node.type === 'Identifier' ? node.name : null)

const FETCH_SERVERS: ReadonlySet<string> = new Set([
  '@hono/node-server.serve',
  '@hono/node-server.createAdaptorServer',
  'srvx.serve',
])

function isFetchServer(source: Source, { callee }: CallExpression | NewExpression): boolean {
  const reference = referenceOf(source, callee)
  if (reference !== null)
    return FETCH_SERVERS.has([reference.module, ...reference.members].join('.'))
  return (
    callee.type === 'MemberExpression' &&
    /^(?:Bun|Deno)$/.test(nameOf(callee.object) ?? '') &&
    keyOf(callee.property) === 'serve'
  )
}

/** `serve(app)`, `serve({ fetch: app.fetch })`, `serve({ ...app })`. */
function fetchGiven(
  source: Source,
  { arguments: given }: CallExpression | NewExpression,
  tracer: Tracer,
): Node[] {
  return given.flatMap((argument) => {
    const [value = { source, node: argument }] = tracer.values({ source, node: argument })
    if (value.node.type !== 'ObjectExpression') return isFunction(argument) ? [] : [argument]
    if (value.source !== source) return []
    return value.node.properties.flatMap((property): Node[] => {
      if (property.type === 'SpreadElement') return [property.argument]
      if (keyOf(property.key) !== 'fetch') return []
      return [property.type === 'ObjectMethod' ? property : property.value]
    })
  })
}

interface Added {
  readonly listener: Spot
  readonly servers: ReadonlySet<Node>
  /** The server is made without one. */
  readonly isAlone: boolean
}

/** `server.on('request', …)`, whatever of the ways to say so. */
function addedListeners(source: Source, tracer: Tracer): Added[] {
  return source.nodes.flatMap((node): Added[] => {
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return []
    const [event, listener] = node.arguments
    if (!LISTENS.test(keyOf(node.callee.property) ?? '') || !listener) return []
    if (event?.type !== 'StringLiteral' || !EVENTS.has(event.value)) return []
    const { object } = node.callee
    const makings = tracer.makings({ source, node: object })
    // pages of a browser under test have requests as well
    const isOfServer =
      makings.length > 0 ||
      event.value !== 'request' ||
      /server/i.test(source.text.slice(object.start ?? 0, object.end ?? 0))
    if (!isOfServer) return []
    const isAlone =
      event.value === 'request' &&
      makings.length > 0 &&
      makings.every(
        ({ node, framework }) => framework === 'node' && isMadeBare(source, node, tracer),
      )
    const servers = new Set(event.value === 'request' ? makings.map(({ node }) => node) : [])
    return [{ listener: { source, node: listener }, servers, isAlone }]
  })
}

function isMadeBare(source: Source, node: Node, tracer: Tracer): boolean {
  if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return false
  return node.arguments.every((argument) => isOptions(source, argument, tracer))
}

/** `serverFactory`, and nothing in this file that would be looked at by itself. */
function isUnknownFactory(source: Source, node: Node): boolean {
  if (node.type !== 'ObjectProperty' && node.type !== 'ObjectMethod') return false
  if (keyOf(node.key) !== 'serverFactory') return false
  const made = node.type === 'ObjectMethod' ? node : bare(node.value)
  return !source.nodes.some(
    (one) =>
      isFunction(made) &&
      one.type === 'CallExpression' &&
      contains(made, one) &&
      isServer(source, one),
  )
}

/** The applications that this is, and nothing else; none of them where the guard is around it; null: otherwise. */
function applicationsAt(spot: Spot, tracer: Tracer): Making[] | null {
  const { source, node } = spot
  if (isRequestGuard(source, node) || isHandlerOfFactory(source, node)) return []
  // let app = null; exports.app = void 0: what it is before it is made
  const values = tracer.values(spot).filter((value) => !isNothing(value.node))
  if (values.length === 0) return null
  const found: Making[] = []
  for (const value of values) {
    if (isRequestGuard(value.source, value.node)) continue
    const making = makingAt(value.source, value.node) ?? handedThrough(value, tracer)
    if (making?.kind !== 'application' || mountedFramework(making.framework) === undefined)
      return null
    found.push(making)
  }
  return found
}

function isNothing(node: Node): boolean {
  if (node.type === 'Identifier') return node.name === 'undefined'
  return (
    node.type === 'NullLiteral' || (node.type === 'UnaryExpression' && node.operator === 'void')
  )
}

/** `(request, response) => app(request, response)` and nothing beside. */
function handedThrough({ source, node }: Spot, tracer: Tracer): Making | null {
  if (!isFunction(node) || !('body' in node)) return null
  const [only, ...more] = node.body.type === 'BlockStatement' ? node.body.body : [node.body as Node]
  if (only === undefined || more.length > 0) return null
  const expression =
    only.type === 'ExpressionStatement'
      ? only.expression
      : only.type === 'ReturnStatement'
        ? only.argument
        : only
  const call = expression && bare(expression)
  if (call?.type !== 'CallExpression') return null
  if (call.arguments.length > 2 || call.arguments.some(({ type }) => type !== 'Identifier'))
    return null
  const [making, ...others] = tracer.makings({ source, node: call.callee })
  return making !== undefined && others.length === 0 ? making : null
}

/** `serverFactory: (handler) => createServer(handler)` */
function isHandlerOfFactory(source: Source, node: Node): boolean {
  if (node.type !== 'Identifier') return false
  const binding = source.bindings.resolve(node)
  const around = binding?.kind === 'parameter' ? functionAround(source.parents, binding.node) : null
  if (around === null || !('params' in around) || around.params[0] !== binding?.node) return false
  const property = around.type === 'ObjectMethod' ? around : source.parents.get(around)
  return (
    (property?.type === 'ObjectMethod' || property?.type === 'ObjectProperty') &&
    keyOf(property.key) === 'serverFactory'
  )
}

function callsApplication({ source, node }: Spot, tracer: Tracer): boolean {
  return tracer
    .values({ source, node })
    .some(
      (value) =>
        isFunction(value.node) &&
        value.source.nodes.some(
          (one) =>
            one.type === 'CallExpression' &&
            contains(value.node, one) &&
            one.arguments.length > 0 &&
            tracer
              .makings({ source: value.source, node: one.callee })
              .some(({ framework }) => framework !== 'node'),
        ),
    )
}
