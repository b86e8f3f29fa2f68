/** A hub and any number of gateways on real sockets, each gateway with real workers' directories. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino, type Logger } from 'pino'
import {
  createFleetHub,
  type FleetHub,
  type FleetHubOptions,
} from '../../control-plane/fleet/hub.ts'
import {
  createTenantRegistry,
  type ServedTenant,
  type TenantRegistry,
} from '../../gateway/tenants/registry.ts'
import { startFleetLink, type FleetLink } from '../../gateway/fleet/fleet-link.ts'
import { createTenantLoading, type TenantLoading } from '../../gateway/tenants/loading.ts'
import { createPortPair } from './port-pair.ts'
import { freePort } from './ports.ts'
import { followRelay, type RelayFollower } from '../../gateway/fleet/relay-follower.ts'
import { systemClock } from '../../shared/clock.ts'
import type { Revoked, TenantSnapshot } from '../../shared/fleet/snapshot.ts'
import { createMemorySource, type MemorySource } from './fleet-source.ts'
import { createLiveKey } from '../../control-plane/keys/live-key.ts'

export const FLEET_KEY = 'a fleet key for tests only'

interface Teardown {
  teardown(close: () => unknown): void
}

/** What a test sees of a tenant: the snapshot that a worker serves. */
export interface TestTenant extends ServedTenant {
  readonly snapshot: TenantSnapshot
}

/** As strict as a real compiler: a name that says so cannot be served. */
export function compileForTest(snapshot: TenantSnapshot): TestTenant {
  if (snapshot.name.includes('uncompilable')) throw new Error('this snapshot cannot be compiled')
  const { tenant_id: tenantId, revision, edge_urls } = snapshot
  return { tenantId, revision, hostnames: Object.keys(edge_urls), snapshot }
}

export interface LogLine {
  readonly level: number
  readonly msg: string
  readonly [field: string]: unknown
}

export function createTestLog(): { log: Logger; lines: LogLine[] } {
  const lines: LogLine[] = []
  const serializers = { error: pino.stdSerializers.err }
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) }
  return { log: pino({ level: 'debug', serializers }, stream), lines }
}

export function temporaryFolder(t: Teardown): string {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface TestControlPlane {
  readonly source: MemorySource
  readonly lines: LogLine[]
  readonly port: number
  hub: FleetHub
  put(tenantId: string, change?: Partial<TenantSnapshot>): number
  remove(tenantId: string): number
  revoke(tenantId: string, revoked: Partial<Revoked>): void
  /** Waits until so many gateways serve `revision`. */
  settled(revision: number, gateways?: number): Promise<void>
  /** Stops it as a kill would: connections break. */
  kill(): Promise<void>
  /** On the same port, with the same database. */
  start(): Promise<void>
}

export async function startControlPlane(
  t: Teardown,
  options: Partial<FleetHubOptions> & { source?: MemorySource } = {},
): Promise<TestControlPlane> {
  const source = options.source ?? createMemorySource()
  const { log, lines } = createTestLog()
  let server: Server
  // not an ephemeral one: between a kill and a start it could be anybody's
  const port = await freePort()

  const control = {
    source,
    lines,
    port,
    hub: undefined as unknown as FleetHub,
    put(tenantId: string, change?: Partial<TenantSnapshot>) {
      const revision = source.put(tenantId, change)
      control.hub.tenantChanged(tenantId)
      return revision
    },
    remove(tenantId: string) {
      const revision = source.remove(tenantId)
      control.hub.tenantChanged(tenantId)
      return revision
    },
    revoke(tenantId: string, revoked: Partial<Revoked>) {
      source.revoke(tenantId, revoked)
      control.hub.revoked(tenantId, { all: 0, subjects: {}, sids: {}, ...revoked })
    },
    settled: (revision: number, gateways = 1) =>
      until(() => {
        const there = control.hub.gateways().filter((gateway) => gateway.revision >= revision)
        return there.length >= gateways
      }),
    async start() {
      server = createServer((_request, response) => response.writeHead(404).end())
      control.hub = createFleetHub({
        fleetKey: createLiveKey(FLEET_KEY),
        clock: systemClock,
        log,
        settings: { base_url: 'http://localhost:8080' },
        ...options,
        source,
      })
      control.hub.attach(server)
      await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    },
    async kill() {
      const closed = new Promise((resolve) => server.close(resolve))
      await control.hub.close()
      server.closeAllConnections()
      await closed
    },
  }
  await control.start()
  t.teardown(() => control.kill())
  return control
}

export interface TestGateway {
  readonly link: FleetLink
  readonly workers: TestWorker[]
  readonly registry: TenantRegistry<TestTenant>
  readonly folder: string
  readonly lines: LogLine[]
  addWorker(): TestWorker
  close(): Promise<void>
}

export interface TestWorker {
  readonly registry: TenantRegistry<TestTenant>
  readonly follower: RelayFollower
  readonly revocations: { tenantId: string; revoked: Revoked }[]
  readonly load: TenantLoading['load']
  die(): void
}

export interface TestGatewayOptions {
  readonly id?: string
  readonly port: number
  /** Of other control planes. */
  readonly otherPorts?: readonly number[]
  readonly folder?: string
  readonly workers?: number
  readonly fleetKey?: string
  readonly askedMs?: number
  readonly keptBytesMax?: number
  readonly transport?: Parameters<typeof startFleetLink>[0]['transport']
  readonly timing?: Parameters<typeof startFleetLink>[0]['timing']
}

export function startGateway(t: Teardown, options: TestGatewayOptions): TestGateway {
  const { log, lines } = createTestLog()
  const folder = options.folder ?? temporaryFolder(t)
  const link = startFleetLink({
    controlPlaneUrls: [options.port, ...(options.otherPorts ?? [])].map(
      (port) => `http://127.0.0.1:${port}`,
    ),
    fleetKey: options.fleetKey ?? FLEET_KEY,
    gatewayId: options.id ?? 'edge-1',
    version: '1.0.0',
    directory: folder,
    validate: (snapshot) => void compileForTest(snapshot),
    clock: systemClock,
    log,
    random: Math.random,
    ...(options.keptBytesMax !== undefined && { keptBytesMax: options.keptBytesMax }),
    ...(options.transport && { transport: options.transport }),
    timing: { backoffMsMin: 5, backoffMsMax: 50, gatherMs: 5, ...options.timing },
  })
  const workers: TestWorker[] = []

  function addWorker() {
    const ports = createPortPair()
    const revocations: TestWorker['revocations'] = []
    const registry = createTenantRegistry({
      clock: systemClock,
      compile: compileForTest,
      onRevoked: (tenantId, revoked) => void revocations.push({ tenantId, revoked }),
    })
    const loading = createTenantLoading({
      want: (tenantId) => follower.want(tenantId),
      clock: systemClock,
    })
    const follower = followRelay({
      port: ports.primary,
      registry,
      log,
      onWanted: loading.settled,
      askedMs: options.askedMs ?? 60_000,
    })
    link.attachWorker(ports.worker)
    const { load } = loading
    const worker = { registry, follower, revocations, load, die: () => ports.close() }
    workers.push(worker)
    return worker
  }
  for (let count = 0; count < (options.workers ?? 1); count += 1) addWorker()

  let isClosed = false
  const gateway = {
    link,
    workers,
    registry: workers[0]!.registry,
    folder,
    lines,
    addWorker,
    async close() {
      if (isClosed) return
      isClosed = true
      await link.close()
      for (const worker of workers) {
        worker.die()
        worker.follower.close()
      }
    },
  }
  t.teardown(() => gateway.close())
  return gateway
}

/** Looks again after every turn of the event loop, so that no test waits for a guessed time. */
export async function until(isTrue: () => boolean, timeoutMs = 60_000): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${isTrue.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

/** What `find` finds, as soon as it does. */
export async function untilFound<T>(find: () => T | undefined): Promise<T> {
  let found: T | undefined
  await until(() => (found = find()) !== undefined)
  return found as T
}

/** The host's status as a request would see it. */
export function statusOf(registry: TenantRegistry<TestTenant>, host: string): number {
  const found = registry.byHost(host)
  if (found.kind === 'unknown') return 404
  if (found.kind !== 'served') return 503
  return found.served.tenant.snapshot.status === 'suspended' ? 503 : 200
}

/** The snapshot that is served at a host. */
export function servedAt(registry: TenantRegistry<TestTenant>, host: string) {
  const found = registry.byHost(host)
  return found.kind === 'served' ? found.served.tenant.snapshot : undefined
}
