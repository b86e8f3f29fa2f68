import { createHash, randomBytes } from 'node:crypto'
import { Socket } from 'node:net'
import t from 'tap'
import { HOST, startEdge } from '../../support/edge-world.ts'
import { until } from '../../support/fleet.ts'
import { connect, startWebSocketApplication } from '../../support/websockets.ts'
import { RawClient, startRawOrigin } from '../../support/wire.ts'

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='
const AGREED =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  `Sec-WebSocket-Accept: ${ACCEPT}\r\n`

function opening(port: number, target: string, ...lines: string[]): string {
  return [
    `GET ${target} HTTP/1.1`,
    `Host: ${HOST}:${port}`,
    'Connection: keep-alive, Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${KEY}`,
    ...lines,
    '',
    '',
  ].join('\r\n')
}

t.test('messages of any size arrive whole in both directions', async (t) => {
  const application = await startWebSocketApplication(t)
  const edge = await startEdge(t, application.url)
  const cookie = edge.session()
  const packed = await connect(t, edge, '/live', { cookie })
  packed.socket.send('x'.repeat(100_000))
  t.equal((await packed.next()).length, 100_000, 'compressed by both ends, not by us')
  t.equal(packed.socket.extensions, 'permessage-deflate')
  const client = await connect(t, edge, '/live', { cookie, socket: { perMessageDeflate: false } })
  for (const bytes of [0, 1, 125, 126, 65_535, 65_536, 5_000_000, 20_000_000]) {
    const message = randomBytes(bytes)
    client.socket.send(message)
    const back = await client.next()
    t.equal(back.length, bytes)
    t.equal(digest(back), digest(message))
  }
  client.socket.close(4001, 'done')
  t.match(await client.closed, { code: 4001 })
  await until(() => application.closed.length === 1)
  t.match(application.closed, [{ code: 4001, reason: 'done' }])
})

t.test('five hundred WebSockets at once keep their messages apart', async (t) => {
  const application = await startWebSocketApplication(t)
  const edge = await startEdge(t, application.url, { excluded: ['/health', '/open'] })
  const clients = []
  for (let wave = 0; wave < 5; wave++)
    clients.push(
      ...(await Promise.all(
        Array.from({ length: 100 }, (_, n) => connect(t, edge, `/open/${wave * 100 + n}`)),
      )),
    )
  const answers = await Promise.all(
    clients.map(({ socket, next }, n) => {
      socket.send(`message ${n}`)
      return next()
    }),
  )
  t.ok(answers.every((answer, n) => answer.toString() === `message ${n}`))
  for (const { socket } of clients) socket.terminate()
  await until(() => edge.gateway.server.connections() === 0)
})

t.test(
  'the application gets the lines that we wrote, the client what it said itself',
  async (t) => {
    let head = ''
    const origin = await startRawOrigin(t, (socket) => {
      socket.on('data', (chunk) => {
        head += chunk.toString('latin1')
        if (!head.endsWith('\r\n\r\n')) return
        socket.write(
          `${AGREED}Set-Cookie: service_session=evil\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\n` +
            'X-Service-User: evil\r\nKeep-Alive: timeout=5\r\nX-Kept: yes\r\nX-Hop: 1\r\n' +
            'Connection: X-Hop\r\n\r\n',
        )
      })
    })
    const edge = await startEdge(t, origin.url)
    const client = new RawClient(edge.port)
    t.teardown(() => client.close())
    const target = '/a//b/../c;x=%2e%2E?q=1&&e=?'
    client.send(
      opening(
        edge.port,
        '/live',
        `Cookie: ${edge.session()}; mine=1`,
        'X-Service-User: somebody',
        'X_Service_User: somebody',
        'X-Forwarded-For: 6.6.6.6',
        'X-Original-URL: /admin',
        'Connection: X-Named',
        'X-Named: 1',
        'X-Twice: 1',
        'x-twice: 2',
        '__proto__: odd',
        'SCRIPT_NAME: /admin',
        'CF-Connecting-IP: 6.6.6.6',
        'Trailer: x',
        'Sec-WebSocket-Protocol: chat',
      ).replace('/live', target),
    )
    await client.until((received) => received.endsWith('\r\n\r\n'))
    t.equal(head.split('\r\n')[0], `GET ${target} HTTP/1.1`, 'the very target that was decided on')
    const lines = head.split('\r\n').slice(1, -2)
    const valuesOf = (name: string) =>
      lines
        .filter((line) => line.toLowerCase().startsWith(`${name}: `))
        .map((line) => line.slice(name.length + 2))
    t.same(valuesOf('host'), [`${HOST}:${edge.port}`])
    t.same(valuesOf('connection'), ['Upgrade'])
    t.same(valuesOf('upgrade'), ['websocket'])
    t.same(valuesOf('x-service-user'), ['ada'])
    t.same(valuesOf('x-forwarded-for'), ['127.0.0.1'])
    t.same(valuesOf('x-forwarded-proto'), ['http'])
    t.same(valuesOf('x-twice'), ['1', '2'])
    t.same(valuesOf('sec-websocket-key'), [KEY])
    t.same(valuesOf('sec-websocket-protocol'), ['chat'])
    t.match(valuesOf('cookie'), [/^service_session=[^;]+; mine=1$/])
    for (const name of [
      '__proto__',
      'script_name',
      'cf-connecting-ip',
      'x_service_user',
      'x-original-url',
      'x-named',
      'content-length',
      'keep-alive',
    ])
      t.same(valuesOf(name), [], name)

    const [answer] = client.received.split('\r\n\r\n')
    t.match(answer, /^HTTP\/1\.1 101 /)
    t.match(answer, /\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n/)
    t.match(answer, `Sec-WebSocket-Accept: ${ACCEPT}`)
    t.match(answer, 'Set-Cookie: a=b\r\nSet-Cookie: c=d')
    t.match(answer, 'X-Kept: yes')
    t.equal(answer?.match(/^X-Request-Id: /gim)?.length, 1)
    t.notMatch(answer, /evil|X-Hop|Keep-Alive/)
  },
)

t.test('an ordinary answer that breaks after much of it has no other one behind', async (t) => {
  // more than one read, and all of it in one turn
  const bytes = 100 * 1024
  const origin = await startRawOrigin(t, (socket) => {
    socket.once('data', () =>
      socket.write(
        `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${bytes.toString(16)}\r\n${'a'.repeat(bytes)}\r\nno chunk\r\n`,
      ),
    )
  })
  const edge = await startEdge(t, origin.url)
  const client = new RawClient(edge.port)
  t.teardown(() => client.close())
  client.send(opening(edge.port, '/live', `Cookie: ${edge.session()}`))
  await client.closed
  t.match(client.received, /^HTTP\/1\.1 200 /)
  t.notMatch(client.received, /HTTP\/1\.1 502/)
  await until(() => edge.lines.length === 1)
  t.match(edge.lines[0], { status: 200, cut: true })
})

t.test('the very target that was decided on reaches the application', async (t) => {
  const seen: string[] = []
  const origin = await startRawOrigin(t, (socket) => {
    socket.once('data', (chunk: Buffer) => {
      seen.push(chunk.toString('latin1').split(' ')[1]!)
      socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')
    })
  })
  const edge = await startEdge(t, origin.url)
  const targets = [
    '/a?',
    '/a??',
    '//a',
    '/a//?x=1&&',
    '/a/./b/..',
    "/a;b=|^'{}[]",
    '/?a=//b?c',
    '/%7e',
  ]
  for (const target of targets) {
    const client = new RawClient(edge.port)
    client.send(opening(edge.port, target, `Cookie: ${edge.session()}`))
    t.equal((await client.answer())?.status, 404)
    client.close()
  }
  t.same(seen, targets)
})

t.test('bytes behind the head reach the application once, and only after it agreed', async (t) => {
  let agree: () => void = () => {}
  let received = ''
  const origin = await startRawOrigin(t, (socket) => {
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
    })
    agree = () => socket.write(`${AGREED}\r\nwelcome`)
  })
  const edge = await startEdge(t, origin.url)
  const client = new RawClient(edge.port)
  t.teardown(() => client.close())
  client.send(`${opening(edge.port, '/live', `Cookie: ${edge.session()}`)}early bytes`)
  await until(() => received.includes('\r\n\r\n'))
  t.notMatch(received, 'early bytes')
  agree()
  await client.until((bytes) => bytes.endsWith('welcome'))
  await until(() => received.endsWith('early bytes'))
  client.send(', later bytes')
  await until(() => received.endsWith('later bytes'))
  t.equal(received.split('early bytes').length, 2)
})

t.test('a slow reader on either side slows the other, and memory stays flat', async (t) => {
  const chunk = Buffer.alloc(64 * 1024, 7)
  for (const slow of ['client', 'application'] as const) {
    let sentBytes = 0
    const pump = (socket: { bufferedAmount: number; send(data: Buffer): void }) => {
      const timer = setInterval(() => {
        for (let n = 0; n < 64 && socket.bufferedAmount < 1024 * 1024; n++) {
          socket.send(chunk)
          sentBytes += chunk.length
        }
      }, 1)
      t.teardown(() => clearInterval(timer))
    }
    const application = await startWebSocketApplication(t, (socket) => {
      if (slow === 'client') pump(socket)
      else socket.pause()
    })
    const edge = await startEdge(t, application.url)
    const client = await connect(t, edge, '/live', {
      cookie: edge.session(),
      socket: { perMessageDeflate: false },
    })
    if (slow === 'client') client.socket.pause()
    else pump(client.socket)
    let before = -1
    // full when nothing more has been taken over a while: kernel buffers and ours
    for (let same = 0; same < 20; same = sentBytes === before ? same + 1 : 0) {
      before = sentBytes
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    t.ok(sentBytes < 24 * 1024 * 1024, `${slow}: ${sentBytes >> 20} MiB on the way, then it stops`)
    client.socket.terminate()
  }
})

t.test('who has ended before the application agrees holds nothing', async (t) => {
  const application = await startWebSocketApplication(t)
  const silent = await startRawOrigin(t, (socket) => {
    socket.once('data', () => void setTimeout(() => socket.write(`${AGREED}\r\n`), 50))
  })
  const timeouts = { idle: 500 }
  for (const [name, url] of Object.entries({ 'hangs up': application.url, 'does not': silent.url }))
    await t.test(`and where that ${name}`, async (t) => {
      const edge = await startEdge(t, url, {}, timeouts)
      const held = () => edge.gateway.telemetry.gauges()
      for (let count = 0; count < 20; count++) {
        const client = new RawClient(edge.port)
        client.send(opening(edge.port, '/health')).socket.end()
        await client.until((received) => received.includes('101 '))
        client.close()
      }
      for (let waits = 0; held().webSockets > 0 && waits < 100; waits++)
        await new Promise((resolve) => setTimeout(resolve, 100))
      t.match(held(), { webSockets: 0, connections: 0 })
      t.equal(edge.lines.filter(({ status }) => status === 101).length, 20)
    })
  await until(() => silent.sockets.size === 0)
  await until(() => application.closed.length === 20)
})

t.test('the kernel asks whether a silent client is still there', async (t) => {
  const { setKeepAlive } = Socket.prototype
  t.teardown(() => void (Socket.prototype.setKeepAlive = setKeepAlive))
  const asked = new Map<number | undefined, unknown[]>()
  Socket.prototype.setKeepAlive = function (this: Socket, enable, delay?: number) {
    asked.set(this.remotePort, [enable, delay])
    return setKeepAlive.call(this, enable as boolean, delay)
  }
  const application = await startWebSocketApplication(t)
  const edge = await startEdge(t, application.url)
  const client = new RawClient(edge.port)
  t.teardown(() => client.close())
  client.send(opening(edge.port, '/health'))
  await client.until((received) => received.includes('101 '))
  t.same(asked.get(client.socket.localPort), [true, 60_000])
})

t.test('the end of one side is the end of the other, with all that was said before', async (t) => {
  const farewell = Buffer.alloc(300_000, 1)
  const origin = await startRawOrigin(t, (socket) => {
    socket.once('data', () => socket.end(Buffer.concat([Buffer.from(`${AGREED}\r\n`), farewell])))
  })
  const edge = await startEdge(t, origin.url)
  const client = new RawClient(edge.port)
  t.teardown(() => client.close())
  client.send(opening(edge.port, '/live', `Cookie: ${edge.session()}`))
  await client.closed
  t.ok(client.received.endsWith(farewell.toString('latin1')))

  let received: Buffer = Buffer.alloc(0)
  let hasEnded = false
  const listener = await startRawOrigin(t, (socket) => {
    socket.once('data', () => socket.write(`${AGREED}\r\n`))
    socket.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])))
    socket.on('end', () => (hasEnded = true))
  })
  edge.put({ origin: listener.url })
  const leaver = new RawClient(edge.port)
  t.teardown(() => leaver.close())
  leaver.send(opening(edge.port, '/live', `Cookie: ${edge.session()}`))
  await leaver.until((bytes) => bytes.endsWith('\r\n\r\n'))
  leaver.send(farewell).socket.end()
  await until(() => hasEnded)
  t.ok(received.subarray(-farewell.length).equals(farewell))
  await leaver.closed
  await until(() => edge.gateway.server.connections() <= 1)
})

t.test(
  'an application that resets, or a client that vanishes, leaves nothing behind',
  async (t) => {
    const application = await startWebSocketApplication(t)
    const edge = await startEdge(t, application.url)
    const first = await connect(t, edge, '/live', { cookie: edge.session() })
    application.sockets[0]!.terminate()
    t.match(await first.closed, { code: 1006 })
    const second = await connect(t, edge, '/live', { cookie: edge.session() })
    second.socket.terminate()
    await until(() => application.closed.length === 2)
    await until(() => edge.gateway.server.connections() === 0)
    const lines = edge.lines.filter(({ status }) => status === 101)
    t.equal(lines.length, 2, 'each has its line in the log')
    t.match(lines, [{ decision: 'forward', path: '/live' }, { decision: 'forward' }])
  },
)

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
