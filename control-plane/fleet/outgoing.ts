/** Messages about one tenant, written once and sent to every gateway. The size limit is here. */
import { LIMITS } from '../../shared/limits.ts'
import { canonicalJson, snapshotHash } from '../../shared/fleet/digest.ts'
import { closed, needsOf, type Feature } from '../../shared/fleet/features.ts'
import type { Holders } from '../../shared/fleet/holders.ts'
import { partsOfRevoked } from '../../shared/fleet/revoked-parts.ts'
import type {
  DownMessage,
  IndexEntry,
  Revoked,
  TenantSnapshot,
} from '../../shared/fleet/snapshot.ts'
import type { TenantChange } from './source.ts'

export interface Outgoing {
  readonly tenantId: string
  readonly revision: number
  /** What the state hash counts for this tenant; null once it is removed. */
  readonly version: string | null
  readonly text: string
  readonly bytes: number
  /** For a gateway that does not serve it; null: it is told the same as all. */
  readonly entry: IndexEntry | null
  /** What a gateway has to know of to be told it. */
  readonly needs: readonly Feature[]
  /** Why the gateways are told to keep what they have. */
  readonly problem: string | null
}

export function write(message: DownMessage): string {
  return JSON.stringify(message)
}

/** Two states of a tenant that have the same are the same, as gateways serve them. */
export const versionOf = (revision: number, fingerprint: string): string =>
  `${revision}.${fingerprint}`

export function writeEntries(tenants: IndexEntry[]): string {
  return write({ type: 'index', tenants })
}

/** As many in each as a message may hold: a tenant has up to a hundred hostnames. */
export function* entryPages(entries: Iterable<IndexEntry>): Generator<IndexEntry[]> {
  let page: IndexEntry[] = []
  let pageBytes = 0
  for (const entry of entries) {
    const bytes = Buffer.byteLength(JSON.stringify(entry)) + 1
    if (page.length > 0 && pageBytes + bytes > LIMITS.fleetIndexBytesSentMax) {
      yield page
      page = []
      pageBytes = 0
    }
    page.push(entry)
    pageBytes += bytes
  }
  if (page.length > 0) yield page
}

export function writeChange(change: TenantChange, fingerprint: string): Outgoing {
  const { tenant_id, revision, snapshot, problem } = change
  const version = versionOf(revision, fingerprint)
  if (problem !== undefined) return writeKeep(change, version, problem)
  if (snapshot === null)
    return outgoing(change, null, write({ type: 'remove', tenant_id, revision }))

  const content = contentOf(snapshot)
  const contentBytes = Buffer.byteLength(content)
  if (contentBytes > LIMITS.snapshotBytesMax)
    return writeKeep(
      change,
      version,
      `the snapshot has ${contentBytes} bytes, at most ${LIMITS.snapshotBytesMax} can be sent`,
    )
  const hash = snapshotHash(content)
  const head = JSON.stringify({ type: 'tenant', tenant_id, revision, hash, version })
  const text = `${head.slice(0, -1)},"snapshot":${content}}`
  const whole = { ...outgoing(change, version, text), needs: needsOf(snapshot) }
  // its connectors come by themselves, and are let in by what the snapshot says
  if (snapshot.mode === 'connector') return whole
  return { ...whole, entry: [tenant_id, revision, version, Object.keys(snapshot.edge_urls)] }
}

/** That it is suspended is told of whatever tenant: of one that is too large with nothing beside it. */
function contentOf(snapshot: TenantSnapshot): string {
  const content = canonicalJson(snapshot)
  const isFitting = Buffer.byteLength(content) <= LIMITS.snapshotBytesMax
  if (isFitting || snapshot.status !== 'suspended') return content
  const nobody = snapshot.connectors && { connectors: [] }
  return canonicalJson({ ...snapshot, certificates: [], sealed: [], excluded: [], ...nobody })
}

/** A gateway that came new would else take the missing tenant for a removed one. */
function writeKeep(change: TenantChange, version: string, problem: string): Outgoing {
  const { tenant_id, revision } = change
  const hash = `kept-${revision}`
  const text = write({ type: 'keep', tenant_id, revision, hash, version })
  return { ...outgoing(change, version, text), problem }
}

function outgoing(change: TenantChange, version: string | null, text: string): Outgoing {
  const { tenant_id: tenantId, revision } = change
  const bytes = Buffer.byteLength(text)
  return { tenantId, revision, version, text, bytes, entry: null, needs: [], problem: null }
}

/** Behind the version of what a gateway is told that does not know what the tenant needs. */
const OF_OLD = '.closed'

/**
 * The same tenant, suspended. Its version is another one: a gateway that has learned meanwhile finds
 * out by it that there is more.
 */
export function closedOf(outgoing: Outgoing): Outgoing {
  const { tenantId, revision, version, entry } = outgoing
  if (version === null || outgoing.problem !== null) return outgoing
  const { snapshot } = JSON.parse(outgoing.text) as { readonly snapshot: TenantSnapshot }
  const content = canonicalJson(closed(snapshot))
  const hash = snapshotHash(content)
  const old = version + OF_OLD
  const head = JSON.stringify({ type: 'tenant', tenant_id: tenantId, revision, hash, version: old })
  const text = `${head.slice(0, -1)},"snapshot":${content}}`
  const told = { ...outgoing, version: old, text, bytes: Buffer.byteLength(text) }
  return { ...told, entry: entry && entryOfOld(entry) }
}

/** Whatever it has of the tenant, it asks for it again: it may have kept what it does not understand. */
export const entryOfOld = ([tenantId, revision, version, hosts]: IndexEntry): IndexEntry => [
  tenantId,
  revision,
  version + OF_OLD,
  hosts,
]

/** `isFirst`: these are all. */
export function writeHolders(holders: readonly Holders[], isFirst: boolean): string[] {
  const most = LIMITS.holdersTenantsSentMax
  const texts: string[] = []
  for (let at = 0; at < holders.length || (isFirst && at === 0); at += most) {
    const tenants = holders
      .slice(at, at + most)
      .map(([id, gateways]): [string, string[]] => [id, [...gateways]])
    texts.push(write({ type: 'holders', is_first: isFirst && at === 0, tenants }))
  }
  return texts
}

export function writeRevoked(tenantId: string, revoked: Revoked, sequence: number): string[] {
  return [...partsOfRevoked(revoked)].map((part) =>
    write({ type: 'revoked', tenant_id: tenantId, revoked: part, sequence }),
  )
}
