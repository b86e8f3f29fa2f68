/**
 * The hash of every tenant as gateways should hold it, for the periodic compare. It is built by
 * reading everything once and then follows the changes, so a compare costs nothing per tenant.
 */
import type { Logger } from 'pino'
import { StateDigest } from '../../shared/fleet/digest.ts'
import { writeChange, type Outgoing } from './outgoing.ts'
import type { FleetSource } from './source.ts'

/** SQLite answers at once: without a pause, ten thousand tenants would hold up every request. */
const TENANTS_PER_TURN = 10

interface StateIndex {
  follow(outgoing: Outgoing): void
  /** undefined until everything has been read. */
  current(): { readonly hash: string; readonly revision: number } | undefined
  /** Reads everything again, since a setting can change snapshots without a revision. */
  rebuild(): Promise<void>
  close(): void
}

interface Build {
  readonly digest: StateDigest
  readonly revisions: Map<string, number>
  revision: number
}

export function createStateIndex(source: FleetSource, log: Logger): StateIndex {
  let served: Build | undefined
  let next: Build | undefined
  let building: Promise<void> | undefined
  let isClosed = false

  async function build() {
    const fresh: Build = { digest: new StateDigest(), revisions: new Map(), revision: 0 }
    next = fresh
    let read = 0
    try {
      for await (const change of source.all()) {
        if (isClosed || next !== fresh) return
        note(fresh, writeChange(change))
        read += 1
        if (read % TENANTS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      served = fresh
    } catch (error) {
      log.error({ error }, 'the fleet cannot read every tenant, comparing later')
    } finally {
      if (next === fresh) next = undefined
    }
  }

  return {
    follow(outgoing) {
      if (served !== undefined) note(served, outgoing)
      if (next !== undefined) note(next, outgoing)
    },
    current: () => served && { hash: served.digest.hex(), revision: served.revision },
    rebuild: () => (building ??= build().finally(() => (building = undefined))),
    close() {
      isClosed = true
    },
  }
}

/** Reading everything takes a while: what was read before a change arrived does not undo it. */
function note(build: Build, { tenantId, revision, hash }: Outgoing): void {
  if (revision < (build.revisions.get(tenantId) ?? 0)) return
  build.revisions.set(tenantId, revision)
  build.revision = Math.max(build.revision, revision)
  if (hash === null) build.digest.delete(tenantId)
  else build.digest.set(tenantId, hash)
}
