/** A server of node:http, whose listener is put behind the guard: `createServer(service.node(…))`. */
import type { Node } from '@babel/types'
import type { Source } from '../syntax/parse.ts'
import { endOf, lineOf, startOf } from '../syntax/places.ts'
import { bare, referenceOf } from '../syntax/references.ts'
import { isFunction, statementAround } from '../syntax/walk.ts'
import type { Change } from './changes.ts'
import { freeNames } from './free-names.ts'
import { importCode, importPlace, moduleFormOf } from './import-line.ts'
import { indentAt, lineStartWithComments } from './line-places.ts'
import { contains } from './made-applications.ts'
import type { Mounting, MountWish } from './mount-source.ts'
import { importsPackage, isWrapped } from './mounted-already.ts'
import { applied } from './same-tree.ts'
import { styleOf } from './style.ts'
import { upgradeChanges } from './upgrade-listeners.ts'
import { guardOf } from './wishes.ts'

const MODULES = /^(?:node:)?https?$/

interface Server {
  readonly call: Node & { type: 'CallExpression' }
  /** null: there is none, or none that is surely one. */
  readonly listener: Node | null
}

export function wrapListeners(
  source: Source,
  wish: Pick<MountWish, 'mode' | 'packageType'>,
): Mounting {
  const servers = serversIn(source)
  const [first] = servers
  if (first === undefined)
    return manual(1, 'no server of node:http is made here in a way that is known')
  const open = servers.filter(({ listener }) => listener === null || !isWrapped(source, listener))
  if (open.length === 0) return { kind: 'there already' }
  const [server, ...more] = open
  if (server === undefined || more.length > 0 || open.length < servers.length)
    return manual(lineOf(source, first.call), 'several servers are made here')
  const line = lineOf(source, server.call)
  if (server.listener === null) return manual(line, 'it is not sure what listens to its requests')
  if (importsPackage(source))
    return manual(line, 'service-node is used in this file already, in another way')
  const names = freeNames(source, guardOf(wish))
  if (names === null) return manual(line, 'every name that would do is taken')

  const style = styleOf(source)
  const statement = statementAround(source.parents, server.call)
  const block = source.parents.get(statement)
  const indent = indentAt(source, startOf(statement))
  if (indent === null || (block?.type !== 'Program' && block?.type !== 'BlockStatement'))
    return manual(line, 'there is more on its line')
  const code = importCode(moduleFormOf(source), style, { guard: guardOf(wish), local: names.guard })
  const place = importPlace(source, style, code, server.call)
  if (typeof place === 'object' && 'problem' in place) return manual(line, place.problem)
  const lines = [`${style.constant} ${names.service} = ${names.guard}()${style.semicolon}`]
  if (place === 'where it is used') lines.unshift(code)
  const at = lineStartWithComments(source, statement)
  const listener = server.listener
  const changes: Change[] = [
    ...(place === 'where it is used' ? [] : [place]),
    {
      kind: 'statements',
      at,
      text: lines.map((line) => `${indent}${line}${style.lineBreak}`).join(''),
    },
    {
      kind: 'wrapping',
      start: startOf(listener),
      end: endOf(listener),
      callee: `${names.service}.node`,
    },
    ...upgradeChanges(source, names.service, [
      { block, behindEnd: endOf(statement), isServer: (value) => contains(value, server.call) },
    ]),
  ]
  const after = applied(source, changes, wish.packageType)
  if ('problem' in after) return manual(line, after.problem)
  return { kind: 'edit', after: after.text, line, shown: [] }
}

function manual(line: number, problem: string): Mounting {
  return { kind: 'manual', shown: [{ line, receiver: 'server', problem }] }
}

function serversIn(source: Source): Server[] {
  return source.nodes.flatMap((node): Server[] => {
    if (node.type !== 'CallExpression') return []
    const reference = referenceOf(source, node.callee)
    if (reference === null || !MODULES.test(reference.module)) return []
    if (reference.members.join('.') !== 'createServer') return []
    return [{ call: node, listener: listenerOf(source, node) }]
  })
}

function listenerOf(source: Source, call: Node & { type: 'CallExpression' }): Node | null {
  const [first, second] = call.arguments
  if (first === undefined) return requestListener(source, call)
  const given = second ?? first
  if (isWrapped(source, given)) return given
  if (second !== undefined)
    return call.arguments.length === 2 && isExpression(second) ? second : null
  if (isSurelyListener(source, given)) return given
  return given.type === 'ObjectExpression' ? requestListener(source, call) : null
}

const isExpression = ({ type }: Node) => type !== 'SpreadElement'

/** Not the options of a server that is told its listener later on. */
function isSurelyListener(source: Source, node: Node): boolean {
  if (isFunction(node)) return true
  if (node.type !== 'Identifier') return false
  const binding = source.bindings.resolve(node)
  if (binding === undefined) return false
  if (binding.values.some(({ expression }) => isFunction(bare(expression)))) return true
  const reference = referenceOf(source, node)
  return reference !== null && requestListeners(source).length === 0
}

/** `server.on('request', listener)`, of the only server that is made here. */
function requestListener(source: Source, call: Node): Node | null {
  const [only, ...more] = requestListeners(source)
  if (only === undefined || more.length > 0) return null
  const statement = statementAround(source.parents, call)
  return startOf(only) > startOf(statement) ? only : null
}

function requestListeners(source: Source): Node[] {
  return source.nodes.flatMap((node) => {
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return []
    const { property } = node.callee
    const [event, listener] = node.arguments
    if (property.type !== 'Identifier' || !/^(?:on|addListener)$/.test(property.name)) return []
    return event?.type === 'StringLiteral' && event.value === 'request' && listener
      ? [listener]
      : []
  })
}
