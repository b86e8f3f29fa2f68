/** What origins answer, and what of it reaches the client: framing, headers, cookies, caching. */
import t from 'tap'
import type { ForwardPlan } from '../../../gateway/wire/exchange.ts'
import { RawClient, startOrigin, startRawOrigin, startWire, talk } from '../../support/wire.ts'
import type { Wire } from '../../support/wire.ts'

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

/** A gateway before an origin that answers every read with this text. */
async function answering(t: Tap, raw: string, plan: Partial<ForwardPlan> = {}, end = false) {
  const origin = await startRawOrigin(t, (socket) => {
    socket.on('data', () => (end ? socket.end(raw, 'latin1') : socket.write(raw, 'latin1')))
  })
  const wire = await startWire(t, origin.url, {
    decide: (exchange, wire: Wire) => exchange.forward({ ...wire.plan(exchange), ...plan }),
  })
  return { ...wire, origin }
}
type Tap = Parameters<typeof startOrigin>[0]

t.test('framing is written anew, and hop-by-hop lines end here', async (t) => {
  const raw =
    'HTTP/1.1 201 Made It\r\nServer: app\r\nDate: Sat, 01 Jan 2000 00:00:00 GMT\r\nContent-Length: 0002\r\n' +
    'Connection: X-Own, keep-alive\r\nX-Own: 1\r\nKeep-Alive: timeout=5\r\nProxy-Authenticate: a\r\n' +
    'Upgrade: h2c\r\nX-Request-Id: theirs\r\nX-Service-User: a\r\nX_Service_Claims: b\r\nX-Service-Probe-Reply: n\r\nX-A: b\r\n\r\nok'
  const { port, upstream } = await answering(t, raw, { responseLines: 'X-Request-Id: 7\r\n' })
  const [answer] = await talk(t, port, GET)
  t.equal(
    answer?.head,
    'HTTP/1.1 201 Made It\r\nServer: app\r\nDate: Sat, 01 Jan 2000 00:00:00 GMT\r\n' +
      'X-Service-Probe-Reply: n\r\nX-A: b\r\nX-Request-Id: 7\r\nContent-Length: 2',
  )
  t.equal(upstream.stats().idle, 1)
})

t.test('an answer without a date gets one', async (t) => {
  const { port } = await answering(t, 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
  t.match((await talk(t, port, GET))[0]?.head, /^Date: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} /m)
})

t.test('an answer without a body has none, whatever it says', async (t) => {
  for (const [status, method] of [
    [204, 'GET'],
    [304, 'GET'],
    [200, 'HEAD'],
  ] as const) {
    const raw = `HTTP/1.1 ${status} X\r\nContent-Length: 5\r\nETag: "a"\r\n\r\n`
    const { port, upstream } = await answering(t, raw)
    const answers = await talk(t, port, GET.replace('GET', method).repeat(2), [method, method])
    t.strictSame(
      answers.map((answer) => answer?.status),
      [status, status],
    )
    t.equal(/Content-Length: 5/.test(answers[0]?.head ?? ''), method === 'HEAD')
    // What is announced all the same might still come, as the next answer.
    t.equal(upstream.stats().connects, 2, `${status} ${method}`)
  }
})

t.test('what an application writes to HEAD is nobody else’s answer', async (t) => {
  let headsAnswered = 0
  const origin = await startRawOrigin(t, (socket) => {
    socket.on('data', (chunk) => {
      if (String(chunk).startsWith('HEAD')) {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n')
        headsAnswered++
      } else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright')
    })
  })
  const { port, upstream } = await startWire(t, origin.url)
  const [head, next] = await talk(t, port, GET.replace('GET', 'HEAD') + GET, ['HEAD', 'GET'])
  t.match(head?.head, /Content-Length: 40/)
  t.equal(next?.body.toString(), 'right')
  t.strictSame([headsAnswered, upstream.stats().connects], [1, 2])
})

t.test('an answer that ends with its connection is chunked for the client', async (t) => {
  const { port, upstream } = await answering(t, 'HTTP/1.1 200 OK\r\n\r\nhello', {}, true)
  const [first, second] = await talk(t, port, GET + GET, ['GET', 'GET'])
  t.match(first?.head, /Transfer-Encoding: chunked/)
  t.equal(first?.body.toString(), 'hello')
  t.equal(second?.status, 200, 'and the client keeps its own')
  t.equal(upstream.stats().idle, 0)
  const [old] = await talk(t, port, GET.replace('1.1', '1.0'))
  t.match(old, { body: Buffer.from('hello'), head: /Connection: close/ })
})

t.test('chunks and trailers pass, extensions do not', async (t) => {
  const raw =
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n' +
    '5;a=b\r\nhello\r\n0\r\nX-Sum: 9\r\nSet-Cookie: a=b\r\nX-Service-User: a\r\n\r\n'
  const { port } = await answering(t, raw)
  const client = new RawClient(port)
  t.teardown(() => client.close())
  client.send(GET)
  await client.until((received) => received.endsWith('0\r\nX-Sum: 9\r\n\r\n'))
  t.match(client.received, /Trailer: X-Sum\r\n/)
  t.match(client.received, /\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 9\r\n\r\n$/)
})

t.test('informational answers pass to HTTP/1.1 clients, 100 does not', async (t) => {
  const raw =
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
  const { port } = await answering(t, raw)
  const client = new RawClient(port)
  t.teardown(() => client.close())
  client.send(GET)
  t.equal((await client.answer())?.status, 200)
  t.strictSame(
    client.informational.map(({ head }) => head),
    ['HTTP/1.1 103 Early Hints\r\nLink: </a>'],
  )
  const [old] = await talk(t, port, GET.replace('1.1', '1.0'))
  t.equal(old?.status, 200)
})

t.test('the first event of a stream arrives before there is a second', async (t) => {
  let emit = (_text: string): void => undefined
  const origin = await startOrigin(t, (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.flushHeaders()
    emit = (text) => response.write(text)
  })
  const { port } = await startWire(t, origin.url)
  const client = new RawClient(port)
  t.teardown(() => client.close())
  client.send(GET)
  await client.until((received) => received.includes('\r\n\r\n'))
  t.match(client.received, /text\/event-stream/, 'the head arrives before there is an event')
  for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
    emit(event)
    await client.until((received) => received.includes(event))
    t.ok(client.received.endsWith(`${event}\r\n`))
  }
})

t.test('the session cookies are ours to set', async (t) => {
  const lines = [
    'service_session=x', ' service_session = x', '=service_session=x', 'service_session', 'service_seen=1; Path=/',
    'service_flow_abc=1', '\tservice_flow_=1', 'service_sessions=1', 'a=service_session=1', 'SERVICE_SESSION=1',
    '\xa0service_session=x', 'service_session\xa0=x', '\x85 service_seen=1', '__Host-service_flow_abc=1',
  ] // prettier-ignore
  const raw = `HTTP/1.1 200 OK\r\nContent-Length: 0\r\n${lines.map((line) => `Set-Cookie: ${line}\r\n`).join('')}\r\n`
  const { port } = await answering(t, raw)
  const [answer] = await talk(t, port, GET)
  t.strictSame(answer?.head.match(/^Set-Cookie: .*$/gm), [
    'Set-Cookie: service_sessions=1',
    'Set-Cookie: a=service_session=1',
    'Set-Cookie: SERVICE_SESSION=1',
  ])
})

t.test(
  'an answer to a signed-in user never becomes shareable, and neither does its cookie',
  async (t) => {
    const cookie = 'Set-Cookie: service_seen=1\r\n'
    const ask = async (cacheControl: string, isPrivate: boolean) => {
      const line = cacheControl === '' ? '' : `Cache-Control: ${cacheControl}\r\n`
      const { port } = await answering(t, `HTTP/1.1 200 OK\r\n${line}Content-Length: 0\r\n\r\n`, {
        isPrivate,
        privateCookieLine: cookie,
      })
      const [answer] = await talk(t, port, GET)
      return {
        isMarked: /^Cache-Control: private$/m.test(answer?.head ?? ''),
        hasCookie: /service_seen/.test(answer?.head ?? ''),
      }
    }
    for (const shareable of ['public', 'max-age=60, public', 's-maxage=10', 'PUBLIC'])
      t.strictSame(await ask(shareable, true), { isMarked: false, hasCookie: false }, shareable)
    for (const open of [
      '',
      'max-age=60',
      'no-cache',
      'private="x-a"',
      'x-public',
      'must-revalidate',
    ])
      t.strictSame(await ask(open, true), { isMarked: true, hasCookie: true }, open)
    t.strictSame(await ask('no-store', true), { isMarked: false, hasCookie: true })
    t.strictSame(await ask('max-age=1, no-store', false), { isMarked: false, hasCookie: true })
    t.strictSame(await ask('', false), { isMarked: false, hasCookie: false }, 'a public path')
    const targeted = (value: string) => ask(`no-cache\r\nCDN-Cache-Control: ${value}`, true)
    t.strictSame(await targeted('max-age=9'), { isMarked: true, hasCookie: false }, 'for a CDN')
    t.strictSame(await targeted('no-store'), { isMarked: true, hasCookie: true })
  },
)

t.test(
  'an answer that comes before the upload is over is passed on, and ends the connection',
  async (t) => {
    const origin = await startRawOrigin(t, (socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 413 Too Big\r\nContent-Length: 2\r\n\r\nno'))
    })
    const { port, upstream } = await startWire(t, origin.url)
    const client = new RawClient(port)
    t.teardown(() => client.close())
    client.send(
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n${'a'.repeat(100_000)}`,
    )
    t.match(await client.answer('POST'), {
      status: 413,
      head: /Connection: close/,
      body: Buffer.from('no'),
    })
    t.equal(upstream.stats().sockets, 0)
  },
)

t.test('whatever an origin breaks, the client gets 502 or a cut, and nothing half', async (t) => {
  const responses = [
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello',
    'HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx',
    'HTTP/1.1 200 OK\r\nTransfer_Encoding: chunked\r\n\r\nx',
    'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nConnection: a b\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1 200 OK\nContent-Length: 0\n\n',
    'HTTP/1.1 200 OK\r\nA : b\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nA: \0\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1 600 X\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1 99 X\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1  200 OK\r\nContent-Length: 0\r\n\r\n',
    'HTTP/2 200\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n',
    'ICY 200 OK\r\n\r\n',
    '<html>',
    'SSH-2.0-OpenSSH_9.2\r\n',
    'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    'HTTP/1.1 102 Processing\r\n\r\n'.repeat(17),
    `HTTP/1.1 200 OK\r\n${'A: b\r\n'.repeat(257)}Content-Length: 0\r\n\r\n`,
    `HTTP/1.1 200 OK\r\nA: ${'b'.repeat(65_536)}\r\nContent-Length: 0\r\n\r\n`,
  ]
  for (const raw of responses) {
    const { port, upstream } = await answering(t, raw)
    const [answer] = await talk(t, port, GET)
    t.equal(answer?.status, 502, JSON.stringify(raw.slice(0, 60)))
    t.match(JSON.parse(answer?.body.toString() ?? ''), { error: 'upstream_invalid' })
    t.equal(upstream.stats().sockets, 0, 'the connection is not used again')
  }
})

t.test('where much has gone out before it broke, no other answer comes behind', async (t) => {
  const bytes = 32 * 1024
  const chunk = `${bytes.toString(16)}\r\n${'a'.repeat(bytes)}\r\n`
  for (const version of ['1.1', '1.0']) {
    const { port, outcomes, upstream } = await answering(
      t,
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}no chunk\r\n`,
    )
    const client = new RawClient(port)
    t.teardown(() => client.close())
    client.send(GET.replace('1.1', version))
    let isReset = false
    client.socket.once('error', () => (isReset = true))
    await client.closed
    t.notMatch(client.received, /HTTP\/1\.1 502/, version)
    t.equal(isReset, version === '1.0', 'where a plain end would look like its end')
    const [outcome] = outcomes
    t.match(outcome, { status: 200, isCut: true, failure: { code: 'upstream_invalid' } })
    t.ok(outcome!.bytes >= bytes)
    t.equal(upstream.stats().sockets, 0)
  }
})

t.test('bytes behind an answer never become the next one', async (t) => {
  const evil = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison'
  for (const raw of [
    `HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok${evil}`,
    `HTTP/1.1 204 No Content\r\n\r\n${evil}`,
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n${evil}`,
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok\r\n',
  ]) {
    const { port, upstream } = await answering(t, raw)
    const answers = await talk(t, port, GET + GET, ['GET', 'GET'])
    for (const answer of answers) t.notMatch(answer?.body.toString(), /poison/)
    t.equal(upstream.stats().connects, 2)
  }
})

t.test('bytes that arrive between two answers poison the connection', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
  })
  const { port, upstream } = await startWire(t, origin.url)
  await talk(t, port, GET)
  t.equal(upstream.stats().idle, 1)
  const [pooled] = origin.sockets
  pooled?.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison')
  while (upstream.stats().idle > 0) await new Promise((resolve) => setImmediate(resolve))
  t.equal((await talk(t, port, GET))[0]?.body.toString(), 'ok')
})
