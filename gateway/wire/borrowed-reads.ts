/**
 * What the `onread` option is to a socket that connects, for one that was accepted: every read
 * lands in the same bytes, instead of a new buffer of 64 KiB each and a trip through a stream. Node
 * has no public option for it, so this sets what the option sets; where Node has changed, or the
 * socket is no socket of Node's, it says no, and the caller listens to `data`.
 */
import type { Socket } from 'node:net'

/** Returns whether to go on reading. The bytes are only there during the call. */
type OnRead = (bytes: number, buffer: Buffer) => boolean

interface Handle {
  useUserBuffer?: (buffer: Buffer) => void
}

export function readInto(socket: Socket, buffer: Buffer, onRead: OnRead): boolean {
  const places = placesOf(socket)
  const handle = (socket as unknown as { _handle?: Handle | null })._handle
  if (places === undefined || typeof handle?.useUserBuffer !== 'function') return false
  const fields = socket as unknown as Record<symbol, unknown>
  fields[places.buffer] = buffer
  fields[places.callback] = onRead
  handle.useUserBuffer(buffer)
  return true
}

/** From here on the socket is a stream again, for whoever gets it next. */
export function readAsStream(socket: Socket): void {
  const places = placesOf(socket)
  const fields = socket as unknown as Record<symbol, unknown>
  if (places === undefined || fields[places.callback] === null) return
  const onRead: OnRead = (bytes, buffer) => socket.push(Buffer.from(buffer.subarray(0, bytes)))
  fields[places.callback] = onRead
}

function placesOf(socket: Socket): { buffer: symbol; callback: symbol } | undefined {
  const symbols = Object.getOwnPropertySymbols(socket)
  const buffer = symbols.find((symbol) => symbol.description === 'kBuffer')
  const callback = symbols.find((symbol) => symbol.description === 'kBufferCb')
  return buffer && callback && { buffer, callback }
}
