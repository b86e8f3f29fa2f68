/**
 * What this worker has with a worker of another gateway: a control connection, and connections to
 * that gateway's connectors. They live as long as the first one does.
 */
import { randomBytes, type KeyObject } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { CONNECTOR_VERSIONS, signHop, type UnsignedHop } from '../../shared/connector/handshake.ts'
import { readLines } from '../../shared/connector/lines.ts'
import {
  HopWordSchema,
  readHopAnswer,
  readWord,
  type HopFailure,
  type HopGuestWord,
  type HopWord,
} from '../../shared/connector/messages.ts'
import type { FleetGateway } from '../../shared/fleet/snapshot.ts'
import { LIMITS } from '../../shared/limits.ts'
import { Spending } from '../wire/budget.ts'
import { SharedUse } from '../wire/share.ts'
import type { InUse } from '../wire/upstream-call.ts'
import { dialGateway, type Dialled } from './dial-gateway.ts'
import { HopTally } from './hop-tally.ts'

/** `lost`: that gateway could not be asked, or has not answered. */
export type HopAnswer = 'opened' | HopFailure | 'lost'
type OnAnswer = (answer: HopAnswer, socket?: TLSSocket) => InUse | undefined

interface HopLinkWorld {
  /** This gateway, and the key that the others know it by. */
  readonly gatewayId: string
  readonly key: KeyObject
  readonly nowMs: () => number
  /** It takes no further request. */
  readonly onLeft: () => void
}

/** A connection that did not come about. */
const DIALS_AGAIN = 5
const DIAL_AGAIN_MS = 20

interface Asked {
  readonly tenantId: string
  /** Who has it alone. */
  readonly client: string | undefined
  readonly withinMs: number
}

interface Hop {
  readonly tenantId: string
  readonly socket: TLSSocket
  inUse: InUse | undefined
  isAnswered: boolean
  /** Said on the other connection, perhaps before the answer was here. */
  isRetired: boolean
  /** Requests, as was told there. Whoever opens one for us counts one. */
  told: number
}

export class HopLink {
  readonly to: FleetGateway
  readonly #world: HopLinkWorld
  readonly #words: Spending
  readonly #link = randomBytes(16).toString('base64url')
  #control: TLSSocket | undefined
  /** Who has answered there, of how many; 0 until then, where any of them will do. */
  worker: number
  workers = 1
  #hops = 0
  #retires = 0
  #silence: NodeJS.Timeout | undefined
  #giveUp: () => void
  /** Until there is a control connection; then undefined. */
  #waiting: (() => void)[] | undefined = []
  /** Wanted, and not there so far. */
  #dialling = 0
  readonly #open = new Map<number, Hop>()
  /** Without an answer so far. */
  readonly #asked = new Set<Asked>()
  readonly #tally: HopTally
  #isGone = false
  isLeaving = false
  usedMs = 0

  constructor(to: FleetGateway, world: HopLinkWorld, worker?: number) {
    this.to = to
    this.worker = worker ?? 0
    this.#world = world
    this.#words = new Spending(LIMITS.hopWords, world.nowMs())
    const say = (word: HopGuestWord) => this.#say(word)
    this.#tally = new HopTally({ open: this.#open, nowMs: world.nowMs, say })
    this.#giveUp = dialGateway(to, worker, (dialled) => this.#begin(dialled))
  }

  get connections(): number {
    return this.#open.size + this.#dialling
  }

  #begin(dialled: Dialled | undefined): void {
    if (dialled === undefined) return this.end()
    const { socket, hello } = dialled
    this.#control = socket
    this.worker = hello.worker
    this.workers = hello.workers
    socket.on('close', () => this.end())
    readLines(socket, {
      bytesMax: LIMITS.connectorMessageBytesMax,
      onLine: (line) => this.#hear(line),
      onTooLong: () => this.end(),
    })
    this.#sign(dialled, { kind: 'hop_control', ...this.#who() })
    this.#listen()
  }

  #who() {
    const { gatewayId } = this.#world
    return { gateway_id: gatewayId, link: this.#link, version: CONNECTOR_VERSIONS[0] }
  }

  #sign({ socket, hello }: Dialled, hop: UnsignedHop): void {
    socket.write(`${JSON.stringify(signHop(hello, hop, socket, this.#world.key))}\n`)
  }

  /** Silent for too long: the network between us is gone without a word. */
  #listen(): void {
    clearTimeout(this.#silence)
    this.#silence = setTimeout(() => this.end(), LIMITS.connectorSilentMsMax).unref()
  }

  /** Each that was asked for may be retired, which may cross with its end; what is more is a flood. */
  #isPaid(word: HopWord | undefined): boolean {
    return word?.say === 'retire' && ++this.#retires <= this.#hops
  }

  #hear(line: string): void {
    if (this.#isGone) return
    const word = readWord(HopWordSchema, line)
    if (!this.#isPaid(word) && !this.#words.spend(this.#world.nowMs())) return this.end()
    if (word === undefined) return // a later version's, or why it ends
    this.#listen()
    switch (word.say) {
      case 'welcome': {
        const waiting = this.#waiting ?? []
        this.#waiting = undefined
        for (const begin of waiting) begin()
        return
      }
      case 'ping':
        this.#tally.tell()
        return this.#say({ say: 'pong' })
      case 'retire':
        this.#tally.tellSoon()
        return retire(this.#open.get(word.hop))
      case 'drain':
        this.isLeaving = true
        this.#world.onLeft()
        this.#tally.tellSoon()
        for (const hop of [...this.#open.values()]) retire(hop)
        return this.#endUnused()
    }
  }

  #say(word: HopGuestWord): void {
    this.#control?.write(`${JSON.stringify(word)}\n`)
  }

  #endUnused(): void {
    if (this.isLeaving && this.connections === 0) this.end()
  }

  /** Those of one tenant, and who has them. */
  countUse(tenantId: string, use: Pick<SharedUse, 'count'>): void {
    for (const asked of this.#asked) if (asked.tenantId === tenantId) use.count(asked.client)
    for (const hop of this.#open.values())
      if (hop.tenantId === tenantId) use.count(hop.inUse?.client)
  }

  /** No tenant has all: each half of what the others leave. */
  #hasRoomFor(tenantId: string): boolean {
    const { hopConnectionsMax: max } = LIMITS
    if (this.connections >= max) return false
    if (2 * this.connections < max) return true
    const use = new SharedUse(tenantId)
    for (const asked of this.#asked) use.count(asked.tenantId)
    for (const hop of this.#open.values()) if (hop.isAnswered) use.count(hop.tenantId)
    return use.hasRoom(max) || this.#retireIdle(tenantId)
  }

  /** What its pool keeps for later makes room for what it asks for now. */
  #retireIdle(tenantId: string): boolean {
    for (const hop of this.#open.values()) {
      const { inUse } = hop
      const isIdle = inUse?.isPooled === true && inUse.client === undefined && !hop.isRetired
      if (hop.tenantId !== tenantId || !isIdle) continue
      retire(hop)
      return true
    }
    return false
  }

  /** False: there is no room for another one. */
  open(asked: Asked, onAnswer: OnAnswer): boolean {
    const { tenantId, withinMs } = asked
    if (this.#isGone || this.isLeaving || !this.#hasRoomFor(tenantId)) return false
    this.#asked.add(asked)
    this.#dialling++
    let [isAnswered, isDialling, tries] = [false, true, 0]
    let giveUp: () => void = () => undefined
    const deadline = setTimeout(() => settle('lost'), withinMs)
    const settle = (answer: HopAnswer, socket?: TLSSocket): InUse | undefined => {
      if (isAnswered) return undefined
      isAnswered = true
      this.#asked.delete(asked)
      stopDialling()
      clearTimeout(deadline)
      if (answer !== 'opened') giveUp()
      const inUse = onAnswer(answer, socket)
      this.#endUnused()
      return inUse
    }
    const stopDialling = () => {
      if (isDialling) this.#dialling--
      isDialling = false
    }
    const begin = () => {
      if (this.#isGone) return void settle('lost')
      if (isAnswered) return
      giveUp = dialGateway(this.to, this.worker, (dialled) => {
        if (isAnswered) return
        if (dialled === undefined || this.#isGone) return again()
        stopDialling()
        this.#ask(dialled, tenantId, settle)
      })
    }
    // The other connection is there, so the gateway is: a crowd of these may be too much for a moment.
    const again = () => {
      if (this.#isGone || ++tries > DIALS_AGAIN) return void settle('lost')
      const timer = setTimeout(begin, DIAL_AGAIN_MS * tries)
      giveUp = () => clearTimeout(timer)
    }
    if (this.#waiting === undefined) begin()
    else this.#waiting.push(begin)
    return true
  }

  #ask(dialled: Dialled, tenantId: string, settle: OnAnswer): void {
    const { socket } = dialled
    const number = ++this.#hops
    const hop: Hop = {
      ...{ tenantId, socket, inUse: undefined },
      ...{ isAnswered: false, isRetired: false, told: 1 },
    }
    this.#open.set(number, hop)
    socket.once('close', () => {
      this.#open.delete(number)
      if (!this.#isGone) this.#tally.ended(number, hop)
      settle('lost')
      this.#endUnused()
    })
    const lines = readLines(socket, {
      bytesMax: LIMITS.connectorAnswerBytesMax,
      onLine: (line) => {
        const early = lines.stop()
        const answer = readHopAnswer(line) ?? 'lost'
        // An answer to what nobody has asked yet is none.
        if (answer !== 'opened' || early.length > 0)
          return void settle(answer === 'opened' ? 'lost' : answer, socket)
        hop.isAnswered = true
        hop.inUse = settle('opened', socket)
        if (hop.isRetired) hop.inUse?.retire()
      },
      onTooLong: () => settle('lost'),
    })
    this.#sign(dialled, { kind: 'hop', tenant_id: tenantId, hop: number, ...this.#who() })
  }

  /** What is free of these ends, and so does the rest when it is: there is a better way by now. */
  retirePooled(tenantId: string): void {
    for (const hop of [...this.#open.values()])
      if (hop.tenantId === tenantId && hop.inUse?.isPooled === true) retire(hop)
  }

  end(): void {
    if (this.#isGone) return
    this.#tally.tell()
    this.#isGone = true
    this.isLeaving = true
    clearTimeout(this.#silence)
    this.#giveUp()
    this.#control?.destroy()
    for (const { socket } of [...this.#open.values()]) socket.destroy()
    for (const begin of this.#waiting ?? []) begin()
    this.#world.onLeft()
  }
}

function retire(hop: Hop | undefined): void {
  if (hop === undefined) return
  hop.isRetired = true
  hop.inUse?.retire()
}
