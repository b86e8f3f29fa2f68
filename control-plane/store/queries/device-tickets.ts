import { asc } from '../drizzle.ts'
import { schema } from '../schema.ts'
import { allBy, deleteBefore, deleteBy, findBy, insertInto, updateBy } from '../statements.ts'

const table = schema.deviceTickets

export type DeviceTicketRow = typeof table.$inferSelect

export const insertDeviceTicket = insertInto(table)
export const findDeviceTicket = findBy(table, 'ticketHash')
/** Bounded by the limit of each tenant. */
export const deviceTicketsOf = allBy(table, ['tenantId'], asc(table.createdAt), asc(table.ticketId))
export const updateDeviceTicket = updateBy(table, 'ticketId')
export const deleteDeviceTicket = deleteBy(table, 'tenantId', 'ticketId')
export const deleteDeviceTicketsBefore = deleteBefore(table.expiresAt)
