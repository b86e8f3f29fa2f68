/**
 * Connectors as they run, so many in one process, for tenants that are numbered:
 * `node bench/programs/connector.ts` and then a message with what they need.
 *
 * `break` cuts all their connections at once, and each comes back as it would after an outage. It
 * says `{connected}` whenever it is asked `count`.
 */
import { createPrivateKey } from 'node:crypto'
import { applicationAddress } from '../../control-plane/downloads/connector/tunnel/splice.ts'
import { Tunnel } from '../../control-plane/downloads/connector/tunnel/tunnel.ts'
import type { GatewayAddress } from '../../control-plane/downloads/connector/tunnel/dial.ts'

export interface ConnectorsOrder {
  readonly gateway: GatewayAddress
  readonly tenantIds: readonly string[]
  readonly privateKeyPem: string
  readonly origin: string
}

const tunnels: Tunnel[] = []
let order: ConnectorsOrder | undefined

function open({ gateway, tenantIds, privateKeyPem, origin }: ConnectorsOrder): void {
  const privateKey = createPrivateKey(privateKeyPem)
  for (const tenantId of tenantIds) {
    const tunnel = new Tunnel({
      identity: { tenantId, connectorId: 'con_1', keyId: 'k1', privateKey, program: '0.0.0' },
      application: applicationAddress(origin),
      dialling: { timeoutMs: 15_000 },
      random: Math.random,
      nowMs: Date.now,
      applicationMs: 5000,
      onEvent: () => undefined,
    })
    tunnel.follow([gateway])
    tunnels.push(tunnel)
  }
}

const connected = () =>
  tunnels.filter((tunnel) => tunnel.status().some(({ isConnected }) => isConnected)).length

process.on('message', (message: ConnectorsOrder | 'count' | 'break') => {
  if (message === 'count') return void process.send?.({ connected: connected() })
  if (message === 'break') for (const tunnel of tunnels.splice(0)) tunnel.close()
  else order = message
  if (order !== undefined) open(order)
})
process.once('disconnect', () => process.exit())
