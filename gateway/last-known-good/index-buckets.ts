/**
 * Tenants that are there and that nobody asks for here: a hundred thousand of them lie in a few
 * hundred files, so that a start reads them in a moment and a change writes some kilobytes.
 */
import type { SyncedRevision } from '../tenants/synced-revision.ts'
import type { IndexRecord } from './stored-records.ts'

/** That a tenant is there, and how to tell this state of it from others. */
export interface Indexed {
  readonly synced: SyncedRevision
  readonly version: string
  readonly hostnames: readonly string[]
}

/** The name of a file. */
export const BUCKET = /^[0-9a-f]{2}$/

/** FNV-1a: anybody's choice of an id makes a file longer, and nothing worse. */
function bucketOf(tenantId: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < tenantId.length; at += 1)
    hash = Math.imul(hash ^ tenantId.charCodeAt(at), 0x01000193)
  return ((hash >>> 16) & 0xff).toString(16).padStart(2, '0')
}

export class IndexBuckets {
  readonly #byBucket = new Map<string, Map<string, Indexed>>()
  readonly #changed = new Set<string>()
  size = 0

  get(tenantId: string): Indexed | undefined {
    return this.#byBucket.get(bucketOf(tenantId))?.get(tenantId)
  }

  set(tenantId: string, indexed: Indexed): void {
    const bucket = bucketOf(tenantId)
    const entries = this.#byBucket.getOrInsertComputed(bucket, () => new Map<string, Indexed>())
    if (!entries.has(tenantId)) this.size += 1
    entries.set(tenantId, indexed)
    this.#changed.add(bucket)
  }

  delete(tenantId: string): void {
    const bucket = bucketOf(tenantId)
    if (!this.#byBucket.get(bucket)?.delete(tenantId)) return
    this.size -= 1
    this.#changed.add(bucket)
  }

  *keys(): Iterable<string> {
    for (const entries of this.#byBucket.values()) yield* entries.keys()
  }

  /** What has changed since the last time. */
  takeChanged(): string[] {
    const changed = [...this.#changed]
    this.#changed.clear()
    return changed
  }

  record(bucket: string): IndexRecord {
    return [...(this.#byBucket.get(bucket) ?? [])].map(
      ([
        tenantId,
        {
          synced: { sync, revision },
          version,
          hostnames,
        },
      ]) => {
        return [tenantId, sync, revision, version, [...hostnames]]
      },
    )
  }
}
