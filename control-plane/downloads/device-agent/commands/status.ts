/** How this device is, as far as it knows itself. */
import { VERSION } from '../../../../shared/version.ts'
import { EXIT } from '../../command-line/exit.ts'
import { factsFile, runningFolder } from '../places.ts'
import { readFacts } from '../running/facts-file.ts'
import { toldOf } from '../running/posture.ts'
import { createDeviceFolder, type DeviceState } from '../state/device-state.ts'
import { newestOf } from '../state/running-state.ts'
import type { Command } from './command.ts'

export const status: Command = {
  name: 'status',
  summary: 'Shows the key, the last check-in and the facts of this device.',
  options: ['facts', 'json'],
  actions: [],
  async run({ given, world, state, print }) {
    const { userId, root, upS, platform } = world
    const device = await newestOf(await state.require(), userId, root)
    const running =
      userId === 0 ? createDeviceFolder(runningFolder(root), { userId: undefined }) : state
    const listening =
      (await running.readListening().catch(() => null)) ?? (await state.readListening())
    const collected = await readFacts(given.values.get('facts') ?? factsFile(world), world)
    const { posture, ageS } = toldOf(collected, upS(), platform)
    const { device_id, tenant_id, checked_in_at, update } = device
    const view = {
      ...{ device_id, tenant_id, state: device.state, checked_in_at, update },
      key_storage: device.key.storage,
      agent: VERSION,
      port: listening?.port ?? null,
      port_problem: listening?.problem ?? '',
      facts: posture.facts,
      facts_age_s: collected === null ? null : ageS,
    }
    print(given.values.has('json') ? JSON.stringify(view, undefined, 2) : forPeople(view))
    return device.state === 'fine' ? EXIT.done : EXIT.notSo
  },
}

const STATES: Readonly<Record<DeviceState, string>> = {
  fine: 'enrolled',
  refused: 'removed or revoked: enroll it again with a new ticket',
  suspect_clone: 'taken for a copy of another device: an administrator can clear that',
  key_lost: 'the TPM has lost its key: enroll it again with a new ticket',
}

interface View {
  readonly device_id: string
  readonly tenant_id: string
  readonly state: DeviceState
  readonly checked_in_at: string | null
  readonly update: string | null
  readonly key_storage: 'tpm' | 'file'
  readonly agent: string
  readonly port: number | null
  readonly port_problem: string
  readonly facts: Readonly<
    Record<string, { readonly value: boolean | 'unknown'; readonly reason: string }>
  >
  readonly facts_age_s: number | null
}

function forPeople(view: View): string {
  const rows: readonly (readonly [string, string])[] = [
    ['Device', `${view.device_id} of ${view.tenant_id}`],
    ['State', STATES[view.state]],
    ['Key', view.key_storage === 'tpm' ? 'in the TPM' : 'in a file, not in a TPM'],
    ['Last check-in', view.checked_in_at ?? 'none yet'],
    [
      'Sign-ins',
      view.port_problem || (view.port === null ? 'it does not run' : `on 127.0.0.1:${view.port}`),
    ],
    ['Program', view.update === null ? view.agent : `${view.agent}, ${view.update} is available`],
    ['Facts', view.facts_age_s === null ? 'none were collected' : `${view.facts_age_s} s old`],
    ...Object.entries(view.facts).map(
      ([name, { value, reason }]) => [`  ${name}`, `${value} (${reason})`] as const,
    ),
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, text]) => `${name.padEnd(width)}  ${text}`).join('\n')
}
