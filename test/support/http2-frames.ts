/** Frames of HTTP/2 by hand, for what no client library would send. */
import type { TLSSocket } from 'node:tls'

export const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const END_STREAM = 1
export const END_HEADERS = 4
const ACK = 1

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

export const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** A literal field that is not indexed (RFC 7541 section 6.2.2), no Huffman coding. */
export function field(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)])
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1')
  const { length } = bytes
  if (length < 127) return Buffer.concat([Buffer.from([length]), bytes])
  const head = [127]
  let rest = length - 127
  for (; rest >= 128; rest >>= 7) head.push((rest & 127) | 128)
  head.push(rest)
  return Buffer.concat([Buffer.from(head), bytes])
}

export const fields = (pairs: readonly (readonly [string, string])[]): Buffer =>
  Buffer.concat(pairs.map(([name, value]) => field(name, value)))

export const requestFields = (
  authority: string,
  path = '/',
  more: readonly (readonly [string, string])[] = [],
): Buffer =>
  fields([
    [':method', 'GET'],
    [':scheme', 'https'],
    [':authority', authority],
    [':path', path],
    ...more,
  ])

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** Sends what it is given and collects the frames that come back. */
export class FrameClient {
  readonly socket: TLSSocket
  readonly frames: Frame[] = []
  readonly closed: Promise<void>
  #received = Buffer.alloc(0)
  #isClosed = false
  #wake: (() => void) | null = null

  constructor(socket: TLSSocket) {
    this.socket = socket
    this.closed = new Promise((resolve) =>
      socket.once('close', () => {
        this.#isClosed = true
        this.#wake?.()
        resolve()
      }),
    )
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#parse()
      this.#wake?.()
    })
    socket.on('end', () => socket.end())
    this.send(PREFACE, frame(TYPE.settings, 0, 0, Buffer.alloc(0)))
  }

  send(...frames: readonly Buffer[]): this {
    if (!this.socket.destroyed && this.socket.writable) this.socket.write(Buffer.concat(frames))
    return this
  }

  request(stream: number, block: Buffer, flags = END_STREAM | END_HEADERS): this {
    return this.send(frame(TYPE.headers, flags, stream, block))
  }

  #parse(): void {
    while (this.#received.length >= 9) {
      const length = this.#received.readUIntBE(0, 3)
      if (this.#received.length < 9 + length) return
      const [type, flags] = [this.#received[3]!, this.#received[4]!]
      const stream = this.#received.readUInt32BE(5) & 0x7fffffff
      const payload = Buffer.from(this.#received.subarray(9, 9 + length))
      this.#received = this.#received.subarray(9 + length)
      this.frames.push({ type, flags, stream, payload })
      if (type === TYPE.settings && (flags & ACK) === 0)
        this.send(frame(TYPE.settings, ACK, 0, Buffer.alloc(0)))
    }
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Waits for a frame that fits, or for the end: then undefined. */
  async until(fits: (frame: Frame) => boolean): Promise<Frame | undefined> {
    for (;;) {
      const found = this.frames.find(fits)
      if (found !== undefined || this.#isClosed) return found
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** Settles when all that was sent has been dealt with: the connection still answers, or ended. */
  async settled(): Promise<'open' | 'closed'> {
    const mark = Buffer.from(`mark${String(this.frames.length).padStart(4, '0')}`)
    this.send(frame(TYPE.ping, 0, 0, mark))
    const pong = await this.until(({ type, payload }) => type === TYPE.ping && payload.equals(mark))
    return pong === undefined ? 'closed' : 'open'
  }

  /** The error code of the GOAWAY that ended this connection. */
  goawayCode(): number | undefined {
    const last = this.frames.findLast(({ type }) => type === TYPE.goaway)
    return last?.payload.readUInt32BE(4)
  }

  resetCode(stream: number): number | undefined {
    return this.frames
      .find((found) => found.type === TYPE.reset && found.stream === stream)
      ?.payload.readUInt32BE(0)
  }
}
