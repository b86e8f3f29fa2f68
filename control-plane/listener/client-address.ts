/**
 * Whose request it is, decided once where it arrives: realm, console, API, policies, audit trail and
 * mails all ask here, so that one request never has two clients.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { withoutMapping, type AddressReader } from '../../shared/client-address.ts'
import type { Proxied } from '../../shared/proxy-protocol.ts'

const CLIENT_ADDRESS = Symbol('client address')

interface Addressed {
  [CLIENT_ADDRESS]?: string
}

/** Who is at the other end of a connection, or whom a balancer's PROXY header names there. */
export interface Peer {
  readonly address: string
  /** The balancer says that it is its own: what is forwarded on it is not believed. */
  readonly namesNobody: boolean
}

export const peerOf = (
  address: string,
  { peerAddress, namesNobody = false }: Proxied = {},
): Peer => ({ address: peerAddress ?? address, namesNobody })

export function nameClient(request: IncomingMessage, peer: Peer, read: AddressReader) {
  const forwardedFor = String(request.headers['x-forwarded-for'] ?? '')
  const { address } = peer.namesNobody ? peer : read(peer.address, forwardedFor)
  ;(request as Addressed)[CLIENT_ADDRESS] = withoutMapping(address)
}

/** Who a connection is from, where that was found out before it was deciphered. */
const PEER = Symbol('peer')

interface Peered {
  [PEER]?: Peer
}

export function namePeer(socket: Socket, peer: Peer) {
  ;(socket as Peered)[PEER] = peer
}

export const namedPeerOf = (socket: Socket): Peer | undefined => (socket as Peered)[PEER]

/** Without a listener of ours, as in some tests, the socket's own. */
export function addressOf(request: IncomingMessage): string {
  const { [CLIENT_ADDRESS]: named } = request as Addressed
  return named ?? withoutMapping(request.socket.remoteAddress ?? '')
}
