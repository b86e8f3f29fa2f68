/** WebSockets over HTTP/2: the same decisions, limits and ends as over a socket of their own. */
import { hash } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { constants } from 'node:http2'
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { ServerStream } from '../../../gateway/http2/protocol/stream.ts'
import { StreamSocket } from '../../../gateway/http2/stream-socket.ts'
import { UnreadBody } from '../../../gateway/http2/unread-body.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ask } from '../../support/secure-wire.ts'
import { HOST } from '../../support/edge-world.ts'
import { until } from '../../support/fleet.ts'
import {
  answerTo,
  openStream,
  openWebSocket,
  startHttp2Edge,
} from '../../support/http2-websockets.ts'
import { startWebSocketApplication } from '../../support/websockets.ts'
import { startRawOrigin } from '../../support/wire.ts'

t.test('several on one connection, beside its requests', async (t) => {
  const application = await startWebSocketApplication(t)
  const http2 = await startHttp2Edge(t, application.url)
  t.equal(http2.session.remoteSettings.enableConnectProtocol, true)
  const cookie = http2.edge.session()
  const key = 'dGhlIHNhbXBsZSBub25jZQ=='
  const more = { cookie, 'sec-websocket-key': key, 'x-service-user': 'eve' }
  const [first, second] = [
    await openWebSocket(t, http2, '/live?a=1', more),
    await openWebSocket(t, http2, '/other', { cookie }),
  ]
  t.notOk('sec-websocket-accept' in first.headers, 'only HTTP/1.1 has one')
  for (const bytes of [1, 70_000, 3_000_000]) {
    first.socket.send(Buffer.alloc(bytes, 5))
    second.socket.send(Buffer.alloc(bytes + 1, 6))
    const back = [first, second].map(async ({ socket }) => {
      const [message] = (await once(socket, 'message')) as [Buffer]
      return message.length
    })
    t.same(await Promise.all(back), [bytes, bytes + 1])
  }
  const page = await ask(http2.session, { ':authority': http2.authority, ':path': '/page', cookie })
  t.match(page, { status: 200 })
  t.equal(String(page.body), 'ordinary')
  const [opened] = application.opened
  t.match(opened, { url: '/live?a=1', method: 'GET', headers: { upgrade: 'websocket' } })
  t.not(opened!.headers['sec-websocket-key'], key, 'a key of ours')
  t.not(opened!.headers['x-service-user'], 'eve')
  t.equal(opened!.headers['x-forwarded-proto'], 'https')
  first.socket.close(1000, 'done')
  t.match(await first.closed, { code: 1000 })
  await until(() => application.closed.length === 1)
  t.same(application.closed, [{ code: 1000, reason: 'done' }])
  second.socket.send('still there')
  t.equal(String((await once(second.socket, 'message'))[0]), 'still there')
})

t.test('a session that ends takes them along', async (t) => {
  const application = await startWebSocketApplication(t)
  const http2 = await startHttp2Edge(t, application.url)
  const one = await openWebSocket(t, http2, '/live', { cookie: http2.edge.session({}) })
  http2.edge.revoke({ all: http2.edge.nowSeconds() + 1 })
  t.match(await one.closed, { code: 1008 })
  await until(() => application.closed.length === 1)
  t.match(application.closed, [{ code: 1008 }])
  t.notOk(http2.session.closed, 'the connection is its client’s')
})

t.test('who may not have one gets an ordinary answer, and the connection goes on', async (t) => {
  const application = await startWebSocketApplication(t)
  const http2 = await startHttp2Edge(t, application.url)
  const cookie = http2.edge.session()
  const statusOf = async (more: Record<string, string | undefined>, path = '/live', end = false) =>
    (await answerTo(openStream(http2, path, more, end))).status
  t.equal(await statusOf({}), 401, 'no session')
  t.equal(await statusOf({ cookie, origin: 'https://evil.test' }), 403, 'a page of another site')
  t.equal(await statusOf({ cookie, ':protocol': 'connect-udp' }), 501)
  t.equal(await statusOf({ cookie, 'sec-websocket-version': '8' }), 400)
  t.equal(await statusOf({ cookie, 'sec-websocket-version': undefined }), 400)
  t.equal(await statusOf({ cookie, 'content-length': '3' }), 400)
  t.equal(await statusOf({ cookie }, '/live', true), 400, 'it has ended with its head')
  t.equal(await statusOf({ cookie, upgrade: undefined }, '/live\\x'), 400)
  t.equal(application.opened.length, 0)
  t.equal(application.requested.length, 0)
  t.match(await ask(http2.session, { ':authority': http2.authority, ':path': '/page', cookie }), {
    status: 200,
  })
})

t.test('an application that does not agree', async (t) => {
  const ordinary = await startRawOrigin(t, (socket) => {
    socket.once('data', () =>
      socket.end('HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nno'),
    )
  })
  const wrong = await startRawOrigin(t, (socket) => {
    socket.once('data', () =>
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
          'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
      ),
    )
  })
  for (const [origin, status] of [
    [ordinary, 426],
    [wrong, 502],
  ] as const) {
    const http2 = await startHttp2Edge(t, origin.url)
    const stream = openStream(http2, '/live', { cookie: http2.edge.session() })
    t.equal((await answerTo(stream)).status, status)
    await once(stream.resume(), 'end')
    await new Promise((resolve) => http2.session.ping(resolve))
    t.ok(stream.closed, 'nobody waits for what its client would have said')
    t.equal(stream.rstCode, constants.NGHTTP2_NO_ERROR)
  }
})

t.test('of the application’s agreement only its proof stays behind', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    socket.once('data', (head: Buffer) => {
      const [, key = ''] = /^sec-websocket-key: (.*)\r$/im.exec(String(head)) ?? []
      const accept = hash('sha1', `${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`, 'base64')
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
          `X-Odd: sec-websocket-accept\r\nSec-WebSocket-Accept: ${accept}\r\nX-Last: 1\r\n\r\n`,
      )
    })
  })
  const http2 = await startHttp2Edge(t, origin.url)
  const { status, headers } = await answerTo(
    openStream(http2, '/live', { cookie: http2.edge.session() }),
  )
  t.equal(status, 200)
  t.match(headers, { 'x-odd': 'sec-websocket-accept', 'x-last': '1' })
  t.notOk('sec-websocket-accept' in headers)
})

t.test('the end of one side is the end of the other', async (t) => {
  const application = await startWebSocketApplication(t)
  const http2 = await startHttp2Edge(t, application.url)
  const cookie = http2.edge.session()
  const [ends, resets, left] = [
    await openWebSocket(t, http2, '/ends', { cookie }),
    await openWebSocket(t, http2, '/resets', { cookie }),
    await openWebSocket(t, http2, '/left', { cookie }),
  ]
  const { gateway } = http2.edge
  t.match(gateway.telemetry.gauges(), { webSockets: 3, inFlight: 0 })
  ends.stream.end()
  await until(() => application.closed.length === 1)
  resets.stream.close(constants.NGHTTP2_CANCEL)
  await until(() => application.closed.length === 2)
  application.sockets[2]!.terminate()
  await once(left.stream, 'close')
  await until(() => gateway.telemetry.gauges().webSockets === 0)
  // Each has given its place back: more of them than one address may have at once.
  async function come() {
    const stream = openStream(http2, '/again', { cookie })
    t.equal((await answerTo(stream)).status, 200)
    await once(stream.end().resume(), 'close')
  }
  const together = 64
  for (let count = 0; count <= LIMITS.http2StreamsPerAddressMax; count += together)
    await Promise.all(Array.from({ length: together }, come))
})

t.test('many small messages are what they are for, and no body in tiny pieces', (t) => {
  const taken: Buffer[] = []
  const stream = Object.assign(new EventEmitter(), {
    readableFlowing: null as boolean | null,
    push: (chunk: Buffer) => taken.push(chunk) > 0,
  })
  let asked = 0
  const body = new UnreadBody(stream as never, {
    world: {} as never,
    hasToWait: () => ++asked > 0,
    forgetBody: () => undefined,
  })
  const byte = Buffer.from('x')
  for (let count = 0; count <= LIMITS.http2SmallDataFramesFree; count++) stream.push(byte)
  t.same([asked, taken.length], [1, 0])
  let joined = 0
  body.release(() => joined++)
  t.equal(Buffer.concat(taken).length, LIMITS.http2SmallDataFramesFree + 1, 'nothing is lost')
  taken.length = 0
  stream.readableFlowing = true
  for (let count = 0; count < 10; count++) stream.push(byte)
  t.same([asked, joined, taken.length], [1, 0, 10])
  t.end()
})

t.test('tiny frames that the application does not take yet are no buffer each', async (t) => {
  const connection = { openWindow: () => undefined, sendReset: () => undefined, onOver() {} }
  const request = { isWhole: false, isHead: false, length: -1 }
  const windows = { send: 0, receive: 65_536 }
  const stream = new ServerStream(connection as never, 1, request, windows)
  const body = new UnreadBody(stream, {} as never)
  const socket = new StreamSocket(stream, {} as never, () => undefined)
  let joined = 0
  body.release(() => joined++)
  const taken: Buffer[] = []
  socket.on('data', (chunk: Buffer) => taken.push(chunk))
  await turn()
  socket.pause()
  const bytes = Buffer.from('0123456789'.repeat(1000))
  for (const byte of bytes) stream.receive(Buffer.from([byte]))
  t.ok(socket.readableLength <= 4096, `${socket.readableLength} bytes of it in the socket`)
  t.equal(joined, bytes.length - 1, 'each is counted')
  stream.receiveEnd()
  await once(socket.resume(), 'end')
  t.ok(taken.length < 8, `${taken.length} buffers`)
  t.same(Buffer.concat(taken), bytes)
  socket.destroy()
})

t.test('messages go on beside answers that fill the connection', async (t) => {
  const connection = { isFull: true, onTaken: () => undefined, onWritten: () => undefined }
  const waiting = new Set<ServerStream>()
  const wantsToSend = (stream: ServerStream) => void waiting.add(stream)
  const ofStream = { wantsToSend, sendReset: () => undefined, onOver() {} }
  const request = { isWhole: false, isHead: false, length: -1 }
  const stream = new ServerStream(ofStream as never, 1, request, { send: 0, receive: 0 })
  const socket = new StreamSocket(stream, connection as never, () => undefined)
  let isWaitedFor = false
  const timer = {
    unref() {
      return this
    },
    refresh: () => (isWaitedFor = true),
  }
  const { mock: timers } = mock.method(globalThis, 'setTimeout', () => timer)
  socket.setTimeout(1000)
  timers.restore()
  const message = Buffer.alloc(1000)
  for (let count = 0; count < 60; count++) socket.write(message)
  t.ok(stream.writableLength >= 16_000, `${stream.writableLength} bytes are in the stream`)
  t.ok(stream.writableLength < 20_000, 'and the others wait')
  t.notOk(isWaitedFor)
  stream.widen(100_000)
  while (stream.hasSomethingToSend) stream.sendSome(16_384, () => undefined)
  await turn()
  while (stream.hasSomethingToSend) stream.sendSome(16_384, () => undefined)
  t.same([stream.writableLength, socket.writableLength], [0, 0], 'as fast as they are taken')
  t.ok(isWaitedFor, 'and who takes them is waited for')
  socket.destroy()
})

t.test('a slow reader slows the application, and is given up', async (t) => {
  const chunk = Buffer.alloc(64 * 1024, 7)
  let sentBytes = 0
  const application = await startWebSocketApplication(t, (socket) => {
    const timer = setInterval(() => {
      for (let n = 0; n < 64 && socket.bufferedAmount < 1024 * 1024; n++) {
        socket.send(chunk)
        sentBytes += chunk.length
      }
    }, 1)
    t.teardown(() => clearInterval(timer))
  })
  const http2 = await startHttp2Edge(t, application.url, { idle: 700 })
  const stream = openStream(http2, '/live', { cookie: http2.edge.session() })
  t.equal((await answerTo(stream)).status, 200)
  await once(stream, 'close')
  t.ok(sentBytes < 24 * 1024 * 1024, `${sentBytes >> 20} MiB on the way, then it stops`)
  t.equal(stream.rstCode, constants.NGHTTP2_CANCEL)
})

t.test('a gateway that leaves says so to each', async (t) => {
  const application = await startWebSocketApplication(t)
  const http2 = await startHttp2Edge(t, application.url)
  const one = await openWebSocket(t, http2, '/live', { cookie: http2.edge.session() })
  const gone = once(http2.session, 'close')
  const drained = http2.edge.gateway.server.drain()
  t.match(await one.closed, { code: 1001 })
  await Promise.all([drained, gone])
})

t.test('a host that the connection was not opened for', async (t) => {
  const application = await startWebSocketApplication(t)
  const http2 = await startHttp2Edge(t, application.url)
  const stream = openStream(http2, '/live', { ':authority': `other.${HOST}` })
  t.equal((await answerTo(stream)).status, 421)
})
