/** Where a framework's application, or a router of one, is made: `express()`, `new Hono()`, `createServer()`. */
import type { Node } from '@babel/types'
import type { Source } from '../../syntax/parse.ts'
import { qualifiedName } from '../../syntax/references.ts'
import type { FrameworkName } from '../application.ts'

type NodeFramework = Extract<
  FrameworkName,
  'next' | 'nest' | 'fastify' | 'koa' | 'hono' | 'express' | 'node'
>

export interface Making {
  readonly framework: NodeFramework
  /** An application can listen; a router is mounted on one. */
  readonly kind: 'application' | 'router'
  readonly source: Source
  /** The call, or the `new`. */
  readonly node: Node
}

interface Maker {
  readonly framework: NodeFramework
  readonly kind?: 'router'
  readonly isConstructed?: boolean
}

const SERVER: Maker = { framework: 'node' }
const HONO: Maker = { framework: 'hono', isConstructed: true }
const KOA_ROUTER: Maker = { framework: 'koa', kind: 'router' }

/** By the module and the way from there; `default` is left out of it. */
const MAKERS: ReadonlyMap<string, Maker> = new Map<string, Maker>([
  ['express', { framework: 'express' }],
  ['express.Router', { framework: 'express', kind: 'router' }],
  ['express-promise-router', { framework: 'express', kind: 'router' }],
  ['fastify', { framework: 'fastify' }],
  ['fastify.fastify', { framework: 'fastify' }],
  ['koa', { framework: 'koa', isConstructed: true }],
  ['koa-router', KOA_ROUTER],
  ['@koa/router', KOA_ROUTER],
  ['@koa/router.Router', KOA_ROUTER],
  ['koa-router.Router', KOA_ROUTER],
  ['koa-tree-router', KOA_ROUTER],
  ['koa-better-router', KOA_ROUTER],
  ['koa-joi-router', KOA_ROUTER],
  ['hono.Hono', HONO],
  ['hono/quick.Hono', HONO],
  ['hono/tiny.Hono', HONO],
  ['@hono/zod-openapi.OpenAPIHono', HONO],
  ['@nestjs/core.NestFactory.create', { framework: 'nest' }],
  ['next', { framework: 'next' }],
  ...['http', 'https', 'http2', 'node:http', 'node:https', 'node:http2'].flatMap((module) =>
    ['createServer', 'createSecureServer', 'Server'].map((name): [string, Maker] => [
      `${module}.${name}`,
      SERVER,
    ]),
  ),
])

export function makingAt(source: Source, node: Node): Making | null {
  if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return null
  const maker = MAKERS.get(qualifiedName(source, node.callee) ?? '')
  if (maker === undefined) return null
  const { framework, kind = 'application', isConstructed } = maker
  return isConstructed && node.type !== 'NewExpression' ? null : { framework, kind, source, node }
}

export function makingsIn(source: Source): Making[] {
  return source.nodes.flatMap((node) => makingAt(source, node) ?? [])
}
