/** One connector at this worker: who it is, how it stands, and the connections that it has dialled. */
import type { TLSSocket } from 'node:tls'
import { LIMITS } from '../../shared/limits.ts'
import { withoutUnseen } from '../../shared/unseen.ts'
import type { ConnectorWord, GatewayWord } from '../../shared/connector/messages.ts'
import type { InUse } from '../wire/upstream-call.ts'
import { ControlConnection, type ControlFault } from './control-connection.ts'
import type { Turns } from './turns.ts'
import { MemberConnections, type Asked, type OnAnswer } from './member-connections.ts'

interface MemberWorld {
  readonly nowMs: () => number
  readonly turns: Pick<Turns, 'add'>
}

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
type CutOff = ControlFault | 'revoked'

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
  /** Since when it is as it is: reached, not reached, or draining. */
  sinceMs: number
  usedMs = -Infinity
  readonly #control: ControlConnection
  readonly #own: MemberConnections
  readonly #nowMs: () => number
  readonly #events: MemberEvents
  #isGone = false

  constructor(
    control: TLSSocket,
    who: Pick<Member, 'tenantId' | 'connectorId' | 'keyId' | 'program'> & MemberWorld,
    events: MemberEvents,
  ) {
    this.tenantId = who.tenantId
    this.connectorId = who.connectorId
    this.keyId = who.keyId
    this.program = who.program
    this.#nowMs = who.nowMs
    this.sinceMs = who.nowMs()
    this.#events = events
    this.#own = new MemberConnections(() => events.onUnasked())
    this.#control = new ControlConnection(control, who.nowMs, who.turns, {
      onWord: (word) => this.#hear(word),
      onEnded: (fault) => this.end(fault),
    })
    this.tell({ say: 'welcome' })
    this.ping()
  }

  get spares(): number {
    return this.#own.spares
  }

  get connections(): number {
    return this.#own.size
  }

  get inUse(): number {
    return this.#own.inUse
  }

  /** Also those that are being asked for the application. */
  uses(): Iterable<InUse> {
    return this.#own.uses()
  }

  get wanted(): number {
    return this.#own.wanted
  }

  /** Requests that were answered by it. */
  get requests(): number {
    return this.#own.requests
  }

  /** What was answered on a connection whose requests are not seen here. */
  count(requests: number): void {
    this.#own.count(requests)
  }

  get unanswered(): number {
    return this.#control.unanswered
  }

  get roundTripMs(): number | null {
    return this.#control.roundTripMs
  }

  #hear(word: ConnectorWord): void {
    if (word.say === 'drain') this.drain()
    if (word.say === 'application') this.know(word.is_reached, word.reason)
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
    this.#control.ping()
  }

  tell(word: GatewayWord): void {
    this.#control.tell(word)
  }

  /** How many connections are to wait here, and for how many somebody waits. Too many are given back. */
  want(spare: number, asked = 0): void {
    if (asked > 0) this.tell({ say: 'wanted', spare, asked })
    else if (spare !== this.wanted) this.tell({ say: 'wanted', spare })
    this.#own.want(spare, asked)
  }

  addSpare(socket: TLSSocket): void {
    if (this.#isGone || !this.#own.add(socket)) return void socket.destroy()
    this.#events.onSpare()
  }

  /** Whether it answers, and reaches its application, as far as anybody knows. */
  isWell(nowMs: number): boolean {
    return this.isReached && this.#own.silentMs(nowMs) < LIMITS.connectorAnswerMsMax
  }

  /** False without a connection to do it on. */
  open(
    asked: Asked,
    onAnswer: OnAnswer,
    /** Asked once it has been silent for long: whether to give it up before its time. */
    isGivenUp: () => boolean = () => false,
  ): boolean {
    const isBegun = this.#own.open(asked, onAnswer, isGivenUp)
    if (isBegun) this.#control.expectAnswer()
    return isBegun
  }

  /** Who uses it, so that it can be asked to come to an end. */
  use(socket: TLSSocket, inUse: InUse): void {
    this.#own.use(socket, inUse)
    if (this.isDraining) inUse.retire()
  }

  /** What is under way comes to its end, and nothing else begins. */
  drain(): void {
    // Whoever says it again would have each request told again, some over a link to another gateway.
    if (this.isDraining) return
    this.sinceMs = this.#nowMs()
    this.isDraining = true
    this.want(0)
    for (const inUse of [...this.uses()]) inUse.retire()
  }

  end(cutOff?: CutOff): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#control.end()
    // It was taken away on purpose: who has a WebSocket over it hears so, and may come again. A pool
    // would ask for another connection at once, and this one is still named here.
    if (cutOff === 'revoked')
      for (const inUse of [...this.uses()]) if (!inUse.isPooled) inUse.retire()
    this.#own.end()
    this.#events.onGone(cutOff)
  }
}

/** A connector's own words, where people and databases meet them. */
const shown = (reason: string): string =>
  withoutUnseen(reason).slice(0, LIMITS.connectorReasonCharactersMax).toWellFormed()
