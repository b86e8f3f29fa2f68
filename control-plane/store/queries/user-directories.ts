import { schema } from '../schema.ts'
import { deleteBy, findBy, upsertInto } from '../statements.ts'

const table = schema.userDirectories
export type UserDirectoryRow = typeof table.$inferSelect

export const findUserDirectory = findBy(table, 'tenantId')

export const upsertUserDirectory = upsertInto(
  table,
  ['tenantId'],
  'settings',
  'passwordSealed',
  'updatedAt',
)

/** Whether there was one. */
export const deleteUserDirectory = deleteBy(table, 'tenantId')
