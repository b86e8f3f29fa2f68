/** What a connection is held to, and what is heard of it. */
import type { Budget } from '../../wire/budget.ts'
import type { HeaderLimits } from './hpack-decoder.ts'
import type { ServerStream } from './stream.ts'

export interface SessionOptions {
  readonly headers: HeaderLimits
  /** Of a whole block as it comes, in so many frames. */
  readonly blockBytesMax: number
  readonly blockFramesMax: number
  readonly streamsMax: number
  readonly streamWindowBytes: number
  /** Frames that make no sense, over the life of a connection. */
  readonly invalidFramesMax: number
  /** Streams that it resets, or that are refused. */
  readonly resets: Budget
  readonly nowMs: () => number
}

export interface SessionEvents {
  stream: [stream: ServerStream, fields: readonly string[]]
  /** Another one, and nothing has been answered since the last. */
  ping: []
  remoteSettings: []
  /**
   * A frame that brings nothing and is owed nothing: PRIORITY, GOAWAY, unknown ones, a window that is opened
   * for nothing that was sent, DATA that is all padding or of a stream that was reset.
   */
  idle: []
  /** A stream that never was one. */
  refused: []
  /** More resets than may be; whoever hears it ends the connection. */
  flood: [kind: 'resets']
  close: []
}
