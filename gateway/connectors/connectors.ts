/**
 * The connectors of all tenants at one worker: each dials, says who it is, and from then on its
 * connections are the tenant's pool. What a tenant's newest snapshot does not name is cut off.
 */
import { createPrivateKey } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import type { Logger } from 'pino'
import type { SteadyClock } from '../../shared/clock.ts'
import type { ConnectorNews } from '../../shared/fleet/connector-presence.ts'
import type { Holders } from '../../shared/fleet/holders.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { ConnectorHello, HopHello } from '../../shared/connector/handshake.ts'
import { rendezvous } from '../../shared/fleet/rendezvous.ts'
import type { FleetGateway } from '../../shared/fleet/snapshot.ts'
import type { Way } from '../wire/upstream-call.ts'
import type { CompiledTenant } from '../tenants/compiled.ts'
import { admit, isOfConnector, sayRefused } from './admission.ts'
import { createHopGuests } from './hop-guests.ts'
import { createHops } from './hops.ts'
import { ended } from './member-connections.ts'
import { Member } from './member.ts'
import { Pings } from './pings.ts'
import { createPresence } from './presence.ts'
import { Turns } from './turns.ts'
import { claimOf, createRefusals, type Claim, type Refusal } from './refusals.ts'
import { TenantConnectors } from './tenant-connectors.ts'

interface ConnectorsWorld {
  readonly gatewayId: string
  readonly worker: number
  readonly workers: number
  /** Of the certificate that this gateway is known by. */
  readonly privateKeyPem: string
  readonly tenant: (tenantId: string) => Pick<CompiledTenant, 'connectors'> | undefined
  readonly connectMs: number
  readonly clock: SteadyClock
  readonly log: Logger
  /** Who is here, for people and for other gateways. */
  readonly report?: (news: ConnectorNews) => void
  /** How long requests wait for a first connector while this worker begins, or another one has it. */
  readonly awaitedMs?: number
  /** Between looks at some of them. */
  readonly tickMs?: number
  /** Until refusals are written down together. */
  readonly gatherMs?: number
}

/** Until what nobody needs is given back, and other gateways are pinged: in looks. */
const TIDY_TICKS = LIMITS.hopPingMs / Pings.tickMs

export function createConnectors(world: ConnectorsWorld) {
  const { clock, log, connectMs, awaitedMs = LIMITS.connectorsAwaitedMsMax } = world
  const { tickMs = Pings.tickMs } = world
  const nowMs = () => clock.steadyMs()
  const byTenant = new Map<string, TenantConnectors>()
  const refusals = createRefusals(log, world.gatherMs)
  const beginningUntilMs = nowMs() + awaitedMs
  const isBeginning = () => nowMs() < beginningUntilMs
  const begun = setTimeout(() => {
    for (const connectors of byTenant.values()) connectors.judgeWaiting()
  }, awaitedMs + 1).unref()
  const { report = () => {} } = world
  const presence = createPresence({
    find: ({ tenantId, connectorId }) => byTenant.get(tenantId)?.of(connectorId),
    report,
  })
  const guests = createHopGuests({
    gatewayId: world.gatewayId,
    wayHere: (tenantId) => byTenant.get(tenantId),
    nowMs,
  })
  const hops = createHops({
    gatewayId: world.gatewayId,
    key: createPrivateKey(world.privateKeyPem),
    connectMs,
    nowMs,
    log,
    // As the control plane chooses, which cannot be asked: it is away since before this start.
    expectedAt: (tenantId, gatewayIds) =>
      [...(world.tenant(tenantId)?.connectors.keys() ?? [])]
        .slice(0, LIMITS.hopTriesMax)
        .flatMap((id) => rendezvous(id, gatewayIds, LIMITS.connectorGatewaysMax)),
  })
  const pinging = setInterval(look, tickMs).unref()
  const pings = new Pings<Member>()
  const turns = new Turns()
  let looks = 0

  function at(tenantId: string): TenantConnectors {
    let found = byTenant.get(tenantId)
    if (found === undefined) {
      found = new TenantConnectors({
        nowMs,
        connectMs,
        isBeginning,
        awaitedMs,
        elsewhere: (opening, onFailed) => hops.open(tenantId, opening, onFailed),
        hasRoomElsewhere: (client) => hops.hasRoomFor(tenantId, client),
        roomElsewhere: () => hops.roomNow(tenantId),
      })
      byTenant.set(tenantId, found)
    }
    return found
  }

  const { gatewayKeyOf } = guests
  const keyOf = ({ tenant_id, connector_id, key_id }: ConnectorHello) =>
    world.tenant(tenant_id)?.connectors.get(connector_id)?.get(key_id)

  function enter(socket: TLSSocket, hello: ConnectorHello | HopHello, client: string): void {
    if (!isOfConnector(hello)) return guests.enter(socket, hello)
    const connectors = at(hello.tenant_id)
    if (hello.kind === 'control') return join(socket, hello, connectors, client)
    const member = connectors.of(hello.connector_id)
    // Its control connection may be on its way, or gone, or another key's.
    const isOfMember = member !== undefined && member.keyId === hello.key_id
    if (!isOfMember || member.isDraining) return void socket.destroy()
    member.addSpare(socket)
  }

  function join(
    socket: TLSSocket,
    hello: ConnectorHello,
    connectors: TenantConnectors,
    client: string,
  ): void {
    const { connector_id: connectorId, key_id: keyId, program, tenant_id: tenantId } = hello
    const before = connectors.of(connectorId)
    if (before === undefined && connectors.size >= LIMITS.connectorsPerTenantMax) {
      refusals.note('many', client, claimOf(hello))
      return sayRefused(socket, 'many')
    }
    const member = new Member(
      socket,
      { tenantId, connectorId, keyId, program, nowMs, turns },
      {
        onSpare() {
          hops.arrived(tenantId)
          connectors.serveWaiting()
        },
        onChanged: () => presence.soon(member),
        onUnasked: () => refusals.note('unasked', client, claimOf(hello)),
        onWord(word) {
          if (word.say === 'drain') {
            connectors.judgeWaiting()
            presence.soon(member)
          }
          if (word.say === 'application' && word.is_reached) connectors.serveWaiting()
          if (word.say === 'check') check(member, word.id)
        },
        onGone(cutOff) {
          leavePings()
          presence.last(member)
          connectors.remove(member)
          presence.soon(member)
          const who = { tenant_id: tenantId, connector_id: connectorId }
          if (cutOff === undefined) log.info(who, 'a connector has left')
          else log.warn({ ...who, reason: cutOff }, 'a connector was cut off')
        },
      },
    )
    if (before !== undefined) presence.last(before)
    const leavePings = pings.add(member)
    connectors.add(member)
    presence.soon(member)
    log.info({ tenant_id: tenantId, connector_id: connectorId, program }, 'a connector is here')
  }

  /** What the way to the application looks like from here. */
  function check(member: Member, id: number): void {
    const isBegun = member.open({ nowMs: nowMs(), withinMs: connectMs }, (answer, socket) => {
      socket.destroy()
      const isReached = answer === 'opened'
      if (answer !== 'lost') member.know(isReached, answer)
      member.tell({
        say: 'checked',
        id,
        is_reached: isReached,
        ...(!isReached && { reason: answer }),
      })
    })
    if (isBegun) return
    // One that is looked at has a connection to look with.
    member.usedMs = nowMs()
    member.want(Math.max(member.wanted, LIMITS.connectorSparesIdle), 1)
    member.tell({ say: 'checked', id, is_reached: false, reason: 'no_connection' })
  }

  function look(): void {
    // What only counts is told once in a while.
    pings.tick((member) => presence.look(member))
    if (++looks % TIDY_TICKS === 0) tidy()
  }

  function tidy(): void {
    hops.look()
    guests.look()
    for (const [tenantId, connectors] of byTenant) {
      if (connectors.size === 0 && world.tenant(tenantId) === undefined) byTenant.delete(tenantId)
      connectors.trim()
    }
  }

  function* present(): Generator<{ tenantId: string; member: Member }> {
    for (const [tenantId, connectors] of byTenant)
      for (const member of connectors.serving()) yield { tenantId, member }
  }

  return {
    /** A connection whose TLS handshake is done. Judged, it is a stranger's no longer, or gone. */
    accept(socket: TLSSocket, client: string, onJudged: (isAdmitted: boolean) => void): void {
      socket.on('error', ended)
      socket.once('close', () => onJudged(false))
      socket.setNoDelay(true)
      const onRefused = (reason: Refusal, claim?: Claim) => refusals.note(reason, client, claim)
      admit(socket, { ...world, keyOf, gatewayKeyOf, onRefused, turns }, (hello) => {
        onJudged(true)
        enter(socket, hello, client)
      })
    },
    /** Closed before its handshake, as too many wait for theirs. */
    onCrowded: (client: string) => refusals.note('crowded', client),
    wayTo: (tenantId: string): Way => at(tenantId),
    /** The gateways of the fleet from now on. */
    followGateways(gateways: readonly FleetGateway[]): void {
      hops.follow(gateways)
      guests.follow(gateways)
    },
    /** At which of them tenants' connectors are; of a tenant that was never named, nowhere. */
    holdersAre(tenants: readonly Holders[]): void {
      hops.told()
      for (const [tenantId, gatewayIds] of tenants) {
        hops.hold(tenantId, gatewayIds)
        byTenant.get(tenantId)?.judgeWaiting()
      }
    },
    /** Whether a worker of this gateway has one of theirs: then one comes to this worker, too. */
    hereAre(tenants: readonly (readonly [tenantId: string, isHere: boolean])[]): void {
      for (const [tenantId, isHere] of tenants)
        if (isHere || byTenant.has(tenantId)) at(tenantId).siblingsHave(isHere)
    },
    /** A tenant has changed, or is gone: who is no longer named has no connection left. */
    judge(tenantId: string): void {
      const allowed = world.tenant(tenantId)?.connectors
      for (const member of byTenant.get(tenantId)?.members() ?? [])
        if (allowed?.get(member.connectorId)?.has(member.keyId) !== true) {
          member.tell({ say: 'refused', reason: 'revoked' })
          member.end('revoked')
        }
    },
    /** How many are here of a tenant, for people. */
    present,
    /** They come again, and find another worker; settles when other gateways need none of them here. */
    drain(): Promise<void> {
      for (const connectors of byTenant.values())
        for (const member of connectors.members()) member.tell({ say: 'drain' })
      return guests.drain()
    },
    counts: () => ({ ...hops.counts, ...guests.counts }),
    hopConnections: () => ({ over: hops.connections(), served: guests.connections() }),
    close(): void {
      clearInterval(pinging)
      clearTimeout(begun)
      refusals.close()
      presence.close()
      hops.close()
      guests.close()
      for (const connectors of byTenant.values())
        for (const member of [...connectors.members()]) member.end()
    },
  }
}
