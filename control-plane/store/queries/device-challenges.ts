import { desc } from '../drizzle.ts'
import { schema } from '../schema.ts'
import { deleteBefore, deleteBy, findBy, firstBy, insertInto, updateBy } from '../statements.ts'

const table = schema.deviceChallenges

export type DeviceChallengeRow = typeof table.$inferSelect

export const insertChallenge = insertInto(table)
export const findChallenge = findBy(table, 'tenantId', 'cidHash')
/** Of one sign-in, the latest first. */
export const challengesOf = firstBy(table, ['tenantId', 'uidHash'], desc(table.createdAt))
export const updateChallenge = updateBy(table, 'tenantId', 'cidHash')
export const deleteChallenge = deleteBy(table, 'tenantId', 'cidHash')
export const deleteChallengesExpiredBefore = deleteBefore(table.expiresAt)
