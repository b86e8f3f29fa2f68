/** Where routes are mounted, under which paths, and which of them tells that the application is well. */
import type { Node } from '@babel/types'
import { keyOf } from '../../syntax/bindings.ts'
import type { Source } from '../../syntax/parse.ts'
import { placeOf } from '../../syntax/places.ts'
import { isFunction, functionAround } from '../../syntax/walk.ts'
import type { Finding, Place } from '../application.ts'
import { bestHealth, healthRank } from '../health.ts'
import type { Reach } from './codebase.ts'
import { textAt } from './literals.ts'
import type { Making } from './makings.ts'
import { propertyOf } from './serving.ts'
import type { Spot, Tracer } from './trace.ts'

export interface RoutesFound {
  readonly health: { readonly path: string; readonly at: Place } | null
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

type Call = Node & { type: 'CallExpression' }

export function routesOf(reach: Reach, tracer: Tracer, made: Making): RoutesFound {
  const mounts: Mount[] = []
  const findings: Finding[] = []
  const healths: { at: Spot; on: readonly Node[]; path: string }[] = []
  for (const source of reach.sources.values())
    for (const node of source.nodes) {
      if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') continue
      const name = keyOf(node.callee.property)
      if (name === null || !(MOUNTERS.has(name) || VERBS.has(name) || name === 'basePath')) continue
      const path = pathOf(source, node, tracer)
      if (
        VERBS.has(name) &&
        path !== null &&
        healthRank(path) !== null &&
        node.arguments.length > 0
      )
        healths.push({ at: { source, node }, on: owners(source, node.callee.object, tracer), path })
      if (!MOUNTERS.has(name)) continue
      const inner = innerOf(source, node, tracer)
      if (inner.length === 0) continue
      const prefix = path ?? prefixOption(source, node, tracer) ?? ''
      for (const on of owners(source, node.callee.object, tracer))
        for (const one of inner) mounts.push({ on, inner: one.node, prefix: prefix + one.prefix })
      const [first] = inner
      if (first && findings.length < FINDINGS_MAX)
        findings.push(mounted(source, node, prefix, first))
    }

  const prefixes = (node: Node, depth = 0): string[] => {
    if (node === made.node) return ['']
    if (depth > 8) return []
    return mounts
      .filter(({ inner }) => inner === node)
      .flatMap(({ on, prefix }) => prefixes(on, depth + 1).map((outer) => outer + prefix))
  }
  const found = healths.flatMap(({ at, on, path }) => {
    const whole = on.flatMap((node) => prefixes(node)).map((prefix) => tidy(prefix + path))
    return whole.map((path) => ({ path, at: placeOf(at.source, at.node) }))
  })
  const health = bestHealth(found, ({ path }) => path)
  return {
    health,
    findings,
    inner: new Set(mounts.map(({ inner }) => inner)),
  }
}

function mounted(source: Source, node: Node, prefix: string, inner: Inner): Finding {
  return {
    about: 'routes',
    value: tidy(prefix) || '/',
    at: placeOf(source, node),
    confidence: 'sure',
    detail: `Routes of ${inner.source.path} are mounted here.`,
  }
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
function innerOf(source: Source, call: Call, tracer: Tracer): Inner[] {
  return call.arguments.slice(0, 6).flatMap((argument): Inner[] => {
    const spot = { source, node: argument }
    const made = tracer.makings(spot).filter(({ framework }) => framework !== 'node')
    if (made.length > 0)
      return made.map((making) => ({
        source: making.source,
        node: making.node,
        prefix: ownPrefix(making, tracer),
      }))
    if (keyOf((call.callee as Node & { type: 'MemberExpression' }).property) !== 'register')
      return []
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
function prefixOption(source: Source, call: Call, tracer: Tracer): string | null {
  const [prefix] = call.arguments.flatMap((node) => propertyOf({ source, node }, 'prefix'))
  return prefix ? textAt(prefix, tracer) : null
}

/** The first argument, or `url` of `fastify.route({ url })`. */
function pathOf(source: Source, call: Call, tracer: Tracer): string | null {
  const [first] = call.arguments
  if (first === undefined) return null
  const [url] = propertyOf({ source, node: first }, 'url')
  if (
    first.type !== 'StringLiteral' &&
    first.type !== 'TemplateLiteral' &&
    first.type !== 'Identifier' &&
    !url
  )
    return null
  const path = textAt(url ?? { source, node: first }, tracer)
  return path?.startsWith('/') ? path : null
}

function tidy(path: string): string {
  return path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
}
