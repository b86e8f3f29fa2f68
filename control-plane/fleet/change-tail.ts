/**
 * Follows the source in the order of its revisions. A notification only wakes it; what changed is
 * always read from the source, so that a lost notification, or a change that another control plane
 * committed to the same database, costs one poll interval and never the change.
 */
import type { Logger } from 'pino'
import { LIMITS } from '../../shared/limits.ts'
import type { FleetPosition, FleetSource, TenantChange } from './source.ts'

interface ChangeTailOptions {
  readonly source: FleetSource
  readonly log: Logger
  readonly pollMs: number
  /** `revision` never decreases: that of the change, or less for one from the future. */
  readonly onChange: (change: TenantChange, revision: number) => void
  /** The database was replaced or restored: all that is known of it is void. */
  readonly onRestart: (position: FleetPosition) => void
}

export function followChanges(options: ChangeTailOptions) {
  const { source, log, pollMs, onChange, onRestart } = options
  const started = Promise.withResolvers<void>()
  let known: FleetPosition | null = null
  let isClosed = false
  let isWoken = false
  let wakeUp = () => {}
  const waiting = new Set<() => void>()

  async function readOn() {
    const newest = await source.position()
    if (known === null) {
      known = newest
      started.resolve()
      return
    }
    if (newest.epoch !== known.epoch || newest.revision < known.revision) {
      known = newest
      onRestart(newest)
      return
    }
    while (known.revision < newest.revision && !isClosed) {
      const page = await pageAfter(source, known.revision, newest.revision)
      for (const change of page.changes)
        onChange(change, Math.min(change.revision, newest.revision))
      known = { epoch: newest.epoch, revision: page.revision }
    }
  }

  async function run() {
    while (!isClosed) {
      isWoken = false
      try {
        await readOn()
      } catch (error) {
        log.error({ error }, 'the fleet cannot read changes, trying again')
      }
      for (const look of waiting) look()
      if (isWoken || isClosed) continue
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pollMs)
        wakeUp = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  function wake() {
    isWoken = true
    wakeUp()
  }

  const running = run()
  return {
    /** Everything up to here has been handed to `onChange`. */
    position: (): FleetPosition => known ?? { epoch: '', revision: 0 },
    /** Settles after the first look at the source. */
    started: started.promise,
    /** Settles once it has come so far, or the source has been replaced. */
    reached({ epoch, revision }: FleetPosition): Promise<void> {
      const isThere = () =>
        isClosed || known === null || known.epoch !== epoch || known.revision >= revision
      if (isThere()) return Promise.resolve()
      return new Promise((resolve) => {
        const look = () => {
          if (!isThere()) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        wake()
      })
    },
    wake,
    async close() {
      isClosed = true
      started.resolve()
      wakeUp()
      await running
      for (const look of waiting) look()
    },
  }
}

interface Page {
  /** In the order of revisions. Some may already be newer than `newest`. */
  readonly changes: readonly TenantChange[]
  /** Every change up to here is among them, or was superseded by one that comes later. */
  readonly revision: number
}

/**
 * The next changes. Two things make a page's end unsure: one transaction gives several tenants the
 * same revision, and a tenant that changes while the page is read shows its newer revision, behind
 * which others may still be missing. So what counts is only what is not newer than `newest`, which
 * was known before, and of a full page only what is below its last revision.
 */
export async function pageAfter(source: FleetSource, after: number, newest: number): Promise<Page> {
  for (let limit: number = LIMITS.fleetPageItemsMax; ; limit *= 2) {
    const changes = [...(await source.changedSince(after, limit))]
    changes.sort((a, b) => a.revision - b.revision)
    if (changes.length < limit) return { changes, revision: newest }
    const last = changes.findLast((change) => change.revision <= newest)?.revision ?? 0
    const whole = changes.filter((change) => change.revision < last || change.revision > newest)
    if (last - 1 > after) return { changes: whole, revision: last - 1 }
  }
}
