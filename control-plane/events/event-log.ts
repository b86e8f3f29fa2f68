/** Events that tenants are told of by webhooks, whether anybody listens or not, for people to read. */
import { setImmediate as breathe } from 'node:timers/promises'
import { LIMITS } from '../../shared/limits.ts'
import type { EventName } from '../../shared/events.ts'
import { decodeCursor, encodeCursor, type Page, type PageRequest } from '../store/page.ts'
import { outboxBefore, type OutboxRow } from '../store/queries/outbox.ts'
import type { Store } from '../store/store.ts'

export type LoggedEvent = Readonly<OutboxRow>

interface EventFilter {
  readonly event?: EventName | undefined
  readonly subject?: string | undefined
  readonly ip?: string | undefined
}

export interface EventPage extends Page<LoggedEvent> {
  /** There is more, but this page has looked at as many as it may. */
  readonly isCut: boolean
  /** As many as it has looked at. */
  readonly looked: number
}

/** An event may hold long lists: others have their turn between so many. */
const AT_ONCE = { rows: 100, bytes: 128 * 1024 }

export function createEventLog({ store }: { readonly store: Pick<Store, 'read'> }) {
  return {
    /**
     * Newest first. People and addresses stand in the content, which has no index; so a page looks
     * through a bounded number, of bytes as well, and the next one goes on where it stopped.
     */
    async list(tenantId: string, page: PageRequest, filter: EventFilter): Promise<EventPage> {
      const items: LoggedEvent[] = []
      let [before] = decodeCursor(page.cursor, 'number') ?? []
      let looked = 0
      let bytes = 0
      while (looked < LIMITS.eventsLookedThroughMax && bytes < LIMITS.eventBytesLookedThroughMax) {
        if (looked > 0) await breathe()
        const rows = await outboxBefore(store.read, tenantId, filter.event, before, AT_ONCE)
        if (rows.length === 0) return { items, next: null, isCut: false, looked }
        for (const row of rows) {
          if (items.length === page.limit)
            return { items, next: encodeCursor([before ?? row.sequence]), isCut: false, looked }
          before = row.sequence
          looked++
          bytes += row.bytes
          if (isMeant(row, filter)) items.push(row)
        }
      }
      const next = before === undefined ? null : encodeCursor([before])
      return { items, next, isCut: items.length < page.limit, looked }
    },
  }
}

function isMeant({ content }: OutboxRow, { subject, ip }: EventFilter): boolean {
  const isOfPerson = subject === undefined || content['subject'] === subject
  const isOfAddress = ip === undefined || content['ip'] === ip || content['address'] === ip
  return isOfPerson && isOfAddress
}
