/** Servers of node:http, whose listeners are put behind the guard: `createServer(service.node(…))`. */
import type { CallExpression, NewExpression, Node } from '@babel/types'
import { makingAt } from '../detection/node/makings.ts'
import type { Source } from '../syntax/parse.ts'
import { endOf, lineOf, startOf } from '../syntax/places.ts'
import { bare, referenceOf } from '../syntax/references.ts'
import { ancestorsOf, isFunction, statementAround } from '../syntax/walk.ts'
import type { Change } from './changes.ts'
import { freeNames } from './free-names.ts'
import { serviceLines } from './guard-call.ts'
import { importCode, importPlace, moduleFormOf } from './import-line.ts'
import { indentAt, lineStartWithComments } from './line-places.ts'
import { contains } from './made-applications.ts'
import type { Mounting, MountWish } from './mount-source.ts'
import { importsPackage, isAdapterCall } from './mounted-already.ts'
import { applied } from './same-tree.ts'
import { styleOf } from './style.ts'
import { upgradeChanges } from './upgrade-listeners.ts'
import { guardOf } from './wishes.ts'

interface Server {
  readonly call: CallExpression | NewExpression
  /** null: there is none, or none that is surely one. */
  readonly listener: Node | null
}

export function wrapListeners(
  source: Source,
  wish: Pick<MountWish, 'mode' | 'packageType' | 'service'>,
  lineSaid?: number,
): Mounting {
  const servers = serversIn(source)
  const [first] = servers
  if (first === undefined)
    return manual(null, 'no known way of creating a node:http server was found here')
  const open = servers.filter(
    ({ listener }) => listener === null || !isAdapterCall(source, listener),
  )
  if (open.length === 0) return { kind: 'there already' }
  const line = lineOf(source, open[0]?.call ?? first.call)
  if (importsPackage(source))
    return manual(line, 'this file already uses service-node in a different way')
  const unsure = open.find(({ listener }) => listener === null)
  if (unsure !== undefined) {
    const isMade = servers.some(({ call }) => lineOf(source, call) === lineSaid)
    const line = isMade ? null : lineOf(source, unsure.call)
    return manual(line, 'it is unclear what handles its requests')
  }
  const other = otherServer(source, servers)
  if (other !== undefined)
    return manual(lineOf(source, other), 'another server created here might listen instead')
  const changes = changesFor(source, wish, open)
  if ('problem' in changes) return manual(line, changes.problem)
  const after = applied(source, changes.list, wish.packageType)
  if ('problem' in after) return manual(line, after.problem)
  return { kind: 'edit', after: after.text, shown: [] }
}

function manual(line: number | null, problem: string): Mounting {
  return { kind: 'manual', shown: [{ line, receiver: 'server', problem }] }
}

function changesFor(
  source: Source,
  wish: Pick<MountWish, 'mode' | 'service'>,
  servers: readonly Server[],
): { readonly list: readonly Change[] } | { readonly problem: string } {
  const guard = guardOf(wish)
  const names = freeNames(source, guard)
  if (names === null) return { problem: 'all suitable variable names are in use' }
  const calls = servers.map(({ call }) => call)
  const statement = statementBefore(source, calls)
  const block = statement && source.parents.get(statement)
  const indent = statement ? indentAt(source, startOf(statement)) : null
  if (!statement || !block || indent === null) return { problem: 'there is other code on its line' }

  const style = styleOf(source)
  const code = importCode(moduleFormOf(source), style, { guard, local: names.guard })
  const place = importPlace(source, style, code, statement)
  if (typeof place === 'object' && 'problem' in place) return place
  const lines = serviceLines(style, names, wish.service)
  if (place === 'where it is used') lines.unshift(code)
  const text = lines.map((line) => `${indent}${line}${style.lineBreak}`).join('')
  const listeners = new Set(servers.map(({ listener }) => listener).filter((one) => one !== null))
  return {
    list: [
      ...(place === 'where it is used' ? [] : [place]),
      { kind: 'statements', at: lineStartWithComments(source, statement), text },
      ...[...listeners].map((listener): Change => ({
        kind: 'wrapping',
        start: startOf(listener),
        end: endOf(listener),
        callee: `${names.service}.node`,
      })),
      ...upgradeChanges(source, names.service, [
        {
          block,
          behindEnd: endOf(statement),
          isServer: (value) => calls.some((call) => contains(value, call)),
        },
      ]),
    ],
  }
}

/** The statement that holds the first, in a block that holds them all. */
function statementBefore(source: Source, calls: readonly Node[]): Node | null {
  const [first] = calls
  if (first === undefined) return null
  let statement = statementAround(source.parents, first)
  for (const around of ancestorsOf(source.parents, statement)) {
    const isBlock = around.type === 'Program' || around.type === 'BlockStatement'
    if (isBlock && calls.every((call) => contains(around, call))) return statement
    statement = around
  }
  return null
}

function serversIn(source: Source): Server[] {
  return source.nodes.flatMap((node): Server[] => {
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return []
    const reference = referenceOf(source, node.callee)
    if (reference === null && makingAt(source, node)?.framework === 'node')
      return [{ call: node, listener: listenerOf(source, node) }]
    if (reference === null || !/^(?:node:)?https?$/.test(reference.module)) return []
    const maker = node.type === 'NewExpression' ? 'Server' : 'createServer'
    if (reference.members.join('.') !== maker) return []
    return [{ call: node, listener: listenerOf(source, node) }]
  })
}

/** `require(name).createServer(…)`, `http2.createSecureServer(…)`: it would stay open. */
function otherServer(source: Source, servers: readonly Server[]): Node | undefined {
  return source.nodes.find((node) => {
    if (node.type !== 'CallExpression' || servers.some(({ call }) => call === node)) return false
    const { callee } = node
    const name = callee.type === 'MemberExpression' ? callee.property : callee
    if (name.type !== 'Identifier' || !/^create(?:Secure)?Server$/.test(name.name)) return false
    // of this file itself, where what it calls is seen
    if (callee.type === 'Identifier' && source.bindings.resolve(callee)?.kind === 'function')
      return false
    const reference = referenceOf(source, callee)
    return reference === null || !/^(?:node:)?(?:net|tls|dgram)$/.test(reference.module)
  })
}

function listenerOf(source: Source, call: CallExpression | NewExpression): Node | null {
  const [first, second, ...more] = call.arguments
  if (first === undefined) return requestListener(source, call)
  const given = second ?? first
  if (isAdapterCall(source, given)) return given
  if (second !== undefined)
    return more.length === 0 && second.type !== 'SpreadElement' ? second : null
  if (isSurelyListener(source, given)) return given
  return given.type === 'ObjectExpression' ? requestListener(source, call) : null
}

/** Not the options of a server that is told its listener later on. */
function isSurelyListener(source: Source, node: Node): boolean {
  if (isFunction(node)) return true
  if (node.type !== 'Identifier') return false
  const binding = source.bindings.resolve(node)
  if (binding === undefined) return false
  const values = binding.values.map(({ expression }) => bare(expression))
  if (values.some((value) => isFunction(value) || isConnect(source, value))) return true
  return referenceOf(source, node) !== null && requestListeners(source).length === 0
}

/** What `connect()` makes is called with each request. */
function isConnect(source: Source, value: Node): boolean {
  if (value.type !== 'CallExpression') return false
  const reference = referenceOf(source, value.callee)
  return reference?.module === 'connect' && reference.members.length === 0
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
    const isRequest = event?.type === 'StringLiteral' && event.value === 'request'
    return isRequest && listener ? [listener] : []
  })
}
