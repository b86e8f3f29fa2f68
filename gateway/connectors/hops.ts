/**
 * The way to a tenant whose connectors are at other gateways: over one of those, to its connectors
 * and no further. Who has connectors of whom is told by the control plane, and may be wrong by now.
 */
import type { KeyObject } from 'node:crypto'
import type { Logger } from 'pino'
import type { FleetGateway } from '../../shared/fleet/snapshot.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Opening, UpstreamFailure } from '../wire/upstream-call.ts'
import { HopLink, type HopAnswer } from './hop-link.ts'
import { ABSENT, BUSY, failureOf } from './open-failures.ts'

interface HopsWorld {
  readonly gatewayId: string
  readonly key: KeyObject
  readonly connectMs: number
  readonly nowMs: () => number
  readonly log: Logger
  /** Where a tenant's connectors are to be expected, while nobody has said where they are. */
  readonly expectedAt: (tenantId: string, gatewayIds: readonly string[]) => readonly string[]
}

export type Hops = ReturnType<typeof createHops>

export function createHops({ gatewayId, key, connectMs, nowMs, log, expectedAt }: HopsWorld) {
  let gateways = new Map<string, FleetGateway>()
  const holders = new Map<string, readonly string[]>()
  const links = new Map<string, HopLink>()
  /** `tenant gateway`: said to have none, until then. */
  const absentUntilMs = new Map<string, number>()
  /** Gateways that did not answer: asked last, until then. */
  const lostUntilMs = new Map<string, number>()
  /** Tenants that are reached so, each logged once. */
  const logged = new Set<string>()
  /** Somebody has said where connectors are, and of whom nobody is anywhere. */
  let isTold = false
  let turn = 0
  const counts = { hopsOpened: 0, hopsFailed: 0 }

  function linkTo(to: FleetGateway): HopLink {
    const known = links.get(to.gateway_id)
    if (known !== undefined) return known
    const link: HopLink = new HopLink(to, {
      gatewayId,
      key,
      onLeft() {
        if (links.get(to.gateway_id) === link) links.delete(to.gateway_id)
      },
    })
    links.set(to.gateway_id, link)
    return link
  }

  /** In turn, so that one gateway has not all of it. */
  function candidates(tenantId: string): FleetGateway[] {
    const known =
      holders.get(tenantId) ?? (isTold ? [] : expectedAt(tenantId, [...gateways.keys()]))
    const now = nowMs()
    const found = [...new Set(known)].flatMap((id) => {
      const isAbsent = (absentUntilMs.get(`${tenantId} ${id}`) ?? 0) > now
      const gateway = gateways.get(id)
      return gateway === undefined || isAbsent ? [] : [gateway]
    })
    if (found.length < 2) return found
    const first = turn++ % found.length
    const inTurn = [...found.slice(first), ...found.slice(0, first)]
    const isLost = ({ gateway_id: id }: FleetGateway) => (lostUntilMs.get(id) ?? 0) > now
    const lost = inTurn.filter(isLost)
    return [...inTurn.filter((one) => !isLost(one)), ...lost].slice(0, LIMITS.hopTriesMax)
  }

  function note(tenantId: string, to: FleetGateway, answer: HopAnswer): void {
    if (answer === 'absent')
      absentUntilMs.set(`${tenantId} ${to.gateway_id}`, nowMs() + LIMITS.hopAbsentMs)
    if (answer === 'lost') lostUntilMs.set(to.gateway_id, nowMs() + LIMITS.hopLostMs)
    if (answer !== 'opened' || logged.has(tenantId)) return
    logged.add(tenantId)
    log.info(
      { tenant_id: tenantId, over: to.gateway_id },
      'no connector is here, one is reached over another gateway',
    )
  }

  /** One after the other, until one of them has opened it. */
  function attempt(
    tenantId: string,
    [to, ...others]: readonly FleetGateway[],
    opening: Opening,
    onFailed: (last: UpstreamFailure) => void,
    last: UpstreamFailure = ABSENT,
  ): void {
    if (to === undefined) {
      counts.hopsFailed++
      return onFailed(last)
    }
    if (!opening.isWanted()) return
    const link = linkTo(to)
    link.usedMs = nowMs()
    const withinMs = others.length === 0 ? connectMs : LIMITS.connectorAnswerMsMax
    const isAsked = link.open(tenantId, withinMs, (answer, socket) => {
      note(tenantId, to, answer)
      if (answer === 'opened' && socket !== undefined) {
        counts.hopsOpened++
        return opening.onOpened(socket)
      }
      const failed = answer === 'opened' || answer === 'lost' ? last : failureOf(answer)
      attempt(tenantId, others, opening, onFailed, failed)
      return undefined
    })
    if (!isAsked) attempt(tenantId, others, opening, onFailed, BUSY)
  }

  return {
    /** False: there is nobody to be asked, and nothing is done. `onFailed` comes never within the call. */
    open(
      tenantId: string,
      opening: Opening,
      onFailed: (failure: UpstreamFailure) => void,
    ): boolean {
      const asked = candidates(tenantId)
      if (asked.length === 0) return false
      process.nextTick(() => attempt(tenantId, asked, opening, onFailed))
      return true
    },
    /** The gateways of the fleet, without those that are sent away: what these have ends at once. */
    follow(now: readonly FleetGateway[]): void {
      gateways = new Map(
        now.flatMap((one) => (one.gateway_id === gatewayId ? [] : [[one.gateway_id, one]])),
      )
      for (const [id, link] of [...links]) {
        const named = gateways.get(id)
        const isSame = named?.address === link.to.address
        if (!isSame || named?.certificate !== link.to.certificate) link.end()
      }
    },
    /** Where a tenant's connectors are, in the control plane's words; of all others there are none. */
    hold(tenantId: string, gatewayIds: readonly string[]): void {
      if (gatewayIds.length === 0) return void holders.delete(tenantId)
      const others = gatewayIds.filter((id) => id !== gatewayId)
      holders.set(tenantId, others)
      for (const id of others) absentUntilMs.delete(`${tenantId} ${id}`)
    },
    /** Of all others there are none. */
    told: () => void (isTold = true),
    /** One is here: what goes elsewhere comes back, request by request. */
    arrived(tenantId: string): void {
      if (!logged.delete(tenantId)) return
      for (const link of links.values()) link.retirePooled(tenantId)
    },
    /** What nobody has needed lately is given back. */
    look(): void {
      const now = nowMs()
      for (const link of [...links.values()])
        if (link.connections === 0 && now - link.usedMs > LIMITS.hopLinkKeptMs) link.end()
      for (const [id, untilMs] of lostUntilMs) if (untilMs <= now) lostUntilMs.delete(id)
      for (const [what, untilMs] of absentUntilMs) if (untilMs <= now) absentUntilMs.delete(what)
    },
    counts,
    connections(): number {
      let sum = 0
      for (const { connections } of links.values()) sum += connections
      return sum
    },
    close(): void {
      for (const link of [...links.values()]) link.end()
    },
  }
}
