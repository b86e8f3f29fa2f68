/** How far a change has come: told at once where it is, and as it comes to be where it is not. */
import type { Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { FleetHub } from '../fleet/hub.ts'
import { isServed } from '../tenants/snapshot.ts'
import type { Tenants } from '../tenants/tenants.ts'
import type { Done } from './route.ts'

/** What goes along in the address of the next page; proven to be ours (`access/proofs.ts`). */
export interface DoneNote {
  readonly said: string
  readonly tenantId?: string
  /** Which revision has to arrive; none where gateways have nothing to do with it. */
  readonly revision?: number
  readonly startedMs?: number
  readonly tookMs?: number
  /** Why nobody has to hear of it. */
  readonly because?: 'draft' | 'sdk'
  readonly revoked?: { readonly applied: number; readonly of: number }
}

export interface ReceiptState {
  readonly kind: 'live' | 'waiting' | 'rejected' | 'quiet'
  readonly sentence: string
  /** What is not as it should be, gateway by gateway. */
  readonly lines: readonly string[]
}

export interface ReceiptsWorld {
  readonly fleet: Pick<FleetHub, 'gateways' | 'settled' | 'revocationsSettled'>
  readonly tenants: Pick<Tenants, 'find'>
  readonly clock: Clock
}

/** How often somebody who waits is told; gateways that come further are told of at once. */
const LOOK_EVERY_MS = 1000

export type ConsoleReceipts = ReturnType<typeof createConsoleReceipts>

export function createConsoleReceipts({ fleet, tenants, clock }: ReceiptsWorld) {
  const seconds = (ms: number) => `${(Math.max(ms, 50) / 1000).toFixed(1)} s`

  async function noteOf({ said, changed, goneBy, isRevocation }: Done, startedMs: number) {
    if (isRevocation === true) {
      const { applied, pending } = await fleet.revocationsSettled(LIMITS.fleetSettleMsMax)
      const of = applied.length + pending.length
      const tookMs = clock.nowMs() - startedMs
      return { said, tookMs, revoked: { applied: applied.length, of } }
    }
    if (changed !== undefined && goneBy !== undefined)
      return arrived({ said, tenantId: changed, revision: goneBy, startedMs })
    const tenant = changed === undefined ? undefined : await tenants.find(changed)
    if (tenant === undefined) return { said }
    const { tenantId, revision, status } = tenant
    if (!isServed(tenant)) return { said, because: status === 'draft' ? 'draft' : 'sdk' } as const
    return arrived({ said, tenantId, revision, startedMs })
  }

  async function arrived(note: DoneNote & { revision: number; startedMs: number }) {
    const { pending } = await fleet.settled(note.revision, LIMITS.fleetSettleMsMax)
    return pending.length > 0 ? note : { ...note, tookMs: clock.nowMs() - note.startedMs }
  }

  function stateOf(note: DoneNote, tookMs = note.tookMs): ReceiptState | undefined {
    const { tenantId, revision, because, revoked } = note
    if (because === 'draft') return quiet('Gateways hear of this tenant once it is published.')
    if (because === 'sdk')
      return quiet('The instances of its application take it with their next poll.')
    if (revoked !== undefined) return revokedState(revoked, tookMs)
    if (tenantId === undefined || revision === undefined) return undefined
    const gateways = fleet.gateways()
    const connected = gateways.filter((gateway) => gateway.connected)
    const away = gateways.filter((gateway) => !gateway.connected).map(awayLine)
    if (connected.length === 0)
      return {
        kind: 'waiting',
        sentence: 'No gateway is connected. It is saved, and goes out when one is.',
        lines: away,
      }
    const rejected = connected.flatMap(({ gateway_id: id, rejections }) => {
      const one = rejections.find((it) => it.tenant_id === tenantId && it.revision >= revision)
      return one === undefined
        ? []
        : [`${id} rejected it and goes on with what it had: ${one.reason}`]
    })
    const there =
      connected.filter((gateway) => gateway.revision >= revision).length - rejected.length
    if (rejected.length > 0)
      return {
        kind: 'rejected',
        sentence: `Live on ${Math.max(there, 0)} of ${connected.length} gateways.`,
        lines: [...rejected, ...away],
      }
    const pending = connected.filter((gateway) => gateway.revision < revision)
    if (pending.length === 0)
      return { kind: 'live', sentence: liveOn(connected.length, tookMs), lines: away }
    return {
      kind: 'waiting',
      sentence: `Live on ${there} of ${connected.length} gateways so far.`,
      lines: [
        ...pending.map(({ gateway_id: id }) => `${id} has not said yet that it serves it`),
        ...away,
      ],
    }
  }

  function liveOn(count: number, tookMs: number | undefined) {
    return `Live on ${count} of ${count}${tookMs === undefined ? '' : ` in ${seconds(tookMs)}`}.`
  }

  function revokedState(
    { applied, of }: { applied: number; of: number },
    tookMs = 0,
  ): ReceiptState {
    if (of === 0)
      return {
        kind: 'waiting',
        sentence: 'No gateway is connected; each refuses it as soon as it is back.',
        lines: [],
      }
    if (applied === of)
      return {
        kind: 'live',
        sentence: `Refused on ${of} of ${of} in ${seconds(tookMs)}.`,
        lines: [],
      }
    return {
      kind: 'waiting',
      sentence: `Refused on ${applied} of ${of} gateways so far.`,
      lines: [],
    }
  }

  return {
    noteOf: (done: Done, startedMs: number): Promise<DoneNote> => noteOf(done, startedMs),
    stateOf,

    /** The states until it is settled or the time is up; ends when nobody listens any more. */
    async *follow(note: DoneNote, isOver: () => boolean): AsyncGenerator<ReceiptState, void> {
      const untilMs = clock.nowMs() + LIMITS.consoleReceiptMsMax
      let said = ''
      for (
        let rounds = 0;
        rounds * LOOK_EVERY_MS < LIMITS.consoleReceiptMsMax && !isOver();
        rounds++
      ) {
        if (note.revision === undefined || clock.nowMs() > untilMs) return
        const { pending } = await fleet.settled(note.revision, LOOK_EVERY_MS)
        const tookMs =
          pending.length === 0
            ? (note.tookMs ?? clock.nowMs() - (note.startedMs ?? clock.nowMs()))
            : undefined
        const state = stateOf(note, tookMs)
        if (state === undefined) return
        if (JSON.stringify(state) !== said) yield state
        said = JSON.stringify(state)
        if (state.kind !== 'waiting' || fleet.gateways().every(({ connected }) => !connected))
          return
      }
    },
  }
}

const quiet = (sentence: string): ReceiptState => ({ kind: 'quiet', sentence, lines: [] })

const awayLine = ({ gateway_id: id }: { gateway_id: string }) =>
  `${id} is not connected; it gets the newest state when it is back`
