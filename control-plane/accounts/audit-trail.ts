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
import { pruneWith } from '../store/statements.ts'
import type { Store } from '../store/store.ts'

/** An entry may hold long lists: others have their turn between so many. */
const READ_AT_ONCE = 20

export type AuditTrail = ReturnType<typeof createAuditTrail>

export function createAuditTrail({ store }: { store: Store }) {
  return {
    async list(page: PageRequest, filter: AuditFilter = {}): Promise<Page<AuditRow>> {
      const [before] = decodeCursor(page.cursor, 'number') ?? []
      const read = (from: number | undefined, limit: number) =>
        auditBefore(store.read, filter, from, limit)
      const rows = await readInParts(read, before, page.limit + 1)
      return toPage(rows, page.limit, (entry) => [entry.sequence])
    },

    /** Of a person of the console: what was done about them, and by them. The newest first. */
    async ofPerson(userId: string): Promise<AuditRow[]> {
      const most = LIMITS.personAuditListedMax
      const read = (before: number | undefined, limit: number) =>
        auditOfPerson(store.read, userId, before, limit)
      return readInParts(read, undefined, most)
    },

    prune: pruneWith(store, deleteAuditBefore, LIMITS.auditKeptMs),
  }
}

async function readInParts(
  read: (before: number | undefined, limit: number) => Promise<AuditRow[]>,
  from: number | undefined,
  most: number,
): Promise<AuditRow[]> {
  const rows: AuditRow[] = []
  let before = from
  for (let asked = 0; rows.length === asked && asked < most;) {
    if (asked > 0) await breathe()
    asked = Math.min(asked + READ_AT_ONCE, most)
    rows.push(...(await read(before, asked - rows.length)))
    before = rows.at(-1)?.sequence
  }
  return rows
}
