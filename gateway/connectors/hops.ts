/**
 * The way to a tenant whose connectors are at other gateways: over one of those, to its connectors
 * and no further. Who has connectors of whom is told by the control plane, and may be wrong by now.
 */
import type { KeyObject } from 'node:crypto'
import type { Logger } from 'pino'
import type { FleetGateway } from '../../shared/fleet/snapshot.ts'
import { LIMITS } from '../../shared/limits.ts'
import { SharedUse, SharedUses } from '../wire/share.ts'
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

export function createHops({ gatewayId, key, connectMs, nowMs, log, expectedAt }: HopsWorld) {
  let gateways = new Map<string, FleetGateway>()
  const holders = new Map<string, readonly string[]>()
  /** Of each gateway with that worker of it that was reached first, and with others where it had none. */
  const links = new Map<string, readonly HopLink[]>()
  /** `tenant gateway`: of its workers those that have said to have none, until then. */
  const absent = new Map<string, Map<number, number>>()
  /** Gateways that did not answer: asked last, until then. */
  const lostUntilMs = new Map<string, number>()
  /** Tenants that are reached so, each logged once. */
  const logged = new Set<string>()
  /** Somebody has said where connectors are, and of whom nobody is anywhere. */
  let isTold = false
  let turn = 0
  const counts = { hopsOpened: 0, hopsFailed: 0 }

  const all = (): HopLink[] => [...links.values()].flat()
  const linksTo = (gatewayId: string) => links.get(gatewayId) ?? []

  /** With a worker that is not known to have none; undefined: all of them have said so. */
  function linkFor(tenantId: string, to: FleetGateway): HopLink | undefined {
    const now = nowMs()
    const none = absent.get(`${tenantId} ${to.gateway_id}`)
    const mayHave = (worker: number) => (none?.get(worker) ?? 0) <= now
    const known = linksTo(to.gateway_id)
    const found = known.find(({ worker }) => mayHave(worker))
    if (found !== undefined || known[0] === undefined)
      return found ?? (mayHave(0) ? openLink(to, undefined) : undefined)
    for (let worker = 1; worker <= known[0].workers; worker++)
      if (mayHave(worker)) return openLink(to, worker)
    return undefined
  }

  function openLink(to: FleetGateway, worker: number | undefined): HopLink {
    const { gateway_id: id } = to
    const onLeft = () => {
      const others = linksTo(id).filter((one) => one !== link)
      if (others.length > 0) links.set(id, others)
      else links.delete(id)
    }
    const link: HopLink = new HopLink(to, { gatewayId, key, nowMs, onLeft }, worker)
    links.set(id, [...linksTo(id), link])
    return link
  }

  /** As all of its workers have said; while none is known, as one of them has. */
  function isAbsent(tenantId: string, id: string): boolean {
    const now = nowMs()
    const none = absent.get(`${tenantId} ${id}`)
    if (none === undefined) return false
    const workers = linksTo(id)[0]?.workers ?? 1
    return [...none.values()].filter((untilMs) => untilMs > now).length >= workers
  }

  /** In turn, so that one gateway has not all of it. */
  function candidates(tenantId: string): FleetGateway[] {
    const known =
      holders.get(tenantId) ?? (isTold ? [] : expectedAt(tenantId, [...gateways.keys()]))
    const now = nowMs()
    const found = [...new Set(known)].flatMap((id) => {
      const gateway = gateways.get(id)
      return gateway === undefined || isAbsent(tenantId, id) ? [] : [gateway]
    })
    if (found.length < 2) return found
    const first = turn++ % found.length
    const inTurn = [...found.slice(first), ...found.slice(0, first)]
    const isLost = ({ gateway_id: id }: FleetGateway) => (lostUntilMs.get(id) ?? 0) > now
    const lost = inTurn.filter(isLost)
    return [...inTurn.filter((one) => !isLost(one)), ...lost].slice(0, LIMITS.hopTriesMax)
  }

  function note(tenantId: string, { to, worker }: HopLink, answer: HopAnswer): void {
    const asked = `${tenantId} ${to.gateway_id}`
    if (answer === 'absent') {
      const none = absent.get(asked) ?? new Map<number, number>()
      absent.set(asked, none.set(worker, nowMs() + LIMITS.hopAbsentMs))
    }
    if (answer === 'lost') lostUntilMs.set(to.gateway_id, nowMs() + LIMITS.hopLostMs)
    if (answer !== 'opened' || logged.has(tenantId)) return
    logged.add(tenantId)
    log.info(
      { tenant_id: tenantId, over: to.gateway_id },
      'no connector is here, one is reached over another gateway',
    )
  }

  /**
   * One after the other, until one of them has opened it. Who says to have none may have another worker
   * that has one, which is asked behind the other gateways.
   */
  function attempt(
    tenantId: string,
    [to, ...others]: readonly FleetGateway[],
    opening: Opening,
    onFailed: (last: UpstreamFailure) => void,
    last: UpstreamFailure = ABSENT,
    tries = 1,
  ): void {
    if (to === undefined) {
      counts.hopsFailed++
      return onFailed(last)
    }
    if (!opening.isWanted()) return
    const link = linkFor(tenantId, to)
    if (link === undefined) return attempt(tenantId, others, opening, onFailed, last, tries)
    link.usedMs = nowMs()
    const withinMs = others.length === 0 ? connectMs : LIMITS.connectorAnswerMsMax
    const asked = { tenantId, client: opening.client, withinMs }
    const isAsked = link.open(asked, (answer, socket) => {
      note(tenantId, link, answer)
      if (answer === 'opened' && socket !== undefined) {
        counts.hopsOpened++
        return opening.onOpened(socket)
      }
      const failed = answer === 'opened' || answer === 'lost' ? last : failureOf(answer)
      // Who was only slow may be all that is left.
      const isHurried = answer === 'lost' && others.length > 0
      const isElsewhere = answer === 'absent' && !isAbsent(tenantId, to.gateway_id)
      const mayAgain = tries + others.length < LIMITS.hopTriesMax
      const next = (isHurried || isElsewhere) && mayAgain ? [...others, to] : others
      attempt(tenantId, next, opening, onFailed, failed, tries + 1)
      return undefined
    })
    if (!isAsked) attempt(tenantId, others, opening, onFailed, BUSY, tries + 1)
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
    /** Whether this client may have one more of what there is for one tenant. */
    hasRoomFor(tenantId: string, client: string): boolean {
      const use = new SharedUse(client)
      for (const link of all()) link.countUse(tenantId, use)
      return use.hasRoom(LIMITS.hopConnectionsMax / 2)
    },
    /** The same of many clients. */
    roomNow(tenantId: string): (client: string) => boolean {
      const uses = new SharedUses()
      for (const link of all()) link.countUse(tenantId, uses)
      return (client) => uses.hasRoom(client, LIMITS.hopConnectionsMax / 2)
    },
    /** The gateways of the fleet, without those that are sent away: what these have ends at once. */
    follow(now: readonly FleetGateway[]): void {
      gateways = new Map(
        now.flatMap((one) => (one.gateway_id === gatewayId ? [] : [[one.gateway_id, one]])),
      )
      for (const link of all()) {
        const named = gateways.get(link.to.gateway_id)
        const isSame = named?.address === link.to.address
        if (!isSame || named?.certificate !== link.to.certificate) link.end()
      }
    },
    /** Where a tenant's connectors are, in the control plane's words; of all others there are none. */
    hold(tenantId: string, gatewayIds: readonly string[]): void {
      if (gatewayIds.length === 0) return void holders.delete(tenantId)
      const others = gatewayIds.filter((id) => id !== gatewayId)
      holders.set(tenantId, others)
      for (const id of others) absent.delete(`${tenantId} ${id}`)
    },
    /** Of all others there are none. */
    told: () => void (isTold = true),
    /** One is here: what goes elsewhere comes back, request by request. */
    arrived(tenantId: string): void {
      if (!logged.delete(tenantId)) return
      for (const link of all()) link.retirePooled(tenantId)
    },
    /** What nobody has needed lately is given back. */
    look(): void {
      const now = nowMs()
      for (const link of all())
        if (link.connections === 0 && now - link.usedMs > LIMITS.hopLinkKeptMs) link.end()
      for (const [id, untilMs] of lostUntilMs) if (untilMs <= now) lostUntilMs.delete(id)
      for (const [asked, none] of absent)
        if ([...none.values()].every((untilMs) => untilMs <= now)) absent.delete(asked)
    },
    counts,
    connections(): number {
      let sum = 0
      for (const { connections } of all()) sum += connections
      return sum
    },
    close(): void {
      for (const link of all()) link.end()
    },
  }
}
