/** What the adapters see of Node's own requests and responses, of HTTP/1.1 and HTTP/2 alike. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server } from 'node:net'
import { UNIX_SOCKETS } from '../../../../shared/client-address.ts'
import type { TokenClaims } from '../../../../shared/enforcement/token.ts'
import type { Guard, GuardedRequest } from '../guard.ts'

/** The guard that a request has come through. */
export const PASSED = Symbol('service-node guard')

export type Incoming = IncomingMessage & {
  serviceClaims?: TokenClaims | undefined
  [PASSED]?: Guard
}
export type Outgoing = ServerResponse

/** A guard that does not ask for the peer's address costs no look-up of it. */
export class IncomingRequest implements GuardedRequest {
  readonly #message: Incoming
  readonly target: string

  /** `target` is given where a framework may have changed `url` meanwhile. */
  constructor(message: Incoming, target: string = message.url ?? '') {
    this.#message = message
    this.target = target
  }

  get method(): string {
    return this.#message.method ?? ''
  }

  get rawHeaders(): readonly string[] {
    const { rawHeaders, httpVersionMajor } = this.#message
    return httpVersionMajor === 2 ? fieldsOf(rawHeaders) : rawHeaders
  }

  get peerAddress(): string {
    const { socket } = this.#message
    return socket.remoteAddress ?? (isOfUnixServer(socket) ? UNIX_SOCKETS : '')
  }

  get isSecure(): boolean {
    return (this.#message.socket as { encrypted?: boolean }).encrypted === true
  }
}

/** The socket itself tells none either when its client has just gone, and that one came by TCP. */
function isOfUnixServer(socket: Incoming['socket'] & { readonly server?: Server | null }): boolean {
  return typeof socket.server?.address() === 'string'
}

/** HTTP/2 says `:authority` where HTTP/1.1 says Host (RFC 9113, section 8.3.1). */
function fieldsOf(rawHeaders: readonly string[]): readonly string[] {
  const fields: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name === ':authority') fields.push('host', rawHeaders[at + 1]!)
    else if (!name.startsWith(':')) fields.push(name, rawHeaders[at + 1]!)
  }
  return fields
}
