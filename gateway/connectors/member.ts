/** One connector at this worker: its control connection, what waits to be used, and what is used. */
import type { TLSSocket } from 'node:tls'
import { LIMITS } from '../../shared/limits.ts'
import { withoutUnseen } from '../../shared/unseen.ts'
import { readLines, splitLines } from '../../shared/connector/lines.ts'
import {
  ConnectorWordSchema,
  OPEN,
  readOpenAnswer,
  readWord,
  type ConnectorWord,
  type GatewayWord,
  type OpenFailure,
} from '../../shared/connector/messages.ts'
import { readInto } from '../wire/borrowed-reads.ts'
import { Spending } from '../wire/budget.ts'
import type { InUse } from '../wire/upstream-call.ts'

interface MemberEvents {
  /** A connection waits to be used. */
  onSpare(): void
  onWord(word: ConnectorWord): void
  /** It reaches its application again, or no longer. */
  onChanged(): void
  /** It has said what nobody has asked for, and that connection is gone. */
  onUnasked(): void
  /** Its control connection has ended, and with it all others. */
  onGone(cutOff: CutOff | undefined): void
}

/** What ends a connector: that it keeps to nothing, or that its tenant does not want it any more. */
type CutOff = 'malformed' | 'reads_nothing' | 'too_many_words' | 'revoked'

/** `lost`: the connection has broken before it was opened; nothing has been sent on it. */
export type OpenAnswer = 'opened' | OpenFailure | 'lost'

interface Asked {
  readonly nowMs: number
  readonly withinMs: number
  /** Who has it alone. */
  readonly client?: string | undefined
}

export class Member {
  readonly tenantId: string
  readonly connectorId: string
  readonly keyId: string
  readonly program: string
  /** The application, as far as was heard of it last. */
  isReached = true
  /** When that was last known, and why it is not reached. */
  knownMs: number | null = null
  reason: string | null = null
  lastError: { readonly reason: string; readonly atMs: number } | null = null
  /** It wants no more requests. */
  isDraining = false
  heardMs: number
  /** Pings since it has said anything: a clock that is set has no part in whether it is alive. */
  unanswered = 0
  /** Since when it is as it is: reached, not reached, or draining. */
  sinceMs: number
  /** Of the last ping that was answered. */
  roundTripMs: number | null = null
  usedMs = -Infinity
  readonly #control: TLSSocket
  readonly #nowMs: () => number
  readonly #events: MemberEvents
  readonly #spares: TLSSocket[] = []
  readonly #used = new Map<TLSSocket, InUse>()
  /** Asked, and without an answer so far; the oldest is the first. */
  readonly #asked = new Map<TLSSocket, number>()
  #wanted = 0
  /** Those that may come unasked for: so many it was told, when it was told last. */
  #room = 0
  readonly #words: Spending
  /** What it may say to pings, and of requests that it was asked for. */
  #answers = 0
  /** Answered on connections that have ended since, and what other gateways have said of theirs. */
  #served = 0
  #pingedMs: number | undefined
  #isGone = false

  constructor(
    control: TLSSocket,
    who: Pick<Member, 'tenantId' | 'connectorId' | 'keyId' | 'program'> & { nowMs: () => number },
    events: MemberEvents,
  ) {
    this.#control = control
    this.tenantId = who.tenantId
    this.connectorId = who.connectorId
    this.keyId = who.keyId
    this.program = who.program
    this.#nowMs = who.nowMs
    this.heardMs = this.sinceMs = who.nowMs()
    this.#words = new Spending(LIMITS.connectorWords, this.heardMs)
    this.#events = events
    this.#read(control)
    control.on('close', () => this.end())
    this.tell({ say: 'welcome' })
    this.ping()
  }

  get spares(): number {
    return this.#spares.length
  }

  get connections(): number {
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

  /** Requests that were answered by it. */
  get requests(): number {
    let requests = this.#served
    for (const inUse of this.#used.values()) requests += inUse.served
    return requests
  }

  /** What was answered on a connection whose requests are not seen here. */
  count(requests: number): void {
    this.#served += requests
  }

  /** Thousands say next to nothing every few seconds: it lands in the same bytes each time. */
  #read(control: TLSSocket): void {
    const lines = splitLines({
      bytesMax: LIMITS.connectorMessageBytesMax,
      onLine: (line) => this.#hear(line),
      onTooLong: () => this.end('malformed'),
    })
    const hear = (chunk: Buffer) => (this.#isGone ? undefined : lines.hear(chunk))
    const isBorrowed = readInto(control, CONTROL_BUFFER, (bytes, buffer) => {
      hear(Buffer.from(buffer.subarray(0, bytes)))
      return true
    })
    if (!isBorrowed) control.on('data', hear)
  }

  #hear(line: string): void {
    if (this.#isGone) return // it was ended by what stood before
    this.heardMs = this.#nowMs()
    if (this.#answers > 0) this.#answers--
    else if (!this.#words.spend(this.heardMs)) return this.end('too_many_words')
    const word = line === PONG ? PONG_WORD : readWord(ConnectorWordSchema, line)
    // What a later version says is passed over; what is none of its words ends it.
    if (word === undefined) return isJson(line) ? undefined : this.end('malformed')
    this.unanswered = 0
    if (word.say === 'drain') this.drain()
    if (word.say === 'application') this.know(word.is_reached, word.reason)
    if (word.say === 'pong' && this.#pingedMs !== undefined) {
      const tripMs = Math.max(0, this.heardMs - this.#pingedMs)
      // One that came late for reasons of ours says little of the way.
      this.roundTripMs = Math.round(((this.roundTripMs ?? tripMs) * 7 + tripMs) / 8)
      this.#pingedMs = undefined
    }
    this.#events.onWord(word)
  }

  /** Whether it reaches its application, as was just seen or said. */
  know(isReached: boolean, reason = 'unreachable'): void {
    const nowMs = this.#nowMs()
    this.knownMs = nowMs
    this.reason = isReached ? null : shown(reason)
    if (this.reason !== null) this.lastError = { reason: this.reason, atMs: nowMs }
    if (isReached === this.isReached) return
    this.isReached = isReached
    if (this.isDraining) return
    this.sinceMs = nowMs
    this.#events.onChanged()
  }

  /** An answer is waited for until the next one. */
  ping(): void {
    this.unanswered++
    this.#pingedMs ??= this.#nowMs()
    this.#expectAnswer()
    this.#say(PING)
  }

  #expectAnswer(): void {
    this.#answers = Math.min(this.#answers + 1, LIMITS.connectorConnectionsMax)
  }

  tell(word: GatewayWord): void {
    this.#say(`${JSON.stringify(word)}\n`)
  }

  /** Who asks and does not read has the answers kept here. */
  #say(line: string): void {
    if (this.#isGone) return
    if (this.#control.writableLength > LIMITS.connectorUnreadBytesMax)
      return this.end('reads_nothing')
    this.#control.write(line)
  }

  /** How many connections are to wait here, and for how many somebody waits. Too many are given back. */
  want(spare: number, asked = 0): void {
    if (asked > 0) this.tell({ say: 'wanted', spare, asked })
    else if (spare !== this.#wanted) this.tell({ say: 'wanted', spare })
    this.#wanted = spare
    this.#room = spare + asked
    while (this.#spares.length > spare) this.#spares.shift()!.destroy()
  }

  addSpare(socket: TLSSocket): void {
    const isFull = this.connections >= LIMITS.connectorConnectionsMax
    if (this.#isGone || isFull || this.#room === 0) return void socket.destroy()
    // Each holds memory: there are no more than are wanted. The oldest may be dead, unknown to us.
    while (this.spares >= this.#room) this.#spares.shift()!.destroy()
    this.#spares.push(socket)
    socket.on('close', () => this.#forget(socket))
    // Nobody has asked it: whatever it says must not become an answer.
    socket.on('data', refuseUnasked)
    this.#events.onSpare()
  }

  #forget(socket: TLSSocket): void {
    const index = this.#spares.indexOf(socket)
    if (index !== -1) this.#spares.splice(index, 1)
    this.#served += this.#used.get(socket)?.served ?? 0
    this.#used.delete(socket)
    if (socket.errored === UNASKED) this.#events.onUnasked()
  }

  /** Whether it answers, and reaches its application, as far as anybody knows. */
  isWell(nowMs: number): boolean {
    const [oldestMs = nowMs] = this.#asked.values()
    return this.isReached && nowMs - oldestMs < LIMITS.connectorAnswerMsMax
  }

  /** False without a connection to do it on. */
  open(
    asked: Asked,
    onAnswer: (answer: OpenAnswer, socket: TLSSocket) => void,
    /** Asked once it has been silent for long: whether to give it up before its time. */
    isGivenUp: () => boolean = () => false,
  ): boolean {
    const socket = this.#spares.pop()
    if (socket === undefined) return false
    this.#ask(socket, asked, onAnswer, isGivenUp)
    return true
  }

  #ask(
    socket: TLSSocket,
    { nowMs, withinMs, client }: Asked,
    onAnswer: (answer: OpenAnswer, socket: TLSSocket) => void,
    isGivenUp: () => boolean,
  ): void {
    this.#expectAnswer()
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

  /** Who uses it, so that it can be asked to come to an end. */
  use(socket: TLSSocket, inUse: InUse): void {
    if (this.#used.has(socket)) this.#used.set(socket, inUse)
    if (this.isDraining) inUse.retire()
  }

  /** What is under way comes to its end, and nothing else begins. */
  drain(): void {
    // Whoever says it again would have each request told again, some over a link to another gateway.
    if (this.isDraining) return
    this.sinceMs = this.#nowMs()
    this.isDraining = true
    this.want(0)
    for (const inUse of [...this.#used.values()]) inUse.retire()
  }

  end(cutOff?: CutOff): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#control.destroy()
    // It was taken away on purpose: who has a WebSocket over it hears so, and may come again. A pool
    // would ask for another connection at once, and this one is still named here.
    if (cutOff === 'revoked')
      for (const inUse of [...this.#used.values()]) if (!inUse.isPooled) inUse.retire()
    for (const socket of [...this.#spares, ...this.#used.keys()]) socket.destroy()
    this.#events.onGone(cutOff)
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

/** Of one read, whoever's it is. */
const CONTROL_BUFFER = Buffer.allocUnsafeSlow(16 * 1024)

// Said and heard by thousands every few seconds: not written and read anew each time.
const PING = `${JSON.stringify({ say: 'ping' } satisfies GatewayWord)}\n`
const PONG_WORD: ConnectorWord = { say: 'pong' }
const PONG = JSON.stringify(PONG_WORD)

/** A connector's own words, where people and databases meet them. */
const shown = (reason: string): string =>
  withoutUnseen(reason).slice(0, LIMITS.connectorReasonCharactersMax).toWellFormed()

function isJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}
