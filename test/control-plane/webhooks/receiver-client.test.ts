/** One delivery on the wire: where it goes, how long it may take, and what comes of every answer. */
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { connect, createServer as createTcpServer, type AddressInfo, type Server } from 'node:net'
import t, { type Test } from 'tap'
import {
  createAddressCheck,
  createReceiverClient,
  type ReceiverWorld,
} from '../../../control-plane/webhooks/receiver-client.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { createTestAuthority } from '../../support/test-certificates.ts'

const HOST = 'hooks.example'
const LOOPBACK = ['127.0.0.0/8']
const authority = createTestAuthority(t)
const leaf = authority.issue(HOST)

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void

async function listening(t: Test, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    ;(server as { closeAllConnections?: () => void }).closeAllConnections?.()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function startReceiver(t: Test, handler: Handler, certificate = leaf) {
  const { private_key_pem: key, certificate_pem: cert } = certificate
  let sockets = 0
  const server = createHttpsServer({ key, cert }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => handler(request, response, Buffer.concat(chunks).toString()))
  })
  const closed = new Promise<void>((resolve) =>
    server.on('secureConnection', (socket) => {
      sockets++
      socket.once('close', () => resolve())
    }),
  )
  const port = await listening(t, server)
  return { port, url: `https://${HOST}:${port}/in?from=us`, sockets: () => sockets, closed }
}

function startClient(t: Test, world: Partial<ReceiverWorld> = {}) {
  const client = createReceiverClient({
    allowPrivate: LOOPBACK,
    egressProxy: null,
    resolve: async () => ['127.0.0.1'],
    ca: authority.caPem,
    ...world,
  })
  t.teardown(() => client.close())
  const headers = { 'content-type': 'application/json', 'x-service-event': 'session.revoked' }
  return {
    client,
    post: (url: string, body = '{"a":1}') => client.post({ url, headers, body: Buffer.from(body) }),
  }
}

t.test('a receiver that is down at its first address is reached at the next', async (t) => {
  const { url } = await startReceiver(t, (_, response) => void response.writeHead(204).end())
  const { port } = new URL(url)
  const resolve = async () => ['127.0.0.9', '127.0.0.8', '127.0.0.1']
  t.match(await startClient(t, { resolve }).post(url), { status: 204, problem: '' })
  const down = startClient(t, { resolve: async () => ['127.0.0.9', '127.0.0.8'] })
  t.match(await down.post(`https://${HOST}:${port}/`), { problem: 'the connection was refused' })
  const silent = createTcpServer(() => {}) // takes the connection and never says a word
  await new Promise<void>((ready) => silent.listen(Number(port), '127.0.0.9', ready))
  t.teardown(() => void silent.close())
  const late = startClient(t, { resolve, timeoutMs: 1500 })
  t.match(await late.post(url), { status: 204 }, 'it does not take all of the time')
})

t.test('a delivery arrives as it was made, and the answer is kept for people', async (t) => {
  let seen: { request: IncomingMessage; body: string } | undefined
  const { url } = await startReceiver(t, (request, response, body) => {
    seen = { request, body }
    response.writeHead(202).end('thank you')
  })
  const { post } = startClient(t)
  t.match(await post(url, '{"grüße":"ü"}'), { status: 202, firstBytes: 'thank you', problem: '' })
  t.match(seen?.request, { method: 'POST', url: '/in?from=us' })
  t.match(seen?.request.headers, {
    host: new URL(url).host,
    'content-type': 'application/json',
    'x-service-event': 'session.revoked',
    'content-length': String(Buffer.byteLength('{"grüße":"ü"}')),
  })
  t.equal(seen?.body, '{"grüße":"ü"}')
})

t.test('a redirect is an answer, and nobody goes there', async (t) => {
  let visits = 0
  const { url } = await startReceiver(t, (_request, response) => {
    visits++
    response.writeHead(307, { location: 'https://127.0.0.1:1/inside' }).end()
  })
  const { post } = startClient(t)
  t.match(await post(url), { status: 307, problem: '' })
  t.equal(visits, 1)
})

t.test('a name that leads elsewhere by the time it is used is not followed', async (t) => {
  let visits = 0
  const { url } = await startReceiver(t, (_request, response) => {
    visits++
    response.end()
  })
  const answers = [['8.8.8.8'], ['127.0.0.1']]
  const world = { allowPrivate: [], resolve: async () => answers.shift() ?? ['127.0.0.1'] }
  t.equal(await createAddressCheck(world)(url), undefined, 'public when it was written')
  t.match(await startClient(t, world).post(url), { status: undefined, problem: /not public/ })
  t.equal(visits, 0)
})

t.test('the socket goes to the address that was checked: no name is asked twice', async (t) => {
  let visits = 0
  let asked = 0
  const { url, sockets } = await startReceiver(t, (_request, response) => {
    visits++
    response.end()
  })
  const { post } = startClient(t, {
    resolve: async () => {
      asked++
      return ['127.0.0.1']
    },
  })
  for (let times = 0; times < 5; times++) t.match(await post(url), { status: 200 })
  t.equal(visits, 5)
  t.equal(sockets(), asked, 'one look for each socket, and none beside them')
})

t.test('a certificate for another name, or of nobody, is not accepted', async (t) => {
  const foreign = await startReceiver(
    t,
    (_request, response) => response.end(),
    authority.issue('x.example'),
  )
  const { post } = startClient(t)
  t.match(await post(foreign.url), { status: undefined, problem: /certificate/ })
  const { url } = await startReceiver(t, (_request, response) => response.end())
  const trusting = startClient(t, { ca: createTestAuthority(t).caPem })
  t.match(await trusting.post(url), { status: undefined, problem: /certificate/ })
})

const NEVER = new Promise<never>(() => {})
const TIMEOUT_MS = 300

t.test('the deadline holds for the name, the handshake, the head and the last byte', async (t) => {
  const world = { timeoutMs: TIMEOUT_MS }
  const late = { problem: /no answer within/ }
  const never = startClient(t, { ...world, resolve: () => NEVER })
  t.match(await never.post(`https://${HOST}/`), { status: undefined, ...late }, 'the name')

  const silent = await listening(t, createTcpServer())
  const { post } = startClient(t, world)
  t.match(await post(`https://${HOST}:${silent}/`), { status: undefined, ...late }, 'the handshake')

  const headless = await startReceiver(t, () => {})
  t.match(await post(headless.url), { status: undefined, ...late }, 'the head')

  const dripping = await startReceiver(t, (_request, response) => {
    response.writeHead(200)
    const drip = setInterval(() => response.write('.'), 20)
    response.on('close', () => clearInterval(drip))
  })
  t.match(await post(dripping.url), { status: 200, ...late }, 'the last byte')
})

t.test('an answer is read up to its limit, and what is longer is no failure', async (t) => {
  const { webhookAnswerBytesMax: max } = LIMITS
  for (const bytes of [max, max + 1, 50 * max]) {
    const { url } = await startReceiver(t, (_request, response) => response.end('x'.repeat(bytes)))
    const { post } = startClient(t)
    const { status, firstBytes, problem } = await post(url)
    t.match({ status, problem }, { status: 200, problem: '' })
    t.equal(firstBytes.length, max)
  }
  const endless = await startReceiver(t, (_request, response) => {
    response.writeHead(200)
    const pour = () => {
      while (!response.destroyed && response.write('x'.repeat(16_384)));
    }
    response.on('drain', pour)
    pour()
  })
  t.match(await startClient(t).post(endless.url), { status: 200, problem: '' })
})

t.test(
  'what is not there, or is no HTTP, is an answer in words and never an address',
  async (t) => {
    const { post } = startClient(t)
    t.match(await post(`https://${HOST}:1/`), { status: undefined, problem: /refused/ })
    const { private_key_pem: key, certificate_pem: cert } = leaf
    const { createServer } = await import('node:tls')
    const garbage = createServer({ key, cert }, (socket) => {
      socket.on('error', () => {})
      socket.end('SSH-2.0-hello\r\n')
    })
    const port = await listening(t, garbage)
    t.match(await post(`https://${HOST}:${port}/`), { status: undefined, problem: /broke off/ })
    const plain = await listening(
      t,
      createHttpServer((_request, response) => response.end()),
    )
    t.match(await post(`https://${HOST}:${plain}/`), {
      status: undefined,
      problem: /TLS|broke off/,
    })
    t.match(await post('http://hooks.example/'), { status: undefined, problem: /https/ })
    const unknown = startClient(t, { resolve: async () => [] })
    t.match(await unknown.post(`https://${HOST}/`), { status: undefined, problem: /not resolve/ })
  },
)

t.test('one receiver that hangs keeps no other waiting', async (t) => {
  const hanging = await startReceiver(t, () => {})
  const { url } = await startReceiver(t, (_request, response) => response.end('ok'))
  const { post } = startClient(t, { timeoutMs: 5000 })
  const slow = Array.from({ length: 50 }, () => post(hanging.url))
  for (let times = 0; times < 20; times++) t.match(await post(url), { status: 200 })
  void Promise.all(slow)
})

t.test('an egress proxy is asked for the checked address, and reaches nothing more', async (t) => {
  const asked: string[] = []
  const proxy = createHttpServer()
  proxy.on('connect', (request: IncomingMessage, socket) => {
    asked.push(request.url ?? '')
    const [, port] = (request.url ?? '').split(':')
    const up = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      up.pipe(socket).pipe(up)
    })
    for (const end of [up, socket]) end.on('error', () => {})
  })
  const egressProxy = `http://127.0.0.1:${await listening(t, proxy)}`
  const { port, url } = await startReceiver(t, (_request, response) => response.end('through'))
  const { post } = startClient(t, {
    egressProxy,
    allowPrivate: [],
    resolve: async () => ['8.8.8.8'],
  })
  t.match(await post(url), { status: 200, firstBytes: 'through' })
  t.same(asked, [`8.8.8.8:${port}`], 'an address, and not a name that it would look up again')
  const inside = startClient(t, { egressProxy, allowPrivate: [] })
  t.match(await inside.post(url), { status: undefined, problem: /not public/ })
  t.equal(asked.length, 1)
  const refusing = createHttpServer()
  refusing.on('connect', (_request, socket) => socket.end('HTTP/1.1 403 No\r\n\r\n'))
  const refused = startClient(t, {
    egressProxy: `http://127.0.0.1:${await listening(t, refusing)}`,
  })
  t.match(await refused.post(url), { status: undefined, problem: /proxy/ })
})

t.test('an answer that breaks off behind its status is that answer', async (t) => {
  const { url } = await startReceiver(t, (_request, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('half', () => response.destroy())
  })
  t.match(await startClient(t).post(url), { status: 200, problem: '' })
})

t.test('a socket is kept as long as we want, whatever the receiver asks for', async (t) => {
  const { url, sockets, closed } = await startReceiver(t, (_request, response) => {
    response.writeHead(200, { 'keep-alive': 'timeout=600' }).end()
  })
  const { post } = startClient(t, { keepAliveMs: 1 })
  t.match(await post(url), { status: 200 })
  await closed
  t.match(await post(url), { status: 200 })
  t.equal(sockets(), 2)
})
