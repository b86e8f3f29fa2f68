/** Where a framework's application, or a router of one, is made: `express()`, `new Hono()`, `createServer()`. */
import type { CallExpression, Class, NewExpression, Node } from '@babel/types'
import type { Source } from '../../syntax/parse.ts'
import { keyOf } from '../../syntax/bindings.ts'
import { importsOf } from '../../syntax/imports.ts'
import { bare, qualifiedName, referenceOf } from '../../syntax/references.ts'
import { ancestorsOf } from '../../syntax/walk.ts'
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
  /** The call, the `new`, or where a class that extends one calls its constructor. */
  readonly node: Node
  /** Its routes are there as soon as it is: what is added behind it comes too late. */
  readonly isRouted: boolean
  /** A server may be given it; by itself it is none. */
  readonly isHandler: boolean
}

interface Maker {
  readonly framework: NodeFramework
  readonly kind?: 'router'
  readonly isConstructed?: boolean
  /** In an older version it is called without `new`. */
  readonly isAlsoCalled?: boolean
  readonly isRouted?: boolean
  readonly isHandler?: boolean
}

const EXPRESS: Maker = { framework: 'express' }
const SERVER: Maker = { framework: 'node' }
const HONO: Maker = { framework: 'hono', isConstructed: true }
const KOA_ROUTER: Maker = { framework: 'koa', kind: 'router' }

/** By the module and the way from there; `default` is left out of it. */
const MAKERS: ReadonlyMap<string, Maker> = new Map<string, Maker>([
  ['express', EXPRESS],
  // until its third version
  ['express.createServer', EXPRESS],
  // what it makes is handed to a server, or listens by one of its own
  ['connect', { ...SERVER, isHandler: true }],
  ['micro', { ...SERVER, isHandler: true }],
  ['routing-controllers.createExpressServer', { framework: 'express', isRouted: true }],
  ['routing-controllers.createKoaServer', { framework: 'koa', isRouted: true }],
  ['express.Router', { framework: 'express', kind: 'router' }],
  ['express-promise-router', { framework: 'express', kind: 'router' }],
  ['fastify', { framework: 'fastify' }],
  ['fastify.fastify', { framework: 'fastify' }],
  ['koa', { framework: 'koa', isConstructed: true, isAlsoCalled: true }],
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
  ['union.createServer', SERVER],
  // some let it listen by itself
  ...['createProxyServer', 'createServer', 'createProxy'].map((name): [string, Maker] => [
    `http-proxy.${name}`,
    { ...SERVER, isHandler: true },
  ]),
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
  if (isClass(node)) return extended(source, node)
  if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return null
  const maker =
    MAKERS.get(qualifiedName(source, node.callee) ?? '') ??
    given(source, node) ??
    byEither(source, node)
  if (!maker) return null
  const { framework, kind = 'application', isRouted = false, isHandler = false } = maker
  return maker.isConstructed && !maker.isAlsoCalled && node.type !== 'NewExpression'
    ? null
    : { framework, kind, source, node, isRouted, isHandler }
}

export function isClass(node: Node): node is Class {
  return node.type === 'ClassDeclaration' || node.type === 'ClassExpression'
}

/** `class Server extends Koa`: whatever is made of it is an application. */
function extended(source: Source, node: Class): Making | null {
  const name = node.superClass ? qualifiedName(source, node.superClass) : null
  const maker = MAKERS.get(name ?? '')
  if (!maker?.isConstructed || maker.kind === 'router') return null
  const { framework } = maker
  const made = source.nodes.find((one) => isSuper(one) && classAround(source, one) === node)
  return {
    framework,
    kind: 'application',
    source,
    node: made ?? node,
    isRouted: false,
    isHandler: false,
  }
}

const isSuper = (node: Node) => node.type === 'CallExpression' && node.callee.type === 'Super'

export const classAround = (source: Source, node: Node) =>
  ancestorsOf(source.parents, node).find(isClass)

/** `http2Express(express)`: a package that is given Express itself makes an application of it. */
function given(
  source: Source,
  { callee, arguments: [first, more] }: CallExpression | NewExpression,
) {
  if (!first || more || qualifiedName(source, first) !== 'express') return null
  const by = referenceOf(source, callee)
  return by?.members.length === 0 && /^[@\w]/.test(by.module) ? EXPRESS : null
}

const OF_NODE = /^(?:node:)?http[2s]?$/

/** `const web = isSecure ? https : http`, or a parameter of a file that knows no other servers. */
function byEither(source: Source, { callee }: CallExpression | NewExpression): Maker | null {
  if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return null
  if (!/^create(?:Secure)?Server$/.test(keyOf(callee.property) ?? '')) return null
  const binding = source.bindings.resolve(callee.object)
  if (binding === undefined || binding.kind === 'import') return null
  const given = binding.values.flatMap(({ expression, members }) =>
    members.length === 0 ? branchesOf(expression) : [null],
  )
  const said = given.map((one) => one && referenceOf(source, one))
  const isEither = said.some((one) => one?.members.length === 0 && OF_NODE.test(one.module))
  if (binding.kind !== 'parameter') return isEither ? SERVER : null
  const asked = new Set(importsOf(source).map(({ module }) => module))
  const isHttp = [...asked].some((module) => OF_NODE.test(module))
  const isOther = [...asked].some((module) => /^(?:node:)?(?:net|tls)$/.test(module))
  return isEither || (isHttp && !isOther) ? SERVER : null
}

function branchesOf(expression: Node): Node[] {
  const node = bare(expression)
  if (node.type === 'ConditionalExpression')
    return [node.consequent, node.alternate].flatMap(branchesOf)
  return node.type === 'LogicalExpression' ? [node.left, node.right].flatMap(branchesOf) : [node]
}

export function makingsIn(source: Source): Making[] {
  return source.nodes.flatMap((node) => makingAt(source, node) ?? [])
}
