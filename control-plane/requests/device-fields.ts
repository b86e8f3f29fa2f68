/** Devices and their tickets, as operators write and read them. */
import * as v from 'valibot'
import { DEVICE_PLATFORMS } from '../../shared/device/facts.ts'
import { LIMITS } from '../../shared/limits.ts'
import { parseNetwork } from '../../shared/networks.ts'
import { count, described, time } from './described.ts'
import { oneOf, text, whole } from './fields.ts'

const NETWORK_WISH = 'a network such as 192.0.2.0/24'
const userId = text('a user ID', LIMITS.usernameCharactersMax)

export const NewDeviceTicketBody = v.strictObject({
  platform: oneOf(DEVICE_PLATFORMS),
  uses: v.pipe(
    v.optional(whole(1, LIMITS.deviceTicketUsesMax), 1),
    v.description('How many devices can enroll with it.'),
  ),
  expires_in: v.pipe(
    v.optional(
      whole(LIMITS.deviceTicketSecondsMin, LIMITS.deviceTicketSecondsMax, ' of seconds'),
      LIMITS.deviceTicketSecondsDefault,
    ),
    v.description('Seconds until it expires.'),
  ),
  user_id: v.optional(
    described(userId, 'Whose the devices will be. Otherwise: of who first signs in with one.'),
  ),
  network: v.optional(
    v.pipe(
      v.string(NETWORK_WISH),
      v.check((value) => parseNetwork(value) !== undefined, NETWORK_WISH),
      v.description('Only from an address in this network can it be used.'),
    ),
  ),
})

export const DeviceTicketAnswer = v.strictObject({
  ticket_id: v.string(),
  platform: v.picklist(DEVICE_PLATFORMS),
  uses: count,
  uses_left: count,
  user_id: v.nullable(v.string()),
  network: v.nullable(v.string()),
  created_at: time,
  expires_at: time,
})

export const NewDeviceTicketAnswer = v.strictObject({
  ...DeviceTicketAnswer.entries,
  ticket: described(v.string(), 'Shown only once.'),
  url: described(v.string(), 'The install script with this ticket.'),
})
