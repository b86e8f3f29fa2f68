import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { takeBack } from '../../../gateway/request.ts'
import { RequestContext } from '../../../gateway/request/context.ts'
import { createOpenStreams, SWEEP_MS } from '../../../gateway/session/open-streams.ts'
import { HOST, startEdge, type EdgeWorld } from '../../support/edge-world.ts'
import { until } from '../../support/fleet.ts'
import { clockOf } from '../../support/clocks.ts'
import { connect, startWebSocketApplication } from '../../support/websockets.ts'
import { listening, RawClient, startRawOrigin } from '../../support/wire.ts'

interface Teardown {
  teardown(close: () => unknown): void
}

const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]
const ENDED = { code: 1008, reason: 'session ended' }

/** Whatever ends without a sweep has been judged for its own sake. */
function withoutSweeps(t: Test) {
  const { setInterval } = globalThis
  t.teardown(() => void (globalThis.setInterval = setInterval))
  globalThis.setInterval = ((run: () => void, ms: number) =>
    setInterval(run, ms === SWEEP_MS ? 2 ** 30 : ms)) as typeof setInterval
}

t.test('a revocation closes the WebSockets of the session, and no others', async (t) => {
  withoutSweeps(t)
  const application = await startWebSocketApplication(t)
  const edge = await startEdge(t, application.url)
  const bob = await connect(t, edge, '/live', { cookie: edge.session({ sub: 'bob', sid: 'b' }) })
  for (const kind of ['sids', 'subjects', 'all'] as const) {
    const cookie = edge.session()
    const clients = await Promise.all([1, 2, 3].map(() => connect(t, edge, '/live', { cookie })))
    const told = application.closed.length
    const notBefore = edge.nowSeconds() + 1
    if (kind === 'all') edge.revoke({ all: notBefore })
    else edge.revoke({ [kind]: { [kind === 'sids' ? 'sid-1' : 'ada']: notBefore } })
    for (const { closed } of clients) t.same(await closed, ENDED, kind)
    await until(() => application.closed.length - told >= 3)
    t.same(application.closed[told], ENDED, 'the application hears the same')
    if (kind !== 'all') t.equal(bob.socket.readyState, bob.socket.OPEN)
    edge.pass(2)
  }
  t.same(await bob.closed, ENDED)
  await until(() => edge.gateway.server.connections() === 0)
  t.equal(
    edge.lines.filter(({ status, reason }) => status === 101 && reason === 'revoked').length,
    10,
  )
})

t.test('a close frame stands between two frames, or not at all', async (t) => {
  const application = await startRawOrigin(t, (socket) => {
    socket.once('data', () => {
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
          'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
      )
      socket.write(Buffer.from([0x82, 10, 1, 2, 3])) // ten bytes are promised, three come
    })
  })
  const edge = await startEdge(t, application.url)
  const client = open(t, edge, '/live', HANDSHAKE)
  await client.until((received) => received.endsWith('\x82\x0a\x01\x02\x03'))
  edge.revoke({ all: edge.nowSeconds() + 1 })
  await client.closed
  t.ok(client.received.endsWith('\x82\x0a\x01\x02\x03'), 'nothing was put into the frame')
})

t.test('a WebSocket ends with its session', async (t) => {
  const application = await startWebSocketApplication(t)
  const edge = await startEdge(t, application.url, { idle_seconds: 100_000 })
  const short = await connect(t, edge, '/live', { cookie: edge.session({ lifeSeconds: 600 }) })
  const long = await connect(t, edge, '/live', { cookie: edge.session({ lifeSeconds: 9000 }) })
  edge.pass(601)
  t.same(await short.closed, ENDED, 'at exp')
  t.equal(long.socket.readyState, long.socket.OPEN)
  edge.put({ max_session_seconds: 600 })
  t.same(await long.closed, ENDED, 'when the tenant allows less from now on')
})

t.test(
  'messages of the client keep a WebSocket, and what the application says does not',
  async (t) => {
    const application = await startWebSocketApplication(t)
    const edge = await startEdge(t, application.url, { idle_seconds: 100 })
    const busy = await connect(t, edge, '/live', { cookie: edge.session({ sid: 'busy' }) })
    const quiet = await connect(t, edge, '/live', { cookie: edge.session({ sid: 'quiet' }) })
    for (let round = 0; round < 2; round++) {
      edge.pass(60)
      busy.socket.send('still here')
      await busy.next()
      application.sockets[1]!.send('are you?')
      await quiet.next()
      quiet.socket.ping()
    }
    t.same(await quiet.closed, ENDED)
    t.equal(busy.socket.readyState, busy.socket.OPEN)
    const reported = () =>
      edge.reports.flatMap((report) => (report.type === 'activity' ? report.sessions : []))
    await until(() =>
      reported().some(({ sid, at }) => sid === 'busy' && at >= edge.nowSeconds() - 1),
    )
    t.notOk(reported().some(({ sid, at }) => sid === 'quiet' && at >= edge.nowSeconds() - 60))
    edge.pass(101)
    t.same(await busy.closed, ENDED)
  },
)

t.test('requests of the same session keep a WebSocket as well', async (t) => {
  const application = await startWebSocketApplication(t)
  const edge = await startEdge(t, application.url, { idle_seconds: 100 })
  const cookie = edge.session()
  const client = await connect(t, edge, '/live', { cookie })
  const token = cookie.split(';')[0]!
  edge.pass(80)
  const seen = edge.session().split('; ')[1]!
  await open(t, edge, '/page', [], `${token}; ${seen}`).answer()
  edge.pass(80)
  await judged(t, edge)
  client.socket.send('open')
  t.equal((await client.next()).toString(), 'open')
})

t.test('what happens to its tenant happens to a WebSocket', async (t) => {
  const application = await startWebSocketApplication(t)
  const edge = await startEdge(t, application.url)
  const paths = ['/live', '/health']
  const openBoth = async () => {
    const cookie = edge.session()
    return Promise.all([connect(t, edge, paths[0]!, { cookie }), connect(t, edge, paths[1]!)])
  }
  const [live, health] = await openBoth()
  edge.put({ name: 'Another name' })
  edge.put({ excluded: ['/health', '/x'] })
  await judged(t, edge)
  live.socket.send('1')
  health.socket.send('1')
  await Promise.all([live.next(), health.next()])

  edge.put({ sealed: ['/live'] })
  t.same(await live.closed, { code: 1008, reason: 'not available' }, 'its path is sealed')
  edge.put({ sealed: [], excluded: [] })
  t.same(await health.closed, ENDED, 'its path needs a session from now on')

  edge.put({ excluded: ['/health'] })
  const rotated = await openBoth()
  edge.put({ keys: [] })
  t.same(await rotated[0].closed, ENDED, 'its key is worth nothing any more')
  edge.remove()
  t.match(await rotated[1].closed, { code: 1008 }, 'the tenant is gone')
})

t.test('a WebSocket without a session outlives every revocation', async (t) => {
  const application = await startWebSocketApplication(t)
  const edge = await startEdge(t, application.url, { idle_seconds: 10 })
  const client = await connect(t, edge, '/health')
  edge.revoke({ all: edge.nowSeconds() + 1 })
  edge.pass(100_000)
  await judged(t, edge)
  client.socket.send('open')
  t.equal((await client.next()).toString(), 'open')
})

t.test('a suspension does not wait for the next sweep', async (t) => {
  withoutSweeps(t)
  const application = await startWebSocketApplication(t)
  const edge = await startEdge(t, application.url, { excluded: ['/health'] })
  const open = [
    await connect(t, edge, '/live', { cookie: edge.session() }),
    await connect(t, edge, '/health'),
  ]
  edge.put({ status: 'suspended' })
  for (const { closed } of open) t.match(await closed, { code: 1008 })
})

t.test('an event stream and a download are cut when their session is revoked', async (t) => {
  withoutSweeps(t)
  const application = await startStreams(t)
  const edge = await startEdge(t, application)
  const events = open(t, edge, '/events')
  await events.until((received) => received.includes('data: 1'))
  const download = open(t, edge, '/download')
  await download.until((received) => received.length > 100_000)
  edge.revoke({ sids: { 'sid-1': edge.nowSeconds() + 1 } })
  await Promise.all([events.closed, download.closed])
  t.match(await events.answer(), { status: 200, isWhole: false }, 'it does not look whole')
  t.match(await download.answer(), { status: 200, isWhole: false })
  await until(
    () => edge.lines.filter(({ reason, cut }) => reason === 'revoked' && cut).length === 2,
  )
})

t.test('a request that is still waiting for its answer gets a 401 instead', async (t) => {
  const application = await startStreams(t)
  const edge = await startEdge(t, application)
  const client = open(t, edge, '/wait')
  const upload = open(t, edge, '/wait', ['Content-Length: 100000'], edge.session(), 'POST')
  upload.send('a'.repeat(20_000))
  await until(() => waiting.length >= 2)
  edge.revoke({ sids: { 'sid-1': edge.nowSeconds() + 1 } })
  for (const waiter of [client, upload]) {
    const answer = await waiter.answer()
    t.equal(answer?.status, 401)
    t.match(JSON.parse(answer!.body.toString()), { reason: 'revoked' })
  }
  client.send(`GET /health HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)
  t.match(await client.answer(), { status: 200, body: Buffer.from('ok') }, 'the connection stays')
})

t.test('a handshake that is still waiting for its answer gets a 401 instead', async (t) => {
  let begun = 0
  const application = await startRawOrigin(t, (socket) => void socket.once('data', () => begun++))
  const edge = await startEdge(t, application.url)
  const client = open(t, edge, '/live', HANDSHAKE)
  await until(() => begun === 1)
  edge.revoke({ sids: { 'sid-1': edge.nowSeconds() + 1 } })
  t.equal((await client.answer())?.status, 401)
  await until(() => application.sockets.size === 0)
})

t.test('idleness ends an event stream, and no download', async (t) => {
  const application = await startStreams(t)
  const edge = await startEdge(t, application, { idle_seconds: 50 })
  const events = open(t, edge, '/events')
  const download = open(t, edge, '/download')
  await events.until((received) => received.includes('data: 1'))
  await download.until((received) => received.length > 100_000)
  edge.pass(51)
  await events.closed
  const before = download.received.length
  await download.until((received) => received.length > before + 100_000)
  edge.pass(3600)
  await download.closed
})

t.test('at its end a worker tells every WebSocket to come again elsewhere', async (t) => {
  const application = await startWebSocketApplication(t)
  const edge = await startEdge(t, application.url)
  const clients = [
    await connect(t, edge, '/live', { cookie: edge.session() }),
    await connect(t, edge, '/health'),
  ]
  const draining = edge.gateway.server.drain()
  for (const { closed } of clients) t.same(await closed, { code: 1001, reason: 'going away' })
  await draining
  t.match(application.closed, [{ code: 1001 }, { code: 1001 }])
})

t.test('a client that ignores its close frame is closed all the same', async (t) => {
  const application = await startWebSocketApplication(t)
  const edge = await startEdge(t, application.url)
  const client = await connect(t, edge, '/live', { cookie: edge.session() })
  client.socket.pause()
  edge.revoke({ all: edge.nowSeconds() + 1 })
  await until(() => application.closed.length === 1)
  edge.pass(3)
  await until(() => edge.gateway.server.connections() === 0)
})

let sentinels = 0

/** Settles when everything that was open before has been judged once more. */
async function judged(t: Teardown, edge: EdgeWorld) {
  const sid = `sentinel-${sentinels++}`
  const sentinel = await connect(t, edge, '/sentinel', { cookie: edge.session({ sid }) })
  edge.revoke({ sids: { [sid]: edge.nowSeconds() + 1 } })
  await sentinel.closed
}

const waiting: IncomingMessage[] = []

/** `/events` and `/download` never end, `/wait` never begins. */
async function startStreams(t: Teardown): Promise<string> {
  waiting.length = 0
  const server = createServer((request, response) => {
    response.on('error', () => {})
    if (request.url === '/health') return void response.end('ok')
    if (request.url === '/wait') return void waiting.push(request)
    if (request.url === '/download') return download(response)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: 1\n\n')
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${await listening(server)}`
}

function download(response: ServerResponse) {
  response.writeHead(200, { 'content-length': 1e12 })
  const timer = setInterval(() => response.write(Buffer.alloc(20_000)), 1)
  response.on('close', () => clearInterval(timer))
}

function open(
  t: Teardown,
  edge: EdgeWorld,
  path: string,
  lines: readonly string[] = [],
  cookie = edge.session(),
  method = 'GET',
): RawClient {
  const client = new RawClient(edge.port)
  t.teardown(() => client.close())
  const head = [`${method} ${path} HTTP/1.1`, `Host: ${HOST}`, `Cookie: ${cookie}`, ...lines]
  return client.send([...head, '', ''].join('\r\n'))
}

t.test('one that cannot be ended keeps none of the others, nor its worker, from their end', (t) => {
  const errors: unknown[] = []
  const ended: string[] = []
  const openOf = (name: string) => {
    const context = Object.create(RequestContext.prototype) as RequestContext
    Object.defineProperty(context, 'methodOverrides', { value: [] })
    const exchange = { context, head: { host: name }, recall: () => void ended.push(name) }
    Object.assign(context, { exchange, decision: 'forward' })
    const cut = () => void ended.push(`the WebSocket of ${name}`)
    return { exchange, activeMs: 0, cut }
  }
  const all = [openOf('bad'), openOf('good')] as const
  const fail = () => {
    throw new Error('this one cannot be ended')
  }
  all[0].cut = fail
  all[0].exchange.recall = fail
  const streams = createOpenStreams({
    clock: clockOf(() => 0),
    byHost: () => ({ kind: 'unknown' }),
    webSockets: () => all as never,
    eachInFlight: (visit) => all.forEach(({ exchange }) => visit(exchange as never)),
    takeBack,
    reportActivity: () => undefined,
    onError: (error) => errors.push(error),
  })
  streams.judge()
  streams.close()
  t.same(ended, ['the WebSocket of good', 'good'])
  t.equal(errors.length, 2)
  t.end()
})

t.test('thousands of long paths are held against new rules in many turns', async (t) => {
  const judged: string[] = []
  const taken: string[] = []
  const rules = { status: 'published', protection: 'on', excluded: () => true, tenantId: 'app' }
  const before = { ...rules, sealed: () => 'open' }
  const now = {
    ...rules,
    sealed: (path: string) => judged.push(path) && (path.startsWith('/new/') ? 'sealed' : 'open'),
  }
  const all = Array.from({ length: 1000 }, (_item, at) => {
    const context = Object.create(RequestContext.prototype) as RequestContext
    Object.defineProperty(context, 'methodOverrides', { value: [] })
    const path = `${at % 2 === 0 ? '/new/' : '/old/'}${at}${'a'.repeat(1000)}`
    const exchange = { context, head: { host: 'app.test' } }
    const tenant = { ...before, sessionRules: { binding: 'off' } }
    return Object.assign(context, {
      exchange,
      decision: 'forward',
      path,
      tenant,
      allowedBy: tenant,
    })
  })
  const open = new Set(all)
  const served = { tenant: { ...now, sessionRules: { binding: 'off' } }, revoked: {} }
  const streams = createOpenStreams({
    clock: clockOf(() => 0),
    byHost: () => ({ kind: 'served', served }) as never,
    webSockets: () => [],
    eachInFlight: (visit) => open.forEach(({ exchange }) => visit(exchange)),
    takeBack(context) {
      taken.push(context.path)
      open.delete(context as (typeof all)[0])
    },
    reportActivity: () => undefined,
    onError: (error) => t.error(error),
  })
  t.teardown(() => streams.close())
  streams.judge()
  t.ok(judged.length > 0 && judged.length <= 32, `${judged.length} in the first turn`)
  for (let turns = 0; judged.length < all.length; turns++) {
    t.ok(turns < 100)
    await turn()
  }
  t.equal(taken.length, all.length / 2)
  t.ok(taken.every((path) => path.startsWith('/new/')))
  streams.judge()
  t.equal(judged.length, all.length, 'each of them once')
})
