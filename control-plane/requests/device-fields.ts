/** Devices and their tickets, as operators write and read them. */
import * as v from 'valibot'
import { DEVICE_PLATFORMS, KEY_STORAGES, PostureSchema } from '../../shared/device/facts.ts'
import { DEVICE_STATES } from '../../shared/device/messages.ts'
import { LIMITS } from '../../shared/limits.ts'
import { parseNetwork } from '../../shared/networks.ts'
import { count, described, time } from './described.ts'
import { flag, oneOf, text, whole } from './fields.ts'

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

const SOUGHT_WISH = `1 to ${LIMITS.deviceHostnameCharactersMax} characters`

export const DEVICE_FILTERS = {
  state: v.optional(
    v.pipe(oneOf(DEVICE_STATES), v.description('Otherwise: every device that was not revoked.')),
  ),
  platform: v.optional(oneOf(DEVICE_PLATFORMS)),
  user_id: v.optional(described(userId, 'Devices of this person.')),
  q: v.optional(
    v.pipe(
      v.string(SOUGHT_WISH),
      v.minLength(1, SOUGHT_WISH),
      v.maxLength(LIMITS.deviceHostnameCharactersMax, SOUGHT_WISH),
      v.description('Any part of the hostname, or the ID.'),
    ),
  ),
  duplicates: v.optional(
    v.pipe(
      v.picklist(['true'], 'true, or left out'),
      v.description('Only those whose machine is enrolled more than once.'),
    ),
  ),
} as const

/** As lists are asked for inside. */
export function deviceFilterOf(asked: {
  readonly [Name in keyof typeof DEVICE_FILTERS]?: v.InferOutput<(typeof DEVICE_FILTERS)[Name]>
}) {
  const { state, platform, user_id: ofUser, q: sought, duplicates } = asked
  return { state, platform, userId: ofUser, text: sought, isDuplicate: duplicates === 'true' }
}

export const DeviceAnswer = v.strictObject({
  device_id: v.string(),
  user_id: described(v.nullable(v.string()), 'Whose it is; null: of who next signs in with it.'),
  hostname: described(v.string(), 'In its own words, as everything that it says of itself.'),
  platform: v.picklist(DEVICE_PLATFORMS),
  arch: v.string(),
  agent: described(v.string(), 'The version of the agent.'),
  key_storage: v.picklist(KEY_STORAGES),
  state: described(
    v.picklist(DEVICE_STATES),
    '`suspect_clone`: its key is in use on two machines, so it counts nowhere.',
  ),
  suspicion: described(
    v.nullable(v.string()),
    'Why: `chain` (it was answered something else last) or `boot_returned` (an earlier start of the machine came back).',
  ),
  network: described(v.nullable(v.string()), 'From where alone it could enroll.'),
  enrolled_at: time,
  seen_at: time,
  collected_at: described(v.nullable(time), 'When its facts were collected.'),
  posture: described(v.nullable(PostureSchema), 'What it says of itself; null: nothing yet.'),
  facts_since: described(
    v.record(v.string(), v.string()),
    'By fact, since when its value is what it is.',
  ),
  same_machine: described(
    v.array(v.string()),
    `Other devices on the same hardware, at most ${LIMITS.devicesOnMachineMax}.`,
  ),
})

export const DevicePatchBody = v.strictObject({
  approved: v.optional(described(flag, 'Whether an administrator has approved it.')),
  owner: v.optional(
    described(v.nullable(userId), 'A user ID; null: of who next signs in with it.'),
  ),
  cleared: v.optional(described(v.literal(true, 'true'), 'It is no copy, or the copy is gone.')),
})

const IDS_WISH = `1 to ${LIMITS.devicesRevokedAtOnceMax} device IDs`
export const RevokeDevicesBody = v.strictObject({
  device_ids: v.pipe(
    v.array(text('a device ID', 100), IDS_WISH),
    v.minLength(1, IDS_WISH),
    v.maxLength(LIMITS.devicesRevokedAtOnceMax, IDS_WISH),
  ),
})
