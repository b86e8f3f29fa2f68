/** How long an application may take. */
export interface UpstreamTimeouts {
  /** Name lookup, connection and TLS handshake together. */
  readonly connectMs: number
  /** From the end of the request to the head of the response. */
  readonly firstByteMs: number
  /** Without any progress, once a body is on its way; and unused in the pool. */
  readonly idleMs: number
}
