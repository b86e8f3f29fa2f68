/** A connector's control connection: its words and ours, and whether it is still there. */
import type { TLSSocket } from 'node:tls'
import { LIMITS } from '../../shared/limits.ts'
import { splitLines } from '../../shared/connector/lines.ts'
import {
  ConnectorWordSchema,
  readWord,
  type ConnectorWord,
  type GatewayWord,
} from '../../shared/connector/messages.ts'
import { readInto } from '../wire/borrowed-reads.ts'
import { Spending } from '../wire/budget.ts'
import type { Turns } from './turns.ts'

/** That it keeps to nothing. */
export type ControlFault = 'malformed' | 'reads_nothing' | 'too_many_words'

interface ControlEvents {
  onWord(word: ConnectorWord): void
  /** Undefined: it has gone by itself. */
  onEnded(fault?: ControlFault): void
}

export class ControlConnection {
  /** Pings since it has said anything. */
  unanswered = 0
  /** Of the last pings that were answered. */
  roundTripMs: number | null = null
  readonly #socket: TLSSocket
  readonly #nowMs: () => number
  readonly #events: ControlEvents
  readonly #words: Spending
  /** What it may say to pings, and of requests that it was asked for. */
  #answers = 0
  #pingedMs: number | undefined
  #isOver = false

  constructor(
    socket: TLSSocket,
    nowMs: () => number,
    turns: Pick<Turns, 'add'>,
    events: ControlEvents,
  ) {
    this.#socket = socket
    this.#nowMs = nowMs
    this.#events = events
    this.#words = new Spending(LIMITS.connectorWords, nowMs())
    this.#read()
    // Else Node would part from all that have left in one turn.
    socket.allowHalfOpen = true
    socket.once('end', () => void turns.add(() => events.onEnded()))
    socket.on('close', () => events.onEnded())
  }

  /** Thousands say next to nothing every few seconds: it lands in the same bytes each time. */
  #read(): void {
    const lines = splitLines({
      bytesMax: LIMITS.connectorMessageBytesMax,
      onLine: (line) => this.#hear(line),
      onTooLong: () => this.#events.onEnded('malformed'),
    })
    const hear = (chunk: Buffer) => (this.#isOver ? undefined : lines.hear(chunk))
    readInto(this.#socket, BUFFER, (bytes, buffer) => {
      hear(Buffer.from(buffer.subarray(0, bytes)))
      return true
    })
    // What it has said before it was welcome; and all, where Node does not lend its reads.
    this.#socket.on('data', hear)
  }

  #hear(line: string): void {
    if (this.#isOver) return // it was ended by what stood before
    const nowMs = this.#nowMs()
    if (this.#answers > 0) this.#answers--
    else if (!this.#words.spend(nowMs)) return this.#events.onEnded('too_many_words')
    const word = line === PONG ? PONG_WORD : readWord(ConnectorWordSchema, line)
    // What a later version says is passed over; what is none of its words ends it.
    if (word === undefined) return isJson(line) ? undefined : this.#events.onEnded('malformed')
    this.unanswered = 0
    if (word.say === 'pong') this.#measure(nowMs)
    this.#events.onWord(word)
  }

  #measure(nowMs: number): void {
    if (this.#pingedMs === undefined) return
    const tripMs = nowMs - this.#pingedMs
    // One that came late for reasons of ours says little of the way.
    this.roundTripMs = Math.round(((this.roundTripMs ?? tripMs) * 7 + tripMs) / 8)
    this.#pingedMs = undefined
  }

  /** An answer is waited for until the next one. */
  ping(): void {
    this.unanswered++
    this.#pingedMs ??= this.#nowMs()
    this.expectAnswer()
    this.#say(PING)
  }

  expectAnswer(): void {
    this.#answers = Math.min(this.#answers + 1, LIMITS.connectorConnectionsMax)
  }

  tell(word: GatewayWord): void {
    this.#say(`${JSON.stringify(word)}\n`)
  }

  /** Who asks and does not read has the answers kept here. */
  #say(line: string): void {
    if (this.#isOver) return
    if (this.#socket.writableLength > LIMITS.connectorUnreadBytesMax)
      return this.#events.onEnded('reads_nothing')
    this.#socket.write(line)
  }

  end(): void {
    this.#isOver = true
    this.#socket.destroy()
  }
}

/** Of one read, whoever's it is. */
const BUFFER = Buffer.allocUnsafeSlow(16 * 1024)

// Said and heard by thousands every few seconds: not written and read anew each time.
const PING = `${JSON.stringify({ say: 'ping' } satisfies GatewayWord)}\n`
const PONG_WORD: ConnectorWord = { say: 'pong' }
const PONG = JSON.stringify(PONG_WORD)

function isJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}
