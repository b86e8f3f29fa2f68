/**
 * The TLS side of the edge: takes raw sockets, finds the certificate by SNI, and hands the secure
 * socket to the wire that ALPN chose. A name that has no certificate gets no handshake: there is no
 * default certificate that could speak for somebody else's host.
 */
import type { Socket } from 'node:net'
import {
  createServer,
  type SecureContext,
  type Server as TlsServer,
  type TLSSocket,
} from 'node:tls'
import { hostOfSni } from '../../shared/hosts.ts'
import type { Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { AddressCounts } from '../wire/address-counts.ts'
import { Spending, type Budget } from '../wire/budget.ts'
import type { AbuseKind } from '../wire/protocol.ts'
import { SiteUse } from '../wire/site-use.ts'
import { countedAs, countedWidelyAs, withoutMapping } from '../../shared/client-address.ts'
import type { Proxied } from '../../shared/proxy-protocol.ts'
import { createRateLimits } from '../../shared/rate-limits.ts'
import { carriedBy } from '../../shared/connector/break-off.ts'
import { CONNECTOR_ALPN, dialledFor, type DialledFor } from '../../shared/connector/handshake.ts'
import { alpnOf } from './alpn.ts'
import { TLS_OPTIONS } from './certificates.ts'
import { awaitClientHello } from './client-hello.ts'
import { ConnectorHandshakes } from './connector-handshakes.ts'
import { HandshakeQueue, type Queued } from './handshake-queue.ts'
import { RecordWatch } from './record-watch.ts'
import type { TicketKeys } from './ticket-keys.ts'

/** Until a site whose handshakes wait has earned one. */
const EARNING_MS = 10

export interface SecureAccepted {
  readonly peerAddress: string
  readonly namesNobody: boolean
  readonly isSecure: true
  /**
   * The name that the client asked for, lower-cased. What Host says must agree with it. '' where
   * nobody knows it any more: then with the first Host.
   */
  readonly sniHost: string
}

/** Who dials in for an application that has no open port, told apart by what ALPN it names. */
export interface ConnectorDoor {
  /** Of this worker, and of how many. */
  readonly worker: number
  readonly workers: number
  readonly certificatePem: string
  readonly privateKeyPem: string
  /** `onJudged` is called when it is known who that is, or when it has left: at least once. */
  readonly accept: (
    socket: TLSSocket,
    peerAddress: string,
    onJudged: (isAdmitted: boolean) => void,
  ) => void
  /** Refused unseen, as too many wait. */
  readonly onCrowded: (peerAddress: string) => void
  /** It wants another worker. */
  readonly passOn: (
    socket: Socket,
    worker: number,
    from: { readonly peerAddress: string; readonly isKnown: boolean },
    start: Buffer,
  ) => void
}

type Found = SecureContext | undefined

export interface TlsListenerOptions {
  /** Whatever it throws ends the handshake, and nothing else. */
  readonly contextFor: (host: string, peerAddress: string) => Found | Promise<Found>
  readonly onHttp1: (socket: TLSSocket, as: SecureAccepted) => void
  readonly onHttp2: (socket: TLSSocket, as: SecureAccepted) => void
  readonly addresses: AddressCounts
  /** Addresses that are many people: balancers in front. */
  readonly isExempt?: ((address: string) => boolean) | undefined
  readonly clock: Clock
  /** From the connection to the end of its handshake. */
  readonly handshakeMs: number
  readonly handshakesPerAddress?: Budget
  readonly connectorHandshakes?: Budget
  readonly tickets: TicketKeys
  /** Without it connectors are strangers. */
  readonly connectors?: ConnectorDoor | undefined
  /** No handshake came about: `ERR_SSL_NO_SHARED_CIPHER` for a name without a certificate. */
  readonly onFailure?: (code: string) => void
  /** A connection was ended for what its client did. */
  readonly onAbuse?: ((kind: AbuseKind, peerAddress: string) => void) | undefined
}

interface Handshake extends Queued {
  readonly socket: Socket
  readonly peerAddress: string
  readonly namesNobody: boolean
  readonly deadline: NodeJS.Timeout
  /** Undefined: no connector. */
  dialled: DialledFor | undefined
}

export function createTlsListener(options: TlsListenerOptions) {
  const { addresses, tickets, clock } = options
  const { handshakesPerAddress = LIMITS.handshakesPerAddress } = options
  const { connectorHandshakes: pace = LIMITS.connectorHandshakes } = options
  const handshakes = new Map<string, Handshake>()
  /** Not begun, though their ClientHello is there. */
  const waiting = new HandshakeQueue<Handshake>()
  const connectorsWaiting = new ConnectorHandshakes<Handshake>({
    pace,
    // The other half of its time is for the handshake.
    waitingMsMax: Math.min(LIMITS.connectorHandshakeWaitMsMax, options.handshakeMs / 2),
    nowMs: clock.steadyMs(),
  })
  /** Of an address, or a network of IPv6: what it has begun by itself. */
  const begun = createRateLimits(clock)
  /** Balancers are many people, whatever else there is beside them. */
  const balancers = new SiteUse()
  const records = new RecordWatch({
    addresses,
    clock,
    onEnded: (peerAddress) => options.onAbuse?.('empty_records', peerAddress),
  })
  let isDue = false
  let earning: NodeJS.Timeout | undefined
  let ticketKeys = tickets.keys()
  let whenSettled: (() => void) | undefined

  const server = createServer(
    {
      ...TLS_OPTIONS,
      ALPNProtocols: ['h2', 'http/1.1'],
      handshakeTimeout: options.handshakeMs,
      ticketKeys,
      SNICallback(this: TLSSocket, name, done) {
        const found = contextFor(name, handshakes.get(keyOf(this))?.peerAddress ?? '')
        if (!(found instanceof Promise)) return done(null, found)
        const none = () => undefined
        void found.catch(none).then((context) => done(null, context))
      },
    },
    handOver,
  )
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    options.onFailure?.(error.code ?? 'unknown')
    socket.destroy()
  })

  const connectorServer = options.connectors && openConnectorServer(options.connectors)

  /** A server of its own: no name, one certificate, nothing older than TLS 1.3. */
  function openConnectorServer({ certificatePem, privateKeyPem }: ConnectorDoor): TlsServer {
    const opened = createServer(
      {
        cert: certificatePem,
        key: privateKeyPem,
        minVersion: 'TLSv1.3',
        ciphers: TLS_OPTIONS.ciphers,
        honorCipherOrder: true,
        ALPNProtocols: [CONNECTOR_ALPN],
        handshakeTimeout: options.handshakeMs,
      },
      handOverConnector,
    )
    opened.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
      options.onFailure?.(error.code ?? 'unknown')
      socket.destroy()
    })
    return opened
  }

  function handOverConnector(socket: TLSSocket): void {
    const key = keyOf(socket)
    const handshake = handshakes.get(key)
    if (handshake === undefined) return void socket.destroy()
    end(key, handshake)
    carriedBy(socket, handshake.socket)
    watch(socket, handshake)
    // Until it has said who it is, it holds a place of its address.
    const { peerAddress, client } = handshake
    if (!addresses.enter(peerAddress)) return void socket.destroy()
    let isJudged = false
    options.connectors!.accept(socket, peerAddress, (isAdmitted) => {
      if (isAdmitted) connectorsWaiting.know(client, countedWidelyAs(peerAddress))
      // Whoever only says to be one has cost a handshake, and is no better than a visitor that hangs up.
      else if (!isJudged && !isBalancer(peerAddress))
        addresses.siteOf(peerAddress).noteEnded(0, clock.steadyMs())
      if (!isJudged) addresses.leave(peerAddress)
      isJudged = true
    })
  }

  /** Runs inside OpenSSL: an exception would go nowhere good (CVE-2026-21637). */
  function contextFor(name: string, peerAddress: string): Found | Promise<Found> {
    const host = hostOfSni(name)
    if (host === '') return undefined
    try {
      return options.contextFor(host, peerAddress)
    } catch {
      return undefined
    }
  }

  function handOver(socket: TLSSocket): void {
    const key = keyOf(socket)
    const handshake = handshakes.get(key)
    const sniHost = hostOfSni(socket.servername)
    // OpenSSL has no name for a resumed session of TLS 1.2, which asks for no certificate either.
    const isNamed = sniHost !== '' || socket.isSessionReused()
    if (handshake === undefined || !isNamed) return void socket.destroy()
    end(key, handshake)
    watch(socket, handshake)
    const { peerAddress, namesNobody } = handshake
    const as = { peerAddress, namesNobody, isSecure: true, sniHost } as const
    if (socket.alpnProtocol === 'h2') return options.onHttp2(socket, as)
    // Only there can a client end and still wait for its answer.
    socket.allowHalfOpen = true
    options.onHttp1(socket, as)
  }

  const watch = (secure: TLSSocket, { socket, peerAddress }: Handshake): void =>
    records.add(secure, socket, peerAddress, isBalancer(peerAddress))

  function end(key: string, handshake: Handshake): void {
    if (handshakes.get(key) !== handshake) return
    handshakes.delete(key)
    clearTimeout(handshake.deadline)
    waiting.delete(handshake)
    if (handshake.dialled !== undefined) connectorsWaiting.delete(handshake)
    addresses.leave(handshake.peerAddress)
    if (handshakes.size === 0) whenSettled?.()
  }

  /** A raw socket; who it is from by the PROXY protocol, else by itself. */
  function accept(socket: Socket, proxied: Proxied = {}): void {
    const { namesNobody = false } = proxied
    const peerAddress = proxied.peerAddress ?? withoutMapping(socket.remoteAddress ?? '')
    const isHere = socket.remoteAddress !== undefined && !hasSpentAll(peerAddress)
    // In this order: who may not come in has none of its address's idle connections make room.
    if (!isHere || !addresses.enter(peerAddress)) {
      socket.on('error', ignore)
      socket.destroy()
      return
    }
    const key = keyOf(socket)
    const handshake: Handshake = {
      socket,
      peerAddress,
      namesNobody,
      client: countedAs(peerAddress),
      site: siteOf(peerAddress),
      deadline: setTimeout(() => expire(socket), options.handshakeMs),
      dialled: undefined,
    }
    // Who was reset and comes back from the same port is here before the end of its first.
    const before = handshakes.get(key)
    if (before !== undefined) end(key, before)
    handshakes.set(key, handshake)
    socket.once('close', () => end(key, handshake))
    // Who ends in the middle of a handshake has left, and holds no place until the deadline.
    socket.allowHalfOpen = false
    socket.on('error', ignore)
    awaitClientHello(socket, (isClientHello, start) => {
      if (!isClientHello) options.onFailure?.('no_client_hello')
      const isOne = isClientHello && handshakes.get(key) === handshake
      // Whatever it was, it was looked at.
      if (!mayBegin(peerAddress) || !isOne) return void socket.destroy()
      const dialled = options.connectors && dialledFor(alpnOf(start))
      const wanted = dialled?.worker
      if (wanted !== undefined && isOther(wanted)) {
        end(key, handshake)
        const from = { peerAddress, isKnown: connectorsWaiting.isKnown(handshake.client) }
        return options.connectors?.passOn(socket, wanted, from, start)
      }
      handshake.dialled = dialled
      enqueue(handshake)
    })
  }

  /** Whoever wants one that there is not is as well off here: to pass it on takes the primary's time. */
  const isOther = (wanted: number): boolean =>
    wanted !== options.connectors?.worker && wanted <= (options.connectors?.workers ?? 0)

  function enqueue(handshake: Handshake): void {
    const { dialled } = handshake
    // A request waits for it: as for a visitor's.
    if (dialled === undefined || dialled.use === 'asked') waiting.add(handshake)
    else {
      const out = connectorsWaiting.add(handshake, dialled.use === 'spare')
      if (out !== undefined) options.connectors?.onCrowded(out.peerAddress)
      out?.socket.destroy()
    }
    beginSoon()
  }

  function expire(socket: Socket): void {
    options.onFailure?.('ERR_TLS_HANDSHAKE_TIMEOUT')
    socket.destroy()
  }

  const isBalancer = (address: string) => options.isExempt?.(address) === true

  /** To ask for a handshake costs a client nothing, and us as much as thirty requests. */
  const mayBegin = (address: string): boolean =>
    isBalancer(address) ||
    begun.waitSeconds('handshake', countedAs(address), handshakesPerAddress) === undefined

  /** Known before it says anything: whoever comes again and again costs as little as may be. */
  const hasSpentAll = (address: string): boolean =>
    !isBalancer(address) &&
    (begun.left('handshake', countedAs(address), handshakesPerAddress) < 1 ||
      records.hasSpent(address))

  function siteOf(address: string): SiteUse {
    if (isBalancer(address)) return balancers
    const site = addresses.siteOf(address)
    // A site with many networks has one pace for all of them.
    if (countedWidelyAs(address) !== countedAs(address))
      site.handshakes ??= new Spending(handshakesPerAddress, clock.steadyMs())
    return site
  }

  function beginSoon(): void {
    if (isDue || waiting.size + connectorsWaiting.size === 0) return
    isDue = true
    setImmediate(beginNext)
  }

  /**
   * One in a turn of the event loop, and the addresses in rotation: whoever comes with many at once
   * has neither everybody's requests nor their handshakes wait behind all of them.
   */
  function beginNext(): void {
    isDue = false
    const nowMs = clock.steadyMs()
    const next = waiting.next(nowMs) ?? connectorsWaiting.next(nowMs)
    if (next === undefined) return beginLater()
    beginSoon()
    if (next.socket.destroyed) return
    const keys = tickets.keys()
    if (keys !== ticketKeys) server.setTicketKeys(keys)
    ticketKeys = keys
    const its = next.dialled === undefined ? server : (connectorServer ?? server)
    its.emit('connection', next.socket)
  }

  /** Those who wait have spent all that their sites may, or that connectors may. */
  function beginLater(): void {
    if (waiting.size + connectorsWaiting.size === 0 || earning !== undefined) return
    earning = setTimeout(() => {
      earning = undefined
      beginSoon()
    }, EARNING_MS).unref()
  }

  return {
    accept,
    /** Handshakes under way. */
    handshakes: () => handshakes.size,
    /** Settles when no handshake is under way; each has its deadline. */
    async settled() {
      if (handshakes.size > 0) await new Promise<void>((resolve) => (whenSettled = resolve))
    },
    close() {
      clearTimeout(earning)
      records.close()
      for (const { socket } of handshakes.values()) socket.destroy()
    },
  }
}

/** Both ends of a connection: what a raw socket and the secure one around it have in common. */
const keyOf = (socket: Socket): string =>
  `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress} ${socket.localPort}`

const ignore = (): void => undefined
