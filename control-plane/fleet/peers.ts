/**
 * Gateways that are connected to other control planes on the same database, as those say: each
 * writes down how far its own are, and reads what the others wrote, every second; and many times a
 * second while somebody waits for them.
 */
import type { Logger } from 'pino'
import { MINUTE_MS, SECOND_MS } from '../../shared/clock.ts'
import { createCoalescingRunner } from '../concurrency/coalescing-runner.ts'
import type { Nodes } from '../store/engine.ts'
import type { GatewayProgress, OtherNode } from '../store/nodes.ts'
import type { GatewayStatus } from './gateway-registry.ts'

const EVERY_MS = SECOND_MS
/** Between two looks, and between two words of ours, while somebody waits. */
const QUICK_MS = 20
/** By then others take it for gone: what is revoked there does not come to its gateways. */
const CUT_OFF_MS = 5 * SECOND_MS

interface Peers {
  /** Of all others that are there: one gateway may be at two for a moment. */
  connected(): readonly GatewayProgress[]
  progressOf(gatewayId: string): readonly GatewayProgress[]
  /** Gateways of any other node, wherever that is now. */
  statuses(): readonly PeerGateway[]
  /** Reads what they say now: whoever has come meanwhile counts as well. */
  refresh(): Promise<void>
  /** How far our own are has changed. */
  progressed(): void
  /** Settles once the others can read how far our own are. */
  told(): Promise<void>
  /** Someone waits for theirs. */
  waiting(): void
  close(): Promise<void>
}

export interface PeerGateway extends GatewayStatus {
  /** The node that it was connected to has gone without a word, or has stopped. */
  readonly isLost: boolean
}

export const NO_PEERS: Peers = {
  connected: () => [],
  progressOf: () => [],
  statuses: () => [],
  refresh: () => Promise.resolve(),
  progressed: () => undefined,
  told: () => Promise.resolve(),
  waiting: () => undefined,
  close: () => Promise.resolve(),
}

interface PeersWorld {
  readonly nodes: Pick<Nodes, 'say' | 'others' | 'prune'>
  readonly log: Pick<Logger, 'warn'>
  readonly own: () => readonly GatewayProgress[]
  readonly ownStatus: () => readonly GatewayStatus[]
  /** Others may be further than before. */
  readonly onChange: () => void
  /** Others go on, and this one cannot hear of them. */
  readonly onCutOff: () => void
  readonly isWaitedFor: () => boolean
}

export function followPeers(world: PeersWorld): Peers {
  const { nodes, log, own, ownStatus, onChange, onCutOff, isWaitedFor } = world
  let others: readonly OtherNode[] = []
  let byGateway = new Map<string, GatewayProgress[]>()
  let isClosed = false
  let isSaid = true
  let looking: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  let quick: NodeJS.Timeout | undefined
  let lookedMs = performance.now()
  let prunedMs = performance.now()

  const connected = () => others.flatMap(({ isLive, gateways }) => (isLive ? gateways : []))
  const isAlone = () => others.every(({ isLive }) => !isLive)

  async function look(): Promise<void> {
    others = await nodes.others()
    lookedMs = performance.now()
    byGateway = Map.groupBy(connected(), ({ gatewayId }) => gatewayId)
    onChange()
  }

  /** One that begins from now on; whoever asks meanwhile shares it. */
  function freshLook(): Promise<void> {
    next ??= looking.then(() => {
      next = undefined
      looking = isClosed ? Promise.resolve() : look().catch(failed)
      return looking
    })
    return next
  }

  function failed(error: unknown) {
    log.warn({ error }, 'cannot read which gateways other control planes have, trying again')
    if (performance.now() - lookedMs < CUT_OFF_MS || isAlone()) return
    others = []
    onCutOff()
  }

  async function say(status?: readonly GatewayStatus[]): Promise<void> {
    isSaid = true
    await nodes.say(own(), status)
  }

  async function beat(): Promise<void> {
    await say(ownStatus())
    if (performance.now() - prunedMs < MINUTE_MS) return
    prunedMs = performance.now()
    await nodes.prune()
  }
  const beating = createCoalescingRunner(beat, failed)
  const saying = createCoalescingRunner(() => say(), failed)

  function soon(): void {
    if (quick !== undefined || isClosed || isAlone()) return
    quick = setTimeout(() => {
      void Promise.all([
        isSaid ? undefined : saying.run(),
        isWaitedFor() ? freshLook() : undefined,
      ]).then(() => {
        quick = undefined
        if (!isSaid || isWaitedFor()) soon()
      })
    }, QUICK_MS).unref()
  }

  const timer = setInterval(() => {
    void beating.run()
    void freshLook()
  }, EVERY_MS).unref()

  void freshLook()
  return {
    connected,
    progressOf: (gatewayId) => byGateway.get(gatewayId) ?? [],
    statuses: () =>
      others.flatMap(({ isLive, status }) =>
        (status as GatewayStatus[]).map((one) => ({ ...one, isLost: !isLive })),
      ),
    refresh: freshLook,
    progressed() {
      isSaid = false
      soon()
    },
    told: () => saying.run(),
    waiting: soon,
    async close() {
      isClosed = true
      clearInterval(timer)
      clearTimeout(quick)
      await Promise.all([beating.close(), saying.close(), looking])
    },
  }
}
