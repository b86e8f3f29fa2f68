/**
 * Large answers that anybody may ask for: packages, the document of this API. All who take one share
 * its bytes, and take them in pieces as they read. What somebody has not read lies in the buffers of
 * the operating system, where no program sees it; so such an answer ends its connection, and counts
 * for its address until the other end has closed too, or was cut. So many at once for an address;
 * others of it wait their turn, holding nothing but their connection.
 */
import type { Socket } from 'node:net'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { countedAddressOf, type ApiContext } from './context.ts'

/** What is too large to be held at all is read as it is sent. */
interface ReadAsSent {
  readonly length: number
  open(): ReadableStream<Uint8Array>
}

export type SendLarge = (
  c: ApiContext,
  bytes: Buffer | ReadAsSent,
  headers: Readonly<Record<string, string>>,
) => Promise<Response>

export interface LargeAnswerLimits {
  readonly perAddressMax: number
  readonly waitMs: number
}

/** Of one address. */
interface Line {
  underWay: number
  /** First come, first served. */
  readonly waiting: Set<() => void>
}

const PIECE_BYTES = 64 * 1024
const RETRY_AFTER_SECONDS = 10

export function createLargeAnswers({
  perAddressMax = LIMITS.largeAnswersPerAddressMax,
  waitMs = LIMITS.largeAnswerWaitMsMax,
}: Partial<LargeAnswerLimits> = {}): SendLarge {
  const lines = new Map<string, Line>()
  const holders = new WeakSet<Socket>()

  async function takeTurn(address: string, socket: Socket) {
    if (holders.has(socket)) return // it ends with the first of its answers
    const line = lines.get(address) ?? { underWay: 0, waiting: new Set() }
    lines.set(address, line)
    if (line.underWay < perAddressMax) line.underWay++
    else await wait(line, socket)
    holders.add(socket)
    const release = () => leave(address, line)
    if (socket.destroyed) release()
    else socket.once('close', release)
  }

  function wait({ waiting }: Line, socket: Socket): Promise<void> {
    return new Promise((resolve, reject) => {
      const proceed = () => {
        settle()
        resolve()
      }
      const giveUp = () => {
        settle()
        reject(new Refusal('unavailable', { retry_after: RETRY_AFTER_SECONDS }))
      }
      const timer = setTimeout(giveUp, waitMs)
      socket.once('close', giveUp)
      const settle = () => {
        clearTimeout(timer)
        socket.off('close', giveUp)
        waiting.delete(proceed)
      }
      waiting.add(proceed)
    })
  }

  function leave(address: string, line: Line) {
    const [proceed] = line.waiting
    if (proceed !== undefined) return proceed() // the turn is handed over
    line.underWay--
    if (line.underWay === 0) lines.delete(address)
  }

  return async (c, bytes, headers) => {
    const socket = c.env?.incoming?.socket
    if (socket !== undefined) await takeTurn(countedAddressOf(c), socket)
    const body = Buffer.isBuffer(bytes) ? piecesOf(bytes) : bytes.open()
    return c.body(body, 200, {
      ...headers,
      'Content-Length': String(bytes.length),
      ...(socket !== undefined && { Connection: 'close' }),
    })
  }
}

/** Small ones of which there are as many readers, one on each connection, share their bytes alone. */
export function sendShared(
  c: ApiContext,
  bytes: Buffer,
  headers: Readonly<Record<string, string>>,
): Response {
  return c.body(piecesOf(bytes), 200, { ...headers, 'Content-Length': String(bytes.length) })
}

/** Views of the same bytes: a `Response` of the bytes themselves would be a copy for each reader. */
function piecesOf(bytes: Buffer): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0
  return new ReadableStream(
    {
      pull(controller) {
        const piece = bytes.subarray(at, at + PIECE_BYTES)
        at += piece.length
        controller.enqueue(piece as Buffer<ArrayBuffer>)
        if (at >= bytes.length) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}
