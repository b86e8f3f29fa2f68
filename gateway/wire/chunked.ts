/**
 * Finds its way through a chunked body (RFC 9112 section 7.1) without copying it. Framing that is
 * exactly canonical is handed over as it came, in long runs; extensions, leading zeros and lines
 * that came in pieces are written anew; anything else breaks the body. Both directions use it.
 */
import { LIMITS } from '../../shared/limits.ts'
import { endOfLines, isPartialLine } from './grammar.ts'
import { mayBeTrailer } from './field-names.ts'

export interface ChunkedSink {
  /** Bytes of the body; in raw mode with the framing around them. */
  onBodyRun(buffer: Buffer, from: number, to: number): void
  /** Framing written anew. Only in raw mode. */
  onBodyText(text: string): void
}

const SIZE_LINE = 0
const CHUNK = 1
const CHUNK_CR = 2
const CHUNK_LF = 3
const TRAILERS = 4
const DONE = 5
const BROKEN = 6

const CR = 13
const LF = 10
const ZERO = 0x30

const HEX = new Int8Array(256).fill(-1)
for (let digit = 0; digit < 16; digit++) {
  HEX[digit.toString(16).charCodeAt(0)] = digit
  HEX[digit.toString(16).toUpperCase().charCodeAt(0)] = digit
}

const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
const QUOTED =
  '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t \\x21-\\x7e\\x80-\\xff])*"'
const EXTENSION = `[ \\t]*;[ \\t]*${TOKEN}(?:[ \\t]*=[ \\t]*(?:${TOKEN}|${QUOTED}))?`
const FULL_LINE = new RegExp(`^([0-9A-Fa-f]+)(?:${EXTENSION})*\\r\\n$`)
const OPEN_LINE = /^[0-9A-Fa-f]+(?:[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?)?\r?$/

export class ChunkedReader {
  /** The fields behind the last chunk that may go on, a CRLF behind each. */
  trailers = ''
  #isRaw = false
  #state: number = SIZE_LINE
  #left = 0
  #held = ''
  #extensionBytes = 0
  /** Of the trailers that are here, behind the last whole line. */
  #linesEnd = 0
  /** Of them, the last byte was one of a name or a value. */
  #isInLine = false

  get isDone(): boolean {
    return this.#state === DONE
  }
  get isBroken(): boolean {
    return this.#state === BROKEN
  }

  /** Makes ready for the next body. Raw: runs keep their framing. */
  reset(isRaw: boolean): void {
    this.trailers = ''
    this.#isRaw = isRaw
    this.#state = SIZE_LINE
    this.#left = 0
    this.#held = ''
    this.#linesEnd = 0
    this.#isInLine = false
    this.#extensionBytes = 0
  }

  /** Returns the offset behind what belongs to this body, so far as it is here. */
  scan(buffer: Buffer, from: number, to: number, sink: ChunkedSink): number {
    let at = from
    let runStart = from
    while (at < to && this.#state < DONE) {
      switch (this.#state) {
        case SIZE_LINE: {
          const next = this.#held === '' ? this.#readCanonicalLine(buffer, at, to) : -1
          if (next === -1) {
            this.#endRun(buffer, runStart, at, sink)
            at = runStart = this.#readOddLine(buffer, at, to, sink)
          } else at = next
          break
        }
        case CHUNK: {
          const taken = Math.min(this.#left, to - at)
          if (!this.#isRaw) sink.onBodyRun(buffer, at, at + taken)
          at += taken
          this.#left -= taken
          if (this.#left === 0) this.#state = CHUNK_CR
          break
        }
        case CHUNK_CR:
          this.#state = buffer[at++] === CR ? CHUNK_LF : BROKEN
          break
        case CHUNK_LF:
          this.#state = buffer[at++] === LF ? SIZE_LINE : BROKEN
          break
        default:
          at = runStart = this.#readTrailers(buffer, at, to, sink)
      }
    }
    if (this.#state !== BROKEN) this.#endRun(buffer, runStart, at, sink)
    return at
  }

  #endRun(buffer: Buffer, from: number, to: number, sink: ChunkedSink): void {
    if (this.#isRaw && to > from) sink.onBodyRun(buffer, from, to)
  }

  /** A size line that may go on as it is, and the blank line behind the last one. Else -1. */
  #readCanonicalLine(buffer: Buffer, at: number, to: number): number {
    const digitsEnd = Math.min(to, at + LIMITS.chunkSizeDigitsMax)
    let cursor = at
    let size = 0
    for (; cursor < digitsEnd; cursor++) {
      const digit = HEX[buffer[cursor]!]!
      if (digit === -1) break
      size = size * 16 + digit
    }
    if (cursor === at || cursor + 1 >= to) return -1
    if (buffer[cursor] !== CR || buffer[cursor + 1] !== LF) return -1
    if (buffer[at] !== ZERO) {
      this.#left = size
      this.#state = CHUNK
      return cursor + 2
    }
    if (cursor - at !== 1 || cursor + 3 >= to) return -1
    if (buffer[cursor + 2] !== CR || buffer[cursor + 3] !== LF) return -1
    this.#state = DONE
    return cursor + 4
  }

  /** In pieces, with extensions or with leading zeros: understood, and written anew. */
  #readOddLine(buffer: Buffer, at: number, to: number, sink: ChunkedSink): number {
    const piece = buffer.toString('latin1', at, Math.min(to, at + LIMITS.chunkLineBytesMax + 1))
    const lineFeed = piece.indexOf('\n')
    const taken = lineFeed === -1 ? piece : piece.slice(0, lineFeed + 1)
    const next = at + taken.length
    this.#held += taken
    if (this.#held.length > LIMITS.chunkLineBytesMax) return this.#broken(next)
    if (lineFeed === -1) return OPEN_LINE.test(this.#held) ? next : this.#broken(next)
    const digits = FULL_LINE.exec(this.#held)?.[1]?.replace(/^0+(?=.)/, '')
    if (digits === undefined || digits.length > LIMITS.chunkSizeDigitsMax) return this.#broken(next)
    // RFC 9112 section 7.1.1: extensions are ignored, but not without end (CVE-2024-22019).
    this.#left = Number.parseInt(digits, 16)
    const oddBytes = this.#held.length - digits.length - 2
    this.#extensionBytes += oddBytes
    // One that only came in pieces is as it should be.
    if (oddBytes > 0 && this.#left < LIMITS.chunkTinyBytes)
      this.#extensionBytes += LIMITS.chunkTinyBytes
    if (this.#extensionBytes > LIMITS.chunkExtensionBytesMax) return this.#broken(next)
    this.#held = ''
    this.#state = this.#left === 0 ? TRAILERS : CHUNK
    if (this.#isRaw && this.#left > 0) sink.onBodyText(`${digits}\r\n`)
    return next
  }

  /** Behind the last chunk: field lines, then a blank line. They go on as trailers or not at all. */
  #readTrailers(buffer: Buffer, at: number, to: number, sink: ChunkedSink): number {
    const before = this.#held.length
    const piece = buffer.toString('latin1', at, Math.min(to, at + LIMITS.trailerBytesMax + 2))
    const text = this.#held + piece
    // Nothing is to be seen in the middle of a line, and a piece may be a byte.
    if (this.#isInLine && text.length <= LIMITS.trailerBytesMax && isPartialLine(piece, 0)) {
      this.#held = text
      this.#isInLine = !piece.endsWith('\r')
      return to
    }
    const linesEnd = endOfLines(text, this.#linesEnd)
    if (linesEnd > LIMITS.trailerBytesMax) return this.#broken(to)
    if (text.startsWith('\r\n', linesEnd)) {
      const kept = keptTrailers(text, linesEnd)
      if (kept === null) return this.#broken(to)
      this.trailers = kept
      this.#state = DONE
      if (this.#isRaw) sink.onBodyText(`0\r\n${kept}\r\n`)
      return at + linesEnd + 2 - before
    }
    if (!isPartialLine(text, linesEnd) || text.length > LIMITS.trailerBytesMax)
      return this.#broken(to)
    this.#held = text
    this.#linesEnd = linesEnd
    this.#isInLine = !/[\r\n]$/.test(piece)
    return to
  }

  #broken(next: number): number {
    this.#state = BROKEN
    return next
  }
}

function keptTrailers(text: string, to: number): string | null {
  let kept = ''
  let count = 0
  for (let at = 0; at < to;) {
    const next = text.indexOf('\r\n', at) + 2
    if (++count > LIMITS.headerCountMax) return null
    if (mayBeTrailer(text.slice(at, text.indexOf(':', at)))) kept += text.slice(at, next)
    at = next
  }
  return kept
}
