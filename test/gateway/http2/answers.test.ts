/** Answers over HTTP/2 that are not simply the application's: failures, our own, taken back. */
import { once } from 'node:events'
import t from 'tap'
import { answerOf, ask, HOST, startSecureWire } from '../../support/secure-wire.ts'
import { startOrigin, startRawOrigin } from '../../support/wire.ts'

t.test('an application that fails is a 502; one that fails midway is a reset', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    socket.once('data', (chunk) => {
      const path = chunk.toString().split(' ')[1]
      if (path === '/cut') socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this')
      else if (path === '/cut-chunks')
        socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n')
      else if (path === '/bad-chunks')
        socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nX\r\n')
      else socket.destroy()
    })
  })
  const wire = await startSecureWire(t, origin.url)
  const client = wire.http2Client()
  const failed = await ask(client, { ':path': '/fail' })
  t.match(failed, { status: 502, headers: { 'x-request-id': 'r-1' } })
  t.equal((JSON.parse(failed.body.toString()) as { error: string }).error, 'upstream_reset')
  for (const path of ['/cut', '/cut-chunks', '/bad-chunks']) {
    const cut = await ask(client, { ':path': path })
    t.ok(cut.status === 502 || cut.rstCode === 2, `${path} never looks whole`)
  }
  t.match(wire.outcomes[2], { isCut: true, failure: { code: 'upstream_reset' } })
  t.same(wire.abuses, [])
})

t.test('what an application must not say over HTTP/2 does not break the answer', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    socket.on('data', () =>
      socket.write(
        'HTTP/1.1 200 Fine\r\nConnection: keep-alive, x-hop\r\nKeep-Alive: timeout=5\r\nX-Hop: 1\r\n' +
          'Upgrade: h2c\r\nProxy-Connection: x\r\nTE: x\r\nDate: a\r\nDate: b\r\n' +
          'Location: /a\r\nLocation: /b\r\n__proto__: x\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n' +
          'X-\x80: caf\xe9\r\nX_Under: 1\r\nContent-Length: 2\r\n\r\nok'.replace(
            'X-\x80',
            'X-Latin',
          ),
        'latin1',
      ),
    )
  })
  const wire = await startSecureWire(t, origin.url)
  const { status, fields, body } = await ask(wire.http2Client(), {})
  t.match({ status, body: body.toString() }, { status: 200, body: 'ok' })
  const names = fields.filter((_item, at) => at % 2 === 0)
  for (const name of ['connection', 'keep-alive', 'x-hop', 'upgrade', 'proxy-connection', 'te'])
    t.notOk(names.includes(name), name)
  t.equal(names.filter((name) => name === 'set-cookie').length, 2)
  t.equal(names.filter((name) => name === 'location').length, 2)
  t.equal(fields[names.indexOf('x-latin') * 2 + 1], 'caf\xe9')
  t.ok(names.includes('__proto__'))
})

t.test('the application keeps its own word on strict transport', async (t) => {
  const origin = await startOrigin(t, (_request, response) => {
    response.setHeader('strict-transport-security', 'max-age=1; preload').end()
  })
  const wire = await startSecureWire(t, origin.url)
  const { fields } = await ask(wire.http2Client(), {})
  const said = fields.filter((_, at) => fields[at - 1] === 'strict-transport-security')
  t.same(said, ['max-age=1; preload'])
})

t.test(
  'our own answers: with a body, without, to HEAD, and none with a line too many',
  async (t) => {
    const origin = await startOrigin(t)
    const wire = await startSecureWire(t, origin.url, {
      decide(exchange) {
        const { target } = exchange.head
        const headerLines = target === '/bad' ? ['X-A: b\r\nSet-Cookie: x'] : ['Location: /x']
        const status = target === '/none' ? 204 : 302
        exchange.respond({ status, headerLines, body: target === '/empty' ? '' : 'caf\u00e9' })
        exchange.respond({ status: 500, headerLines: [], body: 'a second answer' })
      },
    })
    const client = wire.http2Client()
    const answer = await ask(client, { ':path': '/' })
    t.match(answer, { status: 302, headers: { location: '/x', 'content-length': '5' } })
    t.equal(answer.body.toString(), 'caf\u00e9')
    t.ok(answer.headers['date'])
    t.ok(answer.headers['strict-transport-security'])
    t.match(await ask(client, { ':path': '/empty' }), { status: 302, rstCode: 0 })
    t.match(await ask(client, { ':path': '/none' }), { status: 204, rstCode: 0 })
    const head = await ask(client, { ':path': '/', ':method': 'HEAD' })
    t.match(head, { status: 302, headers: { 'content-length': '5' } })
    const bad = await ask(client, { ':path': '/bad' })
    t.match(bad, { status: 500 })
    t.notOk(bad.headers['set-cookie'])
    for (const bytes of [10, 60_000, 400_000]) {
      const body = Buffer.alloc(bytes)
      const answer = await ask(client, { ':path': '/', ':method': 'POST' }, body)
      t.equal(answer.status, 302, `with ${bytes} unread bytes`)
    }
    t.equal(origin.begun(), 0)
  },
)

t.test('our own forms read a body up to their limit', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url, {
    decide(exchange) {
      exchange.readBody(1000).then(
        (body) => exchange.respond({ status: 200, headerLines: [], body: String(body.length) }),
        (error: Error) => exchange.respond({ status: 413, headerLines: [], body: error.name }),
      )
    },
  })
  const client = wire.http2Client()
  const post = (bytes: number, length = {}) =>
    ask(client, { ':method': 'POST', ...length }, Buffer.alloc(bytes))
  t.match(await post(1000), { status: 200, body: Buffer.from('1000') })
  t.match(await post(1001), { status: 413, body: Buffer.from('BodyTooLarge') })
  t.match(await post(1000, { 'content-length': '1000' }), { status: 200 })
  t.match(await post(1001, { 'content-length': '1001' }), { status: 413 })
  t.match(await ask(client, {}), { status: 200, body: Buffer.from('0') })
})

t.test(
  'a decision taken back before the answer begins is another answer; after it, a reset',
  async (t) => {
    const origin = await startRawOrigin(t, (socket) => {
      socket.on('data', (chunk) => {
        if (chunk.toString().startsWith('GET /begun'))
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf')
      })
    })
    const wire = await startSecureWire(t, origin.url)
    const client = wire.http2Client()
    const takeBack = () =>
      wire.http2.eachInFlight((exchange) => {
        if (exchange.recall?.() === true)
          exchange.respond({ status: 401, headerLines: [], body: 'gone' })
      })
    const begun = client.request({ ':authority': HOST, ':path': '/begun' })
    const beginning = answerOf(begun)
    await once(begun, 'data')
    const waiting = ask(client, { ':path': '/waiting' })
    while (wire.upstream.stats().sockets < 2) await new Promise((next) => setImmediate(next))
    takeBack()
    t.match(await waiting, { status: 401, body: Buffer.from('gone') })
    t.match(await beginning, { status: 200, rstCode: 2 })
  },
)

t.test('a handler that throws is a 500 and nothing else', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url, {
    decide(exchange, wire) {
      if (exchange.head.target === '/throw') throw new Error('broken inside')
      exchange.forward(wire.plan(exchange))
    },
  })
  const client = wire.http2Client()
  t.match(await ask(client, { ':path': '/throw' }), { status: 500 })
  t.match(await ask(client, {}), { status: 200 })
  t.equal(wire.errors.length, 1)
})

t.test('a client that goes away takes its request along', async (t) => {
  const origin = await startRawOrigin(t, () => undefined)
  const wire = await startSecureWire(t, origin.url)
  const client = wire.http2Client()
  const stream = client.request({ ':authority': HOST })
  stream.on('error', () => undefined)
  while (wire.upstream.stats().sockets === 0) await new Promise((next) => setImmediate(next))
  stream.close(8)
  while (wire.upstream.stats().sockets > 0) await new Promise((next) => setImmediate(next))
  t.match(wire.outcomes, [{ status: 0, isCut: true }])
})
