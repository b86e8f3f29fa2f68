/**
 * What comes of a body while nobody takes it: the rest of its window, which its client may send in
 * frames of one byte. Node keeps each as a buffer of its own, a hundred times what it is; here
 * small ones are put together first. And who goes on sending such frames is heard of.
 */
import type { ServerHttp2Stream } from 'node:http2'
import { LIMITS } from '../../shared/limits.ts'
import { GatheredBytes } from '../gathered-bytes.ts'

/** From here on a buffer is small beside what is in it. */
const JOINED_BYTES = 4096

export class UnreadBody {
  readonly #stream: ServerHttp2Stream
  readonly #push: ServerHttp2Stream['push']
  readonly #onSmallFrame: () => void
  #joined: GatheredBytes | null = null
  #smallFrames = 0
  #bytes = 0

  /** `onSmallFrame`: one more than a body needs, of fewer bytes than its overhead is worth. */
  constructor(stream: ServerHttp2Stream, onSmallFrame: () => void) {
    this.#stream = stream
    this.#push = stream.push.bind(stream)
    this.#onSmallFrame = onSmallFrame
    // Node's own reading of the connection calls it, with each frame.
    stream.push = (chunk: Buffer | null) => this.#onPush(chunk)
    stream.on('resume', () => this.#flush())
  }

  #onPush(chunk: Buffer | null): boolean {
    if (chunk === null) {
      this.#flush()
      return this.#push(null)
    }
    this.#bytes += chunk.length
    if (chunk.length < LIMITS.http2SmallDataFrameBytes) this.#countSmall()
    const isTaken = this.#stream.readableFlowing === true
    if (this.#joined === null && (isTaken || chunk.length >= JOINED_BYTES)) return this.#push(chunk)
    this.#joined ??= new GatheredBytes()
    this.#joined.add(chunk)
    return this.#joined.length < JOINED_BYTES || this.#flush()
  }

  /**
   * Node hands over what each TLS record brought, and a full frame with its head does not fit into
   * one: so a large body brings some, and each KiB makes room for one more.
   */
  #countSmall(): void {
    this.#smallFrames++
    const free = LIMITS.http2SmallDataFramesFree + this.#bytes / 1024
    if (this.#smallFrames > free) this.#onSmallFrame()
  }

  #flush(): boolean {
    const joined = this.#joined
    this.#joined = null
    return joined === null || this.#push(joined.take())
  }
}
