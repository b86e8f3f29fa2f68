/** All connectors of one tenant at this worker, and which of them gets the next request. */
import type { TLSSocket } from 'node:tls'
import { LIMITS } from '../../shared/limits.ts'
import { SharedUse, SharedUses } from '../wire/share.ts'
import type { Opening, UpstreamFailure, Way } from '../wire/upstream-call.ts'
import type { OpenAnswer } from './member-connections.ts'
import type { Member } from './member.ts'
import { ABSENT, BUSY, FAILURES } from './open-failures.ts'

const ASK_AGAIN_MS = 100

interface TenantConnectorsOptions {
  readonly nowMs: () => number
  /** Until a connector has reached its application. */
  readonly connectMs: number
  /** A worker that has just begun is one that connectors are on their way to. */
  readonly isBeginning: () => boolean
  /** For one that another worker has got already. */
  readonly awaitedMs: number
  /** Over another gateway. False: no other one is known. */
  readonly elsewhere: (opening: Opening, onFailed: (failure: UpstreamFailure) => void) => boolean
  /** Whether this client may have one more of the connections there. */
  readonly hasRoomElsewhere: (client: string) => boolean
  /** The same of many. */
  readonly roomElsewhere: () => (client: string) => boolean
}

export class TenantConnectors implements Way {
  readonly #options: TenantConnectorsOptions
  readonly #members = new Map<string, Member>()
  /** What is under way with the key before comes to its end. */
  readonly #replaced = new Map<string, Member>()
  /** Until there is a connection for them. */
  #waiting: Opening[] = []
  /** Needed last, by whichever of them. */
  #usedMs = -Infinity
  #isAsking = false
  #askingAgain: NodeJS.Timeout | undefined
  /** Another worker has one, and it was to be expected here until then. */
  #awaited: { readonly untilMs: number; readonly timer: NodeJS.Timeout } | undefined
  #doSiblingsHave = false

  constructor(options: TenantConnectorsOptions) {
    this.#options = options
  }

  /** All that have connections. */
  *members(): Generator<Member> {
    yield* this.#members.values()
    yield* this.#replaced.values()
  }

  /** Of each connector the one that its requests go to. */
  serving(): Iterable<Member> {
    return this.#members.values()
  }

  of(connectorId: string): Member | undefined {
    return this.#members.get(connectorId)
  }

  get size(): number {
    return this.#members.size
  }

  add(member: Member): void {
    const before = this.#members.get(member.connectorId)
    this.#members.set(member.connectorId, member)
    if (this.#options.nowMs() - this.#usedMs <= LIMITS.connectorLastSpareKeptMs) {
      member.usedMs = this.#usedMs // else it would be given back by the next look
      member.want(LIMITS.connectorSparesIdle)
    }
    this.#expect()
    if (this.#waiting.length > 0) this.#askSoon()
    if (before === undefined) return
    // With another key it is about to replace that one; else what it had before is dead.
    if (before.keyId === member.keyId) return before.end()
    this.#replaced.get(member.connectorId)?.end()
    this.#replaced.set(member.connectorId, before)
    before.drain()
  }

  remove(member: Member): void {
    for (const known of [this.#members, this.#replaced])
      if (known.get(member.connectorId) === member) known.delete(member.connectorId)
    this.#expect()
    this.judgeWaiting()
  }

  /** Who waits for somebody who does not come goes another way, or is told so. */
  judgeWaiting(): void {
    if (!this.isAbsent) return
    for (const opening of this.#waiting.splice(0)) if (opening.isWanted()) this.open(opening)
  }

  /** Nobody here takes requests. */
  get isAbsent(): boolean {
    for (const member of this.#members.values()) if (!member.isDraining) return false
    return true
  }

  /** Connectors dial every worker: what one of them has got is on its way to the others. */
  siblingsHave(doThey: boolean): void {
    this.#doSiblingsHave = doThey
    this.#expect()
    this.judgeWaiting()
  }

  #expect(): void {
    const isExpected = this.#doSiblingsHave && this.isAbsent
    if (isExpected === (this.#awaited !== undefined)) return
    clearTimeout(this.#awaited?.timer)
    this.#awaited = undefined
    if (!isExpected) return
    const { nowMs, awaitedMs } = this.#options
    const timer = setTimeout(() => this.judgeWaiting(), awaitedMs + 1).unref()
    this.#awaited = { untilMs: nowMs() + awaitedMs, timer }
  }

  get #isAwaited(): boolean {
    const { isBeginning, nowMs } = this.#options
    return isBeginning() || (this.#awaited !== undefined && nowMs() < this.#awaited.untilMs)
  }

  open(opening: Opening): void {
    if (!this.isAbsent || opening.isFromGateway === true) return this.#openHere(opening)
    const isTaken = this.#options.elsewhere(opening, (failed) => {
      // One may have come here meanwhile.
      if (failed === ABSENT) this.#openHere(opening)
      else opening.onFailed(failed)
    })
    if (!isTaken) this.#openHere(opening)
  }

  get #connectionsMax(): number {
    let sum = 0
    for (const member of this.#members.values())
      if (!member.isDraining) sum += LIMITS.connectorConnectionsMax
    return sum
  }

  isCrowded(idle: number): boolean {
    let busy = this.#waiting.length - idle
    for (const member of this.#members.values()) busy += member.inUse
    return this.isAbsent || 2 * busy >= this.#connectionsMax
  }

  hasRoomFor(client: string): boolean {
    if (this.isAbsent) return this.#options.hasRoomElsewhere(client)
    const use = new SharedUse(client)
    this.#countUse(use)
    return use.hasRoom(this.#connectionsMax)
  }

  roomNow(): (client: string) => boolean {
    if (this.isAbsent) return this.#options.roomElsewhere()
    const uses = new SharedUses()
    this.#countUse(uses)
    const most = this.#connectionsMax
    return (client) => uses.hasRoom(client, most)
  }

  #countUse(use: Pick<SharedUse, 'count'>): void {
    for (const opening of this.#waiting) use.count(opening.client)
    for (const member of this.#members.values())
      for (const inUse of member.uses()) use.count(inUse.client)
  }

  #openHere(opening: Opening): void {
    const isAwaited = this.#isAwaited && opening.isFromGateway !== true
    if (this.isAbsent && !isAwaited) return void process.nextTick(() => opening.onFailed(ABSENT))
    if (this.#begin(opening)) return
    if (this.#waiting.length >= LIMITS.upstreamWaitingMax)
      this.#waiting = this.#waiting.filter((waiting) => waiting.isWanted())
    if (this.#waiting.length >= LIMITS.upstreamWaitingMax)
      return void process.nextTick(() => opening.onFailed(BUSY))
    this.#waiting.push(opening)
    this.#askSoon()
  }

  /** A connection has come: for whoever waits for one. */
  serveWaiting(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (next.isWanted() && !this.#begin(next)) return
      this.#waiting.shift()
    }
  }

  /** One that is well, and of these the least busy. */
  #next(): Member | undefined {
    const nowMs = this.#options.nowMs()
    let best: Member | undefined
    let isBestWell = false
    for (const member of this.#members.values()) {
      if (member.isDraining || member.spares === 0) continue
      const isWell = member.isWell(nowMs)
      const isBetter =
        best === undefined || (isWell === isBestWell ? member.inUse < best.inUse : isWell)
      if (!isBetter) continue
      best = member
      isBestWell = isWell
    }
    return best
  }

  #begin(opening: Opening): boolean {
    const member = this.#next()
    if (member === undefined) return false
    const nowMs = this.#options.nowMs()
    const { connectMs } = this.#options
    member.usedMs = this.#usedMs = nowMs
    if (member.wanted < LIMITS.connectorSparesBusy) this.#askSoon()
    let isGivenUp = false
    return member.open(
      { nowMs, withinMs: connectMs, client: opening.client },
      (answer, socket) => {
        // A moment later the other one may be as slow: it is asked all the same.
        if (!isGivenUp) return this.#answered(member, opening, answer, socket)
        member.know(false, answer)
        this.open(opening)
      },
      // One that is silent is not waited for where another one could do it.
      () => (isGivenUp = this.#isOtherWell(member)),
    )
  }

  #isOtherWell(member: Member): boolean {
    const nowMs = this.#options.nowMs()
    for (const other of this.#members.values())
      if (other !== member && !other.isDraining && other.isWell(nowMs)) return true
    return false
  }

  #answered(member: Member, opening: Opening, answer: OpenAnswer, socket: TLSSocket): void {
    if (answer === 'opened') {
      member.know(true)
      const inUse = opening.onOpened(socket, (requests) => member.count(requests))
      return member.use(socket, inUse)
    }
    // Nothing was sent on it: the next one is as good, for as long as somebody waits.
    if (answer === 'lost') return opening.isWanted() ? this.open(opening) : undefined
    member.know(false, answer)
    if (this.#isOtherWell(member)) this.open(opening)
    else opening.onFailed(FAILURES[answer])
  }

  /** What comes in one turn of the event loop is one burst. */
  #askSoon(): void {
    if (this.#isAsking) return
    this.#isAsking = true
    process.nextTick(() => {
      this.#isAsking = false
      this.#askForMore()
    })
  }

  /** More ahead of demand: a few with the first request, twice as many whenever none was left. */
  #askForMore(isAgain = false): void {
    const { connectorSparesBusy, connectorSparesMax, connectorConnectionsMax } = LIMITS
    const serving = [...this.#members.values()].filter((member) => !member.isDraining)
    const waiting = Math.ceil(this.#waiting.length / serving.length)
    for (const member of serving) {
      const isShort = !isAgain && member.spares <= 1 && waiting > 0
      const twice = isShort ? 2 * member.wanted : member.wanted
      const wanted = Math.min(connectorSparesMax, Math.max(connectorSparesBusy, twice))
      const room = Math.max(0, connectorConnectionsMax - member.inUse)
      if (room < waiting) this.#retireIdle(member, waiting - room)
      member.want(Math.min(wanted, room), Math.min(waiting, room))
    }
    this.#askAgainLater()
  }

  /** What a pool keeps for later makes room for what is asked for now. */
  #retireIdle(member: Member, count: number): void {
    let left = count
    for (const inUse of [...member.uses()]) {
      if (left === 0) return
      if (!inUse.isPooled || inUse.client !== undefined) continue
      inUse.retire()
      left--
    }
  }

  /**
   * What has ended makes room, and a connector hears of that when it does: who asked too early asks
   * again for whoever still waits.
   */
  #askAgainLater(): void {
    if (this.#waiting.length === 0 || this.#askingAgain !== undefined) return
    this.#askingAgain = setTimeout(() => {
      this.#askingAgain = undefined
      this.#waiting = this.#waiting.filter((waiting) => waiting.isWanted())
      if (this.#waiting.length > 0) this.#askForMore(true)
    }, ASK_AGAIN_MS).unref()
  }

  /** What nobody has needed lately is given back, and after a while the last one, too. */
  trim(): void {
    if (this.#waiting.length > 0) return
    const nowMs = this.#options.nowMs()
    for (const member of this.#members.values()) {
      const idleMs = nowMs - member.usedMs
      if (member.isDraining || idleMs <= LIMITS.connectorSparesKeptMs) continue
      const isLast = idleMs <= LIMITS.connectorLastSpareKeptMs
      member.want(isLast ? Math.min(member.wanted, LIMITS.connectorSparesIdle) : 0)
    }
  }
}
