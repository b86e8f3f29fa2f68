/** A tenant in connector mode behind the whole edge: decided as ever, and reached by its connector. */
import t, { type Test } from 'tap'
import { request } from 'undici'
import { startConnectedEdge } from '../../support/connected-edge.ts'
import { HOST, startEdge, USER_AGENT } from '../../support/edge-world.ts'
import { connect, startWebSocketApplication } from '../../support/websockets.ts'
import { startOrigin } from '../../support/wire.ts'

async function startConnected(t: Test, origin: string) {
  const { edge, dialled: dial } = await startConnectedEdge(t)
  const dialled = () => dial(origin)
  const ask = (path: string, cookie = '') =>
    request(edge.edgeUrl.replace(HOST, '127.0.0.1') + path, {
      headers: { host: `${HOST}:${edge.port}`, 'user-agent': USER_AGENT, cookie },
    })
  return { edge, dialled, ask }
}

t.test('it is decided as in gateway mode, and reached without a port of its own', async (t) => {
  const origin = await startOrigin(t)
  const { edge, dialled, ask } = await startConnected(t, origin.url)
  await dialled().until('connected')
  t.equal((await ask('/health')).statusCode, 200, 'excluded')
  t.equal((await ask('/admin')).statusCode, 404, 'sealed')
  t.equal((await ask('/orders')).statusCode, 401, 'without a session')
  const answer = await ask('/orders', edge.session())
  t.equal(answer.statusCode, 200)
  const { rawHeaders } = origin.seen.at(-1)!
  const headerOf = (name: string) =>
    rawHeaders[rawHeaders.findIndex((given) => given.toLowerCase() === name) + 1]
  t.equal(headerOf('x-service-user'), 'ada')
  t.equal(headerOf('host'), `${HOST}:${edge.port}`)
})

t.test('without a connector the edge says so, and when to come again', async (t) => {
  const origin = await startOrigin(t)
  const { edge, dialled, ask } = await startConnected(t, origin.url)
  const answer = await ask('/orders', edge.session())
  t.equal(answer.statusCode, 503)
  t.match(answer.headers['retry-after'], /^\d+$/)
  t.match(await answer.body.json(), { error: 'connector_absent' })
  const page = await request(edge.edgeUrl.replace(HOST, '127.0.0.1'), {
    headers: {
      host: `${HOST}:${edge.port}`,
      'user-agent': USER_AGENT,
      cookie: edge.session(),
      accept: 'text/html',
      'sec-fetch-mode': 'navigate',
      'accept-language': 'de',
    },
  })
  t.equal(page.headers['retry-after'], '5')
  t.match(await page.body.text(), 'Die Anwendung ist offline')
  const connector = dialled()
  await connector.until('connected')
  t.equal((await ask('/orders', edge.session())).statusCode, 200)
})

t.test(
  'where no connector can come in, the name of the application is dialled as little',
  async (t) => {
    const stranger = await startOrigin(t)
    const edge = await startEdge(t, stranger.url, { mode: 'connector' })
    const headers = { host: `${HOST}:${edge.port}`, 'user-agent': USER_AGENT }
    const at = edge.edgeUrl.replace(HOST, '127.0.0.1')
    for (const path of ['/health', '/orders']) {
      const answer = await request(at + path, { headers: { ...headers, cookie: edge.session() } })
      t.equal(answer.statusCode, 503, path)
      t.match(await answer.body.json(), { error: 'connector_absent' })
    }
    t.equal(stranger.seen.length, 0)
  },
)

t.test('a WebSocket goes the same way, and a connector that drains tells it so', async (t) => {
  const application = await startWebSocketApplication(t)
  const { edge, dialled } = await startConnected(t, application.url)
  const connector = dialled()
  await connector.until('connected')
  const client = await connect(t, edge, '/socket', { cookie: edge.session() })
  client.socket.send('hello')
  t.equal(String(await client.next()), 'hello')
  const drained = connector.tunnel.drain(5000)
  t.match(await client.closed, { code: 1012 })
  await drained
})

t.test('a connector that is no longer named has no connection left', async (t) => {
  const application = await startWebSocketApplication(t)
  const { edge, dialled } = await startConnected(t, application.url)
  const connector = dialled()
  await connector.until('connected')
  const client = await connect(t, edge, '/socket', { cookie: edge.session() })
  edge.put({ connectors: [] })
  t.match(await client.closed, { code: 1012 }, 'others may be there for it: it may come again')
  t.match(await connector.until('refused'), { reason: 'revoked' })
})
