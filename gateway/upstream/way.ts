/** Another way to an application than by its address: connections that come about elsewhere. */
import type { Socket } from 'node:net'
import type { UpstreamFailure } from '../wire/upstream-call.ts'

/** A connection that is in use. */
export interface InUse {
  /** No further request on it: it ends when it is free. */
  retire(): void
}

/** What becomes of the wish for a connection: one of both, once, never within the call. */
export interface Opening {
  onOpened(socket: Socket): InUse
  onFailed(failure: UpstreamFailure): void
}

export interface Way {
  open(opening: Opening): void
}
