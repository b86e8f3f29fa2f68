/** What is found beside the place: health, WebSockets, and whether it is integrated already. */
import type { Node } from '@babel/types'
import { keyOf } from '../../syntax/bindings.ts'
import { placeOf } from '../../syntax/places.ts'
import type { Finding } from '../application.ts'
import { finding } from '../assemble.ts'
import { healthRank, type HealthPath } from '../health.ts'
import { importedIn, spotsIn, type Reach } from './codebase.ts'
import { routedHealth } from './controllers.ts'
import { nestHealth } from './nest.ts'
import type { Served } from './served.ts'

const PACKAGE = 'service-node'

export function integrationOf(reach: Reach): Finding | null {
  const detail = `${PACKAGE} is imported here: this application is already integrated.`
  for (const { module, at } of importedIn(reach))
    if (module === PACKAGE) return finding('integration', PACKAGE, at, 'sure', detail)
  return null
}

export function healthOf(
  reach: Reach,
  { framework, making, tracer, routes }: Served,
): Finding | null {
  if (framework === 'node') return healthFinding(comparedPath(reach), 'likely')
  const routed = making.isRouted ? routedHealth(reach, tracer, making) : routes.health
  const found = framework === 'nest' ? nestHealth(reach, tracer) : routed
  // middleware may answer for a path without a route
  return healthFinding(found) ?? healthFinding(comparedPath(reach, isOfRequest), 'likely')
}

export function healthFinding(
  found: HealthPath | undefined,
  confidence: Finding['confidence'] = 'sure',
): Finding | null {
  if (!found) return null
  const detail = `${found.path} is the health check.`
  return finding('health', found.path, found.at, confidence, detail)
}

/** `request.url === '/healthz'`, `case '/healthz':` */
function comparedPath(reach: Reach, isAsked: (compared: Node) => boolean = () => true): HealthPath {
  for (const { source, node } of spotsIn(reach)) {
    if (node.type !== 'StringLiteral' || healthRank(node.value) === null) continue
    const parent = source.parents.get(node)
    const around = parent && source.parents.get(parent)
    const compared =
      parent?.type === 'BinaryExpression' && /^===?$/.test(parent.operator)
        ? parent.left
        : parent?.type === 'SwitchCase' && around?.type === 'SwitchStatement'
          ? around.discriminant
          : null
    if (compared && isAsked(compared)) return { path: node.value, at: placeOf(source, node) }
  }
  return null
}

/** `ctx.request.url`, and not the path of some other thing. */
function isOfRequest(node: Node): boolean {
  if (node.type !== 'MemberExpression') return false
  const owner = node.object.type === 'MemberExpression' ? node.object.property : node.object
  return (
    /^(?:url|originalUrl|path|pathname)$/.test(keyOf(node.property) ?? '') &&
    /^_?(?:req(?:uest)?|ctx|context)$/.test(keyOf(owner) ?? '')
  )
}

const SOCKETS =
  /^(?:ws|socket\.io|express-ws|koa-websocket|koa-easy-ws|@fastify\/websocket|fastify-socket\.io|@nestjs\/websockets|@hono\/node-ws|sockjs|primus|faye-websocket|websocket|graphql-ws(?:\/.*)?)$/

/** An upgrade passes a framework's middleware by, wherever a server hands it to somebody else. */
export function webSocketsOf(reach: Reach): Finding[] {
  const found = new Map<string, Finding>()
  for (const { module, at } of importedIn(reach)) {
    const detail = `${module} handles WebSockets, which bypass the middleware. Without a gateway in front, guard its upgrade listener too.`
    if (SOCKETS.test(module) && !found.has(module))
      found.set(module, finding('websockets', module, at, 'sure', detail))
  }
  return [...found.values()].slice(0, 5)
}
