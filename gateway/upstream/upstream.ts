/** One application: a pool of connections to its origin, and the only way to it. */
import type { Socket } from 'node:net'
import type { EdgeLimits } from '../../shared/edge-limits.ts'
import { LIMITS } from '../../shared/limits.ts'
import { failure } from '../wire/upstream-call.ts'
import type {
  ResponseSink,
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamRequest,
  UpstreamStats,
  Way,
} from '../wire/upstream-call.ts'
import { createUpstreamRuntime, type UpstreamRuntime } from './runtime.ts'
import { FairQueue } from '../wire/fair-queue.ts'
import { SharedUses, shareOf } from '../wire/share.ts'
import { PooledCall, type CallQueue } from './pooled-call.ts'
import type { UpstreamTimeouts } from './timeouts.ts'
import type { ConnectionPool } from './connection-pool.ts'
import { openByAddress, openedAs, type OpenConnection } from './open-connection.ts'
import { UpstreamConnection } from './upstream-connection.ts'

export interface UpstreamOptions {
  /** `http://127.0.0.1:9000` or `https://app.example`. */
  readonly origin: string
  readonly timeouts: UpstreamTimeouts
  readonly limits?: Partial<EdgeLimits>
  /** Shared by all upstreams of a process; made, and closed, by this one where it is missing. */
  readonly runtime?: UpstreamRuntime
  /** Further certificate authorities for an https origin, PEM. */
  readonly ca?: string
  /** Another way to the application than by the address in `origin`, which is then only a name. */
  readonly way?: Way
  /** Clients that are many people: balancers that do not say whom they speak for. */
  readonly isExempt?: (address: string) => boolean
}

export function createUpstream(options: UpstreamOptions): Upstream {
  return new PooledUpstream(options)
}

/** RFC 9110 section 9.2.2. Without a body these are sent again when a pooled connection was dead. */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

/**
 * A request that cannot be sent again gets a connection that was in use a moment ago, or a new
 * one: an origin that closes idle connections does so after seconds, not at once.
 */
const FRESH_MS = 1000

class PooledUpstream implements Upstream, CallQueue, ConnectionPool<UpstreamConnection> {
  readonly origin: string
  readonly authority: string
  readonly timeouts: UpstreamTimeouts
  readonly runtime: UpstreamRuntime
  readonly #openByAddress: OpenConnection
  readonly way: Way | undefined
  readonly #limits: EdgeLimits
  readonly #ownsRuntime: boolean
  readonly #sockets = new Set<UpstreamConnection>()
  readonly #idle: UpstreamConnection[] = []
  readonly #waiting = new FairQueue<PooledCall>()
  /** How many of them may have a connection, as was last found out in this callback. */
  #servable: number | undefined
  readonly #isExempt: (address: string) => boolean
  #connects = 0
  #openings = 0
  #retries = 0
  #isClosing = false
  #whenClosed: (() => void) | null = null

  constructor(options: UpstreamOptions) {
    const url = new URL(options.origin)
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw new TypeError(`origin: expected http:// or https://, got ${options.origin}`)
    this.origin = url.origin
    this.authority = url.host
    this.timeouts = options.timeouts
    // a copy of all limits weighs more than all else that there is of a tenant
    this.#limits = options.limits === undefined ? LIMITS : { ...LIMITS, ...options.limits }
    this.#ownsRuntime = options.runtime === undefined
    this.runtime = options.runtime ?? createUpstreamRuntime({})
    this.#openByAddress = openByAddress({ url, runtime: this.runtime, ca: options.ca })
    this.way = options.way
    this.#isExempt = options.isExempt ?? (() => false)
  }

  request(request: UpstreamRequest, sink: ResponseSink): UpstreamCall {
    const isRepeatable =
      request.bodyLength === 0 && (request.method === 'GET' || IDEMPOTENT.has(request.method))
    const call = new PooledCall(this, request, sink, isRepeatable)
    this.#start(call, false)
    return call
  }

  #start(call: PooledCall, isFresh: boolean): void {
    if (!this.#hasShare(call)) return this.#wait(call, isFresh)
    const pooled = isFresh ? undefined : this.#takeIdle(call.isRepeatable)
    if (pooled !== undefined) return pooled.begin(call)
    if (this.#isClosing)
      return call.failLater(failure('upstream_closed', 'the upstream is closing'))
    if (this.#sockets.size < this.#limits.upstreamSocketsMax && this.way === undefined)
      return this.#connect(call)
    this.#wait(call, isFresh)
    if (this.way !== undefined) this.#open(this.way)
  }

  /** As many as wait for one and may have it, unless they get another one before. */
  #open(way: Way): void {
    const most = this.#limits.upstreamSocketsMax - this.#sockets.size
    if (this.#openings >= most) return
    const wanted = Math.min(this.#countServable(), most)
    for (; this.#openings < wanted; this.#openings++)
      way.open({
        isWanted: () => this.#isOpeningWanted(),
        onOpened: (socket) => this.#opened(socket),
        onFailed: (reason) => {
          this.#openings--
          this.#failOne(reason)
        },
      })
  }

  /** Where there are too many it is one of whoever brings the most. */
  #failOne(reason: UpstreamFailure): void {
    if (reason.code !== 'upstream_busy') return this.#nextWaiting()?.fail(reason)
    const last = this.#waiting.last()
    if (last === undefined) return
    this.forgetWaiting(last)
    last.stopWaiting()
    last.fail(reason)
  }

  /** Whoever waited for it may have had another one, or have left. */
  #isOpeningWanted(): boolean {
    const waiting = this.#isCrowded ? this.#countServable() : this.#waiting.size
    if (this.#openings <= waiting) return true
    this.#openings--
    return false
  }

  /** A thousand openings are asked in one go whether they are wanted: the answer is the same for all. */
  #countServable(): number {
    if (this.#servable === undefined) queueMicrotask(() => (this.#servable = undefined))
    this.#servable ??= this.#waiting.countOfThose(this.#sharesNow())
    return this.#servable
  }

  get #isCrowded(): boolean {
    return this.way?.isCrowded(this.#idle.length) === true
  }

  #opened(socket: Socket): UpstreamConnection {
    this.#openings--
    this.#connects++
    const connection = new UpstreamConnection(this, openedAs(socket, this.runtime.readBuffer))
    connection.becomeReady()
    this.#sockets.add(connection)
    if (!this.release(connection)) connection.destroy()
    return connection
  }

  /** `isAgain`: it has had its turn, and the connection that it got was dead. */
  #wait(call: PooledCall, isAgain: boolean): void {
    const { upstreamWaitingMax, upstreamWaitingPerClientMax } = this.#limits
    const { size } = this.#waiting
    const held = this.#waiting.countOf(call.client)
    const share = shareOf(upstreamWaitingMax - (size - held), upstreamWaitingPerClientMax)
    if (size >= upstreamWaitingMax || (held >= share && this.#isOne(call)))
      return call.failLater(failure('upstream_busy', 'too many requests wait for a connection'))
    call.wait(this.timeouts.connectMs)
    if (isAgain) this.#waiting.addAgain(call)
    else this.#waiting.add(call)
    this.#servable = undefined
  }

  /** Nobody can have more than its share as long as all together have less: then nobody counts. */
  readonly #hasShare = (call: PooledCall): boolean => {
    const { upstreamSocketsMax, upstreamSocketsPerClientMax } = this.#limits
    if (this.#isCrowded && this.#isOne(call) && this.way?.hasRoomFor(call.client) === false)
      return false
    const busy = this.#sockets.size - this.#idle.length
    if (busy < upstreamSocketsPerClientMax || !this.#isOne(call)) return true
    const { client } = call
    let held = 0
    for (const connection of this.#sockets) if (connection.call?.client === client) held++
    return held < shareOf(upstreamSocketsMax - (busy - held), upstreamSocketsPerClientMax)
  }

  /** The same for all who wait, as things stand at this moment: counted once, if more than one is asked about. */
  #sharesNow(): (call: PooledCall) => boolean {
    let isFirst = true
    let hasShare: ((call: PooledCall) => boolean) | undefined
    return (call) => {
      if (!isFirst) return (hasShare ??= this.#countShares())(call)
      isFirst = false
      return this.#hasShare(call)
    }
  }

  #countShares(): (call: PooledCall) => boolean {
    const { upstreamSocketsMax, upstreamSocketsPerClientMax } = this.#limits
    const hasRoom = this.#isCrowded ? this.way?.roomNow() : undefined
    const busy = this.#sockets.size - this.#idle.length
    const isBusy = busy >= upstreamSocketsPerClientMax
    const uses = new SharedUses()
    if (isBusy) for (const { client } of this.#sockets) uses.count(client)
    return (call) => {
      if (!this.#isOne(call)) return true
      if (hasRoom?.(call.client) === false) return false
      const held = uses.heldBy(call.client)
      return (
        !isBusy || held < shareOf(upstreamSocketsMax - (busy - held), upstreamSocketsPerClientMax)
      )
    }
  }

  #isOne({ request: { client = '' } }: PooledCall): boolean {
    return client !== '' && !this.#isExempt(client)
  }

  #takeIdle(isRepeatable: boolean): UpstreamConnection | undefined {
    const newest = this.#idle.at(-1)
    if (newest === undefined) return undefined
    if (!isRepeatable && this.runtime.deadlines.nowMs - newest.idleSinceMs > FRESH_MS)
      return undefined
    return this.#idle.pop()
  }

  #connect(call: PooledCall): void {
    this.#connects++
    const connection = new UpstreamConnection(this, this.#openByAddress)
    this.#sockets.add(connection)
    connection.begin(call)
  }

  /** A pooled connection was dead before it read the request: once more, on a new one. */
  retry(call: PooledCall): void {
    this.#retries++
    this.#start(call, true)
  }

  /** A response has ended cleanly. True: the connection is kept. */
  release(connection: UpstreamConnection): boolean {
    if (this.#isClosing) return false
    const next = this.#nextWaiting()
    if (next !== undefined) {
      connection.begin(next)
      return true
    }
    this.#idle.push(connection)
    this.#servable = undefined
    // The oldest goes: it is the one that the origin is about to close, and no POST would take it.
    if (this.#idle.length > this.#limits.upstreamIdleSocketsMax) this.#idle[0]!.destroy()
    return true
  }

  /** The connection is closed, for whatever reason. */
  forget(connection: UpstreamConnection): void {
    if (!this.#sockets.delete(connection)) return
    this.#servable = undefined
    const index = this.#idle.indexOf(connection)
    if (index !== -1) this.#idle.splice(index, 1)
    this.#fillPlace()
    if (this.#isClosing && this.#sockets.size === 0) this.#whenClosed?.()
  }

  /** Whoever waits for a way goes on waiting, with its time and its turn, until there is one. */
  #fillPlace(): void {
    if (this.#waiting.size === 0) return
    if (this.way !== undefined) return this.#open(this.way)
    const next = this.#nextWaiting()
    if (next !== undefined) this.#start(next, true)
  }

  /** The call gave up waiting. */
  forgetWaiting(call: PooledCall): void {
    this.#waiting.delete(call)
    this.#servable = undefined
  }

  #nextWaiting(): PooledCall | undefined {
    if (this.#waiting.size === 0) return undefined
    const next = this.#waiting.next(this.#sharesNow())
    this.#servable = undefined
    next?.stopWaiting()
    return next
  }

  async close(): Promise<void> {
    this.#isClosing = true
    for (const call of this.#waiting.takeAll()) {
      call.stopWaiting()
      call.failLater(failure('upstream_closed', 'the upstream is closing'))
    }
    for (const connection of [...this.#idle]) connection.destroy()
    if (this.#sockets.size > 0)
      await new Promise<void>((resolve) => {
        this.#whenClosed = resolve
      })
    if (this.#ownsRuntime) this.runtime.close()
  }

  stats(): UpstreamStats {
    return {
      sockets: this.#sockets.size,
      idle: this.#idle.length,
      waiting: this.#waiting.size,
      connects: this.#connects,
      retries: this.#retries,
    }
  }
}
