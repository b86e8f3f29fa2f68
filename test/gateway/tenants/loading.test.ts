import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { WebSocket, WebSocketServer } from 'ws'
import { createTenantLoading } from '../../../gateway/tenants/loading.ts'
import { indexText } from '../../../gateway/fleet/relay-messages.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { HOST, startEdge, USER_AGENT } from '../../support/edge-world.ts'
import { until } from '../../support/fleet.ts'
import { startSecureEdge } from '../../support/secure-edge.ts'
import { listening } from '../../support/wire.ts'
import { clockOf } from '../../support/clocks.ts'

async function startOrigin(t: Test) {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    void text(request).then((body) => response.end(`${request.url} ${body}`))
  })
  const webSockets = new WebSocketServer({ server })
  webSockets.on('connection', (socket) => socket.send('hello'))
  t.teardown(() => server.close())
  return { origin: `http://127.0.0.1:${await listening(server)}`, seen }
}

const CLIENT = '203.0.113.1'

const headOf = (method: string, path: string, cookie: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: ${HOST}\r\nUser-Agent: ${USER_AGENT}\r\nCookie: ${cookie}\r\n${more}\r\n`

/** What comes back until the other side ends. */
async function answered(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(request)
  return text(socket)
}

t.test('a request waits for its tenant, and goes the way of all others', async (t) => {
  const { origin, seen } = await startOrigin(t)
  const edge = await startEdge(t, origin)
  edge.unload()
  const close = 'Connection: close\r\n'
  const [signedIn, sealed, stranger] = [
    answered(edge.port, headOf('GET', '/a', edge.session(), close)),
    answered(edge.port, headOf('GET', '/admin', edge.session(), close)),
    answered(edge.port, headOf('GET', '/b', '', `${close}Accept: text/html\r\n`)),
  ]
  await until(() => edge.wanted.length > 0)
  edge.load()
  t.match(await signedIn, /^HTTP\/1.1 200 [^]*\/a $/)
  t.match(await sealed, /^HTTP\/1.1 404 /)
  t.match(await stranger, /^HTTP\/1.1 302 /)
  t.same(seen, ['GET /a'])
  t.same(edge.wanted, ['app'], 'asked for once')
})

t.test('so does what it brings: a body that is half here, and one in chunks', async (t) => {
  const { origin } = await startOrigin(t)
  const edge = await startEdge(t, origin)
  edge.unload()
  const socket = connect(edge.port, '127.0.0.1')
  const answers = text(socket)
  socket.write(headOf('POST', '/a', edge.session(), 'Content-Length: 10\r\n') + '01234')
  await until(() => edge.wanted.length > 0)
  socket.write('56789')
  socket.write(
    headOf('POST', '/b', edge.session(), 'Transfer-Encoding: chunked\r\nConnection: close\r\n'),
  )
  edge.load()
  socket.write('3\r\nabc\r\n0\r\n\r\n')
  t.match(await answers, /^HTTP\/1.1 200 [^]*\/a 0123456789[^]*\/b abc/)
})

t.test('HTTP/2 and a handshake, whose certificate comes with the tenant', async (t) => {
  const { origin } = await startOrigin(t)
  const edge = await startSecureEdge(t, origin)
  edge.unload()
  const opening = edge.http2()
  await until(() => edge.wanted.length > 0)
  edge.load()
  const session = await opening
  const get = async (path: string) => {
    const stream = session.request(edge.headersOf(path))
    const [headers] = (await once(stream, 'response')) as [{ ':status': number }]
    return `${headers[':status']} ${await text(stream)}`
  }
  t.equal(await get('/h2'), '200 /h2 ')
  edge.unload()
  const again = get('/again')
  await until(() => edge.wanted.length > 1)
  edge.load()
  t.equal(await again, '200 /again ', 'on the same connection')
})

t.test('a WebSocket opens once its tenant is there', async (t) => {
  const { origin } = await startOrigin(t)
  const edge = await startEdge(t, origin)
  edge.unload()
  const headers = { host: HOST, cookie: edge.session(), 'user-agent': USER_AGENT }
  const webSocket = new WebSocket(`${edge.url}/ws`, { headers, origin: edge.edgeUrl })
  t.teardown(() => webSocket.terminate())
  const greeting = once(webSocket, 'message')
  await until(() => edge.wanted.length > 0)
  edge.load()
  t.equal(String((await greeting)[0]), 'hello')
})

t.test('whoever leaves meanwhile is nobody’s request', async (t) => {
  const { origin, seen } = await startOrigin(t)
  const edge = await startEdge(t, origin)
  edge.unload()
  const socket = connect(edge.port, '127.0.0.1')
  socket.write(headOf('POST', '/gone', edge.session(), 'Content-Length: 3\r\n') + 'abc')
  await until(() => edge.wanted.length > 0)
  socket.resetAndDestroy()
  await until(() => edge.gateway.server.connections() === 0)
  edge.load()
  const here = headOf('GET', '/here', edge.session(), 'Connection: close\r\n')
  t.match(await answered(edge.port, here), / 200 /)
  t.same(seen, ['GET /here'])
  t.match(edge.lines, [{ reason: 'not_ready' }, { status: 200 }])
})

t.test('what cannot be had is 503, at once, and not asked for by everybody', async (t) => {
  const { origin } = await startOrigin(t)
  const edge = await startEdge(t, origin)
  const request = headOf('GET', '/', edge.session(), 'Connection: close\r\n')
  edge.unload()
  const first = answered(edge.port, request)
  await until(() => edge.wanted.length > 0)
  edge.tell({ type: 'unavailable', tenantId: 'app' })
  t.match(await first, /^HTTP\/1.1 503 /)
  t.match(await answered(edge.port, request), /^HTTP\/1.1 503 /)
  t.same(edge.wanted, ['app'])
  edge.load()
  t.match(await answered(edge.port, request), /^HTTP\/1.1 200 /)

  edge.unload()
  const waiting = answered(edge.port, request)
  await until(() => edge.wanted.length > 1)
  edge.remove()
  t.match(await waiting, /^HTTP\/1.1 404 /, 'gone while it was waited for')
})

t.test('nobody waits longer than the limit, nor for more tenants than that', async (t) => {
  const wanted: string[] = []
  const want = (tenantId: string) => void wanted.push(tenantId)
  const clock = clockOf(() => 0)
  const awake = setInterval(() => undefined, 1000) // what is waited for holds no process
  t.teardown(() => clearInterval(awake))
  await createTenantLoading({ want, clock, waitMsMax: 1 }).load('never', CLIENT)
  t.same(wanted, ['never'])

  const { load, settled } = createTenantLoading({ want, clock })
  const most = LIMITS.fleetTenantsWantedMax
  for (let count = 0; count < most; count += 1) void load(`t${count}`, `203.0.113.${count % 250}`)
  await load('one-more', CLIENT)
  t.equal(wanted.length, 1 + most, 'it is answered without having been asked for')
  settled('t0', true)
  void load('one-more', CLIENT)
  t.equal(wanted.at(-1), 'one-more')
})

t.test('one site begins only so many, whatever it has asked for', async (t) => {
  const wanted: string[] = []
  const want = (tenantId: string) => void wanted.push(tenantId)
  let nowMs = 0
  const clock = clockOf(() => nowMs)
  const isExempt = (address: string) => address === '198.51.100.1'
  const { load, settled } = createTenantLoading({ want, clock, isExempt })
  const { burst, perSecond } = LIMITS.fleetTenantsWantedOfSite
  for (let count = 0; count < burst; count += 1) {
    void load(`t${count}`, `2001:db8:1:${count.toString(16)}::1`)
    settled(`t${count}`, true)
  }
  await load('one-more', '2001:db8:1::2')
  t.equal(wanted.length, burst, 'its networks are one site')
  void load('waited-for', CLIENT)
  void load('of-a-balancer', '198.51.100.1')
  t.same(wanted.slice(burst), ['waited-for', 'of-a-balancer'], 'all others are served')
  nowMs += 1000 / perSecond
  void load('one-more', '2001:db8:1::2')
  t.equal(wanted.at(-1), 'one-more', 'it goes on at its pace')
})

t.test('the site is that of whoever asks', async (t) => {
  const nowMs = Date.now()
  const trustedProxies = ['127.0.0.1']
  const edge = await startEdge(
    t,
    'http://127.0.0.1:9',
    {},
    {},
    { nowMs: () => nowMs, trustedProxies },
  )
  const { burst } = LIMITS.fleetTenantsWantedOfSite
  const tenants = Array.from({ length: burst + 2 }, (_, at) => ({
    tenantId: `t${at}`,
    hostnames: [`t${at}.example`],
    synced: { sync: 1, revision: 1 },
  }))
  edge.tell({ type: 'index', tenants: indexText(tenants) })
  const ask = (at: number, client: string) => {
    const head = `GET / HTTP/1.1\r\nHost: t${at}.example\r\nX-Forwarded-For: ${client}\r\n`
    return answered(edge.port, `${head}Connection: close\r\n\r\n`)
  }
  const first = tenants.slice(0, burst).map((_, at) => ask(at, '203.0.113.7'))
  await until(() => edge.wanted.length === burst)
  t.match(await ask(burst, '203.0.113.7'), / 503 /, 'at once')
  const other = ask(burst + 1, '203.0.113.8')
  await until(() => edge.wanted.length === burst + 1)
  for (const tenantId of edge.wanted) edge.tell({ type: 'unavailable', tenantId })
  for (const answer of [...first, other]) t.match(await answer, / 503 /)
})
