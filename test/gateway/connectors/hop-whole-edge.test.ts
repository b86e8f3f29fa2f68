/** Two whole edges: decided at the one that was asked, reached over the one that has the connector. */
import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { deriveCertificate } from '../../../shared/self-signed.ts'
import { dialIn, newConnectorKeys } from '../../support/dialled-in.ts'
import { HOST, startEdge, USER_AGENT } from '../../support/edge-world.ts'
import { connect, startWebSocketApplication } from '../../support/websockets.ts'
import { listening, startOrigin } from '../../support/wire.ts'

async function startTwo(t: Test, origin: string) {
  const keys = newConnectorKeys()
  const connectors = [
    { connector_id: 'con_1', keys: [{ key_id: 'k1', public_key: keys.publicKey }] },
  ]
  async function start(gatewayId: string) {
    const own = deriveCertificate(`a fleet key of ${gatewayId}`)
    const door = { ...own, gatewayId, worker: 1, workers: 1, passOn: () => undefined }
    const tenant = { mode: 'connector', connectors } as const
    const edge = await startEdge(t, 'http://shop.internal', tenant, {}, { door })
    const sockets = createServer({ allowHalfOpen: true }, (socket) =>
      edge.gateway.server.acceptTls(socket),
    )
    const address = `127.0.0.1:${await listening(sockets)}`
    t.teardown(() => sockets.close())
    return { edge, named: { gateway_id: gatewayId, address, certificate: own.certificate } }
  }
  const [asked, holder] = [await start('gateway-1'), await start('gateway-2')]
  const gateways = [asked.named, holder.named]
  const settings = { base_url: 'http://localhost:8080', gateways }
  for (const { edge } of [asked, holder]) {
    edge.tell({ type: 'settings', settings })
    edge.tell({ type: 'holders', tenants: [['app', ['gateway-2']]] })
  }
  const connector = dialIn(t, holder.named, keys, {
    origin,
    tenantId: 'app',
    gatewayId: 'gateway-2',
  })
  await connector.until('connected')
  return { asked: asked.edge, holder: holder.edge, settings, connector }
}

t.test('the first gateway decides, and says who asks', async (t) => {
  const origin = await startOrigin(t)
  const { asked, holder } = await startTwo(t, origin.url)
  const ask = (path: string, cookie = '') =>
    request(asked.edgeUrl.replace(HOST, '127.0.0.1') + path, {
      headers: { host: `${HOST}:${asked.port}`, 'user-agent': USER_AGENT, cookie },
    })
  t.equal((await ask('/admin')).statusCode, 404, 'sealed')
  t.equal((await ask('/orders')).statusCode, 401, 'without a session')
  t.equal(origin.begun(), 0)
  t.equal((await ask('/orders', asked.session())).statusCode, 200)
  const { rawHeaders } = origin.seen.at(-1)!
  const at = rawHeaders.findIndex((name) => name.toLowerCase() === 'x-service-user')
  t.equal(rawHeaders[at + 1], 'ada')
  t.match(asked.gateway.telemetry.gauges(), { hopsOver: 1, hopsServed: 0 })
  t.match(holder.gateway.telemetry.gauges(), { hopsOver: 0, hopsServed: 1 })
  t.match(asked.gateway.telemetry.take(), { hopsOpened: 1, hopsServed: 0 })
  t.match(holder.gateway.telemetry.take(), { hopsOpened: 0, hopsServed: 1 })
})

t.test('a WebSocket goes the same way, and is told when the connector drains', async (t) => {
  const application = await startWebSocketApplication(t)
  const { asked, connector } = await startTwo(t, application.url)
  const client = await connect(t, asked, '/socket', { cookie: asked.session() })
  client.socket.send('hello')
  t.equal(String(await client.next()), 'hello')
  const drained = connector.tunnel.drain(5000)
  t.match(await client.closed, { code: 1012 })
  await drained
})

t.test('a connector that is revoked, and a gateway that is sent away', async (t) => {
  const application = await startWebSocketApplication(t)
  const { asked, holder, settings } = await startTwo(t, application.url)
  const first = await connect(t, asked, '/socket', { cookie: asked.session() })
  const others = settings.gateways.filter(({ gateway_id }) => gateway_id === 'gateway-2')
  holder.tell({ type: 'settings', settings: { ...settings, gateways: others } })
  t.match(await first.closed, { code: 1006 })
  holder.tell({ type: 'settings', settings })
  const second = await connect(t, asked, '/socket', { cookie: asked.session() })
  holder.put({ connectors: [] })
  // Word of it and the end come by two connections: which is first is the network's to say.
  const { code } = await second.closed
  t.ok(code === 1012 || code === 1006, String(code))
})
