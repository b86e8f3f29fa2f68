/**
 * npm run bench:tls -- [rounds]
 *
 * What an exchange of the size of `connector GET 1 KB` costs who asks, over TCP and over TLS: one write,
 * one read into a buffer that is there, and nothing else. The difference is Node's and OpenSSL's part of
 * what connector mode costs a gateway, which nothing of ours can go below.
 */
import { fork } from 'node:child_process'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { deriveCertificate } from '../../shared/self-signed.ts'
import { readInto } from '../../gateway/wire/borrowed-reads.ts'
import { median } from '../measured.ts'

const REQUEST = 'r'.repeat(2400)
const ANSWER = Buffer.alloc(1240, 'a')
const CONNECTIONS = 16
const EXCHANGES = 15_000
const WAYS = ['tcp', 'tls'] as const
type Way = (typeof WAYS)[number]
type Ports = Record<Way, number>

function answer(socket: Socket): void {
  let bytes = 0
  socket.setNoDelay(true)
  socket.on('error', () => undefined)
  socket.on('data', (chunk: Buffer) => {
    for (bytes += chunk.length; bytes >= REQUEST.length; bytes -= REQUEST.length)
      socket.write(ANSWER)
  })
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

function open(way: Way, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const to = { port, host: '127.0.0.1', noDelay: true }
    const socket: Socket =
      way === 'tcp'
        ? connect(to, () => resolve(socket))
        : connectTls({ ...to, rejectUnauthorized: false }, () => resolve(socket))
    socket.once('error', reject)
  })
}

async function measure(way: Way, port: number): Promise<NodeJS.CpuUsage> {
  const sockets: Socket[] = []
  for (let at = 0; at < CONNECTIONS; at++) sockets.push(await open(way, port))
  const buffer = Buffer.allocUnsafeSlow(128 * 1024)
  let asked = 0
  let answered = 0
  const { promise: done, resolve } = Promise.withResolvers<void>()
  const ask = (socket: Socket) => {
    if (asked++ < EXCHANGES) socket.write(REQUEST, 'latin1')
  }
  for (const socket of sockets) {
    let bytes = 0
    const isBorrowed = readInto(socket, buffer, (count) => {
      for (bytes += count; bytes >= ANSWER.length; bytes -= ANSWER.length) {
        if (++answered === EXCHANGES) resolve()
        ask(socket)
      }
      return true
    })
    if (!isBorrowed) throw new Error('this Node has no buffer of ours to read into')
    socket.resume()
  }
  const from = process.cpuUsage()
  for (const socket of sockets) ask(socket)
  await done
  const spent = process.cpuUsage(from)
  for (const socket of sockets) socket.destroy()
  return spent
}

async function serve(): Promise<void> {
  const { certificatePem: cert, privateKeyPem: key } = deriveCertificate('of a bench')
  const ports: Ports = {
    tcp: await listening(createServer(answer)),
    tls: await listening(createTlsServer({ cert, key, minVersion: 'TLSv1.3' }, answer)),
  }
  process.send?.(ports)
  process.once('disconnect', () => process.exit())
}

async function compare(rounds: number): Promise<void> {
  const peer = fork(fileURLToPath(import.meta.url), ['serve'])
  const ports = await new Promise<Ports>((resolve) =>
    peer.once('message', (message) => resolve(message as Ports)),
  )
  const us: Record<Way, number[]> = { tcp: [], tls: [] }
  for (let round = -1; round < rounds; round++)
    for (const way of round % 2 === 0 ? WAYS : WAYS.toReversed()) {
      const { user, system } = await measure(way, ports[way])
      if (round >= 0) us[way].push((user + system) / EXCHANGES) // the first is for the compiler
    }
  for (const way of WAYS)
    console.log(
      `${way}  ${median(us[way]).toFixed(1)} µs an exchange (${Math.min(...us[way]).toFixed(1)} to ${Math.max(...us[way]).toFixed(1)})`,
    )
  console.log(`TLS costs ${(median(us.tls) - median(us.tcp)).toFixed(1)} µs`)
  peer.disconnect()
}

if (process.argv[2] === 'serve') await serve()
else await compare(Number(process.argv[2] ?? 11))
