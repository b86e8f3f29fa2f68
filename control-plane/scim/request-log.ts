/**
 * What providers have asked for and how it was answered, for the administrators of their tenant. Kept in
 * memory for a moment and written down together: what it tells of is committed and audited already.
 */
import { randomBytes } from 'node:crypto'
import { LIMITS } from '../../shared/limits.ts'
import {
  deleteOldScimRequests,
  deleteScimRequestsBefore,
  insertScimRequests,
  newestScimRequests,
  type ScimRequestRow,
} from '../store/queries/scim-tokens.ts'
import { findTenant } from '../store/queries/tenants.ts'
import { pruneWith } from '../store/statements.ts'
import type { Store } from '../store/store.ts'

type ScimRequest = Readonly<ScimRequestRow>
export type ScimRequestLog = ReturnType<typeof createScimRequestLog>

export function createScimRequestLog({ store }: { readonly store: Store }) {
  let waiting: ScimRequest[] = []
  let noted = 0

  async function flush(): Promise<void> {
    const rows = waiting
    waiting = []
    for (const [tenantId, own] of Map.groupBy(rows, (row) => row.tenantId))
      await store.changeOf(tenantId, async ({ queries }) => {
        if ((await findTenant(queries, tenantId)) === undefined) return // removed meanwhile
        await insertScimRequests(queries, own)
        await deleteOldScimRequests(queries, tenantId)
      })
  }

  return {
    note(request: Omit<ScimRequest, 'entryId'>): void {
      const charactersMax = LIMITS.scimLogTextCharactersMax
      const cut = (text: string) => text.slice(0, charactersMax).toWellFormed().replaceAll('\0', '')
      const [path, detail] = [cut(request.path), cut(request.detail)]
      // in the order of asking, also within a millisecond
      noted = (noted + 1) % 0x1_0000_0000
      const entryId = `${hex(request.at, 12)}${hex(noted, 8)}${randomBytes(4).toString('hex')}`
      if (waiting.length < LIMITS.scimLogWaitingMax)
        waiting.push({ ...request, entryId, path, detail })
    },

    /** The newest first, with what is still to be written down here. */
    async list(tenantId: string, limit: number): Promise<readonly ScimRequest[]> {
      await flush()
      return newestScimRequests(store.read, tenantId, limit)
    },

    flush,
    prune: pruneWith(store, deleteScimRequestsBefore, LIMITS.scimLogKeptMs),
  }
}

const hex = (whole: number, digits: number) => whole.toString(16).padStart(digits, '0')
