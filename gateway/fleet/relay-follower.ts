/** A worker's side of the relay: carries every change into this process's registry. */
import type { Logger } from 'pino'
import * as v from 'valibot'
import type { Holders } from '../../shared/fleet/holders.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  TenantSnapshotSchema,
  type EnforcementEvent,
  type FleetSettings,
  type SessionActivity,
} from '../../shared/fleet/snapshot.ts'
import type { ServedTenant, TenantRegistry } from '../tenants/registry.ts'
import type { Correction } from './told-time.ts'
import { endsSession, indexedIn, type PrimaryPort, type RelayChange } from './relay-messages.ts'

/** An attack makes an event per request; across the process border they go together. */
const GATHER_MS = 100
/** How often the primary hears which tenants are in use. */
const ASKED_MS = 20_000

interface RelayFollowerOptions<T extends ServedTenant> {
  readonly port: PrimaryPort
  readonly registry: TenantRegistry<T>
  readonly log: Logger
  readonly askedMs?: number
  readonly onSettings?: (settings: FleetSettings) => void
  readonly onCorrection?: ((correction: Correction) => void) | undefined
  /** What a worker has wanted is there, or cannot be had now. */
  readonly onWanted?: (tenantId: string, isThere: boolean) => void
  readonly onHolders?: (tenants: readonly Holders[]) => void
  readonly onConnectorsHere?: (tenants: readonly (readonly [string, boolean])[]) => void
}

export type RelayFollower = ReturnType<typeof followRelay>

export function followRelay<T extends ServedTenant>(options: RelayFollowerOptions<T>) {
  const { port, registry, log } = options
  const ready = Promise.withResolvers<void>()
  let settings: FleetSettings | null = null
  let unacknowledged = 0
  let sessions: SessionActivity[] = []
  let events: EnforcementEvent[] = []
  let gatherTimer: NodeJS.Timeout | undefined
  const askedTimer = setInterval(() => {
    const tenantIds = registry.takeAsked()
    if (tenantIds.length > 0) port.send({ channel: 'tenants', type: 'asked', tenantIds })
  }, options.askedMs ?? ASKED_MS).unref()

  function carryOut(change: RelayChange): void {
    switch (change.type) {
      case 'tenant':
        return applyTenant(change)
      case 'remove':
        registry.remove(change.tenantId)
        return options.onWanted?.(change.tenantId, false)
      case 'index':
        for (const { tenantId, hostnames, synced } of indexedIn(change.tenants))
          registry.index(tenantId, hostnames, synced)
        return
      case 'unload':
        return registry.unload(change.tenantId)
      case 'unavailable':
        return options.onWanted?.(change.tenantId, false)
      case 'reserve':
        return registry.reserve(change.tenantId, change.hostnames, change.synced)
      case 'hold':
        return registry.hold(change.tenantId)
      case 'release':
        return registry.release(change.tenantId)
      case 'revoked':
        return registry.mergeRevoked(change.tenantId, change.revoked)
      case 'status':
        return registry.setStatus(change.status)
      case 'settings':
        settings = change.settings
        return options.onSettings?.(settings)
      case 'clock':
        return options.onCorrection?.(change.correction)
      case 'holders':
        return options.onHolders?.(change.tenants)
      case 'here':
        return options.onConnectorsHere?.(change.tenants)
      case 'complete':
        port.send({ channel: 'tenants', type: 'ready' })
        return ready.resolve()
    }
  }

  function applyTenant({ tenantId, sync, text }: RelayChange & { type: 'tenant' }) {
    const snapshot = v.parse(TenantSnapshotSchema, JSON.parse(text))
    try {
      registry.apply(snapshot, sync)
      options.onWanted?.(tenantId, true)
    } catch (error) {
      // What is served stays; where nothing is served yet, its hosts must not look unknown.
      const synced = { sync, revision: snapshot.revision }
      registry.reserve(tenantId, Object.keys(snapshot.edge_urls), synced)
      const reason = error instanceof Error ? error.message : String(error)
      log.error(
        { tenant_id: tenantId, revision: snapshot.revision, reason },
        'a tenant cannot be compiled',
      )
      port.send({ channel: 'tenants', type: 'failed', tenantId, reason })
      options.onWanted?.(tenantId, false)
    }
  }

  /** One answer for everything that arrived in the same turn. */
  function acknowledge() {
    unacknowledged += 1
    if (unacknowledged > 1) return
    setImmediate(() => {
      port.send({ channel: 'tenants', type: 'handled', changes: unacknowledged })
      unacknowledged = 0
    })
  }

  function gather() {
    gatherTimer ??= setTimeout(sendReports, GATHER_MS).unref()
  }

  function sendReports() {
    clearTimeout(gatherTimer)
    gatherTimer = undefined
    const head = { channel: 'tenants', type: 'report' } as const
    if (sessions.length > 0) port.send({ ...head, report: { type: 'activity', sessions } })
    if (events.length > 0) port.send({ ...head, report: { type: 'events', events } })
    sessions = []
    events = []
  }

  port.onMessage(({ change }) => {
    try {
      carryOut(change)
    } catch (error) {
      log.error({ error, type: change.type }, 'a change from the primary cannot be carried out')
    }
    acknowledge()
  })

  return {
    /** Settles when the whole state has been taken over: this worker may accept connections. */
    ready: ready.promise,
    /** Sessions that were used and what was enforced, for the control plane. */
    reportActivity(session: SessionActivity) {
      if (sessions.length < LIMITS.fleetReportsHeldMax) sessions.push(session)
      gather()
    },
    reportEvent(event: EnforcementEvent) {
      const isEnding = endsSession(event)
      if (isEnding || events.length < LIMITS.fleetReportsHeldMax) events.push(event)
      if (isEnding) sendReports()
      else gather()
    },
    settings: () => settings,
    want: (tenantId: string) => port.send({ channel: 'tenants', type: 'want', tenantId }),
    close() {
      clearTimeout(gatherTimer)
      clearInterval(askedTimer)
      sendReports()
    },
  }
}
