// long: ten thousand requests at two hundred a second
/** Two gateways and two connectors are replaced one after the other, and no request fails. */
import t from 'tap'
import { deriveCertificate } from '../../shared/self-signed.ts'
import { dialIn, newConnectorKeys, type DialledIn } from '../support/dialled-in.ts'
import { until } from '../support/fleet.ts'
import { startLiveGateway } from '../support/live-gateway.ts'
import { freePort } from '../support/ports.ts'
import { SECRETS } from '../support/programs.ts'
import { startSteadyLoad } from '../support/steady-load.ts'
import { startOrigin } from '../support/wire.ts'

const REQUESTS = 10_000
/** Of each gateway: clients that wait so long for each answer are a hundred requests a second. */
const CLIENTS = 8
const ANSWER_MS = 75

t.test('two gateways and two connectors: none of 10,000 requests fails', async (t) => {
  const origin = await startOrigin(t, (_request, response) => {
    setTimeout(() => response.end('ok'), ANSWER_MS)
  })
  const keys = [newConnectorKeys(), newConnectorKeys()] as const
  const { certificate } = deriveCertificate(SECRETS.SERVICE_FLEET_KEY)
  const gateways = await Promise.all(
    [1, 2].map(async () => {
      const tlsPort = await freePort()
      const gateway = await startLiveGateway(t, {
        origin: 'http://shop.internal',
        workers: 2,
        // on a busy machine connectors need longer to come to a new worker than requests wait otherwise
        config: `  tls_listen: 127.0.0.1:${tlsPort}\n  connect_address: 127.0.0.1:${tlsPort}\n  timeouts: { connect: 60s }`,
        tenant: {
          mode: 'connector',
          connectors: keys.map(({ publicKey }, at) => ({
            connector_id: `con_${at + 1}`,
            keys: [{ key_id: 'k1', public_key: publicKey }],
          })),
        },
      })
      return { ...gateway, address: `127.0.0.1:${tlsPort}` }
    }),
  )
  /** One connector, at both gateways. */
  const dial = (at: number): DialledIn[] =>
    gateways.map(({ address }) =>
      dialIn(t, { address, certificate }, keys[at]!, {
        origin: origin.url,
        connectorId: `con_${at + 1}`,
        tenantId: 'app',
        gatewayId: 'live',
      }),
    )
  const isWhole = (connector: readonly DialledIn[]) =>
    until(
      () =>
        connector.every(({ tunnel }) => {
          const links = tunnel.status()
          return links.length === 2 && links.every(({ isConnected }) => isConnected)
        }),
      30_000,
    )
  const connectors = [dial(0), dial(1)]
  await Promise.all(connectors.map(isWhole))
  const loads = gateways.map((gateway) =>
    startSteadyLoad({
      port: gateway.port,
      requests: Infinity, // until all has been replaced, however long that takes
      clients: CLIENTS,
      head: gateway.head(),
      status: 200,
    }),
  )
  const answered = () => loads.reduce((sum, load) => sum + load.answered(), 0)
  const more = (count: number) => {
    const from = answered()
    return until(() => answered() >= from + count, 60_000)
  }
  for (const gateway of gateways) {
    await more(1000)
    gateway.program.child.kill('SIGHUP')
    await gateway.heard('the rolling restart has ended')
    await Promise.all(connectors.map(isWhole))
  }
  for (const at of [0, 1]) {
    await more(1000)
    await Promise.all(connectors[at]!.map(({ tunnel }) => tunnel.drain(10_000)))
    connectors[at] = dial(at)
    await isWhole(connectors[at])
  }
  while (answered() < REQUESTS && loads.every(({ failures }) => failures.length === 0))
    await new Promise((resolve) => setTimeout(resolve, 100))
  for (const load of loads) load.stop()
  await Promise.all(loads.map(({ done }) => done))
  for (const { logged } of gateways)
    for (const line of logged()) if ('failure' in line) t.comment(JSON.stringify(line))
  t.same(
    loads.flatMap(({ failures }) => failures),
    [],
  )
})
