/** The fleet link as it leaves the machine: the key is shown to nobody but whom it is for. */
import { createServer, type Server } from 'node:http'
import { createServer as createPlainServer, type AddressInfo } from 'node:net'
import { createServer as createTlsServer, connect } from 'node:tls'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { speakTls } from '../../../control-plane/fleet/fleet-listener.ts'
import { createLiveKey, type LiveKey } from '../../../control-plane/keys/live-key.ts'
import { openFleetCertificate } from '../../../control-plane/keys/fleet-certificate.ts'
import { transportTo } from '../../../gateway/fleet/fleet-transport.ts'
import {
  fingerprintOfCertificate,
  sharedCertificate,
  trustOf,
} from '../../../shared/fleet/trust.ts'
import { certificateFrom } from '../../../shared/self-signed.ts'
import { ACTOR, startServices } from '../../support/control-plane.ts'
import { FLEET_KEY, startControlPlane, startGateway, until } from '../../support/fleet.ts'
import { createTestAuthority } from '../../support/test-certificates.ts'

const CERTIFICATE = certificateFrom('of the database', 'certificate of the fleet')
const OWN_KEY = `gwk_${'k'.repeat(43)}.${fingerprintOfCertificate(CERTIFICATE)}`

async function listening(t: Test, server: Server | ReturnType<typeof createPlainServer>) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function startListener(t: Test, fleetKey: LiveKey = createLiveKey(FLEET_KEY)) {
  const heard: (string | undefined)[] = []
  const server = createServer((request, response) => {
    heard.push(request.headers.authorization)
    response.end('heard')
  })
  speakTls({ server, certificate: CERTIFICATE, fleetKey })
  return { port: await listening(t, server), heard, server }
}

/** As from another machine. */
function transport(port: number, key: string) {
  const base = `http://fleet.example.test:${port}`
  const found = transportTo({ base, key, own: [], mayBePlain: false, connectMsMax: 5000 })
  const { url, createConnection } = found
  return {
    url,
    createConnection: (
      options: Parameters<NonNullable<typeof createConnection>>[0],
      connected: Parameters<NonNullable<typeof createConnection>>[1],
    ) => createConnection!({ ...options, host: '127.0.0.1' }, connected),
  }
}

/** What came of a try to say the key. */
function knock(port: number, key: string): Promise<string> {
  const { url, createConnection } = transport(port, key)
  const headers = { authorization: `Bearer ${key}` }
  const options = { headers, createConnection: createConnection as never, handshakeTimeout: 5000 }
  return new Promise((resolve) => {
    const socket = new WebSocket(url, options)
    socket.on('unexpected-response', (_request, response) => resolve(`${response.statusCode}`))
    socket.on('error', (error) => resolve(error.message))
    socket.on('open', () => resolve('open'))
    t.teardown(() => socket.terminate())
  })
}

t.test('how the link goes hangs on where it goes, and on the key', async (t) => {
  const own = ['192.0.2.7']
  const plainKey = `gwk_${'k'.repeat(43)}`
  for (const [base, key, mayBePlain, url, isPinned] of [
    ['http://127.0.0.1:1', OWN_KEY, false, 'ws://127.0.0.1:1/fleet', false],
    ['http://localhost:1', FLEET_KEY, false, 'ws://localhost:1/fleet', false],
    ['http://192.0.2.7:1', FLEET_KEY, false, 'ws://192.0.2.7:1/fleet', false],
    ['http://192.0.2.8:1', FLEET_KEY, false, 'wss://192.0.2.8:1/fleet', true],
    ['http://192.0.2.8:1', OWN_KEY, false, 'wss://192.0.2.8:1/fleet', true],
    ['http://192.0.2.8:1', OWN_KEY, true, 'ws://192.0.2.8:1/fleet', false],
    ['http://192.0.2.8:1', plainKey, false, 'ws://192.0.2.8:1/fleet', false],
    ['https://cp.example.test', plainKey, false, 'wss://cp.example.test/fleet', false],
    ['https://cp.example.test', OWN_KEY, false, 'wss://cp.example.test/fleet', false],
  ] as const) {
    const found = transportTo({ base, key, own, mayBePlain, connectMsMax: 1 })
    t.same([found.url, found.createConnection !== undefined], [url, isPinned], `${base} ${key}`)
  }
})

t.test('a key is shown to the listener that it is for, whichever kind it is', async (t) => {
  const { port, heard } = await startListener(t)
  t.equal(await knock(port, OWN_KEY), '200')
  t.equal(await knock(port, FLEET_KEY), '200')
  t.same(heard, [`Bearer ${OWN_KEY}`, `Bearer ${FLEET_KEY}`])
})

t.test('and to nobody else, who may listen in its place', async (t) => {
  const authority = createTestAuthority(t)
  const strangers = [
    certificateFrom('of another database', 'certificate of the fleet'),
    sharedCertificate('the key of another machine'),
  ].map(({ certificatePem: cert, privateKeyPem: key }) => ({ cert, key }))
  const issued = authority.issue('fleet.example.test')
  strangers.push({ cert: issued.certificate_pem, key: issued.private_key_pem })
  for (const pair of strangers) {
    let bytes = 0
    const stranger = createTlsServer(pair, (socket) => {
      socket.on('data', (chunk: Buffer) => void (bytes += chunk.length))
      socket.on('error', () => undefined)
    })
    const port = await listening(t, stranger)
    for (const key of [OWN_KEY, FLEET_KEY])
      t.match(await knock(port, key), /another certificate than the key of this gateway is for/)
    t.equal(bytes, 0, 'not a byte')
  }
  const plain = createPlainServer((socket) => socket.end('HTTP/1.1 101 Welcome\r\n\r\n'))
  const said = await knock(await listening(t, plain), OWN_KEY)
  t.not(said, 'open')
  t.notMatch(said, OWN_KEY)
})

t.test('a fleet key that is replaced takes its certificate along', async (t) => {
  const key = createLiveKey('the first fleet key')
  const { port } = await startListener(t, key)
  key.replace('the next fleet key', 'the first fleet key')
  for (const one of key.all()) t.equal(await knock(port, one), '200', one)
  key.replace('the next fleet key', null)
  t.match(await knock(port, 'the first fleet key'), /another certificate/)
})

t.test('in the clear it is as it ever was, and silence ends', async (t) => {
  const { port, heard, server } = await startListener(t)
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  t.equal(await answer.text(), 'heard')
  t.equal(heard.length, 1)
  const old = connect({ port, host: '127.0.0.1', maxVersion: 'TLSv1.2', rejectUnauthorized: false })
  await new Promise((resolve) => old.once('error', resolve).once('close', resolve))
  t.equal(heard.length, 1, 'TLS 1.3 and no older')
  t.ok(server.listening)
})

t.test('a gateway of another machine is served over it, with a key of its own', async (t) => {
  const services = await startServices(t)
  const { fingerprint } = await openFleetCertificate(services.store, services.vault)
  t.equal(fingerprint, services.fleetCertificate.fingerprint, 'the same whoever asks, and when')
  const { key } = await services.gatewayKeys.make('edge-1', ACTOR)
  t.equal(trustOf(key)?.fingerprint, fingerprint)

  const control = await startControlPlane(t)
  const front = createServer((_request, response) => response.writeHead(404).end())
  speakTls({ server: front, certificate: CERTIFICATE, fleetKey: createLiveKey(FLEET_KEY) })
  control.hub.attach(front)
  const port = await listening(t, front)
  const gateway = startGateway(t, { port, transport: (_base, own) => transport(port, own) })
  const revision = control.put('ada')
  await control.settled(revision)
  t.equal(gateway.link.status().isConnected, true)
  t.match(
    gateway.lines.find(({ msg }) => msg === 'connected to the control plane'),
    { url: `wss://fleet.example.test:${port}/fleet` },
  )
  await until(() => control.hub.gateways()[0]?.connected === true)
})
