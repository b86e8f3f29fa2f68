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
import type { ConnectionKind, DialUse } from '../../../../shared/connector/handshake.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { backoffMs } from '../../resident/backoff.ts'
import { dial, type Dialling, type GatewayAddress } from './dial.ts'
import { greet, type ConnectorIdentity } from './greet.ts'
import { DataConnections } from './data-connections.ts'
import { LinkChecks, type LinkCheck } from './link-checks.ts'
import { Reachability } from './reachability.ts'
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

export class WorkerLink {
  readonly worker: number
  readonly #to: GatewayAddress
  readonly #world: TunnelWorld
  readonly #onWorkers: (workers: number) => void
  #control: TLSSocket | undefined
  #retry: NodeJS.Timeout | undefined
  #silence: NodeJS.Timeout | undefined
  readonly #connections: DataConnections
  readonly #checks = new LinkChecks()
  readonly #reachability: Reachability
  #failures = 0
  /** What the gateway said before it closed the connection. */
  #refusal = ''
  #isClosed = false
  /** Whoever takes its place may be connected by now. */
  #isLeaving = false
  isWelcome = false
  lastProblem = ''
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
    this.#connections = new DataConnections({
      dial: (use) => this.#dial(use, 'data'),
      control: () => this.#control,
      onOpen: (socket) => this.#openApplication(socket),
      random: world.random,
    })
    this.#reachability = new Reachability(world, (is_reached, reason) =>
      this.#say({ say: 'application', is_reached, ...(reason !== undefined && { reason }) }),
    )
    void this.#connect()
  }

  get connections(): number {
    return this.#connections.size
  }

  get inUse(): number {
    return this.#connections.inUse
  }

  get lastCheck(): LinkCheck {
    return this.#checks.last
  }

  async #connect(): Promise<void> {
    if (this.#isClosed || this.#isLeaving) return
    try {
      const { socket, hello, left } = await this.#dial(undefined, 'control')
      if (this.#isClosed) return void socket.destroy()
      this.#onWorkers(hello.workers)
      this.#take(socket, left)
    } catch (error) {
      this.#comeBack((error as Error).message)
    }
  }

  async #dial(use: DialUse | undefined, kind: ConnectionKind) {
    const socket = await dial(this.#to, { worker: this.worker, use }, this.#world.dialling)
    return { socket, ...(await greet(socket, kind, this.#world.identity)) }
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
    this.#connections.drop()
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
        this.#checks.forget()
        this.welcomes++
        return this.#world.onEvent({
          type: 'connected',
          gateway: this.#to.gateway_id,
          worker: this.worker,
        })
      case 'wanted':
        return this.#connections.want(word.spare, word.asked)
      case 'ping':
        return // answered, also where the gateway's worker is about to go
      case 'checked':
        this.#checks.note(word, this.#world.nowMs())
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

  /** It finishes what it has; whoever takes its place is dialled at once. */
  #leaveDraining(control: TLSSocket): void {
    this.#control = undefined
    clearTimeout(this.#silence)
    this.#connections.leave()
    control.on('error', () => undefined)
    void this.#connect()
  }

  #openApplication(socket: TLSSocket): void {
    const { application, applicationMs, onEvent } = this.#world
    socket.pause()
    openApplication(application, applicationMs, (answer) => {
      if (typeof answer === 'string') {
        onEvent({ type: 'opened', isReached: false, reason: answer })
        this.#reachability.note(false, answer)
        return void socket.end(notOpened(answer))
      }
      onEvent({ type: 'opened', isReached: true })
      this.#reachability.note(true)
      if (socket.destroyed) return answer.close()
      socket.write(OK)
      answer.spliceWith(socket)
      socket.resume()
    })
  }

  /** Whether a request would reach the application; the answer is an event. */
  check(): void {
    const word = this.#checks.ask(this.#world.nowMs())
    if (word !== undefined) this.#say(word)
  }

  /** No new requests; settles when those under way have ended, or with the time. */
  async drain(withinMs: number): Promise<void> {
    this.#isLeaving = true
    this.#say({ say: 'drain' })
    const isOver = () => this.inUse === 0
    const until = this.#world.nowMs() + withinMs
    while (!isOver() && this.#world.nowMs() < until)
      await new Promise((resolve) => setTimeout(resolve, 20))
    this.close()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#retry)
    clearTimeout(this.#silence)
    this.#reachability.close()
    this.#control?.destroy()
    this.#connections.close()
  }
}

const PONG = `${JSON.stringify({ say: 'pong' } satisfies ConnectorWord)}\n`
