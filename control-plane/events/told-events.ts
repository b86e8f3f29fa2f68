/** Events that tenants are told of by webhooks, whether anybody listens or not, for people to read. */
import { LIMITS } from '../../shared/limits.ts'
import type { EventName } from '../../shared/events.ts'
import { decodeCursor, encodeCursor, type Page, type PageRequest } from '../store/page.ts'
import { outboxBefore, type OutboxRow } from '../store/queries/outbox.ts'
import type { Store } from '../store/store.ts'

export type ToldEvent = Readonly<OutboxRow>

export interface ToldFilter {
  readonly event?: EventName | undefined
  readonly subject?: string | undefined
  readonly ip?: string | undefined
}

export interface ToldPage extends Page<ToldEvent> {
  /** There is more, but this page has looked at as many as it may. */
  readonly isCut: boolean
}

export type ToldEvents = ReturnType<typeof createToldEvents>

const PAGE = 200

export function createToldEvents({ store }: { readonly store: Pick<Store, 'read'> }) {
  return {
    /**
     * Newest first. People and addresses stand in the content, which has no index; so a page looks
     * through a bounded number, and the next one goes on where it stopped.
     */
    async list(tenantId: string, page: PageRequest, filter: ToldFilter): Promise<ToldPage> {
      const items: ToldEvent[] = []
      let [before] = decodeCursor(page.cursor, 'number') ?? []
      for (let looked = 0; looked < LIMITS.eventsLookedThroughMax; looked += PAGE) {
        const rows = await outboxBefore(store.read, tenantId, filter.event, before, {
          rows: PAGE,
          bytes: Infinity,
        })
        for (const row of rows) {
          if (items.length === page.limit)
            return { items, next: encodeCursor([before ?? row.sequence]), isCut: false }
          before = row.sequence
          if (isMeant(row, filter)) items.push(row)
        }
        if (rows.length < PAGE) return { items, next: null, isCut: false }
      }
      const next = before === undefined ? null : encodeCursor([before])
      return { items, next, isCut: items.length < page.limit }
    },
  }
}

function isMeant({ content }: OutboxRow, { subject, ip }: ToldFilter): boolean {
  const isOfPerson = subject === undefined || content['subject'] === subject
  const isOfAddress = ip === undefined || content['ip'] === ip || content['address'] === ip
  return isOfPerson && isOfAddress
}
