/** Where routes are mounted, under which paths, and which of them tells that the application is well. */
import type { Node } from '@babel/types'
import { keyOf, methodCall } from '../../syntax/bindings.ts'
import type { Source } from '../../syntax/parse.ts'
import { placeOf, textOf } from '../../syntax/places.ts'
import { literal } from '../../syntax/texts.ts'
import { isFunction, functionAround } from '../../syntax/walk.ts'
import type { Finding, Place } from '../application.ts'
import { finding } from '../assemble.ts'
import { bestHealth, healthRank, routePath, type HealthPath } from '../health.ts'
import { spotsIn, type Reach, type Spot } from './codebase.ts'
import { textAt } from './literals.ts'
import { EACH, elementsAt, loopedOver } from './loops.ts'
import type { Making } from './makings.ts'
import { propertyOf } from './serving.ts'
import type { Tracer } from './trace.ts'

export interface RoutesFound {
  readonly health: HealthPath
  readonly findings: readonly Finding[]
  /** Applications that are part of another one. */
  readonly inner: ReadonlySet<Node>
}

const FINDINGS_MAX = 20
const MOUNTERS: ReadonlySet<string> = new Set(['use', 'route', 'mount', 'register'])
const VERBS: ReadonlySet<string> = new Set(['get', 'all', 'head', 'use', 'route'])

interface Mount {
  /** The node of a making, or a function that is a plugin. */
  readonly on: Node
  readonly inner: Node
  readonly prefix: string
}

type Arguments = readonly Node[]

export function routesOf(reach: Reach, tracer: Tracer, made: Pick<Making, 'node'>): RoutesFound {
  const mounts: Mount[] = []
  const findings: Finding[] = []
  const healths: { at: Place; on: readonly Node[]; path: string; isStatus: boolean }[] = []
  for (const { source, node } of spotsIn(reach)) {
    const called = methodCall(node)
    if (!called?.name || !(MOUNTERS.has(called.name) || VERBS.has(called.name))) continue
    const { name, object, given } = called
    const on = () => owners(source, object, tracer)
    for (const one of unrolled({ source, given }, tracer))
      take(name, on, placeOf(source, node), one)
  }

  function take(name: string, on: () => Node[], at: Place, { source, given }: Given) {
    const path = pathOf(reach, source, given, tracer)
    const isStatus =
      path !== null && (isPlainStatus(source, path, given) || isHealthSetting(given[0]))
    // what lies at the root of a router may be meant for it by where that is mounted
    const mayBeHealth =
      isStatus ||
      path === '/' ||
      path === '/status' ||
      (healthRank(path ?? '') !== null && !isStream(source, given))
    const inner = MOUNTERS.has(name) ? innerOf(source, name, given, tracer) : []
    const [first] = inner
    if (VERBS.has(name) && path !== null && mayBeHealth && first === undefined)
      healths.push({ at, on: on(), path, isStatus })
    if (first === undefined) return
    const prefix = path ?? prefixOption(source, given, tracer) ?? endOf(given[0]) ?? ''
    for (const outer of on())
      for (const one of inner.filter(({ node }) => node !== outer))
        mounts.push({ on: outer, inner: one.node, prefix: prefix + one.prefix })
    const detail = `Mounts the routes of ${first.source.path}.`
    if (findings.length < FINDINGS_MAX)
      findings.push(finding('routes', routePath(prefix), at, 'sure', detail))
  }

  const prefixes = (node: Node, depth = 0): string[] => {
    if (node === made.node) return ['']
    if (depth > 8) return []
    return mounts
      .filter(({ inner }) => inner === node)
      .flatMap(({ on, prefix }) => prefixes(on, depth + 1).map((outer) => outer + prefix))
  }
  const found = healths.flatMap(({ at, on, path, isStatus }) =>
    on
      .flatMap((node) => prefixes(node))
      .map((prefix) => ({ path: routePath(prefix + path), at, isStatus })),
  )
  return { health: bestHealth(found), findings, inner: new Set(mounts.map(({ inner }) => inner)) }
}

interface Given {
  readonly source: Source
  readonly given: Arguments
}

/** `routes.forEach(({ path, router }) => app.use(path, router))` as the calls that it comes to. */
function unrolled(written: Given, tracer: Tracer): Given[] {
  const { source, given } = written
  const parts = given.flatMap((node) => {
    const root = node.type === 'MemberExpression' ? node.object : node
    const binding = root.type === 'Identifier' ? source.bindings.resolve(root) : undefined
    const looped = binding && loopedOver(source, binding)
    const key = node.type === 'MemberExpression' ? keyOf(node.property) : null
    const [name, ...more] = [...(looped?.members ?? []), ...(key === null ? [] : [key])]
    return looped && name !== undefined && more.length === 0 ? [{ list: looped.list, name }] : []
  })
  const [first] = parts
  if (first === undefined) return [written]
  const elements = tracer
    .values({ source, node: first.list })
    .flatMap((list) => elementsAt(list.node, EACH).map((node) => ({ source: list.source, node })))
  const calls = elements.map((element) => ({
    source: element.source,
    given: parts.flatMap(({ name }) => propertyOf(element, name).map(({ node }) => node)),
  }))
  return calls.some(({ given }) => given.length > 0) ? calls : [written]
}

/** Answers in a few words that it is there; a page of figures is not for strangers. */
function isPlainStatus(source: Source, path: string, given: Arguments): boolean {
  const handler = given.at(-1)
  if (!/^\/(?:api\/)?(?:v\d+\/)?status\/?$/.test(path) || !handler || !isFunction(handler))
    return false
  const text = source.text.slice(handler.start ?? 0, handler.end ?? 0)
  return (
    text.length < 200 && !/render|redirect|await|html|file|find|stat(?:s|istics)|mem/i.test(text)
  )
}

/** A beat that browsers keep listening to answers no probe. */
function isStream(source: Source, given: Arguments): boolean {
  const handler = given.at(-1)
  return handler !== undefined && /text\/event-stream/.test(textOf(source, handler))
}

/** What a method is called on: makings, or the function whose parameter it is, in plugins of Fastify. */
function owners(source: Source, object: Node, tracer: Tracer): Node[] {
  const nodes = tracer.makings({ source, node: object }).map(({ node }) => node)
  if (object.type !== 'Identifier') return nodes
  const binding = source.bindings.resolve(object)
  if (binding?.kind !== 'parameter') return nodes
  const around = functionAround(source.parents, binding.node)
  return around === null ? nodes : [...nodes, around]
}

interface Inner extends Spot {
  readonly prefix: string
}

/** Routers, applications and plugins among the arguments. */
function innerOf(source: Source, name: string, given: Arguments, tracer: Tracer): Inner[] {
  return given.slice(0, 6).flatMap((argument): Inner[] => {
    const spot = { source, node: argument }
    const made = tracer.makings(spot).filter(({ framework }) => framework !== 'node')
    if (made.length > 0)
      return made.map((making) => ({ ...making, prefix: ownPrefix(making, tracer) }))
    if (name !== 'register') return []
    return tracer.values(spot).flatMap(({ source, node }) => pluginIn(source, node, tracer))
  })
}

/** `fp(async (app) => …)` is its function. */
function pluginIn(source: Source, node: Node, tracer: Tracer, depth = 0): Inner[] {
  if (isFunction(node)) return [{ source, node, prefix: '' }]
  const [first] = node.type === 'CallExpression' ? node.arguments : []
  if (first === undefined || depth > 2) return []
  return tracer
    .values({ source, node: first })
    .flatMap((spot) => pluginIn(spot.source, spot.node, tracer, depth + 1))
}

/** `new Router({ prefix: '/users' })` */
function ownPrefix({ source, node }: Making, tracer: Tracer): string {
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return ''
  const [options] = node.arguments
  const [prefix] = options ? propertyOf({ source, node: options }, 'prefix') : []
  return (prefix && textAt(prefix, tracer)) ?? ''
}

/** `app.register(plugin, { prefix: '/api' })` */
function prefixOption(source: Source, given: Arguments, tracer: Tracer): string | null {
  const [prefix] = given.flatMap((node) => propertyOf({ source, node }, 'prefix'))
  return prefix ? textAt(prefix, tracer) : null
}

/** `${base}/api`: what it begins with is mostly nothing. */
function endOf(node: Node | undefined): string | null {
  if (node?.type !== 'TemplateLiteral' || node.expressions.length !== 1) return null
  const [start, end] = node.quasis.map(({ value }) => value.cooked ?? '')
  return start === '' && end?.startsWith('/') ? end : null
}

/** The first argument, or `url` of `fastify.route({ url })`. */
function pathOf(reach: Reach, source: Source, [first]: Arguments, tracer: Tracer): string | null {
  if (first === undefined) return null
  const [url] = propertyOf({ source, node: first }, 'url')
  const isName = /^(?:StringLiteral|TemplateLiteral|Identifier|LogicalExpression)$/.test(first.type)
  if (!url && !isName && !isHealthSetting(first)) return null
  const spot = url ?? { source, node: first }
  const path = textAt(spot, tracer) ?? (isHealthSetting(first) ? settingAt(reach, first) : null)
  return path?.startsWith('/') ? path : null
}

/** `config.healthCheck.path`: whatever it is set to is meant for it. */
function isHealthSetting(node: Node | undefined): boolean {
  return node?.type === 'MemberExpression' && waysTo(node).some((name) => /health/i.test(name))
}

function waysTo(node: Node): string[] {
  if (node.type !== 'MemberExpression') return []
  const key = keyOf(node.property)
  return key === null ? [] : [...waysTo(node.object), key]
}

/** The default that some object of settings has at the end of this way. */
function settingAt(reach: Reach, node: Node): string | null {
  const [outer, key] = waysTo(node).slice(-2)
  for (const { source, node: one } of spotsIn(reach)) {
    if (one.type !== 'ObjectProperty' || keyOf(one.key) !== (key ?? outer)) continue
    const object = source.parents.get(one)
    const around = object && source.parents.get(object)
    if (key && (around?.type !== 'ObjectProperty' || keyOf(around.key) !== outer)) continue
    const value = one.value.type === 'LogicalExpression' ? one.value.right : one.value
    const path = literal(value)
    if (path !== null) return path
  }
  return null
}
