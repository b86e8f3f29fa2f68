/**
 * A connector wants connections to each worker, and the kernel gives them to any. Whoever has the
 * wrong one passes it on by way of the primary, with the ClientHello that it has read already.
 */
import type { Worker } from 'node:cluster'
import { Socket } from 'node:net'
import type { Logger } from 'pino'

/** Made by a worker, read by the primary and by the worker that is meant. */
interface Passed {
  readonly channel: 'connector'
  /** The slot of the worker that it is for. */
  readonly worker: number
  readonly peerAddress: string
  /** What has been read of it, in base64. */
  readonly start: string
}

const isPassed = (message: unknown): message is Passed =>
  (message as { channel?: unknown } | null)?.channel === 'connector'

/**
 * Under way to the primary. What is said to workers waits behind sockets that are handed over, and a
 * revocation may not wait long.
 */
const PASSING_MAX = 16

/** In a worker. */
export function createPassing(channel: NodeJS.Process) {
  let underWay = 0
  return {
    /** It is no longer this worker's. */
    passOn(socket: Socket, worker: number, peerAddress: string, start: Buffer): void {
      const passed: Passed = {
        channel: 'connector',
        worker,
        peerAddress,
        start: start.toString('base64'),
      }
      socket.removeAllListeners()
      socket.on('error', () => socket.destroy())
      const isBusy = underWay >= PASSING_MAX
      if (isBusy || !channel.connected || channel.send === undefined) return void socket.destroy()
      underWay++
      stopReading(socket)
      channel.send(passed, socket, {}, (error) => {
        underWay--
        if (error !== null) socket.destroy()
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

/** In the primary: `to` is who serves in a slot now. */
export function passBetween(
  worker: Worker,
  to: (slot: number) => Worker | undefined,
  log: Logger,
): void {
  worker.on('message', (message: unknown, socket: unknown) => {
    if (!isPassed(message) || !(socket instanceof Socket)) return
    socket.on('error', () => socket.destroy())
    const target = to(message.worker)
    if (target === undefined || !target.isConnected()) return void socket.destroy()
    stopReading(socket)
    target.send(message, socket, {}, (error) => {
      if (error === null) return
      log.warn(
        { error, worker: message.worker },
        'a connection of a connector could not be passed on',
      )
      socket.destroy()
    })
  })
}

/**
 * Until the other process has said that it has the socket, this one has it as well: what came
 * meanwhile could be read here, and would be lost.
 */
function stopReading(socket: Socket): void {
  ;(socket as unknown as { _handle?: { readStop(): void } | null })._handle?.readStop()
}
