/** Whether a call puts something that answers on an application, where that is written elsewhere. */
import type { Node } from '@babel/types'
import { createCodebase, reachFrom, type Spot } from '../detection/node/codebase.ts'
import { packagesOf } from '../detection/node/packages.ts'
import { createTracer, type Tracer } from '../detection/node/trace.ts'
import { contains } from '../edits/made-applications.ts'
import type { Project } from '../project/project.ts'
import { keyOf } from '../syntax/bindings.ts'
import type { Source } from '../syntax/parse.ts'
import { startOf } from '../syntax/places.ts'
import { bare } from '../syntax/references.ts'
import { functionAround, isFunction } from '../syntax/walk.ts'

type Call = Node & { type: 'CallExpression' | 'NewExpression' }

export type CarriesRoutes = (source: Source, call: Call) => boolean

/** What cannot be followed is not said to answer. */
export async function carriedRoutes(
  project: Project,
  paths: readonly string[],
): Promise<CarriesRoutes> {
  const reach = await reachFrom(createCodebase(project, await packagesOf(project)), paths)
  const tracer = createTracer(reach)
  return (source, call) => {
    const own = reach.sources.get(source.path)
    const same = own?.nodes.find(
      (node) => node.type === call.type && startOf(node) === startOf(call) && node.end === call.end,
    )
    return own !== undefined && same !== undefined && carries(own, same as Call, tracer)
  }
}

/** `app.use('/admin', admin)`, `app.register(plugin)`, `routes(app)` */
function carries(source: Source, call: Call, tracer: Tracer): boolean {
  const callee = bare(call.callee)
  const method = callee.type === 'MemberExpression' ? keyOf(callee.property) : null
  if (method !== 'use' && method !== 'register')
    return putsRoutesOnGiven({ source, node: callee }, tracer)
  return call.arguments.some((node) => {
    const given = { source, node }
    if (tracer.makings(given).some(({ framework }) => framework !== 'node')) return true
    // whatever is given to `use` has a request for its first parameter
    return method === 'register' && putsRoutesOnGiven(given, tracer)
  })
}

function putsRoutesOnGiven(spot: Spot, tracer: Tracer): boolean {
  return tracer.values(spot).some(
    ({ source, node: made }) =>
      isFunction(made) &&
      source.nodes.some((node) => {
        if (node.type !== 'CallExpression' || !contains(made, node)) return false
        const callee = bare(node.callee)
        if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return false
        const binding = source.bindings.resolve(callee.object)
        if (binding?.kind !== 'parameter') return false
        if (functionAround(source.parents, binding.node) !== made) return false
        return isRoute(keyOf(callee.property) ?? '', node.arguments)
      }),
  )
}

const ROUTES =
  /^(?:get|post|put|patch|delete|del|all|any|head|options|route|on|mount|ws|useStaticAssets)$/

/** `app.get('env')` reads a setting, and `app.on('error', …)` hears of an event. */
export function isRoute(method: string, given: readonly Node[]): boolean {
  if (!ROUTES.test(method)) return false
  return method === 'get' ? given.length !== 1 : method === 'on' ? given.length > 2 : true
}
