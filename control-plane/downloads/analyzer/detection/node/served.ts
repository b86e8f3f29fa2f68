/** Of all that an entry leads to, the applications that answer people: made where, and how surely. */
import type { CallExpression, NewExpression, Node } from '@babel/types'
import { keyOf } from '../../syntax/bindings.ts'
import type { Source } from '../../syntax/parse.ts'
import { qualifiedName } from '../../syntax/references.ts'
import type { Confidence } from '../application.ts'
import type { Reach } from './codebase.ts'
import { portOf } from './literals.ts'
import { makingsIn, type Making } from './makings.ts'
import { byImportance } from './ranking.ts'
import { routesOf, type RoutesFound } from './routes.ts'
import { servingsOf, unique, type Serving } from './serving.ts'
import { createTracer, type Tracer } from './trace.ts'

export interface Served {
  /** The framework whose way it is to be integrated. */
  readonly framework: Making['framework']
  readonly making: Making
  readonly serving: Serving | null
  readonly routes: RoutesFound
  readonly tracer: Tracer
  readonly confidence: Confidence
  /** Beside it listens what it does not see. */
  readonly others: readonly Making[]
  /** Next.js is served by it. */
  readonly next: Making | null
}

export function servedBy(reach: Reach): Served[] {
  const tracer = createTracer(reach)
  const all = [...reach.sources.values()].flatMap(makingsIn)
  if (!all.some(({ kind }) => kind === 'application')) return []
  const servings = servingsOf(reach, tracer).filter(({ making }) => making.kind === 'application')
  const next = all.find(({ framework }) => framework === 'next') ?? null
  const routesByMaking = new Map<Node, RoutesFound>()
  const routes = (making: Making) => {
    const known = routesByMaking.get(making.node) ?? routesOf(reach, createTracer(reach), making)
    routesByMaking.set(making.node, known)
    return known
  }

  const frameworks = all.filter(isFramework)
  const adapted = adaptedBy(frameworks, tracer)
  const mounted = frameworks[0] ? routes(frameworks[0]).inner : new Set<Node>()
  const isOutermost = ({ node }: Making) => !adapted.has(node) && !mounted.has(node)
  const heard = new Set(servings.map(({ making }) => making.node))
  const listening = frameworks.filter((one) => heard.has(one.node) && isOutermost(one))
  // of servers that others make, some may have been missed
  const isKnown = servings.some(({ making, at }) => at !== making && isFramework(making))
  const chosen =
    listening.length > 0 && (isKnown || listening.length === 1)
      ? listening
      : unheard(reach, frameworks.filter(isOutermost))
  const bare = servings.filter(({ making }) => !isFramework(making))

  if (chosen.length > 0)
    return byImportance(chosen).map((making) => {
      const own = servings.filter((one) => one.making.node === making.node)
      const serving = surest(own, tracer)
      const rivals = servings.filter(
        (one) => one.making.node !== making.node && own.some(({ at }) => at.node === one.at.node),
      )
      const isOnly = chosen.length === 1
      const isUnclear = rivals.length > 0 || (serving === null && !isOnly)
      return {
        framework: making.framework,
        making,
        serving,
        routes: routes(making),
        tracer,
        confidence: isUnclear ? 'guess' : isHeard(serving) && isOnly ? 'sure' : 'likely',
        others: unique(bare.map(({ making }) => making)).filter(isOfNode),
        next,
      }
    })

  // a server of node:http, of one's own or in front of Next.js
  const first = bare.find(({ making }) => !isOfNode(making)) ?? plainest(bare)
  const serving =
    first &&
    surest(
      bare.filter((one) => one.making.node === first.making.node),
      tracer,
    )
  if (!serving) return []
  const isNext = serving.making.framework === 'next' || next !== null
  const making = serving.server ?? serving.making
  return [
    {
      framework: isNext ? 'next' : 'node',
      making,
      serving,
      routes: routes(making),
      tracer,
      confidence:
        serving.making.framework === 'next' || (!isNext && bare.length === 1) ? 'sure' : 'likely',
      others: [],
      next,
    },
  ]
}

/** Where one listens in several places: where the port can be told, or is at least written. */
function surest(servings: readonly Serving[], tracer: Tracer): Serving | null {
  return (
    servings.find(({ port }) => port !== null && portOf(port, tracer) !== null) ??
    servings.find(({ port }) => port !== null) ??
    servings[0] ??
    null
  )
}

/** Of several servers the one over http that is given something to call: the edge speaks TLS. */
function plainest(servings: readonly Serving[]): Serving | undefined {
  const rank = ({ making: { node, source } }: Serving) => {
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return 0
    const name = qualifiedName(source, node.callee)
    // of a variable that is either, what it is made with tells
    const isPlain = name === null ? !hasKeys(node) : /^(?:node:)?http\./.test(name)
    const given = node.arguments.length > 0 && !onlyRedirects(source, node)
    return (isPlain ? 2 : 0) + (given ? 1 : 0)
  }
  return servings.toSorted((a, b) => rank(b) - rank(a))[0]
}

/** From http to https, and nothing else. */
function onlyRedirects({ text }: Source, { start, end }: Node): boolean {
  const code = text.slice(start ?? 0, end ?? 0)
  return code.length < REDIRECT_MAX && /\b30[1278]\b[^]*location/i.test(code)
}

const REDIRECT_MAX = 400

/** `createServer({ key, cert }, …)` speaks TLS. */
function hasKeys({ arguments: [first] }: CallExpression | NewExpression): boolean {
  return (
    first?.type === 'ObjectExpression' &&
    first.properties.some((one) => 'key' in one && /^(?:key|cert|pfx)$/.test(keyOf(one.key) ?? ''))
  )
}

/** Something makes it listen, and is not only able to. */
export function isHeard(serving: Serving | null): boolean {
  return serving !== null && serving.at.node !== (serving.server ?? serving.making).node
}

const isOfNode = ({ framework }: Making) => framework === 'node'

export function isFramework({ framework, kind }: Making): boolean {
  return kind === 'application' && framework !== 'node' && framework !== 'next'
}

/** What Nest was given to work with: `NestFactory.create(Module, new ExpressAdapter(server))`. */
function adaptedBy(makings: readonly Making[], tracer: Tracer): Set<Node> {
  const adapted = new Set<Node>()
  for (const { framework, source, node } of makings) {
    if (framework !== 'nest' || node.type !== 'CallExpression') continue
    for (const adapter of node.arguments)
      if (adapter.type === 'NewExpression')
        for (const argument of adapter.arguments)
          for (const making of tracer.makings({ source, node: argument })) adapted.add(making.node)
  }
  return adapted
}

/** Made, but what makes it listen was not found: the entry's own before those of other files. */
function unheard(reach: Reach, makings: readonly Making[]): Making[] {
  const ofEntry = makings.filter(({ source }) => source === reach.entry)
  return ofEntry.length > 0 ? ofEntry : [...makings]
}
