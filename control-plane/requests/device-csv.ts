/** Devices as a file: read and written a few hundred at a time. */
import { DEVICE_FACTS } from '../../shared/device/facts.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Devices } from '../devices/devices.ts'
import type { DeviceFilter, ListedDevice } from '../devices/management.ts'
import { csvLine } from './csv.ts'
import { iso } from './field-names.ts'

const COLUMNS = [
  ...['device_id', 'hostname', 'platform', 'arch', 'state', 'user_id', 'key_storage', 'agent'],
  ...['os', 'os_version', ...DEVICE_FACTS],
  ...['enrolled_at', 'seen_at', 'collected_at', 'same_machine'],
]

export async function* deviceCsv(
  devices: Pick<Devices, 'list'>,
  tenantId: string,
  filter: DeviceFilter,
): AsyncGenerator<string, void> {
  let head = csvLine(COLUMNS)
  let cursor: string | undefined
  do {
    const page = { limit: LIMITS.devicesExportedAtOnceMax, cursor }
    const { items, next } = await devices.list(tenantId, filter, page)
    yield head + items.map(lineOf).join('')
    head = ''
    cursor = next ?? undefined
  } while (cursor !== undefined)
}

function lineOf(device: ListedDevice): string {
  const { deviceId, hostname, platform, arch, state, userId, keyStorage, agent } = device
  const { posture, enrolledAt, seenAt, collectedAt, sameMachine } = device
  return csvLine([
    ...[deviceId, hostname, platform, arch, state, userId ?? '', keyStorage, agent],
    ...[posture?.os.id ?? '', posture?.os.version ?? ''],
    ...DEVICE_FACTS.map((fact) => String(posture?.facts[fact].value ?? '')),
    ...[iso(enrolledAt), iso(seenAt), collectedAt === null ? '' : iso(collectedAt)],
    sameMachine.join(' '),
  ])
}
