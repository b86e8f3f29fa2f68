/**
 * Whose request it is, decided once where it arrives: realm, console, API, policies, audit trail and
 * mails all ask here, so that one request never has two clients.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { withoutMapping, type AddressReader } from '../../shared/client-address.ts'

const CLIENT_ADDRESS = Symbol('client address')

interface Addressed {
  [CLIENT_ADDRESS]?: string
}

/** `peerAddress` is the socket's, or what a balancer's PROXY header says. */
export function nameClient(request: IncomingMessage, peerAddress: string, read: AddressReader) {
  const { address } = read(peerAddress, String(request.headers['x-forwarded-for'] ?? ''))
  ;(request as Addressed)[CLIENT_ADDRESS] = withoutMapping(address)
}

/** Who a connection is from, where that was found out before it was deciphered. */
const PEER_ADDRESS = Symbol('peer address')

interface Peered {
  [PEER_ADDRESS]?: string
}

export function namePeer(socket: Socket, peerAddress: string) {
  ;(socket as Peered)[PEER_ADDRESS] = peerAddress
}

export const namedPeerOf = (socket: Socket): string | undefined => (socket as Peered)[PEER_ADDRESS]

/** Without a listener of ours, as in some tests, the socket's own. */
export function addressOf(request: IncomingMessage): string {
  const { [CLIENT_ADDRESS]: named } = request as Addressed
  return named ?? withoutMapping(request.socket.remoteAddress ?? '')
}
