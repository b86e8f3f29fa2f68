/** Routes that classes are decorated with: of NestJS, and of routing-controllers. */
import type { Node } from '@babel/types'
import type { Source } from '../../syntax/parse.ts'
import { placeOf } from '../../syntax/places.ts'
import { referenceOf } from '../../syntax/references.ts'
import type { Place } from '../application.ts'
import { bestHealth, routePath, type HealthPath } from '../health.ts'
import { spotsIn, type Reach } from './codebase.ts'
import { textAt } from './literals.ts'
import type { Making } from './makings.ts'
import { propertyOf } from './serving.ts'
import type { Tracer } from './trace.ts'

interface Decorators {
  readonly module: string
  /** What a class of routes is decorated with. */
  readonly controllers: readonly string[]
}

const ROUTING_CONTROLLERS: Decorators = {
  module: 'routing-controllers',
  controllers: ['Controller', 'JsonController'],
}

/** `createExpressServer({ routePrefix: '/api', controllers: […] })` */
export function routedHealth(reach: Reach, tracer: Tracer, { source, node }: Making): HealthPath {
  const [options] = node.type === 'CallExpression' ? node.arguments : []
  const [written] = options ? propertyOf({ source, node: options }, 'routePrefix') : []
  const prefix = written === undefined ? '' : textAt(written, tracer)
  return prefix === null ? null : controllerHealth(reach, tracer, () => prefix, ROUTING_CONTROLLERS)
}

/** What stands in front of a controller's own path: `/api/v1`; null: it cannot be told. */
type PrefixOf = (controller: Node, path: string, version: string | null) => string | null

export function controllerHealth(
  reach: Reach,
  tracer: Tracer,
  prefixOf: PrefixOf,
  decorators: Decorators,
): HealthPath {
  const { module, controllers } = decorators
  const found: { path: string; at: Place }[] = []
  for (const { source, node } of spotsIn(reach)) {
    if (node.type !== 'ClassDeclaration' && node.type !== 'ClassExpression') continue
    const controller = decorated(source, node, module, controllers, tracer)
    if (controller === null) continue
    const prefix = prefixOf(node, controller.path, controller.version)
    if (prefix === null) continue
    for (const member of node.body.body) {
      const route =
        member.type === 'ClassMethod' ? decorated(source, member, module, ['Get'], tracer) : null
      if (route === null) continue
      found.push({
        path: routePath(prefix, controller.path, route.path),
        at: placeOf(source, member),
      })
    }
  }
  return bestHealth(found)
}

/** The path that a decorator gives, '' for none; null: it is not decorated so. */
function decorated(
  source: Source,
  node: { readonly decorators?: readonly Node[] | null },
  module: string,
  names: readonly string[],
  tracer: Tracer,
): { readonly path: string; readonly version: string | null } | null {
  for (const decorator of node.decorators ?? []) {
    if (decorator.type !== 'Decorator' || decorator.expression.type !== 'CallExpression') continue
    const { callee, arguments: given } = decorator.expression
    const reference = referenceOf(source, callee)
    if (reference?.module !== module || !names.includes(reference.members[0] ?? '')) continue
    const [first] = given
    if (first === undefined) return { path: '', version: null }
    // { path: 'health', version: '1' }
    const text = (name: string) => {
      const [value] = propertyOf({ source, node: first }, name)
      return value === undefined ? null : textAt(value, tracer)
    }
    if (first.type === 'ObjectExpression')
      return { path: text('path') ?? '', version: text('version') }
    const path = textAt({ source, node: first }, tracer)
    return path === null ? null : { path, version: null }
  }
  return null
}
