/** A tenant in connector mode behind the whole edge, and connectors that dial in to it. */
import { createServer } from 'node:net'
import type { Test } from 'tap'
import { deriveCertificate } from '../../shared/self-signed.ts'
import { dialIn, newConnectorKeys } from './dialled-in.ts'
import { startEdge } from './edge-world.ts'
import { listening } from './wire.ts'

type T = Pick<Test, 'teardown'>
type Edge = Parameters<typeof startEdge>

/** What stands in `origin` is only a name. */
const NAMED = 'http://shop.internal:3000'

export async function startConnectedEdge(
  t: T,
  change: Edge[2] = {},
  timeouts: Edge[3] = {},
  settings: Omit<NonNullable<Edge[4]>, 'door'> = {},
) {
  const keys = newConnectorKeys()
  const own = deriveCertificate('a fleet key for tests')
  const place = { gatewayId: 'gateway-1', worker: 1, workers: 1 }
  const door = { ...own, ...place, passOn: () => undefined }
  const connectors = [
    { connector_id: 'con_1', keys: [{ key_id: 'k1', public_key: keys.publicKey }] },
  ]
  const connected = { ...change, mode: 'connector', connectors } as const
  const edge = await startEdge(t, NAMED, connected, timeouts, { ...settings, door })
  const sockets = createServer((socket) => edge.gateway.server.acceptTls(socket))
  const port = await listening(sockets)
  t.teardown(() => sockets.close())
  return {
    edge,
    dialled: (origin: string) =>
      dialIn(t, { address: `127.0.0.1:${port}`, certificate: own.certificate }, keys, {
        origin,
        tenantId: 'app',
      }),
  }
}
