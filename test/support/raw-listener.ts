/** A server as the gateway's listeners open it, for an `accept` of whatever is tested. */
import { createServer, type Server, type Socket } from 'node:net'

export const rawListener = (accept: (socket: Socket) => void): Server =>
  createServer({ allowHalfOpen: true, noDelay: true }, (socket) => accept(socket))
