/**
 * Node's parser makes a request and an answer of every head in what it is given, whatever becomes
 * of the connection meanwhile: one read of 64 KB is 3,600 of them, and everybody waits. So it is
 * given no more than a few heads at a time, and nothing once the connection is cut or paused.
 * A slice ends where a head may end, so one head, or a body, still goes in one piece.
 */
import type { Socket } from 'node:net'
import { LIMITS } from '../../shared/limits.ts'

const HEAD_END = '\r\n\r\n'

/** Of a socket that Node's server has just taken. */
export function parseInSlices(socket: Socket, sliceBytes: number = LIMITS.parsedSliceBytesMin) {
  const emit = socket.emit.bind(socket) as (event: string | symbol, ...values: unknown[]) => boolean
  socket.emit = (event: string | symbol, ...values: unknown[]) =>
    event === 'data' ? hear(values[0] as Buffer) : emit(event, ...values)

  function hear(chunk: Buffer): boolean {
    let from = 0
    while (from < chunk.length && !socket.destroyed) {
      if (from > 0 && socket.isPaused()) {
        socket.unshift(chunk.subarray(from))
        break
      }
      const to = endOfSlice(chunk, from)
      emit('data', from === 0 && to === chunk.length ? chunk : chunk.subarray(from, to))
      from = to
    }
    return true
  }

  function endOfSlice(chunk: Buffer, from: number): number {
    const least = from + sliceBytes - HEAD_END.length
    const end = least < chunk.length ? chunk.indexOf(HEAD_END, least) : -1
    return end === -1 ? chunk.length : end + HEAD_END.length
  }

  // Node's parser reads the socket past its stream, until somebody else wants to hear of the data.
  socket.on('data', ignore)
  socket.off('data', ignore)
}

/**
 * Nothing that comes from now on is a request. Node's parser may not hear of a socket that it has
 * paused and that somebody else resumes.
 */
export function stopParsing(socket: Socket) {
  socket.removeAllListeners('data')
}

const ignore = (): void => undefined
