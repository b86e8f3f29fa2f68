/** How far a change has come: told at once where it is, and as it comes to be where it is not. */
import type { Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { GatewayStatus } from '../fleet/gateway-registry.ts'
import type { FleetHub } from '../fleet/hub.ts'
import type { Enforced } from '../store/enforced.ts'
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
  readonly revoked?: {
    readonly applied: number
    readonly of: number
    readonly missing: readonly MissingGateways[]
  }
}

interface MissingGateways {
  readonly what: 'pending' | 'notDurable' | 'unreachable'
  readonly count: number
  /** For operators alone, and no more than fit into an address. */
  readonly ids?: readonly string[]
}

export interface ReceiptState {
  readonly kind: 'live' | 'waiting' | 'rejected' | 'quiet'
  readonly sentence: string
  /** What is not as it should be, gateway by gateway. */
  readonly lines: readonly string[]
}

interface ReceiptsWorld {
  readonly fleet: Pick<FleetHub, 'gateways' | 'settled'>
  readonly tenants: Pick<Tenants, 'find'>
  readonly clock: Clock
}

/** Names of machines are for those who run them: nobody else is shown one, in no receipt. */
type Reader = { readonly isOperator: boolean }

const IDS_IN_NOTE_MAX = 5

/** How often somebody who waits is told; gateways that come further are told of at once. */
const LOOK_EVERY_MS = 1000

export function createConsoleReceipts({ fleet, tenants, clock }: ReceiptsWorld) {
  const gateways = (count: number) =>
    count === 1 ? '1 of 1 gateway' : `${count} of ${count} gateways`
  const seconds = (ms: number) => `${(Math.max(ms, 50) / 1000).toFixed(1)} s`

  async function noteOf(
    { said, changed, goneBy, enforced }: Done,
    startedMs: number,
    reader: Reader,
  ): Promise<DoneNote> {
    if (enforced !== undefined) {
      const known = await enforced
      const tookMs = (known.atMs ?? clock.nowMs()) - startedMs
      return { said, tookMs, revoked: revokedBy(known, reader) }
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

  function stateOf(note: DoneNote, reader: Reader, tookMs = note.tookMs): ReceiptState | undefined {
    const { tenantId, revision, because, revoked } = note
    if (because === 'draft') return quiet('Gateways receive this tenant once it is published.')
    if (because === 'sdk') return quiet('Application instances pick it up with their next poll.')
    if (revoked !== undefined) return revokedState(revoked, tookMs)
    if (tenantId === undefined || revision === undefined) return undefined
    const gateways = fleet.gateways()
    const connected = gateways.filter((gateway) => gateway.connected)
    const idsOf = (of: readonly GatewayStatus[]) => of.map(({ gateway_id: id }) => id)
    const away = lines(idsOf(gateways.filter((gateway) => !gateway.connected)), AWAY, reader)
    if (connected.length === 0)
      return {
        kind: 'waiting',
        sentence: 'Saved. No gateway is connected; it is sent when one connects.',
        lines: away,
      }
    const rejected = connected.flatMap(({ gateway_id: id, rejections }) => {
      const one = rejections.find((it) => it.tenant_id === tenantId && it.revision >= revision)
      return one === undefined ? [] : [{ id, reason: one.reason }]
    })
    const rejectedLines = [...Map.groupBy(rejected, ({ reason }) => reason)].flatMap(
      ([reason, alike]) =>
        lines(
          alike.map(({ id }) => id),
          rejectedBecause(reason),
          reader,
        ),
    )
    const there =
      connected.filter((gateway) => gateway.revision >= revision).length - rejected.length
    if (rejected.length > 0)
      return {
        kind: 'rejected',
        sentence: `Live on ${Math.max(there, 0)} of ${connected.length} gateways.`,
        lines: [...rejectedLines, ...away],
      }
    const pending = connected.filter((gateway) => gateway.revision < revision)
    if (pending.length === 0)
      return { kind: 'live', sentence: liveOn(connected.length, tookMs), lines: away }
    return {
      kind: 'waiting',
      sentence: `Live on ${there} of ${connected.length} gateways so far.`,
      lines: [...lines(idsOf(pending), PENDING, reader), ...away],
    }
  }

  function liveOn(count: number, tookMs: number | undefined) {
    return `Live on ${gateways(count)}${tookMs === undefined ? '' : ` in ${seconds(tookMs)}`}.`
  }

  function revokedState(
    { applied, of, missing }: NonNullable<DoneNote['revoked']>,
    tookMs = 0,
  ): ReceiptState {
    const notes = missing.flatMap(missingLines)
    if (of === 0)
      return {
        kind: 'waiting',
        sentence: 'No gateway is connected; each enforces it as soon as it reconnects.',
        lines: notes,
      }
    if (applied === of)
      return {
        kind: 'live',
        sentence: `Enforced on ${gateways(of)} in ${seconds(tookMs)}.`,
        lines: notes,
      }
    return {
      kind: 'waiting',
      sentence: `Enforced on ${applied} of ${of} gateways so far.`,
      lines: notes,
    }
  }

  return {
    noteOf,
    stateOf,

    /** The states until it is settled or the time is up; ends when nobody listens any more. */
    async *follow(
      note: DoneNote,
      reader: Reader,
      isOver: () => boolean,
    ): AsyncGenerator<ReceiptState, void> {
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
        const state = stateOf(note, reader, tookMs)
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

type Wording = readonly [one: string, several: string]

const AWAY: Wording = [
  'is offline; it gets the latest state when it reconnects',
  'are offline; they get the latest state when they reconnect',
]
const PENDING: Wording = ['has not confirmed it yet', 'have not confirmed it yet']
const rejectedBecause = (reason: string): Wording => [
  `rejected it and keeps its previous state: ${reason}`,
  `rejected it and keep their previous state: ${reason}`,
]
const MISSING: Readonly<Record<MissingGateways['what'], Wording>> = {
  pending: ['has not confirmed it yet', 'have not confirmed it yet'],
  notDurable: ['enforces it, but cannot save it to disk', 'enforce it, but cannot save it to disk'],
  unreachable: [
    'is offline; it enforces it as soon as it reconnects',
    'are offline; they enforce it as soon as they reconnect',
  ],
}

function lines(ids: readonly string[], wording: Wording, { isOperator }: Reader): string[] {
  return isOperator ? ids.map((id) => `${id} ${wording[0]}`) : counted(ids.length, wording)
}

function counted(count: number, [one, several]: Wording): string[] {
  if (count === 0) return []
  return [count === 1 ? `One gateway ${one}` : `${count} gateways ${several}`]
}

function missingLines({ what, count, ids = [] }: MissingGateways): string[] {
  const wording = MISSING[what]
  return ids.length === count ? lines(ids, wording, OPERATOR) : counted(count, wording)
}

const OPERATOR: Reader = { isOperator: true }

function revokedBy({ applied, ...missing }: Enforced, { isOperator }: Reader) {
  const all = (['pending', 'notDurable', 'unreachable'] as const).map((what) => {
    const ids = missing[what]
    const isNamed = isOperator && ids.length <= IDS_IN_NOTE_MAX
    return { what, count: ids.length, ...(isNamed && { ids }) }
  })
  return {
    applied: applied.length,
    of: applied.length + missing.pending.length,
    missing: all.filter(({ count }) => count > 0),
  }
}
