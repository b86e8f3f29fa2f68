/** A WebSocket through the middleware: asked for like any request, and over when the session is. */
import { createServer, request as httpRequest } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { Hono } from 'hono'
import t, { type Test } from 'tap'
import { createService } from '../../../../../control-plane/downloads/sdk-node/service.ts'
import { startGuard, type AskedGuard } from '../../../../support/asked-guard.ts'
import { USER_AGENT } from '../../../../support/feed-service.ts'

/** Most of the time is spent waiting for polls: they wait together. */
const TOGETHER = { buffered: true }
t.jobs = 12

interface Opened {
  readonly status: number
  readonly seen: Record<string, unknown> | undefined
  /** Settles when the other side has ended the connection. */
  readonly ended: Promise<void>
  readonly socket?: Socket
}

async function startSocketServer(t: Test, { guard }: AskedGuard) {
  const service = createService(guard)
  const server = createServer(service.node((_request, response) => response.end('page')))
  let seen: Record<string, unknown> | undefined
  server.on(
    'upgrade',
    service.upgrade(({ headers }, socket) => {
      seen = headers
      socket.resume()
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
      )
    }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.closeAllConnections()
    server.close()
  })

  return (headers: Record<string, string>, path = '/socket') =>
    new Promise<Opened>((resolve, reject) => {
      seen = undefined
      const asked = httpRequest({
        port,
        path,
        headers: {
          host: 'app.localhost',
          'user-agent': USER_AGENT,
          connection: 'Upgrade',
          upgrade: 'websocket',
          ...headers,
        },
      })
      asked.on('error', reject)
      asked.on('response', (answer) => {
        answer.resume()
        resolve({ status: answer.statusCode ?? 0, seen, ended: Promise.resolve() })
      })
      asked.on('upgrade', (_answer, socket) => {
        sockets.push(socket)
        socket.on('error', () => {})
        const ended = new Promise<void>((settle) => socket.once('close', () => settle()))
        resolve({ status: 101, seen, ended, socket })
      })
      asked.end()
    })
}

t.test(
  'nobody opens a WebSocket without a session, and nobody a sealed one',
  TOGETHER,
  async (t) => {
    const world = await startGuard(t)
    const open = await startSocketServer(t, world)
    t.match(await open({}), { status: 401 })
    const cookie = world.service.session()
    t.match(await open({ cookie }, '/admin'), { status: 404 })
    t.match(await open({ cookie, 'x-service-user': 'root' }), {
      status: 101,
      seen: { 'x-service-user': 'ada', 'x-service-verified': 'true' },
    })
  },
)

t.test('a WebSocket ends when its session is revoked, and the others stay', TOGETHER, async (t) => {
  const world = await startGuard(t)
  const open = await startSocketServer(t, world)
  const session = (sid: string) => world.service.session({ sid, issuedAgoSeconds: 5 })
  const revoked = await open({ cookie: session('sid-1') })
  const other = await open({ cookie: session('sid-2') })
  let isOtherOver = false
  void other.ended.then(() => (isOtherOver = true))
  world.service.revoke({ sids: { 'sid-1': world.service.nowSeconds() } })
  await revoked.ended
  t.notOk(isOtherOver)
  world.service.put({ status: 'suspended' })
  await other.ended
})

t.test('a WebSocket ends with its session’s time', TOGETHER, async (t) => {
  const world = await startGuard(t)
  const open = await startSocketServer(t, world)
  const openFor = (lifeSeconds: number) => open({ cookie: world.service.session({ lifeSeconds }) })
  let lifeSeconds = 2
  let short = await openFor(lifeSeconds)
  // on a machine that is busy a session may be over before it has opened anything
  while (short.status !== 101 && lifeSeconds < 60) short = await openFor((lifeSeconds *= 2))
  t.equal(short.status, 101)
  await short.ended
})

t.test('a page of another site opens no WebSocket in its user’s name', TOGETHER, async (t) => {
  const world = await startGuard(t, { excluded: ['/open'] })
  const open = await startSocketServer(t, world)
  const cookie = `theme=dark; ${world.service.session()}`
  t.match(await open({ cookie, origin: 'https://evil.example' }), { status: 403 })
  t.match(await open({ cookie, origin: 'http://app.localhost' }), { status: 101 })
  const foreign = await open({ cookie, origin: 'https://evil.example' }, '/open')
  t.match(foreign, { status: 101, seen: { cookie: 'theme=dark' } }, 'what is open is open')
  t.equal(foreign.seen?.['x-service-user'], undefined, 'but nobody is named')
  const own = await open({ cookie, origin: 'http://app.localhost' }, '/open')
  t.match(own, { status: 101, seen: { 'x-service-user': 'ada' } })
})

t.test(
  'a refused upgrade leaves no socket behind, whatever its client does with it',
  TOGETHER,
  async (t) => {
    const { guard } = await startGuard(t)
    const service = createService(guard)
    const server = createServer(service.node((_request, response) => response.end()))
    server.on(
      'upgrade',
      service.upgrade(() => t.fail('it was not refused')),
    )
    const closed = new Promise<void>((resolve) =>
      server.on('connection', (socket) => socket.once('close', () => resolve())),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    t.teardown(() => client.destroy())
    client.on('error', () => {})
    client.resume()
    client.write(
      'GET /socket HTTP/1.1\r\nHost: app.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    )
    client.once('data', () => client.write('bytes that nobody will read'))
    await closed
  },
)

t.test(
  'a WebSocket that says nothing is idle, and one that is used is not',
  TOGETHER,
  async (t) => {
    const world = await startGuard(t, { idle_seconds: 60 })
    const open = await startSocketServer(t, world)
    const silent = await open({ cookie: world.service.session({ sid: 'sid-1' }) })
    const used = await open({ cookie: world.service.session({ sid: 'sid-2' }) })
    let isUsedOver = false
    void used.ended.then(() => (isUsedOver = true))
    const later = () => {
      world.pass(61_000)
      world.service.control.aheadMs += 61_000
    }
    const talking = setInterval(() => used.socket?.write('something'), 10)
    t.teardown(() => clearInterval(talking))
    later()
    await silent.ended
    t.notOk(isUsedOver)
    clearInterval(talking)
    // the next look may still see what it said last, and counts from then
    const waiting = setInterval(later, 500)
    t.teardown(() => clearInterval(waiting))
    await used.ended
  },
)

t.test('with Hono, too, what another site’s page asks is nobody’s', TOGETHER, async (t) => {
  const { guard, service } = await startGuard(t, { excluded: ['/open'] })
  const app = new Hono()
  app.use(createService(guard).hono())
  app.get('/open', (c) => c.json({ cookie: c.req.header('cookie') ?? '' }))
  const headers = {
    host: 'app.localhost',
    'user-agent': USER_AGENT,
    upgrade: 'websocket',
    origin: 'https://evil.example',
    cookie: `theme=dark; ${service.session()}`,
  }
  const answer = await app.request('http://app.localhost/open', { headers })
  t.same(await answer.json(), { cookie: 'theme=dark' })
})
