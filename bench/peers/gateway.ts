/**
 * Our gateway: the program itself, primary and workers, as an operator runs it. Access log (to
 * /dev/null), metrics, limits and time-outs are on, and its metrics are scraped while it works.
 */
import { join } from 'node:path'
import { rulesOf } from '../../test/support/access-rules.ts'
import { startControlPlane, until } from '../../test/support/fleet.ts'
import { freePort } from '../../test/support/ports.ts'
import { watchAllocations } from '../allocated.ts'
import { CONNECTED, startConnectors } from '../connector-programs.ts'
import { folder, freePorts, start, writeText } from '../processes.ts'
import { NODE_FLAGS, programPath, type Peer } from './peer.ts'
import { createLiveKey } from '../../control-plane/keys/live-key.ts'

const FLEET_KEY = 'fleet-key-for-benches-0123456789-abc'
const START_MS_MAX = 120_000
/** Prometheus asks every 15 seconds; rounds are shorter than that. */
const SCRAPE_MS = 2_000

const RULES = rulesOf([
  { path: '/', allow: [{ signed_in: true }] },
  ...Array.from({ length: 1000 }, (_item, index) => ({
    path: `/team${index}/reports`,
    allow: [{ group: 'finance' }, { group: 'admins' }],
  })),
])

export interface GatewayShape {
  readonly workers?: number
  readonly tenants?: number
  /** With a thousand paths that only some groups may open, beside one that everybody may. */
  readonly hasRules?: boolean
  /** The application is behind a connector; its CPU is told apart. */
  readonly isConnected?: boolean
  /** Who reads its access log; none: there is none of what goes well. */
  readonly log?: 'cat' | 'busy' | 'slow' | 'none'
}

const READER = programPath('log-reader.ts')
const LOG_READERS = {
  cat: ['cat'],
  none: ['cat'],
  busy: [process.execPath, READER, 'busy'],
  slow: [process.execPath, READER, 'slow'],
} as const

export function gatewayPeer(
  name: string,
  { workers = 1, tenants = 1, isConnected = false, hasRules = false, log = 'cat' }: GatewayShape,
): Peer {
  return {
    name,
    async start({ originPort, sessions }) {
      const closing: (() => unknown)[] = []
      const scope = { teardown: (close: () => unknown) => void closing.push(close) }
      const control = await startControlPlane(scope, { fleetKey: createLiveKey(FLEET_KEY) })
      let revision = 0
      for (const snapshot of sessions.snapshotsFor(`http://127.0.0.1:${originPort}`, tenants))
        revision = control.source.put(snapshot.tenant_id!, {
          ...snapshot,
          ...(isConnected && CONNECTED),
          ...(hasRules && { access: RULES }),
        })
      control.hub.tenantChanged()

      const { port, tlsPort } = await freePorts()
      const statusPort = await freePort()
      const config = writeText(
        `gateway-${port}.yaml`,
        `data_dir: ${join(folder, `gateway-${port}`)}
gateway:
  listen: 127.0.0.1:${port}
  tls_listen: 127.0.0.1:${tlsPort}
  status_listen: 127.0.0.1:${statusPort}
  connect_address: 127.0.0.1:${tlsPort}
  id: bench
  workers: ${workers}
  control_plane: http://127.0.0.1:${control.port}
${log === 'none' ? '  access_log: { sample: 0 }' : ''}
`,
      )
      const allocations = watchAllocations(join(folder, `allocated-${port}`))
      const flags = [...allocations.flags, ...NODE_FLAGS]
      const args = [...flags, 'gateway/main.ts', '--config', config]
      const environment = { SERVICE_FLEET_KEY: FLEET_KEY, ...allocations.environment }
      const how = {
        port,
        tlsPort,
        environment,
        saysReady: true,
        isLogRead: true,
        logReader: LOG_READERS[log],
      }
      const program = await start(process.execPath, args, how)
      // and written: until then the primary works for the disk
      const isServing = () =>
        control.hub.gateways().some((it) => it.revision >= revision && it.durable)
      await until(isServing, START_MS_MAX)
      const scrape = () =>
        fetch(`http://127.0.0.1:${statusPort}/metrics`)
          .then((answer) => answer.text())
          .catch(() => undefined)
      const scraping = setInterval(() => void scrape(), SCRAPE_MS)
      const connectors = isConnected
        ? await startConnectors({
            address: `127.0.0.1:${tlsPort}`,
            gatewayId: 'bench',
            fleetKey: FLEET_KEY,
            tenantIds: [sessions.tenantId],
            originPort,
            flags: NODE_FLAGS,
          })
        : undefined
      return {
        ...program,
        ...(connectors && { besidePids: [connectors.pid] }),
        allocatedBytes: () => allocations.bytes(program.pids[0]!),
        async stop() {
          await connectors?.stop()
          clearInterval(scraping)
          await program.stop()
          for (const close of closing.reverse()) await close()
        },
      }
    },
  }
}

/** Our wire alone: what is left when the decision is free. */
export const edge: Peer = {
  name: 'edge',
  async start({ originPort }) {
    const port = await freePort()
    const args = [...NODE_FLAGS, programPath('edge.ts'), String(port), String(originPort)]
    return start(process.execPath, args, { port })
  },
}

export const gateway = gatewayPeer('gateway', {})
export const gatewayByConnector = gatewayPeer('gateway connector', { isConnected: true })
