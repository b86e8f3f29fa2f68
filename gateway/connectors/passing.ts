/**
 * A connector wants connections to each worker, and the kernel gives them to any. Whoever has the
 * wrong one passes it on by way of the primary, with the ClientHello that it has read already.
 */
import type { Worker } from 'node:cluster'
import { Socket } from 'node:net'
import type { Logger } from 'pino'
import { countedWidelyAs } from '../../shared/client-address.ts'
import { LIMITS } from '../../shared/limits.ts'
import { FairQueue } from '../wire/fair-queue.ts'

/** Made by a worker, read by the primary and by the worker that is meant. */
interface Passed {
  readonly channel: 'connector'
  /** The slot of the worker that it is for. */
  readonly worker: number
  readonly peerAddress: string
  /** A connector has proven to come from there, to the worker that passes it on. */
  readonly isKnown: boolean
  /** What has been read of it, in base64. */
  readonly start: string
}

const isPassed = (message: unknown): message is Passed =>
  (message as { channel?: unknown } | null)?.channel === 'connector'

interface Waiting {
  readonly socket: Socket
  readonly message: Passed
  readonly client: string
}

/** Of places where all are taken, and of turns: one of so many is a stranger's. */
const STRANGERS = 4

type OnSent = (error: Error | null) => void

/**
 * Whatever is said to the other process waits behind a socket that is handed over, until that process
 * has it; a revocation may not wait long, and anybody can say to want another worker. So one socket goes
 * at a time, a few wait here, and of too many it is one of whoever has brought the most. Strangers have
 * one place and one turn of four, as with handshakes: a crowd of sites that each bring one is out of the
 * way of connectors that were here before.
 */
class Handover {
  readonly #known = new FairQueue<Waiting>()
  readonly #strangers = new FairQueue<Waiting>()
  #turns = 0
  readonly #send: (waiting: Waiting, onSent: OnSent) => void
  #isUnderWay = false

  constructor(send: (waiting: Waiting, onSent: OnSent) => void) {
    this.#send = send
  }

  add(socket: Socket, message: Passed): void {
    socket.on('error', () => socket.destroy())
    stopReading(socket)
    const added = { socket, message, client: countedWidelyAs(message.peerAddress) }
    this.#queueOf(added).add(added)
    if (this.#known.size + this.#strangers.size > LIMITS.connectorsPassedWaitingMax)
      this.#giveUpFor(added)
    this.#next()
  }

  #queueOf({ message }: Waiting): FairQueue<Waiting> {
    return message.isKnown ? this.#known : this.#strangers
  }

  #giveUpFor(added: Waiting): void {
    const strangersMax = LIMITS.connectorsPassedWaitingMax / STRANGERS
    const crowd = this.#strangers.size > strangersMax ? this.#strangers : this.#known
    const last = crowd.last() ?? added
    const isOfCrowd = this.#queueOf(added) === crowd
    const isFewer = isOfCrowd && crowd.countOf(last.client) <= crowd.countOf(added.client)
    const out = isFewer ? added : last
    this.#queueOf(out).delete(out)
    out.socket.destroy()
  }

  #takeNext(): Waiting | undefined {
    const isOfStrangers = this.#turns++ % STRANGERS === STRANGERS - 1
    const [first, second] = isOfStrangers
      ? [this.#strangers, this.#known]
      : [this.#known, this.#strangers]
    return first.next() ?? second.next()
  }

  #next(): void {
    if (this.#isUnderWay) return
    const next = this.#takeNext()
    if (next === undefined) return
    this.#isUnderWay = true
    this.#send(next, (error) => {
      this.#isUnderWay = false
      if (error !== null) next.socket.destroy()
      this.#next()
    })
  }

  /** The other process is gone. */
  close(): void {
    for (const queue of [this.#known, this.#strangers])
      for (const { socket } of queue.takeAll()) socket.destroy()
  }
}

/** In a worker. */
export function createPassing(channel: NodeJS.Process) {
  const handover = new Handover(({ message, socket }, onSent) => {
    if (channel.connected && channel.send) channel.send(message, socket, {}, onSent)
    else process.nextTick(onSent, new Error('the primary is gone'))
  })
  return {
    /** It is no longer this worker's. */
    passOn(
      socket: Socket,
      worker: number,
      from: Pick<Passed, 'peerAddress' | 'isKnown'>,
      start: Buffer,
    ): void {
      socket.removeAllListeners()
      handover.add(socket, {
        channel: 'connector',
        worker,
        ...from,
        start: start.toString('base64'),
      })
    },
    /** It begins once more, as if it had come here first. */
    onPassed(listener: (socket: Socket, peerAddress: string) => void): void {
      channel.on('message', (message: unknown, socket: unknown) => {
        if (!isPassed(message) || !(socket instanceof Socket)) return
        socket.pause()
        socket.unshift(Buffer.from(message.start, 'base64'))
        listener(socket, message.peerAddress)
      })
    },
  }
}

/** In the primary: `to` is who serves in a slot now. Called with each worker. */
export function passBetween(
  to: (slot: number) => Worker | undefined,
  log: Logger,
): (worker: Worker) => void {
  const handovers = new WeakMap<Worker, Handover>()

  function openHandover(target: Worker): Handover {
    const handover = new Handover(({ message, socket }, onSent) => {
      target.send(message, socket, {}, (error) => {
        if (error !== null)
          log.warn(
            { error, worker: message.worker },
            'a connection of a connector could not be passed on',
          )
        onSent(error)
      })
    })
    handovers.set(target, handover)
    // not 'disconnect': Node says that only once it has an answer about a socket that is under way
    target.once('exit', () => handover.close())
    return handover
  }

  return (worker) => {
    worker.on('message', (message: unknown, socket: unknown) => {
      if (!isPassed(message) || !(socket instanceof Socket)) return
      const target = to(message.worker)
      if (target === undefined || !target.isConnected()) return void socket.destroy()
      const handover = handovers.get(target) ?? openHandover(target)
      handover.add(socket, message)
    })
  }
}

/**
 * Until the other process has said that it has the socket, this one has it as well: what came
 * meanwhile could be read here, and would be lost.
 */
function stopReading(socket: Socket): void {
  ;(socket as unknown as { _handle?: { readStop(): void } | null })._handle?.readStop()
}
