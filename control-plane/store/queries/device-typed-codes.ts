import { schema } from '../schema.ts'
import { deleteBefore, deleteBy, findBy, upsertInto } from '../statements.ts'

const table = schema.deviceTypedCodes

/** In place of the one that the device has shown before. */
export const upsertTypedCode = upsertInto(table, ['deviceId'], 'tenantId', 'codeHash', 'expiresAt')
export const findTypedCode = findBy(table, 'tenantId', 'codeHash')
export const deleteTypedCode = deleteBy(table, 'tenantId', 'codeHash')
export const deleteTypedCodesExpiredBefore = deleteBefore(table.expiresAt)
