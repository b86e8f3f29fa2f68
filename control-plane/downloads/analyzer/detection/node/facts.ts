/** What is found beside the place: port, health, WebSockets, and whether it is integrated already. */
import { keyOf } from '../../syntax/bindings.ts'
import { importsOf } from '../../syntax/imports.ts'
import { placeOf } from '../../syntax/places.ts'
import type { Finding, Place } from '../application.ts'
import type { Codebase, Reach } from './codebase.ts'
import { portOf } from './literals.ts'
import { nestHealth } from './nest.ts'
import type { NodePackage } from './packages.ts'
import { joined } from './paths.ts'
import { healthRank } from '../health.ts'
import type { Served } from './served.ts'

const PACKAGE = 'service-node'

export function integrationOf(reach: Reach): Finding | null {
  for (const source of reach.sources.values())
    for (const { module, isTypeOnly, node } of importsOf(source))
      if (module === PACKAGE && !isTypeOnly)
        return {
          about: 'integration',
          value: PACKAGE,
          at: placeOf(source, node),
          confidence: 'sure',
          detail: `${PACKAGE} is imported here: this application has been integrated before.`,
        }
  return null
}

export function healthOf(reach: Reach, served: Served): Finding | null {
  const { framework, tracer, routes } = served
  const found =
    framework === 'nest'
      ? nestHealth(reach, tracer)
      : framework === 'node'
        ? comparedPath(reach)
        : routes.health
  return found === null ? null : healthFinding(found, framework === 'node' ? 'likely' : 'sure')
}

export function healthFinding(
  { path, at }: { readonly path: string; readonly at: Place },
  confidence: Finding['confidence'],
): Finding {
  const detail = `${path} answers whether the application is well.`
  return { about: 'health', value: path, at, confidence, detail }
}

/** `request.url === '/healthz'`, `case '/healthz':` */
function comparedPath(reach: Reach): { path: string; at: Place } | null {
  for (const source of reach.sources.values())
    for (const node of source.nodes) {
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
  const port = written === null ? null : portOf(written, tracer)
  if (port !== null && written !== null)
    return {
      about: 'port',
      value: String(port),
      at: placeOf(written.source, written.node),
      confidence: 'sure',
      detail: `It listens on ${port}, unless the environment says otherwise.`,
    }
  return configuredPort(reach, serving !== null, tracer) ?? portBeside(codebase, one)
}

/** `port: env.PORT ?? 3000` of a configuration that the way to it was not found of. */
function configuredPort(reach: Reach, isServed: boolean, tracer: Served['tracer']): Finding | null {
  if (!isServed) return null
  for (const source of reach.sources.values())
    for (const node of source.nodes) {
      if (node.type !== 'ObjectProperty' || !/^port$/i.test(keyOf(node.key) ?? '')) continue
      const port = portOf({ source, node: node.value }, tracer)
      if (port === null) continue
      const detail = `${port} is the port of this configuration.`
      return {
        about: 'port',
        value: String(port),
        at: placeOf(source, node),
        confidence: 'likely',
        detail,
      }
    }
  return null
}

const BESIDE: readonly (readonly [string, RegExp])[] = [
  ['.env', /^\s*(?:export\s+)?PORT\s*=\s*["']?(\d{2,5})\b/],
  ['.env.local', /^\s*(?:export\s+)?PORT\s*=\s*["']?(\d{2,5})\b/],
  ['.env.example', /^\s*(?:export\s+)?PORT\s*=\s*["']?(\d{2,5})\b/],
  ['Dockerfile', /^\s*(?:ENV\s+PORT[\s=]+|EXPOSE\s+)(\d{2,5})\b/i],
]

/** What lies beside the code and says where it is to listen. */
export async function portBeside(codebase: Codebase, one: NodePackage): Promise<Finding | null> {
  for (const [name, pattern] of BESIDE) {
    const path = joined(one.folder, name) ?? name
    const lines = ((await codebase.project.read(path)) ?? '').slice(0, 64 * 1024).split('\n')
    for (const [index, line] of lines.entries()) {
      const port = pattern.exec(line)?.[1]
      if (port === undefined) continue
      const detail = `${name} names the port ${port}.`
      return {
        about: 'port',
        value: port,
        at: { path, line: index + 1 },
        confidence: 'likely',
        detail,
      }
    }
  }
  return null
}

const SOCKETS =
  /^(?:ws|socket\.io|express-ws|koa-websocket|koa-easy-ws|@fastify\/websocket|fastify-socket\.io|@nestjs\/websockets|@hono\/node-ws|sockjs|primus|faye-websocket|websocket|graphql-ws(?:\/.*)?)$/

/** An upgrade passes a framework's middleware by, wherever a server hands it to somebody else. */
export function webSocketsOf(reach: Reach): Finding[] {
  const found: Finding[] = []
  for (const source of reach.sources.values())
    for (const { module, isTypeOnly, node } of importsOf(source))
      if (!isTypeOnly && SOCKETS.test(module) && !found.some(({ value }) => value === module))
        found.push({
          about: 'websockets',
          value: module,
          at: placeOf(source, node),
          confidence: 'sure',
          detail: `${module} takes WebSockets, and these pass the middleware by: without a gateway in front, its upgrade listener has to ask as well.`,
        })
  return found.slice(0, 5)
}
