/** Forwarding over HTTP/2, as a client and an application see it. */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import t from 'tap'
import {
  END_HEADERS,
  fields,
  frame,
  FrameClient,
  requestFields,
  TYPE,
} from '../../support/http2-frames.ts'
import { answerOf, ask, HOST, startSecureWire } from '../../support/secure-wire.ts'
import { startOrigin, startRawOrigin } from '../../support/wire.ts'

t.test('a request over HTTP/2 reaches the application as one of HTTP/1.1', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url)
  const answer = await ask(wire.http2Client(), { ':path': '/a?b=c', 'x-custom': 'x' })
  t.match(answer, { status: 200, body: Buffer.from('ok') })
  t.equal(answer.headers['strict-transport-security'], 'max-age=31536000')
  t.equal(answer.headers['x-request-id'], 'r-1')
  t.equal(answer.headers['content-length'], '2')
  const [seen] = origin.seen
  t.match(seen, { method: 'GET', target: '/a?b=c' })
  t.same(seen?.rawHeaders, ['Host', HOST, 'X-Service-Verified', 'true', 'x-custom', 'x'])
  t.match(wire.outcomes, [{ status: 200, bytes: 2, isCut: false, failure: null }])
})

t.test('identity and forwarding headers from outside never arrive, in any spelling', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url)
  const names = [
    'x-service-user',
    'x_service_user',
    'x.service.user',
    'x-forwarded-for',
    'x-real-ip',
  ]
  await ask(wire.http2Client(), Object.fromEntries(names.map((name) => [name, 'root'])))
  t.notMatch(JSON.stringify(origin.seen[0]?.rawHeaders), /root/)
})

t.test('bodies of every length arrive whole, with their length or in chunks', async (t) => {
  const origin = await startOrigin(t, (_request, response, seen) => response.end(seen.body))
  const wire = await startSecureWire(t, origin.url)
  const client = wire.http2Client()
  for (const bytes of [0, 1, 100, 16 * 1024, 16 * 1024 + 1, 65_535, 300_000])
    for (const hasLength of [true, false]) {
      const body = randomBytes(bytes)
      const length = hasLength ? { 'content-length': String(bytes) } : {}
      const answer = await ask(client, { ':method': 'POST', ':path': '/', ...length }, body)
      t.equal(answer.status, 200)
      t.ok(answer.body.equals(body), `${bytes} bytes ${hasLength ? 'with' : 'without'} a length`)
      const headers = origin.seen.at(-1)?.rawHeaders.map((item) => item.toLowerCase()) ?? []
      const framing = hasLength ? 'content-length' : 'transfer-encoding'
      if (bytes > 0 || hasLength) t.ok(headers.includes(framing), framing)
    }
  t.match(wire.errors, [])
})

t.test('a POST without a body says so to the application', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url)
  await ask(wire.http2Client(), { ':method': 'POST' })
  const { rawHeaders } = origin.seen[0]!
  t.equal(rawHeaders[rawHeaders.indexOf('Content-Length') + 1], '0')
})

t.test('many requests share one connection, and none of them mixes with another', async (t) => {
  const origin = await startOrigin(t, (request, response) => response.end(`for ${request.url}`))
  const wire = await startSecureWire(t, origin.url)
  const client = wire.http2Client()
  const paths = Array.from({ length: 300 }, (_, at) => `/${at}`)
  const answers = await Promise.all(paths.map((path) => ask(client, { ':path': path })))
  t.same(
    answers.map(({ body }) => body.toString()),
    paths.map((path) => `for ${path}`),
  )
})

t.test('HEAD, 204 and 304 have no body, and say what they have to say', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    socket.on('data', (chunk) => {
      const path = /^[A-Z]+ (\S+)/.exec(chunk.toString())?.[1]
      if (path === '/204') socket.write('HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n')
      else if (path === '/304') socket.write('HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n')
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n')
    })
  })
  const wire = await startSecureWire(t, origin.url)
  const client = wire.http2Client()
  const head = await ask(client, { ':method': 'HEAD' })
  t.match(head, { status: 200, headers: { 'content-length': '5000' } })
  t.equal(head.body.length, 0)
  t.match(await ask(client, { ':path': '/204' }), { status: 204, headers: { 'x-a': 'b' } })
  t.match(await ask(client, { ':path': '/304' }), { status: 304, headers: { etag: '"x"' } })
  t.match(await ask(client, { ':method': 'HEAD' }), { status: 200 }, 'the pool is still in step')
  t.equal(wire.upstream.stats().connects, 2, 'nobody has a connection behind HEAD')
})

t.test('trailers travel both ways, and framing or identity is never one', async (t) => {
  const origin = await startOrigin(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/grpc', trailer: 'grpc-status' })
    response.write('message')
    response.addTrailers({ 'grpc-status': '0', 'grpc-message': 'fine' })
    response.end()
  })
  const wire = await startSecureWire(t, origin.url)
  const stream = wire
    .http2Client()
    .request({ ':method': 'POST', ':authority': HOST, te: 'trailers' }, { waitForTrailers: true })
  stream.on('wantTrailers', () =>
    stream.sendTrailers({
      'x-checksum': 'abc',
      'x-service-user': 'root',
      script_name: '/admin',
      'client-ip': '1.2.3.4',
      cookie: 'a=b',
    }),
  )
  const answer = await answerOf(stream, 'question')
  t.match(answer, { status: 200, body: Buffer.from('message') })
  t.match(answer.trailers, { 'grpc-status': '0', 'grpc-message': 'fine' })
  const [seen] = origin.seen
  t.equal(seen?.body.toString(), 'question')
  t.same(seen?.trailers, ['x-checksum', 'abc'])
  t.match(seen?.rawHeaders.join().toLowerCase(), /te,trailers/)
})

t.test('trailers that come before anybody has decided go on as well', async (t) => {
  let asked = ''
  const origin = await startRawOrigin(t, (socket) =>
    socket.on('data', (chunk) => {
      asked += chunk.toString('latin1')
      if (asked.endsWith('\r\n\r\n') && asked.includes('\r\n0\r\n'))
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    }),
  )
  let decide = () => undefined as void
  const wire = await startSecureWire(t, origin.url, {
    decide: (exchange, { plan }) => void (decide = () => exchange.forward(plan(exchange))),
  })
  const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
  client.request(1, requestFields(HOST), END_HEADERS)
  client.send(frame(TYPE.data, 0, 1, Buffer.from('abc')))
  client.request(1, fields([['x-checksum', '1']]))
  await client.settled()
  decide()
  await client.until(({ type }) => type === TYPE.headers)
  t.match(asked, /\r\n3\r\nabc\r\n0\r\nx-checksum: 1\r\n\r\n$/)
})

t.test('trailers arrive as well where the whole answer came in one piece', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    socket.on('data', () =>
      socket.write(
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nGrpc-Status: 5\r\n\r\n',
      ),
    )
  })
  const wire = await startSecureWire(t, origin.url)
  const answer = await ask(wire.http2Client(), {})
  t.match(answer, { status: 200, body: Buffer.from('hi'), trailers: { 'grpc-status': '5' } })
})

t.test('early hints come before the answer; 100 is said to who waits for it', async (t) => {
  const origin = await startOrigin(t, (_request, response) => {
    response.writeEarlyHints({ link: ['</a.css>; rel=preload', '</b.js>; rel=preload'] }, () =>
      response.end('ok'),
    )
  })
  const wire = await startSecureWire(t, origin.url)
  const client = wire.http2Client()
  const hinted = await ask(client, {})
  t.match(hinted, { status: 200, informational: [{ ':status': 103 }] })
  t.match(String(hinted.informational[0]?.['link']), /a\.css.*b\.js/)

  const stream = client.request(
    { ':method': 'POST', ':authority': HOST, expect: '100-continue', 'content-length': '4' },
    { endStream: false },
  )
  await once(stream, 'continue')
  t.match(await answerOf(stream, 'body'), { status: 200 })
  t.equal(origin.seen.at(-1)?.body.toString(), 'body')
})

t.test('events reach the client as they happen', async (t) => {
  let send: (event: string) => void = () => undefined
  const origin = await startOrigin(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    send = (event) => response.write(`data: ${event}\n\n`)
  })
  const wire = await startSecureWire(t, origin.url)
  const stream = wire.http2Client().request({ ':authority': HOST })
  await once(stream, 'response')
  t.pass('the head came before the first event')
  for (const event of ['one', 'two', 'three']) {
    const arrived = once(stream, 'data')
    send(event)
    t.equal(String((await arrived)[0]), `data: ${event}\n\n`)
  }
  stream.close()
})

t.test('16 MiB arrive whole in both directions', async (t) => {
  const hash = createHash('sha256')
  const piece = randomBytes(64 * 1024)
  const origin = await startOrigin(t, (_request, response, seen) => response.end(seen.body))
  const wire = await startSecureWire(t, origin.url)
  const stream = wire.http2Client().request({ ':method': 'POST', ':authority': HOST })
  const sent = (async () => {
    for (let count = 0; count < 256; count++) {
      hash.update(piece)
      if (!stream.write(piece)) await once(stream, 'drain')
    }
    stream.end()
  })()
  const received = createHash('sha256')
  for await (const chunk of stream) received.update(chunk as Buffer)
  await sent
  t.equal(received.digest('hex'), hash.digest('hex'))
})

t.test('a client that does not read stops the application, and not its neighbours', async (t) => {
  let written = 0
  const origin = await startOrigin(t, (request, response) => {
    if (request.url === '/small') return void response.end('ok')
    const piece = Buffer.alloc(64 * 1024)
    const pour = () => {
      while (written < 256 * 1024 * 1024) {
        written += piece.length
        if (!response.write(piece)) return void response.once('drain', pour)
      }
    }
    pour()
  })
  const wire = await startSecureWire(t, origin.url)
  const client = wire.http2Client()
  const stalled = client.request({ ':authority': HOST, ':path': '/big' })
  await once(stalled, 'response')
  t.match(await ask(client, { ':path': '/small' }), { status: 200 })
  // Kernel buffers on three sockets take some; then nothing moves.
  let before = -1
  while (before !== written) {
    before = written
    for (let count = 0; count < 20; count++) await ask(client, { ':path': '/small' })
  }
  t.ok(written < 32 * 1024 * 1024, `${written} bytes left the application`)
  stalled.close()
})

t.test('an upload that the application does not read stops at its sender', async (t) => {
  const origin = await startRawOrigin(t, (socket) => void socket.pause())
  const wire = await startSecureWire(t, origin.url)
  const client = wire.http2Client()
  const stream = client.request({ ':method': 'POST', ':authority': HOST })
  stream.on('error', () => undefined)
  let sent = 0
  const piece = Buffer.alloc(64 * 1024)
  let isFull = false
  while (!isFull && sent < 256 * 1024 * 1024) {
    sent += piece.length
    if (stream.write(piece)) continue
    const drained = once(stream, 'drain').then(() => false)
    const idle = (async () => {
      for (let count = 0; count < 30; count++) await new Promise((next) => client.ping(next))
      return true
    })()
    isFull = await Promise.race([drained, idle])
  }
  t.ok(isFull, `after ${sent} bytes`)
  t.ok(sent < 32 * 1024 * 1024)
  stream.close()
})
