/** What a connection has of the pool that it belongs to. */
import type { PooledCall } from './pooled-call.ts'
import type { UpstreamRuntime } from './runtime.ts'
import type { UpstreamTimeouts } from './timeouts.ts'

export interface ConnectionPool<Connection> {
  readonly timeouts: UpstreamTimeouts
  readonly runtime: UpstreamRuntime
  /** It was dead before it read the request. */
  retry(call: PooledCall): void
  /** A response has ended cleanly. True: the connection is kept. */
  release(connection: Connection): boolean
  forget(connection: Connection): void
}
