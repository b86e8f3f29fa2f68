/** WebSocket servers that would go past the middleware: what is there, and how it is guarded. */
import type { Node } from '@babel/types'
import type { Dependency } from '../detection/node/manifest.ts'
import type { ManualStep } from '../plan.ts'
import type { Project } from '../project/project.ts'
import { importsOf } from '../syntax/imports.ts'
import type { Source } from '../syntax/parse.ts'
import { lineOf } from '../syntax/places.ts'
import { referenceOf } from '../syntax/references.ts'
import { serviceLines } from './guard-call.ts'
import { importCode, moduleFormOf } from './import-line.ts'
import { STYLE } from './mounted.ts'
import { isAdapterCall, serviceNameIn } from './mounted-already.ts'
import { sourcesWith, type NodePackage } from './node-sources.ts'
import { reasonToLeaveOpen } from './open-on-purpose.ts'
import { upgradeListeners } from './upgrade-listeners.ts'
import { guardOf, type Wishes } from './wishes.ts'

const WHY =
  'Node.js passes WebSockets around all request handlers, so the middleware never sees them, and anyone who reaches this application could open one without signing in.'

const RAW = `const wss = new WebSocketServer({ noServer: true })
server.on('upgrade', {service}.upgrade((request, socket, head) => {
  wss.handleUpgrade(request, socket, head, (ws) => wss.emit('connection', ws, request))
}))`

const SOCKET_IO = `io.engine.use({service}.express())`

/** `engine.use` came with 4.6. */
const isOldSocketIo = ({ range }: Dependency): boolean => {
  const [, major = '', minor = '0'] = /^\s*[~^=v]*\s*(\d+)(?:\.(\d+))?/.exec(range) ?? []
  const isCaret = range.trimStart().startsWith('^')
  return major !== '' && (Number(major) < 4 || (major === '4' && Number(minor) < 6 && !isCaret))
}

interface Kind {
  readonly modules: readonly string[]
  /** What is called or constructed; none: to import it is enough. */
  readonly makers: readonly string[]
  readonly text: string
  /** `{service}` is what the middleware is called there. */
  readonly code: string
}

/** @fastify/websocket and @hono/node-ws are not among them: they go through the middleware. */
const KINDS: readonly Kind[] = [
  {
    modules: ['ws'],
    makers: ['WebSocketServer', 'Server'],
    text: 'Let this server accept WebSockets only through the guard.',
    code: RAW,
  },
  {
    modules: ['socket.io'],
    makers: ['', 'Server'],
    text: 'Also put the guard in front of Socket.IO: it answers its own requests before the application does.',
    code: SOCKET_IO,
  },
  {
    modules: [
      'express-ws',
      'koa-websocket',
      'websocket',
      'sockjs',
      'faye-websocket',
      'uWebSockets.js',
      '@nestjs/websockets',
      'graphql-ws/lib/use/ws',
    ],
    makers: [],
    text: 'This code uses WebSockets. Put their `upgrade` behind the guard.',
    code: "server.on('upgrade', {service}.upgrade((request, socket, head) => { … }))",
  },
]

interface Looked {
  readonly project: Project
  readonly folder: string
  readonly pack: NodePackage
  readonly wishes: Pick<Wishes, 'mode' | 'baseUrl' | 'tenantId'>
}

export async function websocketSteps(
  looked: Looked,
  edited: ReadonlyMap<string, Source>,
): Promise<ManualStep[]> {
  const open = await openWebsockets(looked, edited)
  return open.flatMap(({ step, reason }) => (reason === null ? [step] : []))
}

interface OpenWebsockets {
  readonly step: ManualStep
  /** Why a person leaves them open; null: nobody says so. */
  readonly reason: string | null
}

/** Of each file the first that nobody leaves open, or else all. */
export async function openWebsockets(
  { project, folder, pack, wishes }: Looked,
  /** As they are going to be, by path. */
  edited: ReadonlyMap<string, Source>,
): Promise<OpenWebsockets[]> {
  const names = KINDS.flatMap(({ modules }) => modules).map((name) => name.replaceAll('.', '\\.'))
  const pattern = new RegExp(`['"](?:${names.join('|')})['"]|['"]upgrade['"]`)
  const sources = await sourcesWith(project, folder, pack.type, pattern)
  const socketIo = pack.dependencies.get('socket.io')
  const isOld = socketIo !== undefined && isOldSocketIo(socketIo)
  return sources.flatMap((source) => {
    const now = edited.get(source.path) ?? source
    if (isGuarded(now)) return []
    const makings = KINDS.flatMap(({ text, code, ...kind }) =>
      makingsOf(source, kind).map((node) => ({ in: source, node, text, code })),
    )
    const places = (makings.length > 0 ? makings : unguardedListeners(now)).map((place) => ({
      ...place,
      reason: reasonToLeaveOpen(place.in, place.node),
    }))
    const first = places.find(({ reason }) => reason === null)
    return (first ? [first] : places).map(({ reason, node, text, code, in: where }) => {
      const update = isOld && code === SOCKET_IO ? `${UPDATE} ` : ''
      const step = {
        path: where.path,
        line: lineOf(where, node),
        text: `${update}${text} ${WHY}`,
        code: wholeCode(now, code, wishes),
      }
      return { step, reason }
    })
  })
}

const UPDATE = 'Update socket.io to 4.6 or later first: this version has no io.engine.use.'

/** With the line that makes the middleware, where the file has none yet. */
function wholeCode(source: Source, code: string, wishes: Looked['wishes']): string {
  const known = serviceNameIn(source)
  if (known !== null) return code.replaceAll('{service}', known)
  const guard = guardOf(wishes)
  const made =
    guard === 'enforce'
      ? ['// service: the one from enforce(), exported from there; there is one per process']
      : [
          importCode(moduleFormOf(source), STYLE, { guard, local: guard }),
          '',
          ...serviceLines(STYLE, { guard, service: 'service' }, wishes),
        ]
  const lines = [...made, code.replaceAll('{service}', 'service')]
  return lines.join('\n')
}

/** Every listener of `upgrade` in it is behind the guard, or Socket.IO has been given it. */
function isGuarded(source: Source): boolean {
  const listeners = upgradeListeners(source)
  if (listeners.length > 0)
    return listeners.every(({ listener }) => isAdapterCall(source, listener))
  return source.nodes.some(
    (node) =>
      node.type === 'CallExpression' &&
      node.callee.type === 'MemberExpression' &&
      node.callee.object.type === 'MemberExpression' &&
      node.callee.object.property.type === 'Identifier' &&
      node.callee.object.property.name === 'engine' &&
      node.arguments.some((argument) => isAdapterCall(source, argument)),
  )
}

function unguardedListeners(source: Source) {
  const code = RAW.slice(RAW.indexOf('server.on'))
  return upgradeListeners(source)
    .filter(({ listener }) => !isAdapterCall(source, listener))
    .map(({ call }) => ({
      in: source,
      node: call,
      text: 'Put this listener behind the guard.',
      code,
    }))
}

function makingsOf(source: Source, { modules, makers }: Pick<Kind, 'modules' | 'makers'>): Node[] {
  if (makers.length === 0)
    return importsOf(source)
      .filter(({ module, isTypeOnly }) => modules.includes(module) && !isTypeOnly)
      .map(({ node }) => node)
      .filter((node, index, all) => all.indexOf(node) === index)
  return source.nodes.filter((node) => {
    if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return false
    const reference = referenceOf(source, node.callee)
    if (reference === null || !modules.includes(reference.module)) return false
    return makers.includes(reference.members.join('.'))
  })
}
