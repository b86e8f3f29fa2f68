/**
 * Where a file mounts what `service-node` makes, and how sure it is that it then guards everything:
 * a route, a router or a path of its own is not the application.
 */
import type { Node } from '@babel/types'
import { isAdapterCall, isRequestGuard } from '../edits/mounted-already.ts'
import { keyOf } from '../syntax/bindings.ts'
import type { Source } from '../syntax/parse.ts'
import { textOf } from '../syntax/places.ts'
import { bare, referenceOf } from '../syntax/references.ts'
import { carriesApplication } from './made-here.ts'

export interface Mount {
  readonly source: Source
  /** `app.use(service.express())`, or the call that `service.node(listener)` stands in. */
  readonly call: Node
  /** What it is mounted on: `app`; null where it wraps a listener. */
  readonly receiver: Node | null
  /** Why it does not guard everything, or may not: the rest of a sentence. */
  readonly limit: { readonly isSure: boolean; readonly text: string } | null
}

export function mountsIn(source: Source): Mount[] {
  return source.nodes.flatMap((node): Mount[] => {
    if (isExportedProxy(source, node)) return [{ source, call: node, receiver: null, limit: null }]
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return []
    const at = node.arguments.findIndex((argument) => isMounted(source, argument))
    if (at === -1) return []
    return [mountOf(source, node, at)]
  })
}

function mountOf(source: Source, call: Call, at: number): Mount {
  const callee = bare(call.callee)
  if (isMakingServer(source, callee, call)) return { source, call, receiver: null, limit: null }
  const method = callee.type === 'MemberExpression' ? keyOf(callee.property) : null
  if (callee.type !== 'MemberExpression' || !/^(?:use|register)$/.test(method ?? '')) {
    const isRoute = /^(?:get|post|put|patch|delete|del|all|head|options|route)$/.test(method ?? '')
    const text = isRoute
      ? `protects only one route with it; all others stay open`
      : `hands it to ${nameOf(source, callee)}, and it is unclear what that protects`
    return { source, call, receiver: null, limit: { isSure: isRoute, text } }
  }
  const receiver = callee.object
  return { source, call, receiver, limit: limitOf(source, receiver, call.arguments.slice(0, at)) }
}

type Call = Node & { type: 'CallExpression' | 'NewExpression' }

const nameOf = (source: Source, callee: Node) => textOf(source, callee).slice(0, 80)

/** `createServer(service.node(listener))`, `server.on('request', …)`: all of its requests. */
function isMakingServer(source: Source, callee: Node, { arguments: given }: Call): boolean {
  const name = callee.type === 'MemberExpression' ? keyOf(callee.property) : null
  const event = given[0]
  if (/^(?:on|addListener)$/.test(name ?? ''))
    return event?.type === 'StringLiteral' && event.value === 'request'
  const reference = referenceOf(source, callee)
  if (reference === null) return false
  return /^(?:create(?:Secure)?Server|Server|serve)$/.test(reference.members.at(-1) ?? '')
}

function limitOf(source: Source, receiver: Node, before: readonly Node[]): Mount['limit'] {
  const name = nameOf(source, receiver)
  const carries = carriesApplication(source, receiver)
  if (carries === 'a router')
    return {
      isSure: true,
      text: `mounts it only on the router ${name}; everything else stays open`,
    }
  const [path] = before
  if (path !== undefined && !isEverywhere(path)) {
    const isPath = isWrittenPath(source, path)
    const text = isPath
      ? `mounts it below ${writtenPath(source, path)} only; all other paths stay open`
      : `mounts it behind ${nameOf(source, path)}: if that is a path, all others stay open; if it answers, it does so without a sign-in`
    return { isSure: isPath, text }
  }
  if (carries === 'not known')
    return {
      isSure: false,
      text: `mounts it on ${name}, which this file does not create, so it is unclear whether that is the whole application and nothing comes before it`,
    }
  return null
}

function isEverywhere(path: Node): boolean {
  return path.type === 'StringLiteral' && /^(?:\/?\*?|\/\*)$/.test(path.value)
}

const writtenPath = (source: Source, path: Node) =>
  path.type === 'StringLiteral' ? path.value : nameOf(source, path)

/** A text, a pattern or a list of them, by whatever name. */
function isWrittenPath(source: Source, path: Node): boolean {
  const node = bare(path)
  const named = node.type === 'Identifier' ? source.bindings.resolve(node)?.values : undefined
  return [node, ...(named ?? []).map(({ expression }) => expression)].some(({ type }) =>
    /^(?:StringLiteral|TemplateLiteral|RegExpLiteral|ArrayExpression)$/.test(type),
  )
}

/** `export const proxy = service.next(NextResponse)` in proxy.ts; up to Next.js 15 `middleware`. */
function isExportedProxy(source: Source, node: Node): boolean {
  if (!/(?:^|\/)(?:proxy|middleware)\.[cm]?[jt]s$/.test(source.path)) return false
  if (node.type !== 'VariableDeclarator' || !node.init || node.id.type !== 'Identifier')
    return false
  return /^(?:proxy|middleware)$/.test(node.id.name) && isAdapterCall(source, node.init)
}

/** `service.express()`, or a name for it. */
function isMounted(source: Source, argument: Node): boolean {
  const node = bare(argument)
  if (isRequestGuard(source, node)) return true
  const values = node.type === 'Identifier' ? source.bindings.resolve(node)?.values : undefined
  return (values ?? []).some(
    ({ expression, members }) => members.length === 0 && isRequestGuard(source, expression),
  )
}
