/** Between the primary, which holds the fleet link, and the workers, which serve. */
import type { Holders } from '../../shared/fleet/holders.ts'
import type {
  EnforcementEvent,
  FleetSettings,
  Revoked,
  SessionActivity,
} from '../../shared/fleet/snapshot.ts'
import type { ConnectorNews } from '../../shared/fleet/connector-presence.ts'
import type { RegistryStatus } from '../tenants/registry.ts'
import type { SyncedRevision } from '../tenants/synced-revision.ts'
import type { Correction } from './told-time.ts'

interface Indexed {
  readonly tenantId: string
  readonly hostnames: readonly string[]
  readonly synced: SyncedRevision
}

/** Neither is a part of an id or a host. */
const [BETWEEN_TENANTS, BETWEEN_FIELDS] = [';', ' ']

/** A hundred thousand at a start: as one text, which JSON has nothing to do with. */
export function indexText(tenants: readonly Indexed[]): string {
  return tenants
    .map(({ tenantId, hostnames, synced: { sync, revision } }) =>
      [tenantId, sync, revision, ...hostnames].join(BETWEEN_FIELDS),
    )
    .join(BETWEEN_TENANTS)
}

export function* indexedIn(text: string): Iterable<Indexed> {
  if (text === '') return
  for (const line of text.split(BETWEEN_TENANTS)) {
    const [tenantId = '', sync, revision, ...hostnames] = line.split(BETWEEN_FIELDS)
    yield { tenantId, hostnames, synced: { sync: Number(sync), revision: Number(revision) } }
  }
}

/** What changes in a worker. The primary has checked it all. */
export type RelayChange =
  /** `text` is the snapshot as JSON: it crosses the process border once more and is not copied. */
  | {
      readonly type: 'tenant'
      readonly tenantId: string
      readonly sync: number
      readonly text: string
    }
  | { readonly type: 'remove'; readonly tenantId: string }
  /** These are there, and can be wanted: see `indexText`. */
  | { readonly type: 'index'; readonly tenants: string }
  /** Nobody has asked for it lately: it is indexed only. */
  | { readonly type: 'unload'; readonly tenantId: string }
  /** Wanted, and not to be had now. */
  | { readonly type: 'unavailable'; readonly tenantId: string }
  | {
      readonly type: 'reserve'
      readonly tenantId: string
      readonly hostnames: readonly string[]
      readonly synced: SyncedRevision
    }
  | { readonly type: 'hold'; readonly tenantId: string }
  | { readonly type: 'release'; readonly tenantId: string }
  | { readonly type: 'revoked'; readonly tenantId: string; readonly revoked: Revoked }
  | { readonly type: 'settings'; readonly settings: FleetSettings }
  /** For the control plane's time. */
  | { readonly type: 'clock'; readonly correction: Correction }
  /** Of a tenant that was never named nobody has a connector. */
  | { readonly type: 'holders'; readonly tenants: readonly Holders[] }
  /** Whether a worker of this gateway has a connector of theirs. */
  | { readonly type: 'here'; readonly tenants: readonly (readonly [string, boolean])[] }
  | { readonly type: 'status'; readonly status: RegistryStatus }
  /** The whole state has been handed over: the worker may serve. */
  | { readonly type: 'complete' }

export type ToWorker = { readonly channel: 'tenants'; readonly change: RelayChange }

export type Report =
  | { readonly type: 'activity'; readonly sessions: readonly SessionActivity[] }
  | { readonly type: 'events'; readonly events: readonly EnforcementEvent[] }

export type ToPrimary = { readonly channel: 'tenants' } & (
  | { readonly type: 'handled'; readonly changes: number }
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly tenantId: string; readonly reason: string }
  /** A visitor waits for it. */
  | { readonly type: 'want'; readonly tenantId: string }
  /** Those that it was asked for since the last time. */
  | { readonly type: 'asked'; readonly tenantIds: readonly string[] }
  | { readonly type: 'report'; readonly report: Report }
  | ({ readonly type: 'connectors' } & ConnectorNews)
)

/** One end of a two-way line. Messages arrive in the order in which they were sent. */
export interface Port<Sent, Received> {
  send(message: Sent): void
  onMessage(listener: (message: Received) => void): void
  onClose(listener: () => void): void
  /** Ends the other side: it has not answered for too long. */
  kill(): void
}

export type WorkerPort = Port<ToWorker, ToPrimary>
export type PrimaryPort = Port<ToPrimary, ToWorker>

/** Somebody's session is over: no worker may wait for a batch, or for the control plane, to know. */
export function endsSession({ outcome, sid }: EnforcementEvent): boolean {
  return sid !== undefined && (outcome === 'logout' || outcome === 'terminate')
}
