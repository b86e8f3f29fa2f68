/** Connections to one worker of a gateway: as many as it wants to have waiting, and those in use. */
import type { TLSSocket } from 'node:tls'
import { readLines } from '../../../../shared/connector/lines.ts'
import type { DialUse } from '../../../../shared/connector/handshake.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { backoffMs } from '../../resident/backoff.ts'

interface DataConnectionsWorld {
  /** Dialled and greeted, with what came behind the greeting. */
  readonly dial: (use: DialUse) => Promise<{ readonly socket: TLSSocket; readonly left: Buffer }>
  /** The control connection that they belong to. */
  readonly control: () => TLSSocket | undefined
  /** A request comes by it. */
  readonly onOpen: (socket: TLSSocket) => void
  readonly random: () => number
}

export class DataConnections {
  readonly #world: DataConnectionsWorld
  readonly #spares = new Set<TLSSocket>()
  /** Of a worker that goes, not asked for yet. */
  readonly #left = new Set<TLSSocket>()
  readonly #used = new Set<TLSSocket>()
  /** For how many of them a request waits. */
  readonly #dialling = { asked: 0, spare: 0 }
  /** Such a one that could not be dialled. */
  #owed = 0
  #wanted = 0
  #fillTimer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(world: DataConnectionsWorld) {
    this.#world = world
  }

  get size(): number {
    return this.#spares.size + this.#used.size
  }

  get inUse(): number {
    return this.#used.size
  }

  want(spare: number, asked?: number): void {
    this.#wanted = Math.min(spare, LIMITS.connectorConnectionsMax)
    this.#fill(asked)
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
    const room = LIMITS.connectorConnectionsMax - this.size - asked - spare
    for (let count = Math.min(missing, room); count > 0; count--) void this.#addSpare(use)
  }

  async #addSpare(use: DialUse): Promise<void> {
    const control = this.#world.control()
    this.#dialling[use]++
    try {
      const { socket, left } = await this.#world.dial(use)
      this.#dialling[use]--
      if (this.#isClosed || this.#world.control() !== control) return void socket.destroy()
      this.#spares.add(socket)
      socket.once('close', () => {
        this.#used.delete(socket)
        this.#left.delete(socket)
        if (this.#spares.delete(socket) && this.#world.control() !== undefined) this.#fillSoon()
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
    this.#world.onOpen(socket)
  }

  /** The gateway has ended them with their control connection, or hears of nothing any more. */
  drop(): void {
    this.#wanted = this.#owed = 0
    for (const socket of [...this.#spares, ...this.#used]) socket.destroy()
  }

  /** The worker goes: it may need them for what it has been asked already, and ends them then. */
  leave(): void {
    this.#wanted = 0
    for (const spare of this.#spares) this.#left.add(spare)
    this.#spares.clear()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#fillTimer)
    for (const socket of [...this.#spares, ...this.#left, ...this.#used]) socket.destroy()
  }
}

function endSpare(this: TLSSocket): void {
  this.destroy()
}
