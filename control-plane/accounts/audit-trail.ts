/** Who changed what: written by every change itself (`change.audit`), read here. */
import { setImmediate as breathe } from 'node:timers/promises'
import { LIMITS } from '../../shared/limits.ts'
import { decodeCursor, toPage, type Page, type PageRequest } from '../store/page.ts'
import {
  auditBefore,
  auditOfPerson,
  deleteAuditBefore,
  type AuditFilter,
  type AuditRow,
} from '../store/queries/audit.ts'
import type { Store } from '../store/store.ts'

/** An entry may hold long lists: others have their turn between so many. */
const READ_AT_ONCE = 20

export type AuditTrail = ReturnType<typeof createAuditTrail>

export function createAuditTrail({ store }: { store: Store }) {
  return {
    async list(page: PageRequest, filter: AuditFilter = {}): Promise<Page<AuditRow>> {
      let [before] = decodeCursor(page.cursor, 'number') ?? []
      const rows: AuditRow[] = []
      for (let asked = 0; rows.length === asked && asked <= page.limit;) {
        if (asked > 0) await breathe()
        asked = Math.min(asked + READ_AT_ONCE, page.limit + 1)
        rows.push(...(await auditBefore(store.read, filter, before, asked - rows.length)))
        before = rows.at(-1)?.sequence
      }
      return toPage(rows, page.limit, (entry) => [entry.sequence])
    },

    /** Of a person of the console: what was done about them, and by them. The newest first. */
    ofPerson: (userId: string): Promise<AuditRow[]> =>
      auditOfPerson(store.read, userId, LIMITS.personAuditListedMax),

    async prune(limit: number): Promise<number> {
      return store.change(({ queries, nowMs }) =>
        deleteAuditBefore(queries, nowMs - LIMITS.auditKeptMs, limit),
      )
    },
  }
}
