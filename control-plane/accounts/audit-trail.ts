/** Who changed what: written by every change itself (`change.audit`), read here. */
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

export type AuditTrail = ReturnType<typeof createAuditTrail>

export function createAuditTrail({ store }: { store: Store }) {
  return {
    async list(page: PageRequest, filter: AuditFilter = {}): Promise<Page<AuditRow>> {
      const [before] = decodeCursor(page.cursor, 'number') ?? []
      const rows = await auditBefore(store.read, filter, before, page.limit + 1)
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
