/**
 * WebSockets: Node hands them past every request handler. A listener of `upgrade` in the same file is
 * put behind the guard where that is surely right; all else is told (`websockets.ts`).
 */
import type { Node } from '@babel/types'
import type { Source } from '../syntax/parse.ts'
import { endOf, startOf, textOf } from '../syntax/places.ts'
import { bare } from '../syntax/references.ts'
import { isFunction } from '../syntax/walk.ts'
import type { Change } from './changes.ts'
import { compact, contains } from './made-applications.ts'
import { isAdapterCall } from './mounted-already.ts'

/** `server.on('upgrade', listener)`: the calls of a file. */
export function upgradeListeners(
  source: Source,
): { readonly call: Node; readonly listener: Node }[] {
  return source.nodes.flatMap((node) => {
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return []
    const { property } = node.callee
    const [event, listener] = node.arguments
    const isListening = property.type === 'Identifier' && /^(?:on|addListener)$/.test(property.name)
    if (!isListening || event?.type !== 'StringLiteral' || event.value !== 'upgrade') return []
    return listener && node.arguments.length === 2 ? [{ call: node, listener }] : []
  })
}

/** `declared`: behind what the service is there, and what its server is known by. */
interface InSight {
  readonly block: Node
  readonly behindEnd: number
  /** `createServer(app)`, `app.listen(…)`: the value of the server's name. */
  isServer(value: Node): boolean
}

export function upgradeChanges(
  source: Source,
  service: string,
  declared: readonly InSight[],
): Change[] {
  const listeners = upgradeListeners(source)
  const [only] = listeners
  if (only === undefined || listeners.length > 1 || isAdapterCall(source, only.listener)) return []
  const server = serverOf(source, only.call)
  const isInSight = declared.some(
    ({ block, behindEnd, isServer }) =>
      contains(block, only.call) && behindEnd < startOf(only.call) && server && isServer(server),
  )
  if (!isInSight || !isListener(source, only.listener)) return []
  const { listener } = only
  return [
    {
      kind: 'wrapping',
      start: startOf(listener),
      end: endOf(listener),
      callee: `${service}.upgrade`,
    },
  ]
}

/** What the one who listens is: the value of `server` in `server.on(…)`. */
function serverOf(source: Source, call: Node): Node | undefined {
  if (call.type !== 'CallExpression' || call.callee.type !== 'MemberExpression') return undefined
  const { object } = call.callee
  if (object.type !== 'Identifier') return undefined
  const values = source.bindings.resolve(object)?.values ?? []
  const [value] = values
  return values.length === 1 && value?.members.length === 0 ? bare(value.expression) : undefined
}

export function serves(source: Source, receiver: string, value: Node): boolean {
  if (value.type !== 'CallExpression') return false
  const { callee } = value
  const isListening =
    callee.type === 'MemberExpression' &&
    compact(textOf(source, callee)) === `${compact(receiver)}.listen`
  const isServed = value.arguments.some(
    (argument) =>
      compact(textOf(source, argument)).replace(/\.callback\(\)$/, '') === compact(receiver),
  )
  return isListening || isServed
}

/** A function as it stands, or the name of one of this file. */
function isListener(source: Source, node: Node): boolean {
  if (isFunction(node)) return true
  if (node.type !== 'Identifier') return false
  const binding = source.bindings.resolve(node)
  const [value] = binding?.values ?? []
  return binding?.values.length === 1 && value !== undefined && isFunction(value.expression)
}
