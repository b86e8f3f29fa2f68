/** Connectors beside a gateway: who they are in its tenants' snapshots, and the process that they run in. */
import { fork } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { deriveCertificate } from '../shared/self-signed.ts'
import type { TenantSnapshot } from '../shared/fleet/snapshot.ts'
import type { ConnectorsOrder } from './programs/connector.ts'

const PROGRAM = fileURLToPath(new URL('programs/connector.ts', import.meta.url))

const pair = generateKeyPairSync('ed25519')
const publicKey = pair.publicKey.export({ format: 'jwk' }).x!
const privateKeyPem = String(pair.privateKey.export({ format: 'pem', type: 'pkcs8' }))

/** What makes a snapshot one of a tenant in connector mode. */
export const CONNECTED: Partial<TenantSnapshot> = {
  mode: 'connector',
  connectors: [{ connector_id: 'con_1', keys: [{ key_id: 'k1', public_key: publicKey }] }],
}

export interface Connectors {
  readonly pid: number
  /** How many are there to be asked. */
  count(): Promise<number>
  until(connected: number): Promise<void>
  /** Cuts all connections at once. */
  break(): void
  stop(): Promise<void>
}

interface ConnectorsWish {
  readonly address: string
  readonly gatewayId: string
  readonly fleetKey: string
  readonly tenantIds: readonly string[]
  readonly originPort: number
  readonly flags?: readonly string[]
  /** They would be on a thousand other machines: they have what the gateway and its clients leave over. */
  readonly isElsewhere?: boolean
}

export async function startConnectors(wish: ConnectorsWish): Promise<Connectors> {
  const { address, gatewayId, fleetKey, tenantIds, originPort, flags = [], isElsewhere } = wish
  const child = fork(PROGRAM, [], {
    execArgv: [...flags],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  if (isElsewhere) setPriority(child.pid!, constants.priority.PRIORITY_LOW)
  const gone = new Promise((resolve) => child.once('exit', resolve))
  const { certificate } = deriveCertificate(fleetKey)
  child.send({
    gateway: { gateway_id: gatewayId, address, certificate },
    tenantIds,
    privateKeyPem,
    origin: `http://127.0.0.1:${originPort}`,
  } satisfies ConnectorsOrder)
  const count = () =>
    new Promise<number>((resolve, reject) => {
      const ended = () => reject(new Error('the connectors have ended'))
      child.once('exit', ended)
      child.once('message', (message) => {
        child.off('exit', ended)
        resolve((message as { connected: number }).connected)
      })
      child.send('count')
    })
  const connectors: Connectors = {
    pid: child.pid!,
    count,
    async until(connected) {
      while ((await count()) < connected) await new Promise((resolve) => setTimeout(resolve, 100))
    },
    break: () => void child.send('break'),
    async stop() {
      child.disconnect()
      await gone
    },
  }
  await connectors.until(tenantIds.length)
  return connectors
}
