/** How far the body of the current request has been read, in either framing. */
import { LIMITS } from '../../shared/limits.ts'
import { ChunkedReader, type ChunkedSink } from '../wire/chunked.ts'
import type { HeldBytes } from './held-bytes.ts'

export class RequestBody {
  readonly chunked = new ChunkedReader()
  isChunked = false
  isDone = true
  isBroken = false
  hasBegun = false
  /** Bytes to come, where that is known. */
  left = 0

  begin(length: number): void {
    this.isChunked = length < 0
    this.left = length
    this.isDone = length === 0
    this.isBroken = false
    this.hasBegun = false
    if (this.isChunked) this.chunked.reset(true)
  }

  /** Such a body is waited for, and costs the application nothing before it is whole. */
  get isSmall(): boolean {
    return !this.isChunked && this.left <= LIMITS.smallBodyBytesMax
  }

  /** Little is still to come: it is read, though nobody wants it, so that the connection can stay. */
  get isWorthDraining(): boolean {
    return !this.isDone && !this.isChunked && this.left <= LIMITS.drainedBodyBytesMax
  }

  /** For readers that want the content and not its framing. */
  decode(): void {
    if (this.isChunked && !this.hasBegun) this.chunked.reset(false)
  }

  /** The whole body as text, if it is all here already; `known` is that, or ''. */
  takeFrom(held: HeldBytes, known: string): string | undefined {
    const { buffer, at, to } = held
    const end = at + this.left
    if (buffer === null || this.isChunked || end > to) return undefined
    const text = known.length === this.left ? known : buffer.toString('latin1', at, end)
    this.hasBegun = true
    this.left = 0
    this.isDone = true
    held.consume(end)
    return text
  }

  /** Returns the offset behind what belongs to this body, so far as it is here. */
  feed(buffer: Buffer, from: number, to: number, sink: ChunkedSink): number {
    this.hasBegun = true
    if (this.isChunked) {
      const end = this.chunked.scan(buffer, from, to, sink)
      this.isDone = this.chunked.isDone
      this.isBroken = this.chunked.isBroken
      return end
    }
    const end = from + Math.min(this.left, to - from)
    this.left -= end - from
    this.isDone = this.left === 0
    sink.onBodyRun(buffer, from, end)
    return end
  }
}
