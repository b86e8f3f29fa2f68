/** Connections that one connector has dialled for requests: those that wait, and those that are used. */
import type { TLSSocket } from 'node:tls'
import { LIMITS } from '../../shared/limits.ts'
import { readLines } from '../../shared/connector/lines.ts'
import { OPEN, readOpenAnswer, type OpenFailure } from '../../shared/connector/messages.ts'
import type { InUse } from '../wire/upstream-call.ts'

/** `lost`: the connection has broken before it was opened; nothing has been sent on it. */
export type OpenAnswer = 'opened' | OpenFailure | 'lost'

export interface Asked {
  readonly nowMs: number
  readonly withinMs: number
  /** Who has it alone. */
  readonly client?: string | undefined
}

export type OnAnswer = (answer: OpenAnswer, socket: TLSSocket) => void

export class MemberConnections {
  readonly #spares: TLSSocket[] = []
  readonly #used = new Map<TLSSocket, InUse>()
  /** Asked, and without an answer so far; the oldest is the first. */
  readonly #asked = new Map<TLSSocket, number>()
  #wanted = 0
  /** Those that may come unasked for: so many it was told, when it was told last. */
  #room = 0
  /** Answered on connections that have ended since, and what other gateways have said of theirs. */
  #served = 0
  /** It has said what nobody has asked for, and that connection is gone. */
  readonly #onUnasked: () => void

  constructor(onUnasked: () => void) {
    this.#onUnasked = onUnasked
  }

  get spares(): number {
    return this.#spares.length
  }

  get size(): number {
    return this.#spares.length + this.#used.size
  }

  get inUse(): number {
    return this.#used.size
  }

  /** Also those that are being asked for the application. */
  uses(): Iterable<InUse> {
    return this.#used.values()
  }

  get wanted(): number {
    return this.#wanted
  }

  get requests(): number {
    let requests = this.#served
    for (const inUse of this.#used.values()) requests += inUse.served
    return requests
  }

  /** What was answered on a connection whose requests are not seen here. */
  count(requests: number): void {
    this.#served += requests
  }

  /** How many are to wait here, and for how many somebody waits. Too many are given back. */
  want(spare: number, asked: number): void {
    this.#wanted = spare
    this.#room = spare + asked
    while (this.#spares.length > spare) this.#spares.shift()!.destroy()
  }

  /** False where there is no room for it. */
  add(socket: TLSSocket): boolean {
    if (this.size >= LIMITS.connectorConnectionsMax || this.#room === 0) return false
    // Each holds memory: there are no more than are wanted. The oldest may be dead, unknown to us.
    while (this.spares >= this.#room) this.#spares.shift()!.destroy()
    this.#spares.push(socket)
    socket.on('close', () => this.#forget(socket))
    // Nobody has asked it: whatever it says must not become an answer.
    socket.on('data', refuseUnasked)
    return true
  }

  #forget(socket: TLSSocket): void {
    const index = this.#spares.indexOf(socket)
    if (index !== -1) this.#spares.splice(index, 1)
    this.#served += this.#used.get(socket)?.served ?? 0
    this.#used.delete(socket)
    if (socket.errored === UNASKED) this.#onUnasked()
  }

  /** For how long the one has not answered that was asked first. */
  silentMs(nowMs: number): number {
    const [oldestMs = nowMs] = this.#asked.values()
    return nowMs - oldestMs
  }

  /** False without one to do it on. */
  open(asked: Asked, onAnswer: OnAnswer, isGivenUp: () => boolean): boolean {
    const socket = this.#spares.pop()
    if (socket === undefined) return false
    this.#ask(socket, asked, onAnswer, isGivenUp)
    return true
  }

  #ask(
    socket: TLSSocket,
    { nowMs, withinMs, client }: Asked,
    onAnswer: OnAnswer,
    isGivenUp: () => boolean,
  ): void {
    this.#used.set(socket, { served: 0, isPooled: false, client, retire: () => {} })
    this.#asked.set(socket, nowMs)
    socket.off('data', refuseUnasked)
    const lost = () => settle('lost')
    const soonMs = Math.min(withinMs, LIMITS.connectorAnswerMsMax)
    let deadline = setTimeout(() => {
      if (soonMs === withinMs || isGivenUp()) return settle('timeout')
      deadline = setTimeout(() => settle('timeout'), withinMs - soonMs)
    }, soonMs)
    const lines = readLines(socket, {
      bytesMax: LIMITS.connectorAnswerBytesMax,
      onLine: (line) => settle(readOpenAnswer(line) ?? 'lost'),
      onTooLong: lost,
    })
    const asked = this.#asked
    socket.once('close', lost)
    socket.write(OPEN)

    function settle(answer: OpenAnswer): void {
      asked.delete(socket)
      clearTimeout(deadline)
      socket.off('close', lost)
      const early = lines.stop()
      // An answer to what nobody has asked yet.
      const isOpened = answer === 'opened' && early.length === 0 && !socket.destroyed
      // From here on it is for whoever uses it to say when an error is its end.
      if (isOpened) socket.off('error', ended)
      else socket.destroy(early.length > 0 ? UNASKED : undefined)
      onAnswer(isOpened ? 'opened' : answer === 'opened' ? 'lost' : answer, socket)
    }
  }

  use(socket: TLSSocket, inUse: InUse): void {
    if (this.#used.has(socket)) this.#used.set(socket, inUse)
  }

  end(): void {
    for (const socket of [...this.#spares, ...this.#used.keys()]) socket.destroy()
  }
}

/** Of a socket that nobody uses. */
export function ended(this: TLSSocket): void {
  this.destroy()
}

const UNASKED = new Error('bytes that nobody has asked for')

function refuseUnasked(this: TLSSocket): void {
  this.destroy(UNASKED)
}
