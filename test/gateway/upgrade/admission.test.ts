import { readFileSync } from 'node:fs'
import t from 'tap'
import { HOST, startEdge, type EdgeWorld } from '../../support/edge-world.ts'
import { until } from '../../support/fleet.ts'
import { connect, refusalOf, startWebSocketApplication } from '../../support/websockets.ts'
import { RawClient, startRawOrigin } from '../../support/wire.ts'

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='

interface Teardown {
  teardown(close: () => unknown): void
}

interface Opening {
  readonly cookie?: string
  readonly lines?: readonly string[]
}

const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${KEY}`,
]

function open(t: Teardown, edge: EdgeWorld, target: string, opening: Opening = {}): RawClient {
  const client = new RawClient(edge.port)
  t.teardown(() => client.close())
  const cookie = opening.cookie === undefined ? [] : [`Cookie: ${opening.cookie}`]
  const lines = [`Host: ${HOST}:${edge.port}`, ...cookie, ...(opening.lines ?? HANDSHAKE)]
  return client.send([`GET ${target} HTTP/1.1`, ...lines, '', ''].join('\r\n'))
}

t.test('an upgrade without a session gets a 401 that a program can read', async (t) => {
  const application = await startWebSocketApplication(t)
  const edge = await startEdge(t, application.url)
  const headers = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }
  const refused = await refusalOf(connect(t, edge, '/live', { headers }))
  t.equal(refused.status, 401, 'never a 302, whatever it looks like')
  t.match(JSON.parse(refused.body), {
    error: 'sign_in_required',
    reason: 'no_session',
    login_url: `${edge.edgeUrl}/service/login`,
  })
  const old = edge.session({ issuedAgoSeconds: 4000 })
  t.equal((await refusalOf(connect(t, edge, '/live', { cookie: old }))).status, 401)
  t.same(application.opened, [])
})

t.test('a sealed path is not there, with a session or without', async (t) => {
  const application = await startWebSocketApplication(t)
  const edge = await startEdge(t, application.url)
  for (const cookie of [undefined, edge.session()])
    for (const path of ['/admin', '/admin/live', '/ADMIN', '/%61dmin', '/x/..%2fadmin']) {
      const options = cookie === undefined ? {} : { cookie }
      t.equal((await refusalOf(connect(t, edge, path, options))).status, 404, path)
    }
  edge.put({ status: 'suspended' })
  await until(() => edge.gateway.server.connections() === 0)
  t.equal((await refusalOf(connect(t, edge, '/live', { cookie: edge.session() }))).status, 503)
  t.same(application.opened, [])
  t.same(application.requested, [])
})

t.test('no spelling of a path opens what it would not open for a request', async (t) => {
  interface PathCase {
    id: string
    target: string
    allow: string[]
    forwarded_target_if_public?: string
  }
  const { cases } = JSON.parse(
    readFileSync(new URL('../../fixtures/path-bypass-cases.json', import.meta.url), 'utf8'),
  ) as { cases: PathCase[] }
  const reached: string[] = []
  const origin = await startRawOrigin(t, (socket) => {
    socket.once('data', (chunk) => {
      reached.push(chunk.toString('latin1').split(' ')[1]!)
      socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')
    })
  })
  const edge = await startEdge(t, origin.url)
  for (const { id, target, allow, forwarded_target_if_public: forwarded } of cases)
    for (const cookie of [undefined, edge.session()]) {
      const before = reached.length
      const client = open(t, edge, target, cookie === undefined ? {} : { cookie })
      const answer = await client.answer()
      client.close()
      const wasReached = reached.length > before
      const name = `${id} ${cookie === undefined ? 'without' : 'with'} a session`
      if (wasReached) t.equal(reached.at(-1), (!cookie && forwarded) || target, name)
      if (cookie !== undefined) {
        if (!allow.some((outcome) => outcome === 'session' || outcome === 'public'))
          t.equal(wasReached, false, name)
        continue
      }
      const { status = 400 } = answer ?? {}
      const outcome = wasReached
        ? 'public'
        : { 400: 'reject-400', 401: 'session', 404: 'sealed-404' }[status]
      t.ok(outcome !== undefined && allow.includes(outcome), `${name}: ${status} ${outcome}`)
    }
})

t.test('a page of another site cannot open a WebSocket with its visitor’s session', async (t) => {
  const application = await startWebSocketApplication(t)
  const edge = await startEdge(t, application.url)
  const cookie = edge.session()
  const as = (origin: string, path = '/live') =>
    connect(t, edge, path, { cookie, headers: { origin } })
  for (const origin of [
    'http://evil.example',
    'null',
    '',
    `https://${HOST}:${edge.port}`,
    `http://${HOST}`,
    `http://sub.${HOST}:${edge.port}`,
    `http://${HOST}:${edge.port}.evil.example`,
    `http://${HOST}:${edge.port}@evil.example`,
    `http://evil.example/http://${HOST}:${edge.port}`,
    `${HOST}:${edge.port}`,
    `http://evil.example, ${edge.edgeUrl}`,
  ]) {
    const refused = await refusalOf(as(origin))
    t.equal(refused.status, 403, origin)
    t.match(JSON.parse(refused.body), { error: 'origin_foreign' })
  }
  const twice = open(t, edge, '/live', {
    cookie,
    lines: [...HANDSHAKE, `Origin: ${edge.edgeUrl}`, 'Origin: http://evil.example'],
  })
  t.equal((await twice.answer())?.status, 403, 'two Origins are none')
  t.same(application.opened, [])
  t.match(
    edge.lines.find(({ status }) => status === 403),
    {
      decision: 'refuse',
      reason: 'origin_foreign',
    },
  )

  await as(edge.edgeUrl)
  await as(edge.edgeUrl.toUpperCase())
  await connect(t, edge, '/live', { cookie })
  t.equal(application.opened.length, 3, 'its own pages can, and programs, which send no Origin')
  edge.put({
    edge_urls: { [HOST]: `http://${HOST}:${edge.port}`, 'b.localhost': 'https://b.localhost' },
  })
  await as('https://b.localhost:443')
  t.equal(application.opened.length, 4, 'and pages of the tenant’s other hostnames')
})

t.test('where nobody needs a session, a foreign page gets what anybody gets', async (t) => {
  const application = await startWebSocketApplication(t)
  const edge = await startEdge(t, application.url)
  const cookie = `${edge.session()}; mine=1`
  const origin = 'http://evil.example'
  await connect(t, edge, '/health', { cookie, headers: { origin } })
  t.equal(application.opened[0]!.headers['x-service-user'], undefined)
  t.equal(application.opened[0]!.headers.cookie, 'mine=1', 'and the session stays here')
  await connect(t, edge, '/health', { cookie })
  t.equal(application.opened[1]!.headers['x-service-user'], 'ada')
  edge.put({ protection: 'pass-through' })
  await connect(t, edge, '/live', { headers: { origin } })
  await connect(t, edge, '/live', { cookie, headers: { origin } })
  t.same(
    application.opened.slice(2).map(({ headers }) => headers['x-service-user']),
    [undefined, undefined],
  )
})

t.test('what is not exactly the opening of a WebSocket is an ordinary request', async (t) => {
  const received: string[] = []
  const origin = await startRawOrigin(t, (socket) => {
    socket.on('data', (chunk) => {
      received.push(chunk.toString('latin1'))
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
  })
  const edge = await startEdge(t, origin.url)
  const [, , version, key] = HANDSHAKE
  for (const lines of [
    ['Connection: Upgrade', 'Upgrade: websocket', key!, 'Sec-WebSocket-Version: 1337'],
    ['Connection: Upgrade', 'Upgrade: websocket', version!, 'Sec-WebSocket-Key: x'],
    ['Connection: Upgrade', 'Upgrade: h2c', version!, key!, 'HTTP2-Settings: AAMAAABk'],
    ['Connection: Upgrade', 'Upgrade: websocket, h2c', version!, key!],
    ['Upgrade: websocket', version!, key!],
    [...HANDSHAKE, 'Content-Length: 3', '', 'abc'],
  ]) {
    const client = open(t, edge, '/live', { cookie: edge.session(), lines })
    t.equal((await client.answer())?.status, 200)
    client.close()
    t.notMatch(received.at(-1), /^(?:upgrade|connection|http2-settings):/im)
  }
})

t.test(
  'an application that does not agree gets no tunnel, and nobody a second request',
  async (t) => {
    const agreed = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`
    const accept = `Sec-WebSocket-Accept: ${ACCEPT}\r\n`
    const answers: [string, number, string?][] = [
      ['HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nno', 426, 'no'],
      ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n', 200, 'no'],
      ['HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nto the end', 200, 'to the end'],
      ['HTTP/1.1 204 No Content\r\n\r\n', 204, ''],
      ['HTTP/1.1 205 Reset Content\r\nContent-Length: 2\r\n\r\nno', 205, ''],
      [`${agreed}\r\n`, 502],
      [`${agreed}Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n`, 502],
      [`${agreed}${accept}${accept}\r\n`, 502],
      [`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n${accept}\r\n`, 502],
      [`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n${accept}\r\n`, 502],
      [`${agreed.replace('websocket', 'h2c')}${accept}\r\n`, 502],
      [
        `HTTP/1.1 200 OK\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${accept}Content-Length: 0\r\n\r\n`,
        200,
        '',
      ],
      ['HTTP/1.1 200 OK\r\nX-Service-User: evil\r\nContent-Length: 0\r\n\r\n', 200, ''],
      ['not HTTP at all\r\n\r\n', 502],
      ['', 502],
    ]
    let serve = ''
    const received: string[] = []
    const origin = await startRawOrigin(t, (socket) => {
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1')
        if (!text.endsWith('\r\n\r\n')) return
        received.push(text)
        socket.end(serve)
      })
    })
    const edge = await startEdge(t, origin.url)
    for (const [answer, status, body] of answers) {
      serve = answer
      const before = received.length
      const client = open(t, edge, '/live', { cookie: edge.session() })
      client.send(`GET /admin HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)
      const got = await client.answer()
      t.equal(got?.status, status, JSON.stringify(answer))
      if (body !== undefined) t.equal(got?.body.toString(), body)
      t.match(got?.head, /\r\nConnection: close/i, 'what stands behind is no request')
      t.notMatch(got?.head, /evil|\r\nUpgrade:/i)
      await client.closed
      t.equal(await client.answer(), undefined)
      t.equal(received.length, before + 1)
      t.notMatch(received.at(-1), '/admin')
    }
  },
)

t.test('an application that cannot be reached, or is silent, becomes a 502 or a 504', async (t) => {
  const silent = await startRawOrigin(t, (socket) => void socket.resume())
  const edge = await startEdge(t, silent.url, {}, { first_byte: 300, connect: 300 })
  const opening = () => open(t, edge, '/live', { cookie: edge.session() }).answer()
  t.equal((await opening())?.status, 504)
  edge.put({ origin: 'http://127.0.0.1:1' })
  t.equal((await opening())?.status, 502)
  edge.put({ origin: 'http://no-such-name.invalid' })
  t.equal((await opening())?.status, 502)
  edge.put({ origin: silent.url.replace('http:', 'https:') })
  t.match((await opening())?.status, /50[24]/)
  await until(() => silent.sockets.size === 0)
})

t.test('a slow reader of a refusal costs no memory', async (t) => {
  let sentBytes = 0
  const origin = await startRawOrigin(t, (socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const chunk = Buffer.alloc(64 * 1024, 97)
      const send = () => {
        do sentBytes += chunk.length
        while (socket.write(chunk))
      }
      socket.on('drain', send)
      send()
    })
  })
  const edge = await startEdge(t, origin.url)
  const client = open(t, edge, '/live', { cookie: edge.session() })
  client.socket.pause()
  let before = -1
  for (let same = 0; same < 20; same = sentBytes === before ? same + 1 : 0) {
    before = sentBytes
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  t.ok(sentBytes < 16 * 1024 * 1024, `${sentBytes >> 20} MiB on the way, then it stops`)
})

t.test('a session opens as many as the limit says, and not one more', async (t) => {
  const application = await startWebSocketApplication(t)
  const edge = await startEdge(t, application.url)
  const { LIMITS } = await import('../../../shared/limits.ts')
  const cookie = edge.session()
  const clients = []
  for (let count = 0; count < LIMITS.webSocketsPerSessionMax; count++)
    clients.push(await connect(t, edge, '/live', { cookie }))
  const refused = await refusalOf(connect(t, edge, '/live', { cookie }))
  t.equal(refused.status, 503)
  t.match(JSON.parse(refused.body), { error: 'websockets_exhausted' })
  t.ok(Number(refused.headers['retry-after']) > 0)
  const other = edge.session({ sid: 'sid-2' })
  await connect(t, edge, '/live', { cookie: other })
  clients[0]!.socket.terminate()
  await until(() => application.closed.length > 0)
  await connect(t, edge, '/live', { cookie })
})
