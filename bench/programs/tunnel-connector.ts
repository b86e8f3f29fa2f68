/** The far end of a tunnel: `node bench/programs/tunnel-connector.ts <way> <tunnel port> <origin port>`. */
import { performServerHandshake, type ServerHttp2Stream } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls, type TLSSocket } from 'node:tls'

const [way, tunnelPort, originPort] = process.argv.slice(2)
const SPARES = 64

/** Bytes from one to the other and back, as fast as each takes them. */
function splice(tunnel: Duplex, first: Buffer, onConnected: () => void): void {
  const buffer = Buffer.allocUnsafe(64 * 1024)
  const application = connectTcp({
    port: Number(originPort),
    host: '127.0.0.1',
    noDelay: true,
    onread: {
      buffer,
      callback: (bytes, view) => tunnel.write(Buffer.from(view.subarray(0, bytes))),
    },
  })
  application.once('connect', () => {
    onConnected()
    if (first.length > 0) application.write(first)
  })
  tunnel.on('data', (chunk: Buffer) => {
    if (!application.write(chunk)) tunnel.pause()
  })
  application.on('drain', () => tunnel.resume())
  tunnel.on('drain', () => application.resume())
  application.on('error', () => tunnel.destroy()).on('end', () => tunnel.end())
  tunnel.on('error', () => application.destroy()).on('end', () => application.end())
  tunnel.on('close', () => application.destroy())
}

function dial(): TLSSocket {
  const socket = connectTls({
    port: Number(tunnelPort),
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ALPNProtocols: ['service-connector/1'],
    minVersion: 'TLSv1.3',
  })
  socket.setNoDelay(true)
  return socket
}

function keepSpare(): void {
  const socket = dial()
  socket.on('error', () => socket.destroy())
  socket.once('data', (chunk: Buffer) => {
    keepSpare()
    splice(socket, chunk.subarray(5), () => socket.write('OK\n'))
  })
}

if (way === 'reversed') for (let count = 0; count < SPARES; count++) keepSpare()
else {
  const socket = dial()
  socket.once('secureConnect', () => {
    const session = performServerHandshake(socket, {
      settings: { initialWindowSize: 2 ** 20, maxConcurrentStreams: 1000 },
    })
    session.setLocalWindowSize(2 ** 24)
    session.on('stream', (stream: ServerHttp2Stream) =>
      splice(stream, Buffer.alloc(0), () => stream.respond({ ':status': 200 })),
    )
  })
}
process.once('SIGTERM', () => process.exit(0))
process.send?.('ready')
