/** A trusted proxy that says of its client what nobody can read: then it is in no network. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import t from 'tap'
import { HOST, startEdge, USER_AGENT } from '../../support/edge-world.ts'
import { until } from '../../support/fleet.ts'
import { rawRequest } from '../../support/raw-request.ts'
import { listening } from '../../support/wire.ts'

async function startWorld(t: { teardown(close: () => unknown): void }, change: object) {
  const received: IncomingHttpHeaders[] = []
  const server = createServer((request, response) => {
    received.push(request.headers)
    response.end('ok')
  })
  t.teardown(() => void (server.closeAllConnections(), server.close()))
  const url = `http://127.0.0.1:${await listening(server)}`
  const edge = await startEdge(t, url, change, {}, { trustedProxies: ['127.0.0.1'] })
  const ask = (path: string, forwardedFor: string, cookie = edge.session()) =>
    rawRequest(
      edge.port,
      [
        `GET ${path} HTTP/1.1`,
        `Host: ${HOST}`,
        `User-Agent: ${USER_AGENT}`,
        `Cookie: ${cookie}`,
        ...(forwardedFor === '' ? [] : [`X-Forwarded-For: ${forwardedFor}`]),
        'Connection: close\r\n\r\n',
      ].join('\r\n'),
    )
  return { edge, received, ask }
}

const OF_THE_PROXY = {
  networks: { inside: ['127.0.0.0/8'] },
  slots: [],
  rules: [{ path: '/', allow: [{ network: 'inside' }] }],
}

t.test('no rule takes it for one of the proxy’s network', async (t) => {
  const { edge, received, ask } = await startWorld(t, { access: OF_THE_PROXY })
  t.match(await ask('/', ''), /^HTTP\/1.1 200/, 'who is the proxy itself')
  for (const unread of ['unknown', '127.0.0.1:', '203.0.113.1, nonsense', '10.0.0.1, , '])
    t.match(await ask('/', unread), /^HTTP\/1.1 403/, unread)
  t.equal(received.length, 1)
  t.equal(edge.logged.filter(({ msg }) => String(msg).includes('cannot be read')).length, 1)
  t.match(await ask('/health', 'unknown'), /^HTTP\/1.1 200/)
  t.match(received[1], { forwarded: /^for=unknown;/, 'x-forwarded-for': '127.0.0.1' })
})

t.test('no session that is bound to a network is taken, and none ends for it', async (t) => {
  const { edge, ask } = await startWorld(t, { session_binding: 'terminate' })
  const cookie = edge.session()
  t.match(await ask('/', 'unknown', cookie), /^HTTP\/1.1 503[^]*client_unreadable/)
  t.match(await ask('/service/login', 'unknown', ''), /^HTTP\/1.1 503/)
  t.match(await ask('/', '127.0.0.1', cookie), /^HTTP\/1.1 200/)
  await until(() => edge.lines.length === 3)
  t.same(edge.lines[0]?.['client'], '')
})
