/** A connection to another gateway's door: TLS 1.3, and nobody's certificate but that gateway's. */
import { connect, type TLSSocket } from 'node:tls'
import {
  alpnFor,
  CONNECTOR_VERSIONS,
  GatewayHelloSchema,
  type GatewayHello,
} from '../../shared/connector/handshake.ts'
import { readLines } from '../../shared/connector/lines.ts'
import { readWord } from '../../shared/connector/messages.ts'
import { isPinned, PINNED_TLS } from '../../shared/connector/pinned-tls.ts'
import type { FleetGateway } from '../../shared/fleet/snapshot.ts'
import { LIMITS } from '../../shared/limits.ts'

export interface Dialled {
  readonly socket: TLSSocket
  readonly hello: GatewayHello
}

/** Calls back once, with undefined for whatever stood in the way. Answers how it is given up. */
export function dialGateway(
  { gateway_id: gatewayId, address, certificate }: FleetGateway,
  worker: number | undefined,
  onDone: (dialled: Dialled | undefined) => void,
): () => void {
  const [, host = '', port = ''] = /^\[?([^\]]*)\]?:(\d+)$/.exec(address) ?? []
  const ALPNProtocols = alpnFor({ worker, use: 'asked' })
  const socket = connect({ ...PINNED_TLS, host, port: Number(port), ALPNProtocols })
  socket.once('secureConnect', () => {
    if (!isPinned(socket, certificate)) socket.destroy()
  })
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  const deadline = setTimeout(() => socket.destroy(), LIMITS.connectorHandshakeMsMax)
  const lost = () => settle(undefined)
  const lines = readLines(socket, {
    bytesMax: LIMITS.connectorHandshakeBytesMax,
    onLine: (line) => settle(readWord(GatewayHelloSchema, line)),
    onTooLong: () => settle(undefined),
  })
  socket.once('close', lost)

  let isSettled = false
  function settle(hello: GatewayHello | undefined): void {
    if (isSettled) return
    isSettled = true
    clearTimeout(deadline)
    socket.off('close', lost)
    const early = lines.stop()
    const isRight =
      hello?.gateway_id === gatewayId &&
      hello.versions.includes(CONNECTOR_VERSIONS[0]) &&
      early.length === 0 &&
      !socket.destroyed
    if (isRight) return onDone({ socket, hello })
    socket.destroy()
    onDone(undefined)
  }

  return () => socket.destroy()
}
