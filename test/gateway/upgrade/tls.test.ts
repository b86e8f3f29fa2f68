import { once } from 'node:events'
import { createServer } from 'node:https'
import { connect as connectTcp, createServer as createTcpServer } from 'node:net'
import { connect as connectTls, getCACertificates, setDefaultCACertificates } from 'node:tls'
import t from 'tap'
import { WebSocket, WebSocketServer } from 'ws'
import { certificateFor } from '../../support/certificate.ts'
import { HOST, startEdge } from '../../support/edge-world.ts'
import { until } from '../../support/fleet.ts'
import { listening, startRawOrigin } from '../../support/wire.ts'

const AGREED = [
  'HTTP/1.1 101 Switching Protocols',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
  '\r\n',
].join('\r\n')

t.test('a WebSocket over TLS on both sides: carried, and closed like any other', async (t) => {
  const [own, edgeOwn] = [certificateFor('localhost'), certificateFor(HOST)]
  const trusted = getCACertificates('default')
  setDefaultCACertificates([...trusted, own.cert])
  t.teardown(() => setDefaultCACertificates(trusted))
  const origin = createServer(own)
  const webSockets = new WebSocketServer({ server: origin })
  const closed: number[] = []
  webSockets.on('connection', (socket, request) => {
    t.equal(request.headers['x-forwarded-proto'], 'https')
    t.match(request.headers.host, HOST, 'verified by the name of the origin, not by this one')
    socket.on('message', (message) => socket.send(message))
    socket.on('close', (code) => void closed.push(code))
  })
  const port = await listening(origin)
  t.teardown(() => {
    for (const socket of webSockets.clients) socket.terminate()
    origin.close()
  })

  const edge = await startEdge(t, `https://localhost:${port}`, {
    certificates: [{ hostname: HOST, certificate_pem: edgeOwn.cert, private_key_pem: edgeOwn.key }],
  })
  const listener = createTcpServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    edge.gateway.server.acceptTls(socket),
  )
  const securePort = await listening(listener)
  t.teardown(() => listener.close())
  const options = {
    ca: edgeOwn.cert,
    servername: HOST,
    headers: { host: `${HOST}:${securePort}`, cookie: edge.session({}) },
    origin: `https://${HOST}:${securePort}`,
  }
  const client = new WebSocket(`wss://127.0.0.1:${securePort}/live`, options)
  t.teardown(() => client.terminate())
  await new Promise((resolve, reject) => client.once('open', resolve).once('error', reject))
  for (const bytes of [1, 70_000, 3_000_000]) {
    client.send(Buffer.alloc(bytes, 5))
    const back = await new Promise<Buffer>((resolve) => client.once('message', resolve))
    t.equal(back.length, bytes)
  }
  const ended = new Promise((resolve) => client.once('close', resolve))
  edge.revoke({ all: edge.nowSeconds() + 1 })
  t.equal(await ended, 1008)
  await until(() => closed.length === 1)
  t.same(closed, [1008])
})

t.test('an application whose certificate is not trusted gets no WebSocket', async (t) => {
  const origin = createServer(certificateFor('localhost'))
  const webSockets = new WebSocketServer({ server: origin })
  webSockets.on('connection', () => t.fail('it was reached'))
  const port = await listening(origin)
  t.teardown(() => origin.close())
  const edge = await startEdge(t, `https://localhost:${port}`)
  const client = new WebSocket(`${edge.url}/live`, {
    headers: { host: HOST, cookie: edge.session() },
  })
  const status = await new Promise((resolve, reject) => {
    client.once('unexpected-response', (_request, { statusCode }) => resolve(statusCode))
    client.once('error', reject)
  })
  t.equal(status, 502)
  client.on('error', () => {})
  client.terminate()
})

t.test('who has ended over TLS before the application agrees holds nothing', async (t) => {
  const edgeOwn = certificateFor(HOST)
  const application = await startRawOrigin(t, (socket) => {
    socket.once('data', () => void setTimeout(() => socket.write(AGREED), 100))
  })
  const edge = await startEdge(
    t,
    application.url,
    {
      certificates: [
        { hostname: HOST, certificate_pem: edgeOwn.cert, private_key_pem: edgeOwn.key },
      ],
    },
    { idle: 500 },
  )
  const listener = createTcpServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    edge.gateway.server.acceptTls(socket),
  )
  const securePort = await listening(listener)
  t.teardown(() => listener.close())
  const ask = [
    'GET /health HTTP/1.1',
    `Host: ${HOST}:${securePort}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    '\r\n',
  ].join('\r\n')
  const clients = await Promise.all(
    Array.from({ length: 12 }, async (_, count) => {
      const raw = connectTcp({ port: securePort, allowHalfOpen: true })
      const socket = connectTls({ socket: raw, ca: edgeOwn.cert, servername: HOST })
      socket.on('error', () => undefined).resume()
      raw.on('error', () => undefined)
      await once(socket, 'secureConnect')
      socket.write(ask)
      // By a word of TLS, by an end without one, and after a while.
      if (count % 3 === 0) socket.end()
      else if (count % 3 === 1) setTimeout(() => raw.end(), 20)
      else setTimeout(() => socket.end(), 150)
      return raw
    }),
  )
  t.teardown(() => clients.forEach((raw) => raw.destroy()))
  await until(() => edge.lines.length === clients.length)
  for (let waits = 0; edge.gateway.telemetry.gauges().webSockets > 0 && waits < 100; waits++)
    await new Promise((resolve) => setTimeout(resolve, 100))
  t.match(edge.gateway.telemetry.gauges(), { webSockets: 0, connections: 0 })
})
