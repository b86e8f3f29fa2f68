/**
 * What this connector has with one worker of one gateway: a control connection, opened again for as
 * long as the connector runs, and as many connections as the worker wants to have waiting.
 */
import type { TLSSocket } from 'node:tls'
import { readLines } from '../../../../shared/connector/lines.ts'
import {
  GatewayWordSchema,
  OK,
  notOpened,
  readWord,
  type ConnectorWord,
  type GatewayWord,
} from '../../../../shared/connector/messages.ts'
import type { DialUse } from '../../../../shared/connector/handshake.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { backoffMs } from '../../resident/backoff.ts'
import { dial, type Dialling, type GatewayAddress } from './dial.ts'
import { greet, type ConnectorIdentity } from './greet.ts'
import { refusalText } from './refusals.ts'
import { openApplication, type ApplicationAddress } from './splice.ts'

export interface TunnelWorld {
  readonly identity: ConnectorIdentity
  readonly application: ApplicationAddress
  readonly dialling: Dialling
  readonly random: () => number
  readonly nowMs: () => number
  /** Until the application has taken a connection. */
  readonly applicationMs: number
  readonly onEvent: (event: TunnelEvent) => void
}

export type TunnelEvent =
  | { readonly type: 'connected'; readonly gateway: string; readonly worker: number }
  | {
      readonly type: 'lost'
      readonly gateway: string
      readonly worker: number
      readonly reason: string
    }
  | { readonly type: 'refused'; readonly gateway: string; readonly reason: string }
  | { readonly type: 'opened'; readonly isReached: boolean; readonly reason?: string }
  | {
      readonly type: 'checked'
      readonly gateway: string
      readonly worker: number
      readonly isReached: boolean
      readonly reason?: string | undefined
    }

/** What the way to the application last looked like from the gateway, on this control connection. */
export interface LinkCheck {
  /** When a request would have come through; by `nowMs`. */
  readonly reachedMs: number | undefined
  /** Of the last answer, where it was another one. */
  readonly problem: string
  readonly roundTripMs: number | undefined
}

const UNCHECKED: LinkCheck = { reachedMs: undefined, problem: '', roundTripMs: undefined }
/** A gateway that answers none of them is asked no more. */
const CHECKS_WAITING_MAX = 3

export class WorkerLink {
  readonly worker: number
  readonly #to: GatewayAddress
  readonly #world: TunnelWorld
  readonly #onWorkers: (workers: number) => void
  #control: TLSSocket | undefined
  #retry: NodeJS.Timeout | undefined
  #silence: NodeJS.Timeout | undefined
  readonly #spares = new Set<TLSSocket>()
  /** Of a worker that goes, not asked for yet. */
  readonly #left = new Set<TLSSocket>()
  readonly #used = new Set<TLSSocket>()
  /** For how many of them a request waits. */
  readonly #dialling = { asked: 0, spare: 0 }
  /** Such a one that could not be dialled. */
  #owed = 0
  #wanted = 0
  #failures = 0
  #checks = 0
  /** Asked when, of those without an answer. */
  readonly #checking = new Map<number, number>()
  #isReached = true
  #looking: NodeJS.Timeout | undefined
  /** What the gateway said before it closed the connection. */
  #refusal = ''
  #isClosed = false
  /** Whoever takes its place may be connected by now. */
  #isLeaving = false
  isWelcome = false
  lastProblem = ''
  lastCheck = UNCHECKED
  /** How often it was welcomed. */
  welcomes = 0

  constructor(
    to: GatewayAddress,
    worker: number,
    world: TunnelWorld,
    onWorkers: (workers: number) => void,
  ) {
    this.#to = to
    this.worker = worker
    this.#world = world
    this.#onWorkers = onWorkers
    void this.#connect()
  }

  get connections(): number {
    return this.#spares.size + this.#used.size
  }

  get inUse(): number {
    return this.#used.size
  }

  async #connect(): Promise<void> {
    if (this.#isClosed || this.#isLeaving) return
    try {
      const socket = await this.#dial(undefined)
      const { hello, left } = await greet(socket, 'control', this.#world.identity)
      if (this.#isClosed) return void socket.destroy()
      this.#onWorkers(hello.workers)
      this.#take(socket, left)
    } catch (error) {
      this.#comeBack((error as Error).message)
    }
  }

  #dial(use: DialUse | undefined): Promise<TLSSocket> {
    return dial(this.#to, { worker: this.worker, use }, this.#world.dialling)
  }

  #comeBack(reason: string): void {
    if (this.#isClosed || this.#isLeaving || this.#retry !== undefined) return
    if (reason !== this.lastProblem || this.isWelcome)
      this.#world.onEvent({
        type: 'lost',
        gateway: this.#to.gateway_id,
        worker: this.worker,
        reason,
      })
    this.lastProblem = reason
    this.isWelcome = false
    const waitMs = backoffMs(this.#failures++, this.#world.random)
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      void this.#connect()
    }, waitMs)
  }

  #take(control: TLSSocket, left: Buffer): void {
    this.#control = control
    const lines = readLines(control, {
      bytesMax: LIMITS.connectorMessageBytesMax,
      onLine: (line) => this.#hear(control, readWord(GatewayWordSchema, line)),
      onTooLong: () => control.destroy(),
    })
    control.on('close', () => this.#lost(control))
    control.on('end', () => control.destroy())
    this.#listenOn(control)
    if (left.length > 0) control.emit('data', left)
    void lines
  }

  /** Silent for too long: the network is gone without a word. */
  #listenOn(control: TLSSocket): void {
    clearTimeout(this.#silence)
    this.#silence = setTimeout(() => control.destroy(), LIMITS.connectorSilentMsMax)
  }

  #lost(control: TLSSocket): void {
    if (this.#control !== control) return
    this.#control = undefined
    clearTimeout(this.#silence)
    this.#wanted = this.#owed = 0
    // The gateway has ended them with it, or hears of nothing any more.
    for (const socket of [...this.#spares, ...this.#used]) socket.destroy()
    this.#comeBack(this.#refusal || 'the gateway has closed the connection')
    this.#refusal = ''
  }

  #say(word: ConnectorWord): void {
    this.#control?.write(`${JSON.stringify(word)}\n`)
  }

  #hear(control: TLSSocket, word: GatewayWord | undefined): void {
    if (word?.say === 'ping') control.write(PONG)
    if (word === undefined || this.#control !== control) return // a later version's, or one that goes
    this.#listenOn(control)
    switch (word.say) {
      case 'welcome':
        this.#failures = 0
        this.isWelcome = true
        this.lastProblem = ''
        this.lastCheck = UNCHECKED
        this.#checking.clear()
        this.welcomes++
        return this.#world.onEvent({
          type: 'connected',
          gateway: this.#to.gateway_id,
          worker: this.worker,
        })
      case 'wanted':
        this.#wanted = Math.min(word.spare, LIMITS.connectorConnectionsMax)
        return this.#fill(word.asked)
      case 'ping':
        return // answered, also where the gateway's worker is about to go
      case 'checked':
        this.#noteCheck(word)
        return this.#world.onEvent({
          type: 'checked',
          gateway: this.#to.gateway_id,
          worker: this.worker,
          isReached: word.is_reached,
          reason: word.reason,
        })
      case 'drain':
        return this.#leaveDraining(control)
      case 'refused':
        this.#refusal = refusalText(word.reason)
        this.#world.onEvent({ type: 'refused', gateway: this.#to.gateway_id, reason: word.reason })
        return void control.destroy()
    }
  }

  #noteCheck({ id, is_reached, reason = 'unknown' }: Extract<GatewayWord, { say: 'checked' }>) {
    const now = this.#world.nowMs()
    const askedMs = this.#checking.get(id)
    this.#checking.delete(id)
    if (is_reached)
      this.lastCheck = {
        reachedMs: now,
        problem: '',
        roundTripMs: askedMs === undefined ? undefined : now - askedMs,
      }
    else this.lastCheck = { ...this.lastCheck, problem: reason }
  }

  /** It finishes what it has; whoever takes its place is dialled at once. */
  #leaveDraining(control: TLSSocket): void {
    this.#control = undefined
    clearTimeout(this.#silence)
    this.#wanted = 0
    // It may need them for what it has been asked already; it ends them when it goes.
    for (const spare of this.#spares) this.#left.add(spare)
    this.#spares.clear()
    control.on('error', () => undefined)
    void this.#connect()
  }

  /** For `asked` of them a request waits at the gateway: these are not behind what is ahead of demand. */
  #fill(asked = 0): void {
    this.#owed = 0
    this.#add('asked', asked - this.#dialling.asked)
    this.#add(
      'spare',
      this.#wanted - this.#spares.size - this.#dialling.asked - this.#dialling.spare,
    )
  }

  #add(use: DialUse, missing: number): void {
    const { asked, spare } = this.#dialling
    const room = LIMITS.connectorConnectionsMax - this.connections - asked - spare
    for (let count = Math.min(missing, room); count > 0; count--) void this.#addSpare(use)
  }

  async #addSpare(use: DialUse): Promise<void> {
    const control = this.#control
    this.#dialling[use]++
    try {
      const socket = await this.#dial(use)
      const { left } = await greet(socket, 'data', this.#world.identity)
      this.#dialling[use]--
      if (this.#isClosed || this.#control !== control) return void socket.destroy()
      this.#spares.add(socket)
      socket.once('close', () => {
        this.#used.delete(socket)
        this.#left.delete(socket)
        if (this.#spares.delete(socket) && this.#control !== undefined) this.#fillSoon()
      })
      const lines = readLines(socket, {
        bytesMax: LIMITS.connectorAnswerBytesMax,
        onLine: (line) => {
          const first = lines.stop()
          if (line !== 'OPEN' || first.length > 0) return void socket.destroy()
          this.#open(socket)
        },
        onTooLong: () => socket.destroy(),
      })
      socket.once('end', endSpare)
      if (left.length > 0) socket.emit('data', left)
    } catch {
      this.#dialling[use]--
      if (use === 'asked') this.#owed++
      this.#fillSoon()
    }
  }

  #fillTimer: NodeJS.Timeout | undefined
  #fillSoon(): void {
    if (this.#isClosed) return
    this.#fillTimer ??= setTimeout(
      () => {
        this.#fillTimer = undefined
        this.#fill(this.#owed)
      },
      backoffMs(2, this.#world.random),
    )
  }

  #open(socket: TLSSocket): void {
    socket.off('end', endSpare)
    this.#spares.delete(socket)
    this.#left.delete(socket)
    this.#used.add(socket)
    this.#fill()
    const { application, applicationMs, onEvent } = this.#world
    socket.pause()
    openApplication(application, applicationMs, (answer) => {
      if (typeof answer === 'string') {
        onEvent({ type: 'opened', isReached: false, reason: answer })
        this.#tellReached(false, answer)
        return void socket.end(notOpened(answer))
      }
      onEvent({ type: 'opened', isReached: true })
      this.#tellReached(true)
      if (socket.destroyed) return answer.close()
      socket.write(OK)
      answer.spliceWith(socket)
      socket.resume()
    })
  }

  /** While it is not there it is looked for, so that requests come here again once it is. */
  #tellReached(isReached: boolean, reason?: string): void {
    clearTimeout(this.#looking)
    if (isReached !== this.#isReached || !isReached)
      this.#say({
        say: 'application',
        is_reached: isReached,
        ...(reason !== undefined && { reason }),
      })
    this.#isReached = isReached
    if (isReached || this.#isClosed) return
    this.#looking = setTimeout(() => {
      const { application, applicationMs } = this.#world
      openApplication(application, applicationMs, (answer) => {
        if (typeof answer === 'string') return this.#tellReached(false, answer)
        answer.close()
        this.#tellReached(true)
      })
    }, LOOKED_FOR_MS)
  }

  /** Whether a request would reach the application; the answer is an event. */
  check(): void {
    if (this.#checking.size >= CHECKS_WAITING_MAX) return
    this.#checking.set(this.#checks + 1, this.#world.nowMs())
    this.#say({ say: 'check', id: ++this.#checks })
  }

  /** No new requests; settles when those under way have ended, or with the time. */
  async drain(withinMs: number): Promise<void> {
    this.#isLeaving = true
    this.#say({ say: 'drain' })
    const isOver = () => this.#used.size === 0
    const until = this.#world.nowMs() + withinMs
    while (!isOver() && this.#world.nowMs() < until)
      await new Promise((resolve) => setTimeout(resolve, 20))
    this.close()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#retry)
    clearTimeout(this.#silence)
    clearTimeout(this.#fillTimer)
    clearTimeout(this.#looking)
    this.#control?.destroy()
    for (const socket of [...this.#spares, ...this.#left, ...this.#used]) socket.destroy()
  }
}

const PONG = `${JSON.stringify({ say: 'pong' } satisfies ConnectorWord)}\n`
/** Until an application that was not there is tried again. */
const LOOKED_FOR_MS = 2000

function endSpare(this: TLSSocket): void {
  this.destroy()
}
