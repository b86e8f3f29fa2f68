/** Devices of a tenant, and the tickets that they enroll with. */
import * as v from 'valibot'
import type { EndedDevices, ListedDevice, PatchedDevice } from '../../devices/management.ts'
import { count, described } from '../../requests/described.ts'
import { deviceCsv } from '../../requests/device-csv.ts'
import {
  DEVICE_FILTERS,
  DeviceAnswer,
  deviceFilterOf,
  DevicePatchBody,
  DeviceTicketAnswer,
  NewDeviceTicketAnswer,
  NewDeviceTicketBody,
  RevokeDevicesBody,
} from '../../requests/device-fields.ts'
import { fromOutside, iso, viewOf } from '../../requests/field-names.ts'
import { flag, NothingBody } from '../../requests/fields.ts'
import { mapPage, PAGE_QUERY, pageOf } from '../../requests/paging.ts'
import { Enforced } from '../answer-fields.ts'
import { endpointsOf, file, json, nothing, type Endpoint } from '../endpoint.ts'
import { enforcedAnswers } from './enforced-answers.ts'
import type { ApiWorld } from '../world.ts'

const operator = endpointsOf('devices', 'operator')
const TENANT = '/api/v1/operator/tenants/{tenant_id}'
const TICKETS = `${TENANT}/device-tickets` as const
const DEVICES = `${TENANT}/devices` as const
const DEVICE = `${DEVICES}/{device_id}` as const
const CSV_TYPE = 'text/csv'

const RevokedDevicesAnswer = v.strictObject({
  device_ids: v.array(v.string()),
  sessions: described(count, 'How many active sessions this ended.'),
  enforced: Enforced,
})
const DeviceKeyRotationBody = v.strictObject({ force: v.optional(flag, false) })
const DeviceKeysAnswer = v.strictObject({ current: v.string(), next: v.string() })
const PatchedDeviceAnswer = v.strictObject({
  ...DeviceAnswer.entries,
  enforced: v.optional(described(Enforced, 'If the change ended sessions.')),
})
const RemovedDeviceAnswer = v.strictObject({ device_id: v.string(), enforced: Enforced })

export function operatorDeviceEndpoints(world: ApiWorld): readonly Endpoint[] {
  const { baseUrl, deviceTickets, challengeKeys, enrolledDevices } = world
  const enforcement = enforcedAnswers(world)

  async function revokedView(tenantId: string, { deviceIds, sessions, ...ended }: EndedDevices) {
    const enforced = await enforcement.view(tenantId, await ended.enforced)
    return { device_ids: deviceIds, sessions, enforced }
  }

  async function patchedView(tenantId: string, { device, ...ended }: PatchedDevice) {
    const shown = deviceView(device)
    if (ended.enforced === undefined) return shown
    return { ...shown, enforced: await enforcement.view(tenantId, await ended.enforced) }
  }

  return [
    operator.post('/api/v1/operator/device-keys/rotate', {
      summary: 'Rotates the key by which device agents know this service.',
      description:
        'Agents know the next key long before it signs. A device that was off during two ' +
        'rotations has to enroll again, so a second one within 30 days has to be forced.',
      body: DeviceKeyRotationBody,
      example: {},
      answers: { 200: json(DeviceKeysAnswer, 'The key that signs now, and the next one.') },
      refusals: ['rotation_state'],
      handle: async (c, { body }) => {
        const [current = '', next = ''] = await challengeKeys.rotate(body, c.var.actor)
        return c.json({ current, next })
      },
    }),
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
    operator.get(DEVICES, {
      summary: 'Lists devices, the latest to enroll first.',
      query: { ...PAGE_QUERY, ...DEVICE_FILTERS },
      answers: { 200: json(pageOf(DeviceAnswer), 'One page of devices.') },
      handle: async (c, { path, query: { limit, cursor, ...filters } }) => {
        const filter = deviceFilterOf(filters)
        const page = await enrolledDevices.list(path.tenant_id, filter, { limit, cursor })
        return c.json(mapPage(page, deviceView))
      },
    }),
    operator.get(`${DEVICES}.csv`, {
      summary: 'Exports devices as a CSV file.',
      query: DEVICE_FILTERS,
      answers: { 200: file(CSV_TYPE, 'One line for each device.') },
      handle: async (c, { path: { tenant_id: tenantId }, query }) => {
        const lines = deviceCsv(enrolledDevices, tenantId, deviceFilterOf(query))
        const first = await lines.next() // the tenant is there
        return c.body(streamOf(String(first.value), lines), 200, {
          'Content-Type': `${CSV_TYPE}; charset=utf-8`,
          'Content-Disposition': `attachment; filename="devices-${tenantId}.csv"`,
        })
      },
    }),
    operator.post(`${TENANT}/device-revocations`, {
      summary: 'Revokes devices, all or none of them, and ends the sessions started on them.',
      description: 'Waits for the gateways as a revocation of sessions does.',
      body: RevokeDevicesBody,
      example: { device_ids: ['dev_1b9f6c1e2d3a4b5c'] },
      answers: { 200: json(RevokedDevicesAnswer, 'They are refused everywhere.') },
      refusals: ['device_not_found'],
      handle: async (c, { path: { tenant_id: tenantId }, body }) => {
        const ended = await enrolledDevices.revoke(tenantId, body.device_ids, c.var.actor)
        return c.json(await revokedView(tenantId, ended))
      },
    }),
    operator.get(DEVICE, {
      summary: 'Returns a device, and what it says of itself.',
      answers: { 200: json(DeviceAnswer, 'The device.') },
      refusals: ['device_not_found'],
      handle: async (c, { path }) =>
        c.json(deviceView(await enrolledDevices.find(path.tenant_id, path.device_id))),
    }),
    operator.patch(DEVICE, {
      summary: 'Approves a device, changes its owner, or clears it of being a copy.',
      body: DevicePatchBody,
      example: { approved: true },
      answers: { 200: json(PatchedDeviceAnswer, 'The device.') },
      refusals: ['device_not_found', 'device_revoked', 'user_not_found', 'devices_full'],
      handle: async (c, { path, body: { approved, owner, cleared } }) => {
        const patch = { isApproved: approved, userId: owner, isCleared: cleared }
        const { tenant_id: tenantId, device_id: deviceId } = path
        const done = await enrolledDevices.patch(tenantId, deviceId, patch, c.var.actor)
        return c.json(await patchedView(tenantId, done))
      },
    }),
    operator.post(`${DEVICE}/approve`, {
      summary: 'Approves a device.',
      body: NothingBody,
      answers: { 200: json(PatchedDeviceAnswer, 'The device.') },
      refusals: ['device_not_found', 'device_revoked'],
      handle: async (c, { path: { tenant_id: tenantId, device_id: deviceId } }) => {
        const patch = { isApproved: true }
        const done = await enrolledDevices.patch(tenantId, deviceId, patch, c.var.actor)
        return c.json(await patchedView(tenantId, done))
      },
    }),
    operator.post(`${DEVICE}/revoke`, {
      summary: 'Revokes a device, and ends the sessions started on it.',
      description: 'Waits for the gateways as a revocation of sessions does.',
      body: NothingBody,
      answers: { 200: json(RevokedDevicesAnswer, 'It is refused everywhere.') },
      refusals: ['device_not_found'],
      handle: async (c, { path: { tenant_id: tenantId, device_id: deviceId } }) => {
        const ended = await enrolledDevices.revoke(tenantId, [deviceId], c.var.actor)
        return c.json(await revokedView(tenantId, ended))
      },
    }),
    operator.delete(DEVICE, {
      summary: 'Revokes a device and deletes everything about it but the audit trail.',
      answers: {
        202: json(RemovedDeviceAnswer, 'It is deleted, but a gateway has not confirmed it yet.'),
        204: nothing('It is deleted, and every gateway refuses its sessions.'),
      },
      refusals: ['device_not_found'],
      handle: async (c, { path: { tenant_id: tenantId, device_id: deviceId } }) => {
        const { enforced } = await enrolledDevices.remove(tenantId, deviceId, c.var.actor)
        return enforcement.gone(c, tenantId, await enforced, { device_id: deviceId })
      },
    }),
  ]
}

const ofDevice = viewOf(DeviceAnswer)

function deviceView({ factsSince, unmetSince: _unmet, state, ...device }: ListedDevice) {
  const times = Object.entries(factsSince).map(([fact, at]) => [fact, iso(at)] as const)
  return ofDevice({ ...device, state, factsSince: Object.fromEntries(times) })
}

function streamOf(first: string, lines: AsyncGenerator<string, void>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(first)),
    async pull(controller) {
      const { value, done } = await lines.next()
      if (done === true) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    async cancel() {
      await lines.return()
    },
  })
}
