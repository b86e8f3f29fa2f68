// long: gateways and connectors are replaced, one after the other, under load
/** A connector and the real gateway with several workers: each has connections of its own. */
import t, { type Test } from 'tap'
import { deriveCertificate } from '../../shared/self-signed.ts'
import { dialIn, newConnectorKeys, type DialledIn } from '../support/dialled-in.ts'
import { until } from '../support/fleet.ts'
import { startLiveGateway } from '../support/live-gateway.ts'
import { freePort } from '../support/ports.ts'
import { SECRETS } from '../support/programs.ts'
import { startSteadyLoad } from '../support/steady-load.ts'
import { startOrigin } from '../support/wire.ts'

async function start(t: Test, workers: number) {
  const origin = await startOrigin(t, (_request, response) => {
    setTimeout(() => response.end('ok'), 5)
  })
  const keys = [newConnectorKeys(), newConnectorKeys()] as const
  const tlsPort = await freePort()
  const gateway = await startLiveGateway(t, {
    origin: 'http://shop.internal',
    workers,
    config: `  tls_listen: 127.0.0.1:${tlsPort}\n  connect_address: 127.0.0.1:${tlsPort}`,
    tenant: {
      mode: 'connector',
      connectors: keys.map(({ publicKey }, at) => ({
        connector_id: `con_${at + 1}`,
        keys: [{ key_id: 'k1', public_key: publicKey }],
      })),
    },
  })
  const { certificate } = deriveCertificate(SECRETS.SERVICE_FLEET_KEY)
  const dial = (at: 0 | 1) =>
    dialIn(t, { address: `127.0.0.1:${tlsPort}`, certificate }, keys[at], {
      origin: origin.url,
      connectorId: `con_${at + 1}`,
      tenantId: 'app',
      gatewayId: 'live',
    })
  const load = (requests: number) =>
    startSteadyLoad({
      port: gateway.port,
      requests,
      clients: 8,
      head: gateway.head(),
      status: 200,
    })
  return { origin, gateway, dial, load }
}

const isWhole = ({ tunnel }: DialledIn, workers: number) =>
  until(() => {
    const links = tunnel.status()
    return links.length === workers && links.every(({ isConnected }) => isConnected)
  }, 60_000)

t.test('each worker has connections, whichever of them the kernel gave them to', async (t) => {
  const { dial, load, gateway } = await start(t, 3)
  const connector = dial(0)
  await isWhole(connector, 3)
  const asked = load(300)
  await asked.done
  t.same(asked.failures, [])
  t.notMatch(gateway.program.output, 'could not be passed on')
})

t.test('workers are replaced one after the other, and no request fails', async (t) => {
  const { dial, load, gateway } = await start(t, 2)
  const connector = dial(0)
  await isWhole(connector, 2)
  const asked = load(4000)
  await until(() => asked.answered() > 200, 60_000)
  gateway.program.child.kill('SIGHUP')
  await gateway.heard('the rolling restart has ended')
  await isWhole(connector, 2)
  await asked.done
  t.same(asked.failures, [])
})

t.test('connectors are replaced one after the other, and no request fails', async (t) => {
  const { dial, load } = await start(t, 2)
  const [first, second] = [dial(0), dial(1)]
  await Promise.all([isWhole(first, 2), isWhole(second, 2)])
  const asked = load(3000)
  for (const connector of [first, second]) {
    const at = asked.answered()
    await until(() => asked.answered() >= Math.min(at + 200, 3000), 60_000)
    await connector.tunnel.drain(60_000)
    await isWhole(dial(connector === first ? 0 : 1), 2)
  }
  await asked.done
  t.same(asked.failures, [])
})
