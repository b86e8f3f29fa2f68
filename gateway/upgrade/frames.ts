/** RFC 6455 frames, as far as a carrier has to know them: where one ends, and what kind it is. */

const CLOSE = 8
const FIRST_BYTE = 0
const SECOND_BYTE = 1
const LENGTH_BYTES = 2

/** Follows one direction of a connection. Looks at headers only; payloads are skipped. */
export class FrameTracker {
  /** A close frame has gone by: nothing may be said behind it. */
  hasClosed = false
  #step = FIRST_BYTE
  #opcode = 0
  #isMasked = false
  #lengthBytesLeft = 0
  #length = 0
  #payloadLeft = 0

  /** Between two frames, where a frame of ours may stand. */
  get isAtBoundary(): boolean {
    return this.#step === FIRST_BYTE && this.#payloadLeft === 0
  }

  /** True where bytes of a message were among them; pings, pongs and closes are none. */
  scan(chunk: Buffer): boolean {
    let hasMessage = false
    let at = 0
    while (at < chunk.length) {
      if (this.#payloadLeft > 0) {
        const skipped = Math.min(this.#payloadLeft, chunk.length - at)
        this.#payloadLeft -= skipped
        at += skipped
      } else this.#readHeaderByte(chunk[at++]!)
      hasMessage ||= this.#opcode < CLOSE
    }
    return hasMessage
  }

  #readHeaderByte(byte: number): void {
    switch (this.#step) {
      case FIRST_BYTE:
        this.#opcode = byte & 0x0f
        this.#step = SECOND_BYTE
        return
      case SECOND_BYTE: {
        this.#isMasked = byte >= 0x80
        const length = byte & 0x7f
        if (length < 126) return this.#beginPayload(length)
        this.#length = 0
        this.#lengthBytesLeft = length === 126 ? 2 : 8
        this.#step = LENGTH_BYTES
        return
      }
      default:
        this.#length = this.#length * 256 + byte
        if (--this.#lengthBytesLeft === 0) this.#beginPayload(this.#length)
    }
  }

  #beginPayload(length: number): void {
    this.#payloadLeft = length + (this.#isMasked ? 4 : 0)
    this.#step = FIRST_BYTE
    if (this.#opcode === CLOSE) this.hasClosed = true
  }
}

/** Why it ends, with a status code of RFC 6455 section 7.4.1. */
export interface Ending {
  readonly code: number
  readonly reason: string
}

export const ENDINGS = {
  session: { code: 1008, reason: 'session ended' },
  tenant: { code: 1008, reason: 'not available' },
  drain: { code: 1001, reason: 'going away' },
  /** Its connector goes, and comes back or has others beside it. */
  restart: { code: 1012, reason: 'service restart' },
} as const satisfies Record<string, Ending>

/**
 * A close frame with a short reason. A client's frames are masked; a mask of zeros is one, and what
 * it hides here is known anyway.
 */
export function closeFrame(code: number, reason: string, isMasked: boolean): Buffer {
  const text = Buffer.from(reason)
  const payload = Buffer.allocUnsafe(2 + text.length)
  payload.writeUInt16BE(code)
  text.copy(payload, 2)
  const header = [0x80 | CLOSE, (isMasked ? 0x80 : 0) | payload.length]
  return Buffer.concat([Buffer.from(isMasked ? [...header, 0, 0, 0, 0] : header), payload])
}
