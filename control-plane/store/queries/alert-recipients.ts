import { schema } from '../schema.ts'
import { allBy, deleteBy, findBy, updateBy, upsertInto } from '../statements.ts'
import { asc } from '../drizzle.ts'

const table = schema.alertRecipients
export type AlertRecipientRow = typeof table.$inferSelect

export const findRecipient = findBy(table, 'tenantId', 'email')
export const findRecipientToConfirm = findBy(table, 'confirmHash')
/** Bounded by the limits of each tenant. */
export const recipientsOf = allBy(table, ['tenantId'], asc(table.email))
export const upsertRecipient = upsertInto(
  table,
  ['tenantId', 'email'],
  'language',
  'askedAt',
  'confirmedAt',
  'confirmHash',
  'stoppedAt',
)
export const updateRecipient = updateBy(table, 'tenantId', 'email')
export const deleteRecipient = deleteBy(table, 'tenantId', 'email')
