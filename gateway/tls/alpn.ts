/** The protocols that a ClientHello names (RFC 8446, section 4.1.2; RFC 7301), before OpenSSL reads it. */
const RECORD_HEADER_BYTES = 5
const MESSAGE_HEADER_BYTES = 4
const VERSION_AND_RANDOM_BYTES = 34
const ALPN = 16

/** `records` is a whole ClientHello. Empty for one that names none, or that does not keep to its form. */
export function alpnOf(records: Buffer): string[] {
  try {
    const hello = new Reader(messageIn(records).subarray(MESSAGE_HEADER_BYTES))
    hello.take(VERSION_AND_RANDOM_BYTES)
    hello.take(hello.number(1)) // session id
    hello.take(hello.number(2)) // ciphers
    hello.take(hello.number(1)) // compression
    const extensions = new Reader(hello.take(hello.number(2)))
    while (!extensions.isAtEnd) {
      const type = extensions.number(2)
      const extension = extensions.take(extensions.number(2))
      if (type === ALPN) return namesIn(extension)
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return []
}

function namesIn(extension: Buffer): string[] {
  const outer = new Reader(extension)
  const list = new Reader(outer.take(outer.number(2)))
  const names: string[] = []
  while (!list.isAtEnd) names.push(list.take(list.number(1)).toString('latin1'))
  return names
}

/** Without the heads of the records that it came in. */
function messageIn(records: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < records.length;) {
    const start = at + RECORD_HEADER_BYTES
    at = start + records.readUInt16BE(at + 3)
    parts.push(records.subarray(start, at))
  }
  return Buffer.concat(parts)
}

class Reader {
  #at = 0
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  number(bytes: 1 | 2): number {
    const value = this.#bytes.readUIntBE(this.#at, bytes)
    this.#at += bytes
    return value
  }

  take(count: number): Buffer {
    const end = this.#at + count
    if (end > this.#bytes.length) throw new RangeError('cut short')
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }
}
