/** What somebody who was let in still has open, and how a guard ends it. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { createAdaptorServer, upgradeWebSocket } from '@hono/node-server'
import fastify from 'fastify'
import { Hono } from 'hono'
import t from 'tap'
import { WebSocketServer } from 'ws'
import { http2SessionTo } from '../../../support/http2-session.ts'
import { listen } from '../../../support/own-guard.ts'
import { watching } from '../../../support/watching-guard.ts'
import { RawClient } from '../../../support/wire.ts'

t.test('Fastify: a connection that was upgraded ends with its session', async (t) => {
  const { open, service } = watching()
  const app = fastify()
  await app.register(service.fastify())
  app.get('/', (request, reply) => {
    if (request.headers.upgrade === undefined) return 'in'
    // as @fastify/websocket does: the socket is its own, the response is nobody's
    reply.hijack()
    request.raw.socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    return undefined
  })
  await app.ready()
  const client = new RawClient(await listen(t, app.server))
  client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await client.answer()
  t.equal(open.size, 0, 'an answer that is over is not looked at')
  client.send('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  await client.until((received) => received !== '')
  const [upgraded] = open
  t.notOk(upgraded?.isOver())
  upgraded?.end()
  await client.closed
  t.ok(upgraded?.isOver())
})

t.test('HTTP/2: the stream ends with its session, its neighbors go on', async (t) => {
  const { open, service } = watching()
  const listener = service.node((request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(request.url)
  })
  const session = await http2SessionTo(t, listener)
  const opened = async (path: string) => {
    const stream = session.request({ ':path': path })
    stream.on('error', () => undefined)
    await once(stream, 'data')
    return stream
  }
  const first = await opened('/first')
  const [toEnd] = open
  const second = await opened('/second')
  const closed = once(first, 'close')
  t.notOk(toEnd?.isActive(), 'an event stream is as old as its request')
  toEnd?.end()
  await closed
  t.notOk(second.destroyed)
  t.notOk(session.destroyed)
  t.ok(toEnd?.isOver())
  t.equal(open.size, 1, 'what is over is not watched')
})

t.test('Hono without a server: the body ends with its session', async (t) => {
  const { open, service } = watching()
  const app = new Hono()
  app.use(service.hono())
  app.get('/short', (c) => c.text('short'))
  app.get('/none', (c) => c.body(null, 204))
  const begin = (controller: ReadableStreamDefaultController) => controller.enqueue(Buffer.from('begun')) // prettier-ignore
  app.get('/events', (c) => c.body(new ReadableStream({ start: begin }) as ReadableStream))
  t.equal(await (await app.request('/short')).text(), 'short')
  t.equal((await app.request('/none')).status, 204)
  const answer = await app.request('/events')
  t.equal(answer.headers.get('cache-control'), 'private')
  const reader = answer.body!.getReader()
  t.equal(Buffer.from((await reader.read()).value as Uint8Array).toString(), 'begun')
  t.equal(open.size, 1)
  for (const one of open) one.end()
  await t.rejects(reader.read())
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(open.size, 0)
})

t.test('Hono: a WebSocket of its server’s ends with its session', async (t) => {
  const { open, service } = watching()
  const app = new Hono()
  app.use(service.hono())
  app.get(
    '/',
    upgradeWebSocket(() => ({})),
  )
  const websocket = { server: new WebSocketServer({ noServer: true }) }
  const server = createAdaptorServer({ fetch: app.fetch, websocket: websocket as never })
  const port = await listen(t, server as Server)
  const upgrade = (path: string) =>
    new RawClient(port).send(
      `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
  const client = upgrade('/')
  await client.until((received) => received.startsWith('HTTP/1.1 101'))
  const [socket] = open
  t.equal(socket?.isOver(), false)
  socket?.end()
  await client.closed
  const connected = once(server, 'connection') as Promise<[Socket]>
  const refused = upgrade('/no-such-route')
  const [theirs] = await connected
  const closed = once(theirs, 'close')
  await refused.closed
  refused.close()
  await closed
  t.equal(open.size, 0, 'what was refused is not watched')
})
