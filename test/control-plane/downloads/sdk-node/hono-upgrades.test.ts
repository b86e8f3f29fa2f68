/**
 * WebSockets by Hono's own listeners: there is no response, and the application reads the message of
 * Node's as well as the standard's Request. `ws` hands the message to whoever hears `connection`.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { serve, upgradeWebSocket } from '@hono/node-server'
import { Hono, type Context } from 'hono'
import t, { type Test } from 'tap'
import { WebSocketServer } from 'ws'
import type { EnforceOptions } from '../../../../control-plane/downloads/sdk-node/published.ts'
import { createService } from '../../../../control-plane/downloads/sdk-node/service.ts'
import { startGuard } from '../../../support/asked-guard.ts'
import { USER_AGENT } from '../../../support/feed-service.ts'

interface Env {
  Bindings: { readonly incoming: IncomingMessage }
  Variables: { serviceClaims?: { readonly sub: string } }
}

/** All that an application can read of a request, from either of the two. */
interface Seen {
  readonly user: string
  readonly lines: string
  readonly cookie: string
  readonly target: string
}

function seenOf(
  headers: Headers,
  lines: readonly string[],
  { url = '' }: Pick<IncomingMessage, 'url'>,
): Seen {
  return {
    user: headers.get('x-service-user') ?? '',
    lines: [...headers, ...lines].flat().join('\n').toLowerCase(),
    cookie: headers.get('cookie') ?? '',
    target: url,
  }
}

function seenOfMessage(message: IncomingMessage): Seen {
  const { headers, headersDistinct, rawHeaders, rawTrailers, trailers, trailersDistinct } = message
  const all = [headersDistinct, trailers, trailersDistinct].map((one) => JSON.stringify(one))
  const own = new Headers(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  return seenOf(own, [...rawHeaders, ...rawTrailers, ...all], message)
}

type Listener = (app: Hono<Env>, onMessage: (message: IncomingMessage) => void) => Server

/** `serve({ websocket })` of node-server. */
const nodeServer: Listener = (app, onMessage) => {
  const wss = new WebSocketServer({ noServer: true })
  wss.on('connection', (_webSocket, message) => onMessage(message))
  const options = { port: 0, hostname: '127.0.0.1', websocket: { server: wss } }
  return serve({ fetch: app.fetch, ...options } as never) as Server
}

/** What @hono/node-ws does: the target resolved as a link, the headers copied, the same env. */
const nodeWs: Listener = (app, onMessage) => {
  const wss = new WebSocketServer({ noServer: true })
  wss.on('connection', (_webSocket, message) => onMessage(message))
  const server = createServer()
  server.on('upgrade', (message, socket, head) => {
    const url = new URL(message.url ?? '/', 'http://localhost')
    const headers = new Headers()
    for (const [name, value] of Object.entries(message.headers))
      if (value !== undefined) headers.append(name, [value].flat()[0]!)
    const env = { incoming: message, outgoing: undefined }
    void Promise.resolve(app.request(url, { headers }, env)).then(({ status }) => {
      if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\nConnection: close\r\n\r\n`)
      return wss.handleUpgrade(message, socket, head, (webSocket) =>
        wss.emit('connection', webSocket, message),
      )
    })
  })
  server.listen(0, '127.0.0.1')
  return server
}

const LISTENERS = { 'node-server': nodeServer, 'node-ws': nodeWs }

async function start(t: Test, listener: Listener, change = {}, options: EnforceOptions = {}) {
  const { guard, service } = await startGuard(t, change, options)
  let seen: Seen[] = []
  let claimed: string | undefined
  const app = new Hono<Env>()
  app.use(createService(guard).hono() as never)
  const page = async (c: Context<Env>, next: () => Promise<void>) => {
    const { raw } = c.req
    seen.push(seenOf(raw.headers, [], c.env.incoming), seenOfMessage(c.env.incoming))
    claimed = c.get('serviceClaims')?.sub
    if (listener === nodeWs) return c.text('')
    await next()
  }
  app.get('*', page, upgradeWebSocket(() => ({})) as never)
  const server = listener(app, (message) => seen.push(seenOfMessage(message)))
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo

  async function open(target: string, ...lines: string[]) {
    seen = []
    claimed = undefined
    const socket = connect(port, '127.0.0.1')
    t.teardown(() => socket.destroy())
    const head = [
      `GET ${target} HTTP/1.1`,
      'Host: app.localhost',
      `User-Agent: ${USER_AGENT}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      ...lines,
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    const status = await new Promise<number>((resolve, reject) => {
      socket.once('data', (chunk) => resolve(Number(chunk.toString('latin1').split(' ')[1])))
      socket.on('error', reject)
    })
    return { status, seen, claimed, socket }
  }

  return { open, service }
}

const FORGED = [
  'X-Service-User: root',
  'X_Service_User: root',
  'X-Service-Claims: root',
  'SCRIPT_NAME: /root',
  'X-Original-URL: /root',
]
const FROM_ELSEWHERE = 'Origin: https://evil.example'

for (const [name, listener] of Object.entries(LISTENERS)) {
  t.test(`${name}: both requests tell of the verified user and of nobody else`, async (t) => {
    const { open, service } = await start(t, listener)
    const signedIn = await open('/socket', ...FORGED, `Cookie: own=1; ${service.session()}`)
    t.equal(signedIn.status, 101)
    t.equal(signedIn.claimed, 'ada')
    t.equal(signedIn.seen.length, 3)
    for (const { user, lines } of signedIn.seen) {
      t.equal(user, 'ada')
      t.notMatch(lines, /root|script|service_seen/)
    }
    const nobody = await open('/health/socket', ...FORGED)
    t.equal(nobody.status, 101)
    t.equal(nobody.seen.length, 3)
    for (const { user, lines } of nobody.seen) {
      t.equal(user, '')
      t.notMatch(lines, /root|script/)
    }
    t.equal((await open('/socket', ...FORGED)).status, 401)
  })

  t.test(`${name}: what another site's page asks is nobody's`, async (t) => {
    const { open, service } = await start(t, listener)
    const cookie = `Cookie: own=1; ${service.session()}`
    t.equal((await open('/socket', cookie, FROM_ELSEWHERE)).status, 403)
    const excluded = await open('/health/socket', cookie, FROM_ELSEWHERE)
    t.equal(excluded.status, 101)
    t.equal(excluded.seen.length, 3)
    for (const { user, lines, cookie } of excluded.seen) {
      t.match({ user, cookie }, { user: '', cookie: 'own=1' })
      t.notMatch(lines, 'service_session')
    }
  })

  t.test(
    `${name}: a session that is bound to its network holds, by the address of its socket`,
    async (t) => {
      for (const session_binding of ['step_up', 'terminate']) {
        const trusted = { trustedProxies: ['unix:'] }
        const { open, service } = await start(t, listener, { session_binding }, trusted)
        const cookie = `Cookie: ${service.session()}`
        t.equal((await open('/socket', cookie)).status, 101)
        const named = await open('/socket', cookie, 'X-Forwarded-For: 10.9.8.7')
        t.equal(named.status, 101, 'who comes by TCP is asked for no other address')
        const behind = await start(
          t,
          listener,
          { session_binding },
          { trustedProxies: ['127.0.0.1'] },
        )
        const elsewhere = `Cookie: ${behind.service.session()}`
        t.equal((await behind.open('/socket', elsewhere)).status, 101)
        t.equal((await behind.open('/socket', elsewhere, 'X-Forwarded-For: 10.9.8.7')).status, 401)
      }
    },
  )

  t.test(`${name}: what is decided on is what is routed by`, async (t) => {
    const { open, service } = await start(t, listener, { excluded: ['/'] })
    const cookie = `Cookie: ${service.session()}`
    t.equal((await open('http://evil.example/socket', cookie)).status, 400)
    // node-ws resolves targets as links: this is /admin of another host
    t.equal((await open('//evil.example/admin', cookie)).status, 404)
    t.equal((await open('/\\evil.example/admin', cookie)).status, 400)
    t.equal((await open('/admin', cookie)).status, 404)
    const absolute = await open('http://app.localhost/socket?a=1', cookie)
    t.match(absolute, { status: 101, seen: [{ target: '/socket?a=1', user: 'ada' }] })
  })
}

t.test('it ends with its session', async (t) => {
  const { open, service } = await start(t, nodeServer)
  const { socket } = await open('/socket', `Cookie: ${service.session({ issuedAgoSeconds: 5 })}`)
  const ended = new Promise((resolve) => socket.once('close', resolve))
  service.revoke({ sids: { 'sid-1': service.nowSeconds() } })
  await ended
})

t.test('what only goes by the name of a message is none', async (t) => {
  const { guard, service } = await startGuard(t)
  const app = new Hono()
  app.use(createService(guard).hono() as never)
  app.get('/', (c) => c.text(c.req.header('x-service-user') ?? ''))
  const headers = { host: 'app.localhost', 'user-agent': USER_AGENT, cookie: service.session() }
  const env = { incoming: { socket: { remoteAddress: '192.0.2.1' } } }
  const answer = await app.request('http://app.localhost/', { headers }, env)
  t.equal(await answer.text(), 'ada')
})
