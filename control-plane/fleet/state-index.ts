/**
 * A hash over the version of every tenant, as gateways should hold it, for the periodic compare. It
 * is built by reading the index once and then follows the changes, so a compare costs nothing per
 * tenant.
 */
import type { Logger } from 'pino'
import { StateDigest } from '../../shared/fleet/digest.ts'
import { versionOf, type Outgoing } from './outgoing.ts'
import type { FleetSource } from './source.ts'

interface Build {
  readonly digest: StateDigest
  readonly revisions: Map<string, number>
  revision: number
}

interface Noted {
  readonly tenantId: string
  readonly revision: number
  readonly version: string | null
}

export function createStateIndex(source: FleetSource, log: Logger) {
  let served: Build | undefined
  let next: Build | undefined
  let building: Promise<void> | undefined
  let isClosed = false

  async function build() {
    const fresh: Build = { digest: new StateDigest(), revisions: new Map(), revision: 0 }
    next = fresh
    try {
      for await (const page of source.index()) {
        if (isClosed || next !== fresh) return
        for (const { tenant_id: tenantId, revision } of page)
          note(fresh, { tenantId, revision, version: versionOf(revision, source.fingerprint) })
        // SQLite answers at once, and others have their turn
        await new Promise((resolve) => setImmediate(resolve))
      }
      served = fresh
    } catch (error) {
      log.error({ error }, 'the fleet cannot read every tenant, comparing later')
    } finally {
      if (next === fresh) next = undefined
    }
  }

  return {
    follow(outgoing: Outgoing) {
      if (served !== undefined) note(served, outgoing)
      if (next !== undefined) note(next, outgoing)
    },
    /** undefined until everything has been read. */
    current: () => served && { hash: served.digest.hex(), revision: served.revision },
    /** Reads everything again. */
    rebuild: () => (building ??= build().finally(() => (building = undefined))),
    close() {
      isClosed = true
    },
  }
}

/** Reading everything takes a while: what was read before a change arrived does not undo it. */
function note(build: Build, { tenantId, revision, version }: Noted): void {
  if (revision < (build.revisions.get(tenantId) ?? 0)) return
  build.revisions.set(tenantId, revision)
  build.revision = Math.max(build.revision, revision)
  if (version === null) build.digest.delete(tenantId)
  else build.digest.set(tenantId, version)
}
