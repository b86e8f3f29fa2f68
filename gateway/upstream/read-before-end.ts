/**
 * An origin that does not want a body answers, and hangs up while we still write. To Node a socket
 * that cannot be written is at its end at once, and the answer that the kernel holds for it is lost.
 * So the first such error is kept back until everything has been read: what is there comes in the
 * next turn of the event loop, and behind it the end, or the error of the read. To an https origin it
 * helps little: Node's TLS deciphers nothing more once a write has failed.
 */
import type { Socket } from 'node:net'

interface ReadBeforeEndWorld {
  /** False: the socket may end. Asked once. */
  readonly isAwaited: () => boolean
  readonly onEnd: () => void
}

export function readBeforeEnd(socket: Socket, { isAwaited, onEnd }: ReadBeforeEndWorld): void {
  const destroy = socket.destroy.bind(socket)
  socket.destroy = (error?: NodeJS.ErrnoException) => {
    socket.destroy = destroy
    if (error?.syscall !== 'write' || !isAwaited()) return destroy(error)
    // A stream that has failed emits no end; with `onread` nothing but the end is pushed.
    socket.push = (chunk: unknown) => {
      if (chunk === null) onEnd()
      return false
    }
    return socket
  }
}
