/** Which applications answer requests: those that listen, are handed to a server, or given to a platform. */
import type { MemberExpression, Node, OptionalMemberExpression } from '@babel/types'
import { keyOf, methodCall } from '../../syntax/bindings.ts'
import type { Source } from '../../syntax/parse.ts'
import { bare, qualifiedName } from '../../syntax/references.ts'
import { isFunction } from '../../syntax/walk.ts'
import { spotsIn, type Reach, type Spot } from './codebase.ts'
import { makingAt, makingsIn, type Making } from './makings.ts'
import { indexOf } from './reach-index.ts'
import type { Tracer } from './trace.ts'

export interface Serving {
  readonly making: Making
  /** What makes it listen. */
  readonly at: Spot
  /** The port as it is written; null where none is. */
  readonly port: Spot | null
  /** A framework inside of the server that listens: `http.createServer(app)`. */
  readonly server: Making | null
}

/** Functions that take an application, and the module that they are of. */
const TAKERS: ReadonlySet<string> = new Set([
  '@hono/node-server.serve',
  '@hono/node-server.createAdaptorServer',
  'serverless-http',
  'aws-serverless-express.createServer',
  '@codegenie/serverless-express',
  '@vendia/serverless-express',
  'hono/aws-lambda.handle',
  'hono/vercel.handle',
  'spdy.createServer',
  'greenlock-express.serve',
  'http-terminator.createHttpTerminator',
  'srvx.serve',
])

export function servingsOf(reach: Reach, tracer: Tracer): Serving[] {
  const found: Serving[] = []
  for (const { source, node } of spotsIn(reach)) {
    if (node.type !== 'CallExpression' && node.type !== 'OptionalCallExpression') continue
    const callee = bare(node.callee)
    if (isMember(callee) && keyOf(callee.property) === 'listen')
      found.push(...listening(source, node, callee.object, tracer))
    // server.listen.apply(server, [port, host])
    else if (
      callee.type === 'MemberExpression' &&
      /^(?:apply|call)$/.test(keyOf(callee.property) ?? '') &&
      callee.object.type === 'MemberExpression' &&
      keyOf(callee.object.property) === 'listen'
    )
      found.push(
        ...listening(source, node, callee.object.object, tracer).map((one) => ({
          ...one,
          port: null,
        })),
      )
    else if (isTaker(source, callee)) found.push(...taken(source, node, tracer))
    else found.push(...given(source, node, tracer))
  }
  found.push(...servers(reach, tracer, found))
  return reach.entry === null ? found : [...found, ...givenAway(reach.entry, tracer)]
}

/** `server.on('request', app)`, of a server that somebody else made. */
function given(source: Source, call: Call, tracer: Tracer): Serving[] {
  const [event, listener] = call.arguments
  if (methodCall(call)?.name !== 'on' || event?.type !== 'StringLiteral') return []
  if (event.value !== 'request' || !listener) return []
  return tracer
    .makings({ source, node: listener })
    .filter(({ framework, kind }) => framework !== 'node' && kind === 'application')
    .map((making) => ({ making, at: making, port: null, server: null }))
}

/** `http.createServer(app)`, where what makes it listen was not followed: an application is served. */
function servers(reach: Reach, tracer: Tracer, known: readonly Serving[]): Serving[] {
  return [...reach.sources.values()].flatMap(makingsIn).flatMap((server) =>
    server.framework !== 'node'
      ? []
      : handledBy(server, tracer)
          .filter(({ framework, node }) => framework !== 'node' && !isKnown(known, node))
          .map((making) => ({ making, at: server, port: null, server })),
  )
}

function isKnown(known: readonly Serving[], node: Node): boolean {
  return known.some(({ making }) => making.node === node)
}

type Call = Node & { type: 'CallExpression' | 'OptionalCallExpression' }

function isMember(node: Node): node is MemberExpression | OptionalMemberExpression {
  return node.type === 'MemberExpression' || node.type === 'OptionalMemberExpression'
}

function listening(source: Source, call: Call, object: Node, tracer: Tracer): Serving[] {
  const [first] = call.arguments
  const port = first === undefined ? null : { source, node: first }
  const values = tracer.values({ source, node: object })
  // createAdaptorServer(app).listen(…)
  const handed = values.flatMap((value) =>
    value.node.type === 'CallExpression' && isTaker(value.source, bare(value.node.callee))
      ? taken(value.source, value.node, tracer)
      : [],
  )
  const made = values.flatMap((value) => makingAt(value.source, value.node) ?? [])
  const at = { source, node: call }
  const listened = made
    .filter(({ kind }) => kind === 'application')
    .flatMap((server) =>
      handledBy(server, tracer).map((making) => ({
        making,
        server: making === server ? null : server,
      })),
    )
  return [...handed, ...listened].map((serving) => ({ ...serving, at, port }))
}

/** What a server of node:http calls for each request: an application, or code of its own. */
function handledBy(making: Making, tracer: Tracer): Making[] {
  if (making.framework !== 'node') return [making]
  const { node, source } = making
  if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return [making]
  const inner = node.arguments.flatMap((argument) => handlers({ source, node: argument }, tracer))
  // server.on('request', app)
  const later = (indexOf(source).calls.get('on') ?? []).flatMap((call) => {
    const [event, handler] = call.arguments
    const isRequest = event?.type === 'StringLiteral' && event.value === 'request'
    const object = methodCall(call)?.object
    if (!isRequest || !handler || !object) return []
    const on = tracer.makings({ source, node: object })
    return on.some(({ node }) => node === making.node)
      ? handlers({ source, node: handler }, tracer)
      : []
  })
  const frameworks = [...inner, ...later].filter(({ framework }) => framework !== 'node')
  return frameworks.length === 0 ? [making] : unique(frameworks)
}

/** The application itself, or one that is called by the function that is given. */
function handlers(spot: Spot, tracer: Tracer): Making[] {
  const direct = tracer.makings(spot).filter(({ kind }) => kind === 'application')
  if (direct.length > 0) return direct
  return tracer.values(spot).flatMap(({ source, node }) => {
    if (!isFunction(node)) return []
    const { start, end } = node
    return source.nodes.flatMap((one) => {
      const isInside = (one.start ?? 0) > (start ?? 0) && (one.end ?? 0) <= (end ?? 0)
      if (!isInside || one.type !== 'CallExpression' || one.arguments.length < 2) return []
      return tracer.makings({ source, node: one.callee })
    })
  })
}

function isTaker(source: Source, callee: Node): boolean {
  const isOfRuntime =
    callee.type === 'MemberExpression' &&
    /^(?:Bun|Deno)$/.test(keyOf(callee.object) ?? '') &&
    keyOf(callee.property) === 'serve'
  return isOfRuntime || TAKERS.has(qualifiedName(source, callee) ?? '')
}

/** `serve(app)`, `serve({ fetch: app.fetch, port })`, `serve({ ...app })`. */
function taken(source: Source, call: Call, tracer: Tracer): Serving[] {
  const given = call.arguments.map((node) => ({ source, node }))
  const [port = null] = given.flatMap((spot) => propertyOf(spot, 'port'))
  return given
    .flatMap((spot) => [
      spot,
      ...propertyOf(spot, 'fetch'),
      ...propertyOf(spot, 'app'),
      ...spreadIn(spot),
    ])
    .flatMap((spot) => tracer.makings(spot))
    .filter(({ kind }) => kind === 'application')
    .map((making) => ({ making, at: { source, node: call }, port, server: null }))
}

export function propertyOf({ source, node }: Spot, name: string): Spot[] {
  if (node.type !== 'ObjectExpression') return []
  return node.properties.flatMap((property) =>
    property.type === 'ObjectProperty' && !property.computed && keyOf(property.key) === name
      ? [{ source, node: property.value }]
      : [],
  )
}

function spreadIn({ source, node }: Spot): Spot[] {
  if (node.type !== 'ObjectExpression') return []
  return node.properties.flatMap((property) =>
    property.type === 'SpreadElement' ? [{ source, node: property.argument }] : [],
  )
}

/** What Bun, Workers and Vercel take from the entry: its default export, the application or `{ fetch }`. */
function givenAway(source: Source, tracer: Tracer): Serving[] {
  return indexOf(source).exports.flatMap((one) => {
    if (!('value' in one) || one.name !== 'default') return []
    const object = bare(one.value)
    const [port = null] = propertyOf({ source, node: object }, 'port')
    return [{ source, node: one.value }, ...propertyOf({ source, node: object }, 'fetch')]
      .flatMap((spot) => tracer.makings(spot))
      .filter(({ framework }) => framework === 'hono')
      .map((making) => ({ making, at: { source, node: one.value }, port, server: null }))
  })
}

export function unique(makings: readonly Making[]): Making[] {
  return [...new Map(makings.map((making) => [making.node, making])).values()]
}
