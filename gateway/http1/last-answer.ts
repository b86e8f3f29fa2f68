/** Behind the last answer of a connection: FIN, and what still comes is read and thrown away. */
import type { Socket } from 'node:net'
import { Lingering, type LingeringWorld } from '../wire/lingering.ts'
import type { AnswerStall } from './answer-stall.ts'
import type { SmallReads } from '../wire/small-reads.ts'

interface AnsweredConnection {
  readonly world: LingeringWorld
  readonly socket: Socket
  readonly stall: AnswerStall
  readonly isGone: boolean
  readonly hasEnded: boolean
  deadlineMs: number
  destroy(): void
}

export class LastAnswer {
  readonly #connection: AnsweredConnection
  readonly #socket: Socket
  readonly #small: SmallReads
  readonly #lingering: Lingering

  constructor(connection: AnsweredConnection, small: SmallReads, mayBeSending: boolean) {
    this.#connection = connection
    this.#socket = connection.socket
    this.#small = small
    this.#lingering = new Lingering(connection.world, mayBeSending)
  }

  /** The answer is written: on to its end. */
  begin(): void {
    const connection = this.#connection
    this.#socket.end()
    if (this.#socket.writableLength === 0) return this.#awaitClientEnd()
    connection.deadlineMs = Infinity
    connection.stall.watch()
    this.#socket.once('finish', this.#awaitClientEnd)
    this.readOn()
  }

  readonly #awaitClientEnd = (): void => {
    this.#connection.stall.rest()
    this.#connection.deadlineMs = this.#lingering.onAnswered()
    this.readOn()
  }

  readOn(): void {
    if (!this.#connection.hasEnded && this.mayRead) this.#socket.resume()
  }

  get mayRead(): boolean {
    return !this.#lingering.isTooLong && !this.#small.isWaiting
  }

  /** What is small is counted: who has its answer may go on for long. Returns `mayRead`. */
  discard(bytes: number): boolean {
    const connection = this.#connection
    if (!this.#lingering.discard(bytes) || !this.#small.count(bytes)) connection.destroy()
    if (connection.isGone) return false
    connection.deadlineMs = this.#lingering.deadlineMs
    const { mayRead } = this
    if (!mayRead) this.#socket.pause()
    return mayRead
  }

  onDraining(): void {
    this.#connection.deadlineMs = this.#lingering.onDraining()
  }
}
