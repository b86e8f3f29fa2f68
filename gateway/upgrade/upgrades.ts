/** All WebSockets of one worker: who may open one, who has one, and how they end. */
import type { LookupFunction } from 'node:net'
import type { SteadyClock } from '../../shared/clock.ts'
import type { EdgeLimits } from '../../shared/edge-limits.ts'
import { LIMITS } from '../../shared/limits.ts'
import { countedWidelyAs } from '../../shared/client-address.ts'
import type { Exchange } from '../wire/exchange.ts'
import type { Deadlines } from '../wire/deadlines.ts'
import type { ExchangeOutcome } from '../wire/protocol.ts'
import { shareOf } from '../wire/share.ts'
import { failure, type Upstream, type UpstreamRequest, type Way } from '../wire/upstream-call.ts'
import type { UpstreamTimeouts } from '../upstream/timeouts.ts'
import { createCarrier } from './carrier.ts'
import { ENDINGS, type Ending } from './frames.ts'
import { Handshake, type HandshakeCalls } from './handshake.ts'
import { Tunnel } from './tunnel.ts'

/** What each limit counts by: a session, a client of a tenant, a client, a tenant, this process. */
export interface Claim {
  readonly tenantId: string
  /** Its address. */
  readonly client: string
  /** '' without a session. */
  readonly sid: string
}

interface UpgradePlan extends Claim {
  readonly exchange: Exchange
  readonly origin: string
  /** Another way to the application than by its origin. */
  readonly way?: Way | undefined
  /** Lines that we add to the 101, a CRLF behind each. */
  readonly responseLines: string
}

export interface OpenWebSocket {
  readonly exchange: Exchange
  /** When the client last sent a part of a message, by the steady clock. */
  readonly activeMs: number
  cut(ending: Ending): void
}

interface UpgradeWorld {
  readonly lookup: LookupFunction
  readonly deadlines: Deadlines
  readonly clock: SteadyClock
  readonly timeouts: UpstreamTimeouts
  readonly limits?: Partial<EdgeLimits>
  /** Clients that are many people: balancers that do not say whom they speak for. */
  readonly isExempt?: (address: string) => boolean
  readonly onEnd?: (exchange: Exchange, outcome: ExchangeOutcome) => void
}

export type Upgrades = ReturnType<typeof createUpgrades>

export function createUpgrades(world: UpgradeWorld) {
  const { clock, deadlines, timeouts } = world
  const limits: EdgeLimits = { ...LIMITS, ...world.limits }
  const carrier = createCarrier(world)
  const open = new Set<OpenWebSocket & { tunnel: Tunnel }>()
  const counts = new Map<string, number>()
  let isDraining = false

  const countOf = (key: string) => counts.get(key) ?? 0

  /** Of all that this process may have: two tenants, or one client at many, leave some to the others. */
  function hasShare(key: string, most: number): boolean {
    const held = countOf(key)
    const leftByOthers = limits.webSocketsPerProcessMax - (countOf('') - held)
    return held < shareOf(leftByOthers, most)
  }

  /** Whether one more may be opened. */
  function hasRoom(claim: Claim, way?: Way): boolean {
    const [process, tenant, site, client, session] = keysOf(claim)
    const isOne = world.isExempt?.(claim.client) !== true
    // What it holds of a connector's connections, nobody else has.
    if (isOne && way?.isCrowded(0) === true && !way.hasRoomFor(countedWidelyAs(claim.client)))
      return false
    return (
      countOf(process!) < limits.webSocketsPerProcessMax &&
      hasShare(tenant!, limits.webSocketsPerTenantMax) &&
      (!isOne || hasShare(site!, limits.webSocketsPerProcessMax)) &&
      (!isOne || countOf(client!) < limits.webSocketsPerClientMax) &&
      (session === undefined || countOf(session) < limits.webSocketsPerSessionMax)
    )
  }

  function enter(keys: readonly string[]): () => void {
    for (const key of keys) counts.set(key, countOf(key) + 1)
    let isIn = true
    return () => {
      if (!isIn) return
      isIn = false
      for (const key of keys) {
        const left = countOf(key) - 1
        if (left > 0) counts.set(key, left)
        else counts.delete(key)
      }
    }
  }

  function start(plan: UpgradePlan): Upstream['request'] {
    return (request, sink) => {
      const { exchange } = plan
      // A full connection holds what was decided on: together they may be more than there was room for.
      const isRoom = hasRoom(plan, plan.way)
      const tunnel = new Tunnel({ deadlines, clock, idleMs: timeouts.idleMs })
      if (isRoom) tunnel.once('close', enter(keysOf(plan)))
      return new Handshake(
        {
          deadlines,
          clock,
          timeouts,
          carry: (given, calls) =>
            isRoom ? carry(plan, given, tunnel, calls) : calls.onFailure(NO_ROOM),
          open(upstream, lines) {
            tunnel.attach(exchange.takeSocket!(), upstream, `${lines}${plan.responseLines}`)
            register(exchange, tunnel)
          },
          onEnd: () => tunnel.destroy(),
        },
        request,
        sink,
      )
    }
  }

  function carry(
    { origin, way, ...claim }: UpgradePlan,
    request: UpstreamRequest,
    tunnel: Tunnel,
    calls: HandshakeCalls,
  ): void {
    if (way === undefined) return carrier.carry(origin, request, tunnel, calls)
    const client = countedWidelyAs(claim.client)
    way.open({
      client,
      isWanted: () => !calls.isOver(),
      onOpened(socket) {
        socket.on('error', () => socket.destroy())
        if (calls.isOver()) socket.destroy()
        else {
          calls.onConnected()
          carrier.carry(origin, request, tunnel, calls, socket)
        }
        return { served: 1, isPooled: false, client, retire: () => tunnel.cut(ENDINGS.restart) }
      },
      onFailed: (reason) => calls.onFailure(reason),
    })
  }

  function register(exchange: Exchange, tunnel: Tunnel) {
    const webSocket = {
      exchange,
      tunnel,
      get activeMs() {
        return tunnel.activeMs
      },
      cut: (ending: Ending) => tunnel.cut(ending),
    }
    open.add(webSocket)
    tunnel.once('close', () => {
      open.delete(webSocket)
      const { bytes, isCut } = tunnel
      world.onEnd?.(exchange, { status: 101, bytes, isCut, failure: null })
    })
    if (isDraining) tunnel.cut(ENDINGS.drain)
  }

  return {
    hasRoom,
    /** The way to the application for this one request, in place of the tenant's pool. */
    upstream(plan: UpgradePlan): Upstream {
      const { origin } = plan
      return {
        origin,
        authority: new URL(origin).host,
        request: start(plan),
        close: async () => {},
        stats: () => ({ sockets: 1, idle: 0, waiting: 0, connects: 1, retries: 0 }),
      }
    },
    open: (): Iterable<OpenWebSocket> => open,
    count: () => open.size,
    /** Everybody is told to come again, elsewhere; what does not end by itself ends soon. */
    drain() {
      isDraining = true
      for (const webSocket of open) webSocket.cut(ENDINGS.drain)
    },
    close() {
      for (const { tunnel } of open) tunnel.destroy()
      carrier.close()
    },
  }
}

const NO_ROOM = failure('upstream_busy', 'too many WebSockets are open')

function keysOf({ tenantId, client, sid }: Claim): string[] {
  const site = `@${countedWidelyAs(client)}`
  const keys = ['', tenantId, site, `${tenantId} ${site}`]
  if (sid !== '') keys.push(`${tenantId} ${sid}`)
  return keys
}
