/**
 * What becomes of connectors, as the tenant's people are told: one that comes, is lost, or no longer
 * reaches its application. The store knows what was told last, so neither a start of ours nor one
 * that comes back within seconds is news; one that comes and goes all day is told of now and then.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import type { Clock } from '../../shared/clock.ts'
import { mergeHere, type ConnectorState } from '../../shared/fleet/connector-presence.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  connectorsOf,
  findConnector,
  tenantsOfPresentConnectors,
  updateConnector,
  type ConnectorRow,
} from '../store/queries/connectors.ts'
import { takeRate, waitOfRate } from '../store/queries/rates.ts'
import type { Change, Store } from '../store/store.ts'
import type { ConnectorAtGateway, ConnectorPresence } from './presence.ts'

export const CONNECTOR_OUTCOMES = [
  'connector_joined',
  'connector_connected',
  'connector_unreachable',
  'connector_stopped',
  'connector_lost',
  'connector_left',
  'connector_revoked',
] as const
export type ConnectorOutcome = (typeof CONNECTOR_OUTCOMES)[number]

/** Written down in the same change, for the list of the tenant's events. */
export type TellOfConnector = (
  change: Change,
  of: Pick<ConnectorRow, 'tenantId' | 'connectorId' | 'name'>,
  outcome: ConnectorOutcome,
  reason?: string,
) => Promise<void>

interface PresenceEventsWorld {
  readonly store: Store
  readonly presence: Pick<ConnectorPresence, 'of' | 'onChange' | 'forgetOld'>
  readonly tell: TellOfConnector
  readonly clock: Clock
}

/** Tenants between two turns: a gateway that comes has thousands, and SQLite answers at once. */
const LOOKED_AT = 50

interface Move {
  readonly row: ConnectorRow
  readonly to: 'connected' | 'unreachable' | 'disconnected'
  readonly outcome: ConnectorOutcome
  readonly reason?: string
}

export function createPresenceEvents({ store, presence, tell, clock }: PresenceEventsWorld) {
  /** Tenants of which there may be news. */
  const due = new Set<string>()
  const absentSinceMs = new Map<string, number>()
  /** As long as they are here, and until it is told that they are not. */
  const lastStates = new Map<string, ConnectorState>()
  let isFirst = true
  presence.onChange((tenantIds) => {
    for (const tenantId of tenantIds) due.add(tenantId)
  })

  function moveOf(row: ConnectorRow, at: readonly ConnectorAtGateway[]): Move | 'later' | null {
    const { connectorId } = row
    const [first, ...others] = at
    const now = first && mergeHere([first, ...others])
    if (now === undefined) return absent(row)
    absentSinceMs.delete(connectorId)
    lastStates.set(connectorId, now.state)
    if (now.state === 'draining' || now.state === row.presence) return null
    if (now.state === 'unreachable')
      return { row, to: now.state, outcome: 'connector_unreachable', reason: now.reason ?? '' }
    const isAgain = row.presence === 'unreachable'
    const outcome = 'connector_connected'
    return { row, to: now.state, outcome, ...(isAgain && { reason: 'application_reached' }) }
  }

  /** It may have gone for the moment that a worker, a gateway or its machine needs. */
  function absent(row: ConnectorRow): Move | 'later' | null {
    const { connectorId } = row
    if (row.presence === 'disconnected') return null
    const nowMs = clock.nowMs()
    const sinceMs = absentSinceMs.get(connectorId) ?? nowMs
    absentSinceMs.set(connectorId, sinceMs)
    if (nowMs - sinceMs < LIMITS.connectorPresenceMs) return 'later'
    const isStopped = lastStates.get(connectorId) === 'draining'
    return { row, to: 'disconnected', outcome: isStopped ? 'connector_stopped' : 'connector_lost' }
  }

  /** False: there is more to say, later. */
  async function look(tenantId: string): Promise<boolean> {
    const here = Map.groupBy(presence.of(tenantId), ({ connectorId }) => connectorId)
    const moves: Move[] = []
    let isSettled = true
    for (const row of await connectorsOf(store.read, tenantId)) {
      const move = moveOf(row, here.get(row.connectorId) ?? [])
      if (move === null) continue
      const isTold =
        move !== 'later' && (await waitOfRate(store.read, toldOf(row), clock.nowMs())) === undefined
      if (isTold) moves.push(move)
      else isSettled = false
    }
    if (moves.length > 0) await store.change((change) => write(change, moves))
    return isSettled
  }

  async function write(change: Change, moves: readonly Move[]): Promise<void> {
    for (const { row, to, outcome, reason } of moves) {
      const { connectorId } = row
      const now = await findConnector(change.queries, connectorId)
      // it may have been revoked meanwhile, or told of by another control plane
      if (now === undefined || now.presence === to) continue
      if ((await takeRate(change, toldOf(row))) !== undefined) continue // in the next round
      const told = { presence: to, presenceAt: absentSinceMs.get(connectorId) ?? change.nowMs }
      await updateConnector(change.queries, connectorId, told)
      await tell(change, row, outcome, reason)
      if (to !== 'disconnected') continue
      absentSinceMs.delete(connectorId)
      lastStates.delete(connectorId)
    }
  }

  return {
    async run(isClosed: () => boolean): Promise<void> {
      presence.forgetOld()
      if (isFirst)
        for (const tenantId of await tenantsOfPresentConnectors(store.read)) due.add(tenantId)
      isFirst = false
      const [...now] = due
      due.clear()
      const problems: unknown[] = []
      for (const [place, tenantId] of now.entries()) {
        if (place % LOOKED_AT === LOOKED_AT - 1) await breathe()
        // What cannot be written of one tenant keeps nothing from the others.
        const isSettled =
          !isClosed() && (await look(tenantId).catch((error: unknown) => void problems.push(error)))
        if (isSettled !== true) due.add(tenantId)
      }
      if (problems.length > 0) throw problems[0]
    },
  }
}

const toldOf = ({ connectorId }: ConnectorRow) => ({
  kind: 'connector told',
  key: connectorId,
  rate: LIMITS.rateConnectorTold,
})
