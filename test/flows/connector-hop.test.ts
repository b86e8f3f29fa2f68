// long: workers are replaced under load, and a gateway begins again
/** Two real gateways of two workers each: a connector dials one of them, and both serve its tenant. */
import t from 'tap'
import { request } from 'undici'
import { deriveCertificate } from '../../shared/self-signed.ts'
import { newTenant } from '../support/api.ts'
import { dialIn, newConnectorKeys } from '../support/dialled-in.ts'
import { until } from '../support/fleet.ts'
import { freePort } from '../support/ports.ts'
import { SECRETS, startFleet } from '../support/programs.ts'
import { startSteadyLoad } from '../support/steady-load.ts'
import { startOrigin } from '../support/wire.ts'

const HEAD = 'GET /health HTTP/1.1\r\nHost: acme.localhost\r\n\r\n'

t.test('over one hop, while workers are replaced and without a control plane', async (t) => {
  const [tls, status] = [
    [await freePort(), await freePort()] as const,
    [await freePort(), await freePort()] as const,
  ]
  const fleet = await startFleet(t, {
    gateways: 2,
    workers: 2,
    gatewayConfig: (at) =>
      `  tls_listen: 127.0.0.1:${tls[at]}\n  connect_address: 127.0.0.1:${tls[at]}\n  status_listen: 127.0.0.1:${status[at]}`,
  })
  const origin = await startOrigin(t)
  const settings = newTenant('acme', { mode: 'connector', origin: 'http://shop.internal' })
  await fleet.operator('POST', '/tenants', { ...settings, excluded: ['/health'] })
  await fleet.operator('POST', '/tenants/acme/publish')
  const { token } = (await fleet.operator('POST', '/tenants/acme/connector-tokens', {})).body
  const keys = newConnectorKeys()
  const joined = await fleet.api(String(token), 'POST', '/connector/join', {
    public_key: keys.publicKey,
    name: 'web-1',
    program: '1.0.0',
  })
  t.equal(joined.status, 201)
  await fleet.settled()
  const { certificate } = deriveCertificate(SECRETS.SERVICE_FLEET_KEY)
  const connector = dialIn(t, { address: `127.0.0.1:${tls[1]}`, certificate }, keys, {
    origin: origin.url,
    tenantId: 'acme',
    gatewayId: 'gateway-1',
    connectorId: String(joined.body['connector_id']),
    keyId: String(joined.body['key_id']),
  })
  const isWhole = () => {
    const links = connector.tunnel.status()
    return links.length === 2 && links.every(({ isConnected }) => isConnected)
  }
  await until(isWhole, 60_000)

  let served = 0
  const isServed = async () => {
    const answer = await request(`http://127.0.0.1:${fleet.gatewayPorts[0]}/health`, {
      headers: { host: 'acme.localhost' },
    })
    await answer.body.dump()
    if (answer.statusCode === 200) served++
    return answer.statusCode === 200
  }
  /** By the gateway that the connector has not dialled. */
  const load = (requests: number) =>
    startSteadyLoad({
      port: fleet.gatewayPorts[0]!,
      requests,
      clients: 8,
      head: HEAD,
      status: 200,
    })
  while (!(await isServed())) await new Promise((next) => setTimeout(next, 50))
  const asked = load(300)
  await asked.done
  t.strictSame(asked.failures, [])
  const metrics = async (at: 0 | 1) =>
    (await request(`http://127.0.0.1:${status[at]}/metrics`)).body.text()
  t.match(await metrics(0), /gateway_hops_total\{result="opened"\} [1-9]/)
  t.match(await metrics(1), /gateway_hops_served_total [1-9]/)
  const counted = async () => {
    const { body } = await fleet.operator('GET', '/tenants/acme/connectors')
    const [one] = body['items'] as unknown as { requests: number }[]
    return one?.requests ?? 0
  }
  while ((await counted()) < served + 300) await new Promise((next) => setTimeout(next, 100))
  t.equal(await counted(), served + 300, 'all that the other gateway has sent')

  await fleet.controlPlane.stop('SIGKILL')
  const rolled = load(3000)
  await until(() => rolled.answered() > 200, 60_000)
  const [first, second] = fleet.gateways as [(typeof fleet.gateways)[0], (typeof fleet.gateways)[0]]
  second.child.kill('SIGHUP')
  await until(() => second.output.includes('the rolling restart has ended'), 60_000)
  await rolled.done
  t.strictSame(rolled.failures, [], 'the workers that have the connector are others now')
  await until(isWhole, 60_000)

  await first.stop('SIGTERM')
  await fleet.startGateway(0)
  while (!(await isServed())) await new Promise((next) => setTimeout(next, 50))
  const alone = load(100)
  await alone.done
  t.strictSame(alone.failures, [], 'it knows the others from its disk')
})
