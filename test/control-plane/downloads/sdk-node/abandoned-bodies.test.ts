/** A handler may stop reading what is sent to it: its answer ends with the session all the same. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { ClientHttp2Session } from 'node:http2'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import t, { type Test } from 'tap'
import { http2SessionTo } from '../../../support/http2-session.ts'
import { listen } from '../../../support/own-guard.ts'
import { watching } from '../../../support/watching-guard.ts'
import { RawClient } from '../../../support/wire.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown
type Leave = (request: IncomingMessage) => unknown

async function breakOff(request: IncomingMessage) {
  for await (const _ of request) break
}

async function readThenDestroy(request: IncomingMessage) {
  for await (const _ of request);
  request.destroy()
}

const WAYS: Record<string, Leave> = {
  'for await … break': breakOff,
  'request.destroy()': (request) => request.destroy(),
  'request.destroy() after the end': readThenDestroy,
  'request.pause()': (request) => request.pause(),
}

const answering =
  (leave: Leave): Handler =>
  async (request, response) => {
    await leave(request)
    if (response.destroyed) return
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('begun')
  }

/** With a first part of a body, as the rest is sent by the test, or never. */
async function postHttp2(t: Test, listener: Handler) {
  const session = await http2SessionTo(t, listener)
  const stream = session.request({ ':method': 'POST' })
  stream.on('error', () => undefined)
  stream.write('one part')
  return { session, stream }
}

const roundTrip = (session: ClientHttp2Session) => new Promise((resolve) => session.ping(resolve))

for (const [way, leave] of Object.entries(WAYS))
  t.test(`HTTP/2, ${way}: the answer lives on, and ends with its session`, async (t) => {
    const { open, service } = watching()
    const { session, stream } = await postHttp2(t, service.node(answering(leave)))
    if (leave === readThenDestroy) stream.end()
    await once(stream, 'data')
    const [answer] = open
    t.equal(answer?.isOver(), false, 'somebody still gets this answer')
    if (way !== 'request.pause()')
      t.equal(answer?.isActive(), false, 'what nobody reads is no upload')
    stream.end()
    await roundTrip(session)
    t.equal(answer?.isActive(), false, 'nor is what has been sent')
    const closed = once(stream, 'close')
    answer?.end()
    await closed
    t.notOk(session.destroyed)
    t.equal(answer?.isOver(), true)
    t.equal(open.size, 0)
  })

t.test('HTTP/2: a stream that its client left is over', async (t) => {
  const { open, service } = watching()
  const { session, stream } = await postHttp2(t, service.node(answering(breakOff)))
  await once(stream, 'data')
  const [answer] = open
  stream.close(8)
  await roundTrip(session)
  t.equal(answer?.isOver(), true)
  t.equal(open.size, 0)
})

t.test('HTTP/2, Hono: a body that was left unread', async (t) => {
  const { open, service } = watching()
  const app = new Hono()
  app.use(service.hono())
  const begin = (controller: ReadableStreamDefaultController) => controller.enqueue(Buffer.from('begun')) // prettier-ignore
  app.post('/', async (c) => {
    await c.req.raw.body?.cancel()
    return c.body(new ReadableStream({ start: begin }) as ReadableStream)
  })
  const { stream } = await postHttp2(t, getRequestListener(app.fetch))
  await once(stream, 'data')
  const [answer] = open
  t.equal(answer?.isOver(), false)
  const closed = once(stream, 'close')
  answer?.end()
  await closed
  t.equal(open.size, 0)
})

const POST = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\n'

t.test('HTTP/1.1, request.destroy(): the connection ends, and nothing is watched', async (t) => {
  const { open, service } = watching()
  const server = createServer(
    service.node(async (request, response) => {
      request.destroy()
      await once(response, 'close')
      ended.resolve()
    }),
  )
  const ended = Promise.withResolvers<void>()
  const client = new RawClient(await listen(t, server))
  client.send(`${POST}one`)
  await client.closed
  await ended.promise
  t.equal(open.size, 0)
})

for (const way of ['for await … break', 'request.destroy() after the end', 'request.pause()'])
  t.test(`HTTP/1.1, ${way}: the answer lives on, and ends with its session`, async (t) => {
    const { open, service } = watching()
    const server = createServer(service.node(answering(WAYS[way]!)))
    const client = new RawClient(await listen(t, server))
    // of a body that was broken off, the rest never comes
    client.send(way === 'for await … break' ? `${POST}one` : `${POST}one part`)
    await client.until((received) => received.includes('begun'))
    const [answer] = open
    t.equal(answer?.isOver(), false)
    t.equal(answer?.isActive(), false)
    answer?.end()
    await client.closed
    t.equal(answer?.isOver(), true)
  })

t.test('HTTP/1.1: a property of the application’s is no HTTP/2 stream', async (t) => {
  const { open, service } = watching()
  const server = createServer(
    service.node((request, response) => {
      Object.assign(request, { stream: {} })
      Object.assign(response, { stream: {} })
      response.write('begun')
    }),
  )
  const client = new RawClient(await listen(t, server))
  client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await client.until((received) => received.includes('begun'))
  const [answer] = open
  answer?.end()
  await client.closed
  t.equal(answer?.isOver(), true)
})
