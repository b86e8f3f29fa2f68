/** Devices of a tenant, and the tickets that they enroll with. */
import type { DeviceTickets } from '../../devices/tickets.ts'
import {
  DeviceTicketAnswer,
  NewDeviceTicketAnswer,
  NewDeviceTicketBody,
} from '../../requests/device-fields.ts'
import { fromOutside, viewOf } from '../../requests/field-names.ts'
import { pageOf } from '../../requests/paging.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'

export interface OperatorDeviceEndpointsWorld {
  readonly baseUrl: string
  readonly deviceTickets: DeviceTickets
}

const operator = endpointsOf('devices', 'operator')
const TENANT = '/api/v1/operator/tenants/{tenant_id}'
const TICKETS = `${TENANT}/device-tickets` as const

export function operatorDeviceEndpoints(world: OperatorDeviceEndpointsWorld): readonly Endpoint[] {
  const { baseUrl, deviceTickets } = world
  return [
    operator.post(TICKETS, {
      summary: 'Creates a ticket to enroll devices: for one of them and 24 hours by default.',
      body: NewDeviceTicketBody,
      example: { platform: 'linux' },
      answers: { 201: json(NewDeviceTicketAnswer, 'The ticket.') },
      refusals: ['device_tickets_full', 'user_not_found'],
      handle: async (c, { path, body }) => {
        const made = await deviceTickets.make(path.tenant_id, fromOutside(body), c.var.actor)
        const url = `${baseUrl}/install/${made.platform}?ticket=${made.ticket}`
        return c.json(viewOf(NewDeviceTicketAnswer)({ ...made, url }), 201)
      },
    }),
    operator.get(TICKETS, {
      summary: 'Lists the tickets that still work, without the tickets themselves.',
      answers: { 200: json(pageOf(DeviceTicketAnswer), 'Every ticket, oldest first.') },
      handle: async (c, { path }) => {
        const items = (await deviceTickets.list(path.tenant_id)).map(viewOf(DeviceTicketAnswer))
        return c.json({ items, next: null })
      },
    }),
    operator.delete(`${TICKETS}/{ticket_id}`, {
      summary: 'Deletes a ticket; devices that enrolled with it stay.',
      answers: { 204: nothing('The ticket is deleted.') },
      refusals: ['device_ticket_not_found'],
      handle: async (c, { path }) => {
        await deviceTickets.remove(path.tenant_id, path.ticket_id, c.var.actor)
        return c.body(null, 204)
      },
    }),
  ]
}
