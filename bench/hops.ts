/** What a request costs that comes to a gateway without its tenant's connector, beside one that comes to the other. */
import { deriveCertificate } from '../shared/self-signed.ts'
import { newTenant } from '../test/support/api.ts'
import { dialIn, newConnectorKeys } from '../test/support/dialled-in.ts'
import { until } from '../test/support/fleet.ts'
import { freePort } from '../test/support/ports.ts'
import { SECRETS, startFleet } from '../test/support/programs.ts'
import { measureHealthy, median as medianOf, type Healthy } from './adversity/healthy.ts'
import type { Scope } from './adversity/scope.ts'
import { cpuTime, familyOf } from './cpu.ts'
import { median } from './measured.ts'
import { startOrigin } from './origin.ts'

const HEAD = 'GET /health HTTP/1.1\r\nHost: acme.localhost\r\n\r\n'
const SECONDS = 5
const WAIT_MS = 60_000
const WAYS = ['direct', 'hop'] as const

/** Two gateways of one worker each; the connector dials the second one alone. */
export async function measureHop(scope: Scope, rounds: number): Promise<void> {
  const ports = [await freePort(), await freePort()] as const
  const fleet = await startFleet(
    { ...scope, after: scope.teardown },
    {
      gateways: 2,
      workers: 1,
      gatewayConfig: (at) =>
        `  tls_listen: 127.0.0.1:${ports[at]}\n  connect_address: 127.0.0.1:${ports[at]}`,
    },
  )
  const origin = await startOrigin()
  scope.teardown(() => origin.stop())
  const settings = newTenant('acme', { mode: 'connector', origin: 'http://shop.internal' })
  await fleet.operator('POST', '/tenants', { ...settings, excluded: ['/health'] })
  await fleet.operator('POST', '/tenants/acme/publish')
  const { token } = (await fleet.operator('POST', '/tenants/acme/connector-tokens', {})).body
  const keys = newConnectorKeys()
  const joined = await fleet.api(String(token), 'POST', '/connector/join', {
    public_key: keys.publicKey,
    name: 'bench',
    program: '1.0.0',
  })
  await fleet.settled()
  const { certificate } = deriveCertificate(SECRETS.SERVICE_FLEET_KEY)
  const connector = dialIn(scope, { address: `127.0.0.1:${ports[1]}`, certificate }, keys, {
    origin: `http://127.0.0.1:${origin.port}`,
    tenantId: 'acme',
    gatewayId: 'gateway-1',
    connectorId: String(joined.body['connector_id']),
    keyId: String(joined.body['key_id']),
  })
  await until(() => connector.tunnel.status().some(({ isConnected }) => isConnected), WAIT_MS)

  const family = () => fleet.gateways.flatMap(({ child }) => familyOf(child.pid!))
  const portOf = { direct: fleet.gatewayPorts[1]!, hop: fleet.gatewayPorts[0]! }
  const healthy = { direct: [] as Healthy[], hop: [] as Healthy[] }
  const us = { direct: [] as number[], hop: [] as number[] }
  for (let round = -1; round < rounds; round++)
    for (const way of round % 2 === 0 ? WAYS : WAYS.toReversed()) {
      const from = cpuTime(family())
      const measured = await measureHealthy(portOf[way], HEAD, SECONDS)
      const to = cpuTime(family())
      if (round < 0) continue // the first has the ways opened
      healthy[way].push(measured)
      us[way].push((to.userUs + to.kernelUs - from.userUs - from.kernelUs) / measured.answered)
    }
  for (const way of WAYS) {
    const { p50Ms, p99Ms, failed } = medianOf(healthy[way])
    console.log(
      `  ${way.padEnd(6)} p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms, ${failed} failed; both gateways ${median(us[way]).toFixed(0)} µs a request (${Math.min(...us[way]).toFixed(0)} to ${Math.max(...us[way]).toFixed(0)})`,
    )
  }
  const added = medianOf(healthy.hop).p50Ms - medianOf(healthy.direct).p50Ms
  const ratio = median(us.hop) / median(us.direct)
  console.log(`  a hop adds ${added.toFixed(2)} ms to p50, and costs ${ratio.toFixed(2)}× the CPU`)
}
