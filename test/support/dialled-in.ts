/** One worker's door for connectors, its pool, and real connectors that dial in over TLS. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { pino } from 'pino'
import type { Test } from 'tap'
import { Tunnel } from '../../control-plane/downloads/connector/tunnel/tunnel.ts'
import type {
  TunnelEvent,
  TunnelWorld,
} from '../../control-plane/downloads/connector/tunnel/worker-link.ts'
import { applicationAddress } from '../../control-plane/downloads/connector/tunnel/splice.ts'
import { createConnectors } from '../../gateway/connectors/connectors.ts'
import { deriveCertificate } from '../../shared/self-signed.ts'
import { createTicketKeys } from '../../gateway/tls/ticket-keys.ts'
import { createTlsListener } from '../../gateway/tls/tls-listener.ts'
import { createUpstreamRuntime } from '../../gateway/upstream/runtime.ts'
import { createUpstream } from '../../gateway/upstream/upstream.ts'
import { createAddressCounts } from '../../gateway/wire/address-counts.ts'
import { importConnectorKey } from '../../shared/connector/handshake.ts'
import { systemClock, type Clock } from '../../shared/clock.ts'

export const TENANT = 'acme'
const FLEET_KEY = 'a fleet key that is only good for tests'

export interface ConnectorKeyPair {
  readonly privateKey: KeyObject
  readonly publicKey: string
  /** Of one that has joined; else `k1`. */
  readonly keyId?: string
}

export function newConnectorKeys(): ConnectorKeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { privateKey, publicKey: publicKey.export({ format: 'jwk' }).x! }
}

interface Logged {
  readonly msg: string
  readonly reason?: string
  /** Whose it is, by its own word. */
  readonly connector_id?: string
  /** Of refusals: how many there were. */
  readonly refused?: number
}

export interface Door {
  readonly gatewayId: string
  readonly port: number
  readonly address: string
  readonly certificate: string
  readonly privateKeyPem: string
  /** The tenant's connectors from now on. */
  /** Under `k1`; and some under `k0`, as before a rotation. */
  allow(
    connectors: Record<string, ConnectorKeyPair>,
    before?: Record<string, ConnectorKeyPair>,
  ): void
  readonly connectors: ReturnType<typeof createConnectors>
  readonly upstream: ReturnType<typeof createUpstream>
  readonly logged: readonly Logged[]
  /** Raw connections that are open. */
  readonly sockets: ReadonlySet<Socket>
}

export async function openDoor(
  t: Test,
  options: {
    readonly gatewayId?: string
    readonly worker?: number
    readonly workers?: number
    readonly connectMs?: number
    readonly awaitedMs?: number
    readonly tickMs?: number
    readonly gatherMs?: number
    /** Of one address that has not said who it is; without it nobody is counted. */
    readonly connectionsMax?: number
    /** Tenants beside the one that `allow` is about. */
    readonly others?: Record<string, Record<string, ConnectorKeyPair>>
    readonly clock?: Clock
    readonly report?: Parameters<typeof createConnectors>[0]['report']
  } = {},
): Promise<Door> {
  const {
    gatewayId = 'gateway-1',
    worker = 1,
    workers = 1,
    connectMs = 60_000,
    awaitedMs = 0,
    clock = systemClock,
  } = options
  const logged: Logged[] = []
  const log = pino(
    { level: 'info' },
    { write: (line: string) => void logged.push(JSON.parse(line) as Logged) },
  )
  const own = deriveCertificate(`${FLEET_KEY} ${gatewayId}`)
  let allowed = new Map<string, Map<string, KeyObject>>()
  const others = new Map(
    Object.entries(options.others ?? {}).map(([id, named]) => [id, { connectors: keysOf(named) }]),
  )
  const connectors = createConnectors({
    gatewayId,
    worker,
    workers,
    privateKeyPem: own.privateKeyPem,
    tenant: (tenantId) => (tenantId === TENANT ? { connectors: allowed } : others.get(tenantId)),
    connectMs,
    awaitedMs,
    ...(options.tickMs !== undefined && { tickMs: options.tickMs }),
    ...(options.gatherMs !== undefined && { gatherMs: options.gatherMs }),
    clock,
    log,
    ...(options.report && { report: options.report }),
  })
  const listener = createTlsListener({
    contextFor: () => undefined,
    onHttp1: (socket) => socket.destroy(),
    onHttp2: (socket) => socket.destroy(),
    addresses: createAddressCounts({ connectionsMax: options.connectionsMax ?? 1000, clock }),
    isExempt: () => options.connectionsMax === undefined,
    clock,
    handshakeMs: 60_000,
    tickets: createTicketKeys({ fleetKey: FLEET_KEY, clock }),
    connectors: {
      worker,
      workers,
      ...own,
      accept: connectors.accept,
      onCrowded: connectors.onCrowded,
      passOn: (socket) => socket.destroy(),
    },
  })
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    listener.accept(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const runtime = createUpstreamRuntime({ clock })
  const upstream = createUpstream({
    origin: 'http://application.internal',
    way: connectors.wayTo(TENANT),
    runtime,
    timeouts: { connectMs, firstByteMs: 60_000, idleMs: 60_000 },
  })
  t.teardown(async () => {
    connectors.close()
    listener.close()
    for (const socket of sockets) socket.destroy()
    server.close()
    await upstream.close()
    runtime.close()
  })
  return {
    gatewayId,
    port,
    address: `127.0.0.1:${port}`,
    certificate: own.certificate,
    privateKeyPem: own.privateKeyPem,
    connectors,
    upstream,
    logged,
    sockets,
    allow(now, before = {}) {
      allowed = keysOf(now, before)
      connectors.judge(TENANT)
    },
  }
}

/** In a snapshot's shape. */
function keysOf(
  now: Record<string, ConnectorKeyPair>,
  before: Record<string, ConnectorKeyPair> = {},
): Map<string, Map<string, KeyObject>> {
  return new Map(
    Object.entries(now).map(([id, { publicKey, keyId = 'k1' }]) => {
      const keys = new Map([[keyId, importConnectorKey(publicKey)]])
      const old = before[id]
      if (old !== undefined) keys.set('k0', importConnectorKey(old.publicKey))
      return [id, keys]
    }),
  )
}

/** As after a request: each connector that is there has a connection that waits. */
export async function keepSpares({ connectors }: Pick<Door, 'connectors'>, count = 1) {
  const members = () => [...connectors.present()].map(({ member }) => member)
  while (members().length < count || members().some(({ spares }) => spares === 0)) {
    for (const member of members()) member.want(1)
    await new Promise((next) => setTimeout(next, 5))
  }
}

export const fleetOf = (doors: readonly Door[]) =>
  doors.map(({ gatewayId, address, certificate }) => ({
    gateway_id: gatewayId,
    address,
    certificate,
  }))

/** Gateways that know each other. */
export async function openFleet(
  t: Test,
  gateways: number,
  options: Pick<
    NonNullable<Parameters<typeof openDoor>[1]>,
    'clock' | 'connectMs' | 'gatherMs'
  > = {},
) {
  const doors: Door[] = []
  for (let number = 1; number <= gateways; number++)
    doors.push(await openDoor(t, { gatewayId: `gateway-${number}`, ...options }))
  for (const { connectors } of doors) connectors.followGateways(fleetOf(doors))
  return doors
}

export interface DialledIn {
  readonly tunnel: Tunnel
  readonly events: TunnelEvent[]
  /** Settles with the first event of the type, from now on or before. */
  until<Type extends TunnelEvent['type']>(type: Type): Promise<TunnelEvent & { type: Type }>
}

export function dialIn(
  t: Pick<Test, 'teardown'>,
  door: Pick<Door, 'address' | 'certificate'>,
  keys: ConnectorKeyPair,
  options: {
    readonly origin: string
    readonly connectorId?: string
    readonly tenantId?: string
    readonly gatewayId?: string
    readonly keyId?: string
    readonly world?: Partial<TunnelWorld>
  },
): DialledIn {
  const events: TunnelEvent[] = []
  const waiting: { type: string; settle: (event: TunnelEvent) => void }[] = []
  const tunnel = new Tunnel({
    identity: {
      tenantId: options.tenantId ?? TENANT,
      connectorId: options.connectorId ?? 'con_1',
      keyId: options.keyId ?? 'k1',
      privateKey: keys.privateKey,
      program: '0.0.0',
    },
    application: applicationAddress(options.origin),
    dialling: { timeoutMs: 60_000 },
    random: () => 0.1,
    nowMs: () => Date.now(),
    applicationMs: 60_000,
    onEvent(event) {
      events.push(event)
      for (const one of waiting.splice(0))
        if (one.type === event.type) one.settle(event)
        else waiting.push(one)
    },
    ...options.world,
  })
  t.teardown(() => tunnel.close())
  tunnel.follow([
    {
      gateway_id: options.gatewayId ?? 'gateway-1',
      address: door.address,
      certificate: door.certificate,
    },
  ])
  return {
    tunnel,
    events,
    until<Type extends TunnelEvent['type']>(type: Type) {
      return new Promise<TunnelEvent & { type: Type }>((resolve) => {
        const settle = (event: TunnelEvent) => resolve(event as TunnelEvent & { type: Type })
        const before = events.find((event) => event.type === type)
        if (before) settle(before)
        else waiting.push({ type, settle })
      })
    },
  }
}

/** The last of so many gateways has the tenant's connector, and the others have been told. */
export async function startHops(
  t: Test,
  origin: string,
  gateways = 2,
  more: Parameters<typeof openFleet>[2] = {},
) {
  const doors = await openFleet(t, gateways, more)
  const keys = newConnectorKeys()
  const [first, holder] = [doors[0]!, doors.at(-1)!]
  for (const door of doors) {
    door.allow({ con_1: keys })
    door.connectors.holdersAre([[TENANT, [holder.gatewayId]]])
  }
  const join = async (door: Door) => {
    const connector = dialIn(t, door, keys, { origin, gatewayId: door.gatewayId })
    await connector.until('connected')
    return connector
  }
  return { doors, first, holder, keys, join, connector: await join(holder) }
}

/** One whole answer through the pool. */
export function ask(
  upstream: Door['upstream'],
  wish: { method?: string; target?: string; body?: string } = {},
): Promise<{ status: number; body: string; failure: string }> {
  const { method = 'GET', target = '/', body = '' } = wish
  return new Promise((resolve) => {
    let status = 0
    let text = ''
    upstream.request(
      {
        method,
        target,
        lines: 'Host: a\r\n',
        bodyLength: body.length,
        hasLength: body !== '',
        firstBody: body,
        isBodyWhole: true,
        isRawChunked: false,
      },
      {
        wantsRawChunks: false,
        onInformational: () => undefined,
        onHead: (head) => (status = head.status),
        onData: (buffer, from, to) => (text += buffer.toString('latin1', from, to)),
        onText: (piece) => (text += piece),
        onReadEnd: () => undefined,
        onEnd: () => resolve({ status, body: text, failure: '' }),
        onError: (failure) =>
          resolve({ status: failure.status, body: text, failure: failure.code }),
        onDrain: () => undefined,
      },
    )
  })
}
