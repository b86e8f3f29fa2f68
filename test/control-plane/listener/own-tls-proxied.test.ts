/** TLS of our own behind a balancer that only passes on TCP: who the client is stands before the handshake. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect as connectRaw, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { createSecureContext, connect, type TLSSocket } from 'node:tls'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { startControlPlane } from '../../../control-plane/control-plane.ts'
import { createLiveKey } from '../../../control-plane/keys/live-key.ts'
import { addressOf } from '../../../control-plane/listener/client-address.ts'
import { createSecureListener } from '../../../control-plane/listener/secure-listener.ts'
import { systemClock } from '../../../shared/clock.ts'
import { OPERATOR_KEY } from '../../support/api.ts'
import { FLEET_KEY, temporaryFolder } from '../../support/control-plane.ts'
import { createTestLog } from '../../support/fleet.ts'
import { freePort } from '../../support/ports.ts'
import { startBalancer } from '../../support/secure-edge.ts'
import { createTestAuthority } from '../../support/test-certificates.ts'
import { REALM, startListener } from './served.ts'

const HOSTNAME = 'auth.example.test'
const VERSION_1 = Buffer.from('PROXY TCP4 192.0.2.7 192.0.2.8 56324 443\r\n')
const VERSION_1_IPV6 = Buffer.from('PROXY TCP6 2001:db8::7 2001:db8::8 56324 443\r\n')
const VERSION_2 = Buffer.concat([
  Buffer.from('\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c', 'latin1'),
  Buffer.from([192, 0, 2, 9, 192, 0, 2, 8, 0xdc, 4, 1, 0xbb]),
])
/** A balancer's health check, which speaks for itself. */
const LOCAL = Buffer.from('\r\n\r\n\0\r\nQUIT\n\x20\0\0\0', 'latin1')
const HAPROXY = '/usr/sbin/haproxy'

interface Wanted {
  readonly trustedProxies?: readonly string[]
  readonly perAddressMax?: number
  readonly maxOfAll?: number
  readonly handshakeMs?: number
}

async function start(t: Test, { trustedProxies = ['127.0.0.1'], ...limits }: Wanted = {}) {
  const authority = createTestAuthority(t)
  const { certificate_pem: cert, private_key_pem: key } = authority.issue(HOSTNAME)
  const secureContext = createSecureContext({ cert, key })
  const { log, lines } = createTestLog()
  const behind = { trustedProxies, proxyProtocol: true }
  const answer = (_request: unknown, response: { end(text: string): unknown }) =>
    void response.end(addressOf(_request as never))
  const { perAddressMax, maxOfAll } = limits
  const connectionLimits = {
    ...(perAddressMax !== undefined && { perAddressMax }),
    ...(maxOfAll !== undefined && { maxOfAll }),
  }
  const { server } = await startListener(t, answer, { ...behind, connectionLimits })
  const context = () => secureContext
  const options = { server, hostname: HOSTNAME, context, log, ...behind, ...limits }
  const secure = createSecureListener(options)
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve))
  t.teardown(() => secure.close())
  const { port } = secure.address() as AddressInfo
  return { port, ca: authority.caPem, lines, authority }
}

/** The handshake behind what a balancer says; rejects where none comes about. */
async function secured(raw: Socket, ca: string): Promise<TLSSocket> {
  const socket = connect({ socket: raw, servername: HOSTNAME, ca })
  const ended = once(raw, 'close').then(() => Promise.reject(new Error('closed')))
  ended.catch(() => undefined)
  await Promise.race([once(socket, 'secureConnect'), ended])
  return socket
}

async function opened(t: Test, port: number, localAddress = '127.0.0.1'): Promise<Socket> {
  const raw = connectRaw({ port, host: '127.0.0.1', localAddress })
  raw.on('error', () => undefined)
  t.teardown(() => raw.destroy())
  await once(raw, 'connect')
  return raw
}

/** Who the service takes the client for. */
async function seenAs(socket: TLSSocket): Promise<string> {
  socket.write(
    `GET ${REALM} HTTP/1.1\r\nHost: ${HOSTNAME}\r\nX-Forwarded-For: 6.6.6.6\r\nConnection: close\r\n\r\n`,
  )
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  return text.slice(text.indexOf('\r\n\r\n') + 4)
}

t.test('the client is the one that the header before the handshake names', async (t) => {
  const { port, ca } = await start(t)
  for (const [header, address] of [
    [VERSION_1, '192.0.2.7'],
    [VERSION_1_IPV6, '2001:db8::7'],
    [VERSION_2, '192.0.2.9'],
    // it names nobody, so nothing that is forwarded there is believed
    [LOCAL, '127.0.0.1'],
  ] as const)
    for (const how of ['together', 'apart', 'byte by byte'] as const) {
      const front = await startBalancer(t, port, { header, how })
      t.equal(await seenAs(await secured(await opened(t, front), ca)), address, how)
    }
})

t.test('a balancer without its header, or with half of one, is served nothing', async (t) => {
  const { port, ca, lines } = await start(t)
  await t.rejects(secured(await opened(t, port), ca), 'a ClientHello is no header')
  for (const header of [
    'PROXY TCP4 nonsense\r\n',
    `${VERSION_1.toString()}${VERSION_1.toString()}`,
  ]) {
    const raw = await opened(t, port)
    raw.write(header)
    await t.rejects(secured(raw, ca), header)
  }
  const told = lines.filter(({ msg }) => msg === 'a balancer sent no valid PROXY header')
  t.equal(told.length, 1, 'in a minute: behind one that sends none, anybody could fill the log')
  for (const header of [VERSION_1, VERSION_2])
    for (let length = 0; length < header.length; length++) {
      const raw = await opened(t, port)
      const heard: Buffer[] = []
      raw.on('data', (chunk: Buffer) => heard.push(chunk))
      raw.end(header.subarray(0, length))
      await once(raw, 'close')
      t.same(heard, [], `${length} bytes`)
    }
})

t.test('who begins a header and never ends it is closed', async (t) => {
  const { port } = await start(t, { handshakeMs: 50 })
  for (const bytes of [Buffer.alloc(0), VERSION_2.subarray(0, 20), VERSION_1]) {
    const raw = await opened(t, port)
    raw.resume()
    raw.write(bytes)
    await once(raw, 'close')
    t.pass(`${bytes.length} bytes`)
  }
})

t.test('who is no balancer cannot say who it is', async (t) => {
  const { port, ca } = await start(t, { trustedProxies: ['10.0.0.0/8'] })
  const raw = await opened(t, port)
  raw.write(VERSION_1)
  await t.rejects(secured(raw, ca))
  t.equal(await seenAs(await secured(await opened(t, port), ca)), '127.0.0.1')
})

const fromIpv6 = (address: string) => Buffer.from(`PROXY TCP6 ${address} 2001:db8::8 1 443\r\n`)

/** Of connections that begin no handshake, which are closed. */
async function areRefused(t: Test, port: number, headers: readonly Buffer[]): Promise<boolean[]> {
  const refused: boolean[] = []
  for (const header of headers) {
    const raw = await opened(t, port)
    raw.write(header)
    const isClosed = once(raw.resume(), 'close').then(() => true)
    // whoever came before is counted once this one has been answered
    const other = await opened(t, port)
    other.write(LOCAL)
    other.write('no handshake')
    await once(other.resume(), 'close')
    refused.push(
      await Promise.race([isClosed, new Promise<boolean>((r) => setImmediate(r, false))]),
    )
  }
  return refused
}

t.test('handshakes of each client have a bound behind one balancer, which has none', async (t) => {
  const { port } = await start(t, { perAddressMax: 2 })
  const three = (header: Buffer) => [header, header, header]
  t.same(await areRefused(t, port, three(VERSION_1)), [false, false, true])
  t.same(await areRefused(t, port, three(VERSION_2)), [false, false, true])
  t.same(await areRefused(t, port, three(LOCAL)), [false, false, false])
})

t.test('handshakes of one site leave the others theirs', async (t) => {
  const { port } = await start(t, { perAddressMax: 2, maxOfAll: 6 })
  const ofSite = [1, 2, 3, 4].map((network) => fromIpv6(`2001:db8:0:${network}::1`))
  t.same(await areRefused(t, port, ofSite), [false, false, false, true])
  t.same(await areRefused(t, port, [fromIpv6('2001:db8:1::1')]), [false])
})

t.test(
  'what is deciphered counts like every other connection, and makes room like it',
  async (t) => {
    const { port, ca } = await start(t, { perAddressMax: 2 })
    const kept: TLSSocket[] = []
    for (let count = 0; count < 3; count++) {
      const raw = await opened(t, port)
      raw.write(VERSION_1)
      const socket = await secured(raw, ca)
      socket.write(`GET ${REALM} HTTP/1.1\r\nHost: ${HOSTNAME}\r\n\r\n`)
      t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 200 /)
      kept.push(socket)
    }
    const [first, ...others] = kept as [TLSSocket, TLSSocket, TLSSocket]
    if (!first.destroyed) await once(first.resume(), 'close')
    t.same(
      others.map(({ destroyed }) => destroyed),
      [false, false],
    )
  },
)

t.test(
  'HAProxy passes the handshake through and says who it is from',
  { skip: !existsSync(HAPROXY) && 'haproxy is not installed' },
  async (t) => {
    const { port, ca } = await start(t, { trustedProxies: ['127.0.0.1/32'] })
    for (const [setting, version] of [
      ['send-proxy', 1],
      ['send-proxy-v2', 2],
      ['send-proxy-v2 proxy-v2-options crc32c,unique-id', 2],
    ] as const) {
      const front = await startHaproxy(t, `127.0.0.1:${port} source 127.0.0.1 ${setting}`)
      const socket = await secured(await opened(t, front, '127.0.0.9'), ca)
      t.equal(await seenAs(socket), '127.0.0.9', `version ${version}: ${setting}`)
    }
    const silent = await startHaproxy(t, `127.0.0.1:${port} source 127.0.0.1`)
    await t.rejects(secured(await opened(t, silent, '127.0.0.9'), ca), 'one that says nothing')
  },
)

async function startHaproxy(t: Test, server: string): Promise<number> {
  const port = await freePort()
  const file = join(temporaryFolder(t), 'haproxy.cfg')
  const defaults =
    'defaults\n  mode tcp\n  timeout connect 5s\n  timeout client 30s\n  timeout server 30s\n'
  writeFileSync(file, `${defaults}listen tls\n  bind 127.0.0.1:${port}\n  server one ${server}\n`)
  const program = spawn(HAPROXY, ['-db', '-f', file], { stdio: 'ignore' })
  t.teardown(() => program.kill('SIGKILL'))
  for (;;) {
    const raw = connectRaw({ port, host: '127.0.0.1' })
    const isOpen = await new Promise<boolean>((resolve) => {
      raw.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    raw.destroy()
    if (isOpen) return port
    if (program.exitCode !== null) throw new Error(`haproxy ended with ${program.exitCode}`)
    await new Promise((next) => setTimeout(next, 20))
  }
}

t.test('the whole control plane takes both settings together', async (t) => {
  const authority = createTestAuthority(t)
  const file = join(temporaryFolder(t), 'own.pem')
  const { certificate_pem: chain, private_key_pem: key } = authority.issue(HOSTNAME)
  writeFileSync(file, chain + key)
  const ANY = { host: '127.0.0.1', port: 0 }
  const controlPlane = await startControlPlane(
    {
      baseUrl: `https://${HOSTNAME}`,
      dataDir: temporaryFolder(t),
      listen: ANY,
      tlsListen: ANY,
      tlsCertificateFile: file,
      fleetListen: ANY,
      trustedProxies: ['127.0.0.1'],
      proxyProtocol: true,
      database: 'sqlite',
      operatorKey: createLiveKey(OPERATOR_KEY),
      fleetKey: createLiveKey(FLEET_KEY),
      masterKey: Buffer.alloc(32, 1),
      breachListFile: null,
      mailFrom: 'no-reply@localhost',
      smtpUrl: null,
      edgeUrlFor: (hostname) => `https://${hostname}`,
    },
    { log: pino({ level: 'silent' }), clock: systemClock },
  )
  t.teardown(() => controlPlane.close())
  const { port } = controlPlane.tlsAddress as AddressInfo
  const raw = await opened(t, port)
  raw.write(VERSION_2)
  const socket = await secured(raw, authority.caPem)
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const options = { createConnection: () => socket, headers: { host: HOSTNAME } }
    request(`https://${HOSTNAME}/health/ready`, options, ({ statusCode }) => resolve(statusCode))
      .on('error', reject)
      .end()
  })
  t.equal(status, 200)
  await t.rejects(secured(await opened(t, port), authority.caPem))
})
