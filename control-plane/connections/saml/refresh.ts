/** Metadata that lies at an address, read anew each day by one control plane, beside all other work. */
import type { Logger } from 'pino'
import type { Clock } from '../../../shared/clock.ts'
import { boundedMap } from '../../concurrency/bounded-map.ts'
import { dueSamlConnections } from '../../store/queries/saml.ts'
import type { Actor, Store } from '../../store/store.ts'
import type { SamlConnections } from './saml-connections.ts'

interface RefreshWorld {
  readonly store: Store
  readonly samlConnections: Pick<SamlConnections, 'refreshDue'>
  readonly clock: Clock
  readonly log: Pick<Logger, 'error'>
}

type Work = (isClosed: () => boolean) => Promise<void>

const JOB: Actor = { name: 'service', requestId: '' }
const DUE_AT_ONCE = 64
const READ_AT_ONCE = 4

export function createMetadataRefresh({ store, samlConnections, clock, log }: RefreshWorld) {
  let isClosed = false
  let running: Promise<void> | undefined

  async function readDue(isOver: () => boolean): Promise<void> {
    const due = await dueSamlConnections(store.read, clock.nowMs(), DUE_AT_ONCE)
    await boundedMap(READ_AT_ONCE, due, async (row) => {
      if (!isOver()) await samlConnections.refreshDue(row, JOB)
    })
  }

  return {
    /** One round at a time, which never rejects. */
    beginWith(alone: (work: Work) => Work): () => Promise<void> {
      const readAlone = alone(readDue)
      const round = async () => {
        try {
          const [due] = await dueSamlConnections(store.read, clock.nowMs(), 1)
          if (due !== undefined) await readAlone(() => isClosed)
        } catch (error) {
          if (!isClosed)
            log.error({ error }, 'metadata of providers could not be read anew, trying again later')
        }
      }
      return () =>
        isClosed ? Promise.resolve() : (running ??= round().finally(() => (running = undefined)))
    },
    /** What is under way is over. */
    settled: (): Promise<void> => running ?? Promise.resolve(),
    async close(): Promise<void> {
      isClosed = true
      await running
    },
  }
}
