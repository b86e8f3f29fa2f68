/** Who comes to a gateway's door by hand: TLS, the gateway's first line, and whatever a test writes. */
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import { CONNECTOR_ALPN, type GatewayHello } from '../../shared/connector/handshake.ts'
import { readLines } from '../../shared/connector/lines.ts'
import type { Door } from './dialled-in.ts'

export interface Stranger {
  readonly socket: TLSSocket
  readonly hello: GatewayHello
  /** What the gateway says from then on. */
  readonly said: string[]
  readonly gone: Promise<void>
}

/** Rejects where the gateway closes the connection without a word. */
export async function knock(t: Test, door: Pick<Door, 'port'>): Promise<Stranger> {
  const socket = connectTls({
    port: door.port,
    host: '127.0.0.1',
    ALPNProtocols: [CONNECTOR_ALPN],
    rejectUnauthorized: false,
  })
  t.teardown(() => socket.destroy())
  socket.on('error', () => undefined)
  const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const said: string[] = []
  const first = Promise.withResolvers<string>()
  readLines(socket, {
    bytesMax: 64 * 1024,
    onLine: (line) => (said.length === 0 ? first.resolve(line) : undefined, said.push(line)),
    onTooLong: () => undefined,
  })
  void gone.then(() => first.reject(new Error('the gateway has closed it without a word')))
  const hello = JSON.parse(await first.promise) as GatewayHello
  return { socket, hello, said, gone }
}
