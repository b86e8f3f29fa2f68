/** Lines of a stream, each within a bound, however they are cut. */
import type { Duplex } from 'node:stream'
import { LIMITS } from '../limits.ts'

interface LineOptions {
  readonly bytesMax: number
  readonly onLine: (line: string) => void
  /** Longer than it may be, or in too many pieces: nothing more is read. */
  readonly onTooLong: () => void
}

const LINE_FEED = 10

/** Reads the stream until `stop`, which gives back what has come and belongs to no line yet. */
export function readLines(stream: Duplex, options: LineOptions) {
  const lines = splitLines({
    ...options,
    onTooLong() {
      stream.off('data', lines.hear)
      options.onTooLong()
    },
  })
  stream.on('data', lines.hear)
  return {
    stop(): Buffer {
      stream.off('data', lines.hear)
      return lines.stop()
    },
  }
}

/** The same, for whoever reads by other means and hands on what has come. */
export function splitLines({ bytesMax, onLine, onTooLong }: LineOptions) {
  /** The beginning of a line. */
  let pieces: Buffer[] = []
  let bytes = 0
  let isStopped = false

  function hear(chunk: Buffer): void {
    if (isStopped) return
    let rest = chunk
    for (;;) {
      const end = rest.indexOf(LINE_FEED)
      const piece = end === -1 ? rest : rest.subarray(0, end)
      bytes += piece.length
      pieces.push(piece)
      // A record of TLS for each byte costs us a hundred times what the byte costs its sender.
      if (bytes > bytesMax || pieces.length > LIMITS.connectorLinePiecesMax) {
        stop()
        return onTooLong()
      }
      if (end === -1) return
      const line = Buffer.concat(pieces).toString('utf8')
      rest = rest.subarray(end + 1)
      // Who stops with this line gets what stands behind it.
      pieces = [rest]
      onLine(line)
      if (isStopped) return
      pieces = []
      bytes = 0
      if (rest.length === 0) return
    }
  }

  function stop(): Buffer {
    isStopped = true
    const left = Buffer.concat(pieces)
    pieces = []
    return left
  }

  return { hear, stop }
}
