/**
 * Who does not want a body answers, and hangs up while we still write. To Node a socket that cannot
 * be written is at its end at once, and the answer that the kernel holds for it is lost. So the
 * first such error is kept back until everything has been read: what is there comes in the next
 * turn of the event loop, and behind it the end, or the error of the read. Over TLS it helps
 * little: Node deciphers nothing more once a write has failed.
 */
import type { Duplex } from 'node:stream'

interface ReadBeforeEndWorld {
  /** False: the socket may end. Asked once. */
  readonly isAwaited: () => boolean
  /** Of a socket without `onread`, which has a way of its own. */
  readonly onRead?: (chunk: Buffer) => unknown
  /** True: it had not said that it would say no more, as far as the system tells. */
  readonly onEnd: (wasReset: boolean) => void
}

export function readBeforeEnd(socket: Duplex, world: ReadBeforeEndWorld): void {
  const destroy = socket.destroy.bind(socket)
  socket.destroy = (error?: NodeJS.ErrnoException) => {
    socket.destroy = destroy
    if (error?.syscall !== 'write' || !world.isAwaited()) return destroy(error)
    // A stream that has failed emits neither data nor an end.
    const read = (chunk: unknown) => {
      if (chunk instanceof Buffer) world.onRead?.(chunk)
    }
    readLeft(socket, read)
    socket.push = (chunk: unknown) => {
      // EPIPE: its end had come before the reset.
      if (chunk === null) world.onEnd(error.code !== 'EPIPE')
      else read(chunk)
      return chunk !== null
    }
    return socket
  }
}

/** What it holds already, though it may be broken by now. */
export function readLeft(socket: Duplex, onRead: (chunk: Buffer) => unknown): void {
  for (let left; (left = socket.read() as Buffer | null) !== null;) onRead(left)
}
