/**
 * One upgrade on its way. To the wire it looks like a request to any upstream: an ordinary answer
 * goes back as such, with the filters and the back-pressure of every answer, and so do failures.
 * Only a 101 that keeps to the RFC makes a tunnel of it.
 */
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { SteadyClock } from '../../shared/clock.ts'
import type { Deadlined, Deadlines } from '../wire/deadlines.ts'
import { onlyValue } from '../wire/websocket-request.ts'
import { failure } from '../wire/upstream-call.ts'
import type {
  ResponseSink,
  UpstreamCall,
  UpstreamFailure,
  UpstreamRequest,
} from '../wire/upstream-call.ts'
import { failureOf } from '../upstream/failures.ts'
import { BODY } from '../wire/response-head.ts'
import type { UpstreamTimeouts } from '../upstream/timeouts.ts'
import { faultOfAgreement, readHead } from './accepted.ts'
import type { CarriedCalls } from './carrier.ts'

type OnUpgrade = (response: IncomingMessage, upstream: Socket, first: Buffer) => void

export interface HandshakeCalls extends CarriedCalls {
  /** It goes out on a connection that was there already. */
  onConnected(): void
  /** There is no way to the application. */
  onFailure(reason: UpstreamFailure): void
  /** Nobody waits for it any more. */
  isOver(): boolean
}

interface HandshakeWorld {
  readonly deadlines: Deadlines
  readonly clock: SteadyClock
  readonly timeouts: UpstreamTimeouts
  /** Hands the request to http-proxy-3, as soon as there is a connection for it. */
  carry(request: UpstreamRequest, calls: HandshakeCalls): void
  /** The application agrees. `lines`: what of its head goes on. */
  open(upstream: Socket, lines: string): void
  /** No tunnel will come of it. */
  onEnd(): void
}

export class Handshake implements UpstreamCall, Deadlined {
  deadlineMs = Infinity
  readonly #world: HandshakeWorld
  readonly #sink: ResponseSink
  readonly #key: string
  #request: ClientRequest | null = null
  #response: IncomingMessage | null = null
  #isConnected = false
  #isReadEndDue = false
  #isOver = false

  constructor(world: HandshakeWorld, request: UpstreamRequest, sink: ResponseSink) {
    this.#world = world
    this.#sink = sink
    this.#key = onlyValue(request.lines, 'sec-websocket-key') ?? ''
    world.deadlines.add(this)
    this.#await(world.timeouts.connectMs)
    world.carry(request, {
      onRequest: (call) => this.#watch(call),
      onCarried: () => this.#request !== null && this.#takeOver(this.#request),
      onConnected: () => this.#connected(),
      onError: (error) => this.#fail(failureOf(error, this.#isConnected)),
      onFailure: (reason) => this.#fail(reason),
      isOver: () => this.#isOver,
    })
  }

  #await(forMs: number): void {
    this.deadlineMs = this.#world.clock.steadyMs() + forMs
  }

  #watch(call: ClientRequest): void {
    this.#request = call
    call.once('socket', (socket) => {
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
        this.#connected()
      })
    })
  }

  #connected(): void {
    this.#isConnected = true
    if (!this.#isOver) this.#await(this.#world.timeouts.firstByteMs)
  }

  /**
   * http-proxy-3 would tunnel on any 101, and write an ordinary answer without waiting for a slow
   * reader: the first is let through to it when it is right, the second is ours.
   */
  #takeOver(call: ClientRequest): void {
    const carryOn = call.listeners('upgrade') as OnUpgrade[]
    call.removeAllListeners('upgrade').on('upgrade', (response, upstream: Socket, first) => {
      if (!this.#agree(response, upstream)) return void upstream.destroy()
      for (const listener of carryOn) listener(response, upstream, first)
    })
    call.removeAllListeners('response').on('response', (response) => this.#answer(response))
  }

  #agree(response: IncomingMessage, upstream: Socket): boolean {
    if (this.#isOver) return false
    const head = faultOfAgreement(response, this.#key) ?? readHead(response)
    if (typeof head === 'string') {
      this.#refuse(head)
      return false
    }
    this.#leave()
    this.#world.open(upstream, head.lines)
    return true
  }

  // An ordinary answer

  #answer(response: IncomingMessage): void {
    if (this.#isOver) return void response.resume()
    const head = readHead(response)
    if (typeof head === 'string') return this.#refuse(head)
    // To Node it is an ordinary answer; to a client it would be the start of a tunnel.
    if (head.status < 200) return this.#refuse('a 101 that names no protocol')
    // The chunks have been taken apart already; the wire makes new ones.
    if (head.framing === BODY.chunked) head.framing = BODY.untilClose
    this.#response = response
    this.#await(this.#world.timeouts.idleMs)
    response
      .on('data', (chunk: Buffer) => {
        if (this.#isOver) return
        this.#await(this.#world.timeouts.idleMs)
        if (head.framing === BODY.none) return
        this.#sink.onData(chunk, 0, chunk.length)
        this.#tellReadEnd()
      })
      .on('end', () => {
        if (this.#end()) this.#sink.onEnd('')
      })
      .on('error', () => this.#fail(CUT_SHORT))
    this.#sink.onHead(head)
  }

  /** Once a turn: over TLS each record comes by itself, and one may hold a byte. */
  #tellReadEnd(): void {
    if (this.#isReadEndDue) return
    this.#isReadEndDue = true
    setImmediate(() => {
      this.#isReadEndDue = false
      if (!this.#isOver) this.#sink.onReadEnd()
    })
  }

  // What the wire asks for; an upgrade has no body

  write(): boolean {
    return true
  }

  writeBorrowed(): boolean {
    return true
  }

  writeText(): boolean {
    return true
  }

  end(): void {
    // nothing to send
  }

  /** An application that has not answered has its deadline all the same. */
  pause(): void {
    if (this.#response === null) return
    this.deadlineMs = Infinity
    this.#response.pause()
  }

  resume(): void {
    if (this.#isOver || this.#response === null) return
    this.#await(this.#world.timeouts.idleMs)
    this.#response.resume()
  }

  abort(): void {
    this.#end()
  }

  // The end

  #leave(): void {
    this.#isOver = true
    this.deadlineMs = Infinity
    this.#world.deadlines.delete(this)
  }

  /** True where it was not over yet. */
  #end(): boolean {
    if (this.#isOver) return false
    this.#leave()
    this.#request?.destroy()
    this.#world.onEnd()
    return true
  }

  #fail(reason: UpstreamFailure): void {
    if (this.#end()) this.#sink.onError(reason)
  }

  #refuse(fault: string): void {
    this.#fail(failure('upstream_invalid', fault))
  }

  onDeadline(): void {
    this.#fail(this.#isConnected ? NO_ANSWER : NOT_REACHED)
  }
}

const CUT_SHORT = failure('upstream_reset', 'the application closed the connection early')
const NO_ANSWER = failure('upstream_timeout', 'the application did not answer in time')
const NOT_REACHED = failure(
  'upstream_connect_timeout',
  'the application could not be reached in time',
)
