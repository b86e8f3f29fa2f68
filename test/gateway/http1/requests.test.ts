/** What clients send: keep-alive, pipelines, bodies in both framings, expectations, half-closing. */
import { createHash } from 'node:crypto'
import t from 'tap'
import { BodyTooLarge } from '../../../gateway/wire/exchange.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { RawClient, startOrigin, startRawOrigin, startWire, talk } from '../../support/wire.ts'

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

t.test('a request that arrives byte by byte is the same request', async (t) => {
  const origin = await startOrigin(t)
  const { port } = await startWire(t, origin.url)
  const client = new RawClient(port)
  t.teardown(() => client.close())
  const text =
    'POST /a?b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n'
  for (const byte of text) {
    client.send(byte)
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.equal((await client.answer('POST'))?.body.toString(), 'ok')
  t.match(origin.seen, [
    { method: 'POST', target: '/a?b', body: Buffer.from('hello'), trailers: ['X-T', '1'] },
  ])
})

t.test('pipelined requests are answered in order, each decided on by itself', async (t) => {
  const origin = await startOrigin(t, (request, response) => response.end(request.url))
  const { port } = await startWire(t, origin.url, {
    decide: (exchange, wire) =>
      exchange.head.target === '/2'
        ? exchange.respond({ status: 401, headerLines: [], body: 'own' })
        : exchange.forward(wire.plan(exchange)),
  })
  const text = ['/1', '/2', '/3'].map((path) => GET.replace('/', path)).join('')
  const post = 'POST /4 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc'
  const answers = await talk(t, port, text + post + GET.replace('/', '/5'), [...'12345'])
  t.strictSame(
    answers.map((answer) => answer?.body.toString()),
    ['/1', 'own', '/3', '/4', '/5'],
  )
})

t.test('a pipeline of a thousand requests does not grow memory or stack', async (t) => {
  const { port, server } = await startWire(t, 'http://127.0.0.1:1', {
    decide: (exchange) => exchange.respond({ status: 200, headerLines: [], body: 'x' }),
  })
  const answers = await talk(
    t,
    port,
    GET.repeat(1000),
    Array.from({ length: 1000 }, () => 'GET'),
  )
  t.ok(answers.every((answer) => answer?.status === 200))
  t.equal(server.connections() <= 1, true)
})

t.test('one empty line before a request is skipped, two are refused', async (t) => {
  const origin = await startOrigin(t)
  const { port } = await startWire(t, origin.url)
  t.strictSame(
    (await talk(t, port, `\r\n${GET}\r\n${GET}`, ['GET', 'GET'])).map((answer) => answer?.status),
    [200, 200],
  )
  t.equal((await talk(t, port, `\r\n\r\n${GET}`))[0]?.status, 400)
})

t.test('an upload arrives whole, in both framings', async (t) => {
  const origin = await startOrigin(t, (_request, response, { body }) =>
    response.end(createHash('sha256').update(body).digest('hex')),
  )
  const { port } = await startWire(t, origin.url)
  const body = Buffer.alloc(3_000_001, 'upload ')
  const wish = createHash('sha256').update(body).digest('hex')
  for (const bytes of [1, LIMITS.smallBodyBytesMax, LIMITS.smallBodyBytesMax + 1, body.length]) {
    const client = new RawClient(port)
    t.teardown(() => client.close())
    const sent = body.subarray(0, bytes)
    const hash = bytes === body.length ? wish : createHash('sha256').update(sent).digest('hex')
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`).send(sent)
    t.equal((await client.answer('POST'))?.body.toString(), hash, `${bytes} bytes by length`)
    client.send('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
    for (let at = 0; at < bytes; at += 70_000) {
      const chunk = sent.subarray(at, at + 70_000)
      client
        .send(`${chunk.length.toString(16)};x=y\r\n`)
        .send(chunk)
        .send('\r\n')
    }
    client.send('0\r\n\r\n')
    t.equal((await client.answer('POST'))?.body.toString(), hash, `${bytes} bytes in chunks`)
  }
})

t.test('an origin that does not read an upload stops the client', async (t) => {
  const origin = await startRawOrigin(t, (socket) => socket.pause())
  const { port } = await startWire(t, origin.url)
  const client = new RawClient(port)
  t.teardown(() => client.close())
  client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${1 << 30}\r\n\r\n`)
  const chunk = Buffer.alloc(1 << 16)
  const bytesMax = 64 << 20
  let taken = 0
  const pour = () =>
    client.socket.write(chunk, () => {
      taken += chunk.length
      if (taken < bytesMax) pour()
    })
  pour()
  // The kernel takes a few megabytes; beyond them, nothing moves any more.
  for (let last = -1, still = 0; still < 10 && taken < bytesMax; last = taken) {
    still = last === taken ? still + 1 : 0
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
  t.ok(taken < bytesMax, `the client is held after ${taken >> 20} MiB`)
})

t.test(
  '100 Continue is sent when the request is forwarded, and not when it is refused',
  async (t) => {
    const origin = await startOrigin(t)
    const { port } = await startWire(t, origin.url, {
      decide: (exchange, wire) =>
        exchange.head.target === '/no'
          ? exchange.respond({ status: 401, headerLines: [], body: '' })
          : exchange.forward(wire.plan(exchange)),
    })
    const ask = (path: string) =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n`
    const client = new RawClient(port)
    t.teardown(() => client.close())
    client.send(ask('/yes'))
    await client.until((received) => received.startsWith('HTTP/1.1 100 Continue\r\n\r\n'))
    t.equal(origin.begun(), 0, 'a small body is gathered before the origin hears of it')
    client.send('hello')
    t.equal((await client.answer('POST'))?.status, 200)
    t.equal(origin.seen[0]?.body.toString(), 'hello')
    t.notOk(origin.seen[0]?.rawHeaders.includes('Expect'))
    client.send(ask('/no'))
    t.match(await client.answer('POST'), { status: 401, head: /Connection: close/ })
    t.equal(client.informational.length, 1)
  },
)

t.test('a refused upload that is short is read, and the connection stays', async (t) => {
  const { port } = await startWire(t, 'http://127.0.0.1:1', {
    decide: (exchange) => exchange.respond({ status: 401, headerLines: [], body: '' }),
  })
  const upload = (bytes: number) =>
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n${'a'.repeat(bytes)}`
  const short = await talk(t, port, upload(LIMITS.drainedBodyBytesMax) + GET, ['POST', 'GET'])
  t.strictSame(
    short.map((answer) => answer?.status),
    [401, 401],
  )
  const long = await talk(t, port, upload(LIMITS.drainedBodyBytesMax + 1) + GET, ['POST', 'GET'])
  t.match(long[0], { status: 401, head: /Connection: close/ })
  t.equal(long[1], undefined, 'a long one ends the connection, with its answer')
})

t.test('our own forms can read a body up to their limit', async (t) => {
  const { port } = await startWire(t, 'http://127.0.0.1:1', {
    decide: (exchange) => {
      exchange.readBody(5).then(
        (body) => exchange.respond({ status: 200, headerLines: [], body: body.toString() }),
        (error: unknown) =>
          exchange.respond({
            status: error instanceof BodyTooLarge ? 413 : 500,
            headerLines: [],
            body: '',
          }),
      )
    },
  })
  const head = 'POST / HTTP/1.1\r\nHost: a\r\n'
  const [first, second, third, fourth] = await talk(
    t,
    port,
    `${head}Content-Length: 5\r\n\r\nhello` +
      `${head}Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;a\r\nlo\r\n0\r\n\r\n` +
      `${head}\r\n` +
      `${head}Content-Length: 6\r\n\r\nhello!`,
    ['POST', 'POST', 'POST', 'POST'],
  )
  t.strictSame(
    [first, second, third].map((answer) => answer?.body.toString()),
    ['hello', 'hello', ''],
  )
  t.equal(fourth?.status, 413)
  const [chunked] = await talk(
    t,
    port,
    `${head}Transfer-Encoding: chunked\r\n\r\n6\r\nhello!\r\n0\r\n\r\n`,
  )
  t.equal(chunked?.status, 413)
})

t.test('a decision that takes its time still finds the whole body', async (t) => {
  const origin = await startOrigin(t, (_request, response, { body }) => response.end(body))
  const waiting: (() => void)[] = []
  const { port } = await startWire(t, origin.url, {
    decide: (exchange, wire) => waiting.push(() => exchange.forward(wire.plan(exchange))),
  })
  const client = new RawClient(port)
  t.teardown(() => client.close())
  client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe')
  while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
  client.send('llo')
  client.socket.end()
  for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => setImmediate(resolve))
  waiting[0]!()
  t.equal((await client.answer('POST'))?.body.toString(), 'hello')
})

t.test('a client that has said all it will say is still answered', async (t) => {
  const origin = await startOrigin(t)
  const { port } = await startWire(t, origin.url)
  const client = new RawClient(port)
  t.teardown(() => client.close())
  client.send(GET + GET).socket.end()
  t.equal((await client.answer())?.status, 200)
  t.equal((await client.answer())?.status, 200)
  await client.closed
})

t.test('a body cut short never becomes a request', async (t) => {
  const origin = await startOrigin(t)
  const { port } = await startWire(t, origin.url)
  const big = LIMITS.smallBodyBytesMax + 10
  for (const text of [
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell',
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${big}\r\n\r\n${'a'.repeat(big - 1)}`,
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r',
  ]) {
    const client = new RawClient(port)
    t.teardown(() => client.close())
    client.send(text).socket.end()
    t.equal((await client.answer('POST'))?.status, 400)
    await client.closed
  }
  t.equal(origin.seen.length, 0)
})

t.test('chunked coding that breaks later takes the request back', async (t) => {
  const origin = await startOrigin(t)
  const { port, upstream } = await startWire(t, origin.url)
  const client = new RawClient(port)
  t.teardown(() => client.close())
  client.send('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n')
  while (origin.begun() === 0) await new Promise((resolve) => setImmediate(resolve))
  client.send('+5\r\nhello\r\n0\r\n\r\n')
  t.equal((await client.answer('POST'))?.status, 400)
  t.equal(origin.seen.length, 0)
  t.equal(upstream.stats().sockets, 0, 'and its upstream connection is gone')
})

t.test('HTTP/1.0 clients are answered in their way', async (t) => {
  const origin = await startOrigin(t, (request, response) => {
    if (request.url === '/chunked') response.write('a')
    response.end('bc')
  })
  const { port } = await startWire(t, origin.url)
  const [plain] = await talk(t, port, 'GET / HTTP/1.0\r\nHost: a\r\n\r\n')
  t.match(plain, { status: 200, head: /Content-Length: 2\r\nConnection: close/, isWhole: true })
  const [chunked] = await talk(t, port, 'GET /chunked HTTP/1.0\r\nHost: a\r\n\r\n')
  t.equal(chunked?.body.toString(), 'abc')
  t.notMatch(chunked?.head, /chunked|Content-Length/i)
  const kept = 'GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n'
  const answers = await talk(t, port, kept + kept, ['GET', 'GET'])
  for (const answer of answers) t.match(answer, { status: 200, head: /Connection: keep-alive/ })
})

t.test('what handle throws is a 500, and only for that request', async (t) => {
  const errors: unknown[] = []
  const { port } = await startWire(t, 'http://127.0.0.1:1', {
    onError: (error) => errors.push(error),
    decide: (exchange) => {
      if (exchange.head.target === '/bad') throw new Error('bug')
      exchange.respond({ status: 200, headerLines: [], body: '' })
    },
  })
  t.equal((await talk(t, port, GET.replace('/', '/bad')))[0]?.status, 500)
  t.equal((await talk(t, port, GET))[0]?.status, 200)
  t.match(errors, [{ message: 'bug' }])
})

t.test('a header value with a line break in it becomes a 500, not a second header', async (t) => {
  const { port } = await startWire(t, 'http://127.0.0.1:1', {
    decide: (exchange) =>
      exchange.respond({ status: 302, headerLines: ['Location: /\r\nSet-Cookie: a=b'], body: '' }),
  })
  const [answer] = await talk(t, port, GET)
  t.equal(answer?.status, 500)
  t.notMatch(answer?.head, /Set-Cookie/)
})

t.test('an upgrade hands the socket over, with what was read beyond the head', async (t) => {
  const { port, server } = await startWire(t, 'http://127.0.0.1:1', {
    decide: (exchange) => {
      t.equal(exchange.head.isUpgrade, true)
      const { socket, leftover } = exchange.takeSocket!()
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n\r\n${leftover.toString()}`)
      socket.on('data', (chunk) => socket.write(chunk))
      socket.resume()
    },
  })
  const client = new RawClient(port)
  t.teardown(() => client.close())
  client.send(
    'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\nfirst',
  )
  await client.until((received) => received.endsWith('first'))
  client.send('second')
  await client.until((received) => received.endsWith('firstsecond'))
  t.equal(server.connections(), 1, 'the connection still counts')
})

t.test('an upgrade that is forwarded loses its upgrade', async (t) => {
  const origin = await startOrigin(t)
  const { port } = await startWire(t, origin.url)
  const [answer] = await talk(
    t,
    port,
    'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  t.equal(answer?.status, 200)
  t.notMatch(origin.seen[0]?.rawHeaders.join(), /upgrade/i)
})
