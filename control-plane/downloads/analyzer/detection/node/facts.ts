/** What is found beside the place: port, health, WebSockets, and whether it is integrated already. */
import { keyOf } from '../../syntax/bindings.ts'
import { placeOf } from '../../syntax/places.ts'
import type { Finding } from '../application.ts'
import { finding } from '../assemble.ts'
import { under } from '../folders.ts'
import { healthRank, type HealthPath } from '../health.ts'
import { importedIn, spotsIn, type Codebase, type Reach } from './codebase.ts'
import { portOf } from './literals.ts'
import { nestHealth } from './nest.ts'
import type { NodePackage } from './packages.ts'
import type { Served } from './served.ts'

const PACKAGE = 'service-node'

export function integrationOf(reach: Reach): Finding | null {
  const detail = `${PACKAGE} is imported here: this application has been integrated before.`
  for (const { module, at } of importedIn(reach))
    if (module === PACKAGE) return finding('integration', PACKAGE, at, 'sure', detail)
  return null
}

export function healthOf(reach: Reach, { framework, tracer, routes }: Served): Finding | null {
  if (framework === 'node') return healthFinding(comparedPath(reach), 'likely')
  return healthFinding(framework === 'nest' ? nestHealth(reach, tracer) : routes.health)
}

export function healthFinding(
  found: HealthPath | undefined,
  confidence: Finding['confidence'] = 'sure',
): Finding | null {
  if (!found) return null
  const detail = `${found.path} answers whether the application is well.`
  return finding('health', found.path, found.at, confidence, detail)
}

/** `request.url === '/healthz'`, `case '/healthz':` */
function comparedPath(reach: Reach): HealthPath {
  for (const { source, node } of spotsIn(reach)) {
    if (node.type !== 'StringLiteral' || healthRank(node.value) === null) continue
    const parent = source.parents.get(node)
    if (parent?.type === 'BinaryExpression' || parent?.type === 'SwitchCase')
      return { path: node.value, at: placeOf(source, node) }
  }
  return null
}

export async function portFinding(
  codebase: Codebase,
  one: NodePackage,
  reach: Reach,
  { serving, tracer }: Served,
): Promise<Finding | null> {
  const written = serving?.port ?? null
  const port = written && portOf(written, tracer)
  if (port && written) {
    const detail = `It listens on ${port}, unless the environment says otherwise.`
    return finding('port', port, placeOf(written.source, written.node), 'sure', detail)
  }
  return (serving && configuredPort(reach, tracer)) ?? portBeside(codebase, one)
}

/** `port: env.PORT ?? 3000` of a configuration that the way to it was not found of. */
function configuredPort(reach: Reach, tracer: Served['tracer']): Finding | null {
  for (const { source, node } of spotsIn(reach)) {
    if (node.type !== 'ObjectProperty' || !/^port$/i.test(keyOf(node.key) ?? '')) continue
    const port = portOf({ source, node: node.value }, tracer)
    const detail = `${port} is the port of this configuration.`
    if (port !== null) return finding('port', port, placeOf(source, node), 'likely', detail)
  }
  return null
}

const OF_ENVIRONMENT = /^\s*(?:export\s+)?PORT\s*=\s*["']?(\d{2,5})\b/
const OF_IMAGE = /^\s*(?:ENV\s+PORT[\s=]+|EXPOSE\s+)(\d{2,5})\b/i

/** What lies beside the code and says where it is to listen. */
export async function portBeside(codebase: Codebase, one: NodePackage): Promise<Finding | null> {
  for (const name of ['.env', '.env.local', '.env.example', 'Dockerfile']) {
    const path = under(one.folder, name)
    const lines = ((await codebase.project.read(path)) ?? '').slice(0, 64 * 1024).split('\n')
    const pattern = name === 'Dockerfile' ? OF_IMAGE : OF_ENVIRONMENT
    for (const [index, line] of lines.entries()) {
      const port = pattern.exec(line)?.[1]
      if (port === undefined) continue
      const detail = `${name} names the port ${port}.`
      return finding('port', port, { path, line: index + 1 }, 'likely', detail)
    }
  }
  return null
}

const SOCKETS =
  /^(?:ws|socket\.io|express-ws|koa-websocket|koa-easy-ws|@fastify\/websocket|fastify-socket\.io|@nestjs\/websockets|@hono\/node-ws|sockjs|primus|faye-websocket|websocket|graphql-ws(?:\/.*)?)$/

/** An upgrade passes a framework's middleware by, wherever a server hands it to somebody else. */
export function webSocketsOf(reach: Reach): Finding[] {
  const found = new Map<string, Finding>()
  for (const { module, at } of importedIn(reach)) {
    const detail = `${module} takes WebSockets, and these pass the middleware by: without a gateway in front, its upgrade listener has to ask as well.`
    if (SOCKETS.test(module) && !found.has(module))
      found.set(module, finding('websockets', module, at, 'sure', detail))
  }
  return [...found.values()].slice(0, 5)
}
