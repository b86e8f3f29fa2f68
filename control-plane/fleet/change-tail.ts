/**
 * Follows the source in the order of its revisions. A notification only wakes it; what changed is
 * always read from the source, so that a lost notification, or a change that another control plane
 * committed to the same database, costs one poll interval and never the change.
 */
import type { Logger } from 'pino'
import { LIMITS } from '../../shared/limits.ts'
import type { FleetPosition, FleetSource, TenantChange } from './source.ts'

export interface ChangeTail {
  /** Everything up to here has been handed to `onChange`. */
  position(): FleetPosition
  /** Settles after the first look at the source. */
  readonly started: Promise<void>
  wake(): void
  close(): Promise<void>
}

export interface ChangeTailOptions {
  readonly source: FleetSource
  readonly log: Logger
  readonly pollMs: number
  readonly onChange: (change: TenantChange) => void
  /** The database was replaced or restored: all that is known of it is void. */
  readonly onRestart: (position: FleetPosition) => void
}

export function followChanges(options: ChangeTailOptions): ChangeTail {
  const { source, log, pollMs, onChange, onRestart } = options
  const started = Promise.withResolvers<void>()
  let known: FleetPosition | null = null
  let isClosed = false
  let isWoken = false
  let wakeUp = () => {}

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
      const changes = await pageAfter(source, known.revision)
      for (const change of changes) onChange(change)
      const last = changes.at(-1)
      // A revision that left no tenant behind is passed over.
      known = { epoch: newest.epoch, revision: last?.revision ?? newest.revision }
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

  const running = run()
  return {
    position: () => known ?? { epoch: '', revision: 0 },
    started: started.promise,
    wake() {
      isWoken = true
      wakeUp()
    },
    async close() {
      isClosed = true
      started.resolve()
      wakeUp()
      await running
    },
  }
}

/**
 * One transaction gives several tenants the same revision. A page that ends among them would lose
 * the rest, so it is cut before them, or read again with more room.
 */
export async function pageAfter(
  source: FleetSource,
  revision: number,
): Promise<readonly TenantChange[]> {
  for (let limit: number = LIMITS.fleetPageItemsMax; ; limit *= 2) {
    const changes = await source.changedSince(revision, limit)
    const last = changes.at(-1)
    if (last === undefined || changes.length < limit) return changes
    const whole = changes.filter((change) => change.revision < last.revision)
    if (whole.length > 0) return whole
  }
}
