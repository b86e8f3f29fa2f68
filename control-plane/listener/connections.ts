/**
 * The sockets of the public listener: who each is from, how many an address may have, and a site with
 * all of its networks, and the end of those that take an answer without reading it. A kept connection
 * that waits for its next request makes room for a new one of the same address or site, so that a
 * crowd behind one is only held to what it asks at the same time. Requests that are sent without waiting for answers are begun one
 * after the other, so a connection holds one answer, and few heads. The operating system takes a whole answer off our hands; whether it
 * was read is only known when the other end closes, so after a large one we wait for that.
 */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Logger } from 'pino'
import { countedAs, countedWidelyAs, withoutMapping } from '../../shared/client-address.ts'
import { MINUTE_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { networkList } from '../../shared/networks.ts'
import { createProxyProtocol } from '../../shared/proxy-protocol.ts'
import { createShares } from '../concurrency/shares.ts'
import { namedPeerOf, peerOf, type Peer } from './client-address.ts'
import { beyondBound } from './largest-holders.ts'
import { parseInSlices } from './parsed-in-slices.ts'

export interface ConnectionLimits {
  readonly perAddressMax: number
  /** Of all that are no balancers; one site has at most half of what the others leave. */
  readonly maxOfAll: number
  /** Of answers that wait for their reader, per address. */
  readonly unsentBytesPerAddressMax: number
  /** Over all addresses, and how often they are looked at for who holds the most of it. */
  readonly unsentBytesMax: number
  readonly unsentLookedAtMs: number
  /** Requests of one connection whose answer is not given yet. */
  readonly pipelinedMax: number
  /** Without any progress of an answer, or behind its end without the other end's. */
  readonly stalledMs: number
  /** From when an answer begins to wait for its reader to its last byte. */
  readonly unsentMs: number
  /** Of what was answered: from there on its end waits for the other one. */
  readonly lingeringBytesMin: number
}

const CONNECTION_LIMITS: ConnectionLimits = {
  perAddressMax: LIMITS.publicConnectionsPerAddressMax,
  maxOfAll: LIMITS.publicConnectionsMaxOfAll,
  unsentBytesPerAddressMax: LIMITS.unsentBytesPerAddressMax,
  unsentBytesMax: LIMITS.unsentBytesMax,
  unsentLookedAtMs: LIMITS.unsentLookedAtMs,
  pipelinedMax: LIMITS.pipelinedRequestsMax,
  stalledMs: LIMITS.answerStalledMsMax,
  unsentMs: LIMITS.answerUnsentMsMax,
  lingeringBytesMin: LIMITS.lingeringAnswerBytesMin,
}

interface ConnectionsOptions {
  readonly trustedProxies: readonly string[]
  readonly proxyProtocol: boolean
  readonly headMs: number
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
  readonly limits?: Partial<ConnectionLimits> | undefined
}

interface Connections {
  /** Who the connection is from: its other end, or what a balancer says before the first byte. */
  peerOf(socket: Socket): Peer
  /**
   * A request has come: it is worked on when those in front of it have their answers. False: there
   * are too many of them, so it gets the last answer of its connection, without any work.
   */
  begin(socket: Socket, response: ServerResponse, work: () => void): boolean
  /** Its address leaves too much unread already to be given more. */
  isHoldingTooMuch(socket: Socket): boolean
  /** The last answer has been given: what was sent behind its request has none. */
  isEnding(socket: Socket): boolean
  /** Of a connection that is ending: what is sent all the same has no answer, and soon no reader. */
  ignore(socket: Socket): void
}

interface Connection {
  readonly peer: Peer
  /** Undefined for the operator's balancers, whom no limit of one client holds. */
  readonly group: Group | undefined
  /** Answers that are not done, of requests that may have come all at once. */
  readonly responses: Set<ServerResponse>
  /** Begun when the answers in front of them are given; the first is under way and not here. */
  readonly waiting: (() => void)[]
  /** Its last answer is known: whatever else it asks, nothing follows. */
  isEnding: boolean
  ignored: number
  unsentSinceMs: number | undefined
}

/** All connections of one address. */
interface Group {
  readonly key: string
  readonly site: string
  readonly open: Set<Socket>
  readonly busy: Set<Socket>
  /** Between two requests, the longest first. */
  readonly idle: Set<Socket>
}

/** Of a site's addresses, which may be thousands, for one with a connection that gives way. */
const LOOKED_AT = 64

/** How often answers that have to be read by then are looked at. */
const SWEEPS_PER_LIMIT = 8

export function guardConnections(server: Server, options: ConnectionsOptions): Connections {
  const { trustedProxies, proxyProtocol, headMs, clock, log } = options
  const limits = { ...CONNECTION_LIMITS, ...options.limits }
  const isTrusted = networkList(trustedProxies)
  const groups = new Map<string, Group>()
  const groupsOfSites = new Map<string, Set<Group>>()
  const shares = createShares(limits.maxOfAll, { least: limits.perAddressMax })
  const connections = new WeakMap<Socket, Connection>()
  const answering = new Set<Socket>()
  let complainedMs = -Infinity
  const proxyHeaders = createProxyProtocol({
    headMs,
    onMalformed: (balancer) =>
      log.warn({ client: balancer }, 'a balancer sent no valid PROXY header'),
  })

  // Node's own listener, which makes a socket into requests, comes behind ours.
  const [serve] = server.listeners('connection') as ((this: Server, socket: Socket) => void)[]
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const named = namedPeerOf(socket)
    if (named !== undefined) return enter(socket, named)
    const address = withoutMapping(socket.remoteAddress ?? '')
    if (!proxyProtocol || !isTrusted(address)) return enter(socket, peerOf(address))
    proxyHeaders.read(socket, address, (proxied) => {
      enter(socket, peerOf(address, proxied))
      socket.resume()
    })
  })

  function enter(socket: Socket, peer: Peer) {
    const group = isTrusted(peer.address) ? undefined : groupOf(peer.address)
    if (group !== undefined && !makeRoom(group)) {
      forgetEmpty(group)
      complain(peer.address)
      socket.on('error', () => undefined)
      return void socket.destroy()
    }
    const connection: Connection = {
      peer,
      group,
      responses: new Set(),
      waiting: [],
      isEnding: false,
      ignored: 0,
      unsentSinceMs: undefined,
    }
    connections.set(socket, connection)
    endWhenRead(socket, connection)
    group?.open.add(socket)
    group?.idle.add(socket)
    socket.once('close', () => leave(socket, group))
    serve?.call(server, socket)
    parseInSlices(socket)
  }

  function groupOf(peerAddress: string): Group {
    const [key, site] = [countedAs(peerAddress), countedWidelyAs(peerAddress)]
    const known = groups.get(key)
    if (known !== undefined) return known
    const group = {
      key,
      site,
      open: new Set<Socket>(),
      busy: new Set<Socket>(),
      idle: new Set<Socket>(),
    }
    groups.set(key, group)
    groupsOfSites.getOrInsertComputed(site, () => new Set()).add(group)
    return group
  }

  /** True: one more of this address is counted. */
  function makeRoom(group: Group): boolean {
    if (group.open.size >= limits.perAddressMax && !closeIdle(group)) return false
    if (shares.take(group.site)) return true
    return closeIdle(someIdleOf(group.site)) && shares.take(group.site)
  }

  function someIdleOf(site: string): Group | undefined {
    const some = groupsOfSites.get(site)?.values().take(LOOKED_AT)
    return some?.find(({ idle }) => idle.size > 0)
  }

  /** Of those that wait the one that has waited the longest. */
  function closeIdle(group: Group | undefined): boolean {
    const [longest] = group?.idle ?? []
    if (group === undefined || longest === undefined) return false
    group.idle.delete(longest)
    uncount(longest, group) // it counts no more, though its end is yet to be told
    longest.destroy()
    return true
  }

  function uncount(socket: Socket, group: Group) {
    if (group.open.delete(socket)) shares.giveBack(group.site)
  }

  function leave(socket: Socket, group: Group | undefined) {
    answering.delete(socket)
    if (group === undefined) return
    group.idle.delete(socket)
    group.busy.delete(socket)
    uncount(socket, group)
    forgetEmpty(group)
  }

  function forgetEmpty(group: Group) {
    const { key, site, open } = group
    if (open.size > 0 || groups.get(key) !== group) return
    groups.delete(key)
    const ofSite = groupsOfSites.get(site)
    ofSite?.delete(group)
    if (ofSite?.size === 0) groupsOfSites.delete(site)
  }

  function complain(peerAddress: string) {
    if (clock.steadyMs() - complainedMs < MINUTE_MS) return
    complainedMs = clock.steadyMs()
    log.warn({ client: peerAddress }, 'an address, or its site, has as many connections as it may')
  }

  /** Of its answer, and of the heads behind it. */
  function heldBytesOf(socket: Socket): number {
    const waiting = connections.get(socket)?.waiting.length ?? 0
    return socket.writableLength + waiting * LIMITS.headBytesMax
  }

  function isTooMuch({ busy }: Group): boolean {
    let bytes = 0
    for (const socket of busy) bytes += heldBytesOf(socket)
    return bytes > limits.unsentBytesPerAddressMax
  }

  /** A site is one holder, and each connection of a balancer somebody else. */
  function shed() {
    const all = Array.from(answering, (socket) => {
      const { group } = connections.get(socket) ?? {}
      const site = group && groupsOfSites.get(group.site)
      return { holder: site ?? socket, one: socket, bytes: heldBytesOf(socket) }
    })
    beyondBound(all, limits.unsentBytesMax).forEach(cut)
  }
  const sheds = setInterval(shed, limits.unsentLookedAtMs).unref()
  server.once('close', () => clearInterval(sheds))

  /**
   * Node closes a connection right behind its last answer, and what the system still holds of that
   * answer is out of everybody's sight. So we only say that nothing follows, and wait.
   */
  function endWhenRead(socket: Socket, connection: Connection) {
    const close = socket.destroySoon.bind(socket)
    socket.destroySoon = () => {
      if (socket.readableEnded || socket.bytesWritten < limits.lingeringBytesMin) return close()
      connection.isEnding = true
      socket.end()
      socket.once('end', () => socket.destroy())
    }
  }

  // No byte went in either direction. A handler that thinks for long is waited for; a reader is not.
  server.setTimeout(limits.stalledMs, (socket: Socket) => {
    const isThinking = answering.has(socket) && socket.writableLength === 0
    if (!isThinking) cut(socket)
  })

  /** Whoever reads a byte now and then is making progress, and would hold an answer for hours. */
  function sweep() {
    const nowMs = performance.now()
    for (const socket of answering) {
      const connection = connections.get(socket)
      if (connection === undefined) continue
      if (socket.writableLength === 0) connection.unsentSinceMs = undefined
      else connection.unsentSinceMs ??= nowMs
      if (nowMs - (connection.unsentSinceMs ?? nowMs) > limits.unsentMs) cut(socket)
    }
  }
  const sweeps = setInterval(sweep, limits.unsentMs / SWEEPS_PER_LIMIT).unref()
  server.once('close', () => clearInterval(sweeps))

  return {
    peerOf: (socket) =>
      connections.get(socket)?.peer ?? peerOf(withoutMapping(socket.remoteAddress ?? '')),
    begin(socket, response, work) {
      const connection = connections.get(socket)
      if (connection === undefined) return false
      const { group, responses, waiting } = connection
      responses.add(response)
      answering.add(socket)
      group?.idle.delete(socket)
      group?.busy.add(socket)
      response.once('close', () => {
        responses.delete(response)
        if (socket.writable) waiting.shift()?.()
        if (responses.size > 0) return
        answering.delete(socket)
        connection.unsentSinceMs = undefined
        group?.busy.delete(socket)
        if (group?.open.has(socket)) group.idle.add(socket)
      })
      connection.isEnding = responses.size > limits.pipelinedMax
      if (connection.isEnding) return false
      if (responses.size > 1) waiting.push(work)
      else work()
      return true
    },
    isHoldingTooMuch(socket) {
      const group = connections.get(socket)?.group
      return group !== undefined && isTooMuch(group)
    },
    isEnding: (socket) => connections.get(socket)?.isEnding === true,
    ignore(socket) {
      const connection = connections.get(socket)
      // each of them still has its head and an answer that Node has made for it
      if (connection === undefined || ++connection.ignored > limits.pipelinedMax) cut(socket)
    },
  }
}

/** With a reset: else the system would go on offering what nobody takes, long after us. */
function cut(socket: Socket) {
  // a TLS socket has no handle of its own that could be reset
  if (socket instanceof TLSSocket) socket.destroy()
  else socket.resetAndDestroy()
}
