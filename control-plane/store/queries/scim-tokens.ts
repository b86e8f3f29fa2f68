import { LIMITS } from '../../../shared/limits.ts'
import { and, asc, desc, eq, lt } from '../drizzle.ts'
import type { Queries } from '../engine.ts'
import { schema } from '../schema.ts'
import {
  allBy,
  deleteBefore,
  deleteBy,
  deleteSome,
  findBy,
  firstBy,
  insertInto,
  insertRows,
  updateBy,
} from '../statements.ts'

const { scimTokens: tokens, scimRequests: requests } = schema

export type ScimTokenRow = typeof tokens.$inferSelect
export type ScimRequestRow = typeof requests.$inferSelect

export const insertScimToken = insertInto(tokens)
export const findScimToken = findBy(tokens, 'tenantId', 'tokenHash')
/** Bounded by the limit of each tenant, the oldest first. */
export const scimTokensOf = allBy(tokens, ['tenantId'], asc(tokens.createdAt), asc(tokens.tokenId))
export const updateScimToken = updateBy(tokens, 'tokenId')
export const deleteScimToken = deleteBy(tokens, 'tenantId', 'tokenId')
export const deleteScimTokensBefore = deleteBefore(tokens.expiresAt)

export const insertScimRequests = (queries: Queries, rows: readonly ScimRequestRow[]) =>
  insertRows(queries, requests, rows)
/** The newest first. */
export const newestScimRequests = firstBy(
  requests,
  ['tenantId'],
  desc(requests.at),
  desc(requests.entryId),
)
export const deleteScimRequestsBefore = deleteBefore(requests.at)

/** What is behind the newest of a tenant that are kept. */
export async function deleteOldScimRequests(queries: Queries, tenantId: string): Promise<void> {
  const isOf = eq(requests.tenantId, tenantId)
  const [oldest] = await queries
    .select({ at: requests.at })
    .from(requests)
    .where(isOf)
    .orderBy(desc(requests.at))
    .limit(1)
    .offset(LIMITS.scimLogEntriesMax)
  if (oldest !== undefined)
    await deleteSome(queries, requests, and(isOf, lt(requests.at, oldest.at + 1)), 1000)
}
