/** Nest around a server that is there before it: what that answers by itself, the guard never sees. */
import type { Identifier, Node, ObjectExpression } from '@babel/types'
import { makingsIn } from '../detection/node/makings.ts'
import type { Spot } from '../detection/node/codebase.ts'
import type { Tracer } from '../detection/node/trace.ts'
import { keyOf } from '../syntax/bindings.ts'
import type { Source } from '../syntax/parse.ts'
import { bare } from '../syntax/references.ts'
import type { GuardedMakings } from './guarded-makings.ts'
import type { OpenListener } from './open-listeners.ts'

const PROBLEM = 'Nest wraps an adapter here that may answer before it'

/** `new ExpressAdapter(express())`: it answers nothing but what Nest has it answer. */
export function carriedByNest(sources: readonly Source[], tracer: Tracer): ReadonlySet<Node> {
  const carried = adaptersIn(sources).flatMap(({ source, node: adapter }) => {
    if (adapter.type !== 'NewExpression') return []
    return adapter.arguments
      .filter((given) => given.type !== 'Identifier' || usesOf(source, given) === 1)
      .flatMap((given) => tracer.makings({ source, node: given }))
      .filter((making) => making.source === source)
      .map((making) => making.node)
  })
  return new Set(carried)
}

/** `NestFactory.create(AppModule, adapter)` */
function adaptersIn(sources: readonly Source[]): Spot[] {
  return sources.flatMap((source) =>
    makingsIn(source).flatMap(({ framework, node }) => {
      const adapter = node.type === 'CallExpression' ? node.arguments[1] : undefined
      return framework === 'nest' && adapter ? [{ source, node: adapter }] : []
    }),
  )
}

export function openAdapters(
  sources: readonly Source[],
  tracer: Tracer,
  guarded: GuardedMakings,
): OpenListener[] {
  return adaptersIn(sources)
    .filter(({ source, node }) => !isHarmless(source, node, tracer, guarded))
    .map((spot) => ({ ...spot, problem: PROBLEM }))
}

/** `{ … }`, `new FastifyAdapter({ logger: true })`, or around an application that is guarded itself. */
function isHarmless(source: Source, given: Node, tracer: Tracer, guarded: GuardedMakings): boolean {
  const node = bare(given)
  if (node.type === 'ObjectExpression') return true
  if (node.type === 'Identifier') {
    const values = tracer.values({ source, node })
    const isOptions =
      values.length > 0 && values.every((one) => one.node.type === 'ObjectExpression')
    return isOptions || isUsedHereAlone(source, node, tracer, guarded)
  }
  if (node.type !== 'NewExpression') return false
  return node.arguments.every((argument) => {
    if (argument.type === 'ObjectExpression') return !hasFactory(argument)
    const makings = tracer.makings({ source, node: argument })
    return makings.length > 0 && makings.every((making) => guarded.has(making))
  })
}

/** `const adapter = new FastifyAdapter()`, which nobody touches before Nest is made. */
function isUsedHereAlone(
  source: Source,
  use: Identifier,
  tracer: Tracer,
  guarded: GuardedMakings,
): boolean {
  const binding = source.bindings.resolve(use)
  const [value, ...more] = binding?.values ?? []
  if (value === undefined || more.length > 0 || value.expression.type !== 'NewExpression')
    return false
  return usesOf(source, use) === 1 && isHarmless(source, value.expression, tracer, guarded)
}

/** Of the same name for the same thing, what declares it left out. */
function usesOf(source: Source, use: Identifier): number {
  const binding = source.bindings.resolve(use)
  return source.nodes.filter(
    (node) =>
      node.type === 'Identifier' &&
      node.name === use.name &&
      source.parents.get(node) !== binding?.node &&
      source.bindings.resolve(node) === binding,
  ).length
}

function hasFactory({ properties }: ObjectExpression): boolean {
  return properties.some(
    (property) => property.type === 'SpreadElement' || keyOf(property.key) === 'serverFactory',
  )
}
