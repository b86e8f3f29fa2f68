/** ZFS encrypts by itself, by dataset, or lies on devices that do. */
import type { AnyFactReason } from '../../../../../shared/device/reasons.ts'
import type { Machine } from '../machine.ts'
import { ask } from './programs.ts'

type Zfs =
  | { readonly kind: 'encrypted' }
  | { readonly kind: 'devices'; readonly devices: readonly string[] }
  | { readonly kind: 'unknown'; readonly reason: AnyFactReason }

const PROPERTY = ['get', '-H', '-p', '-o', 'value', 'encryption']
const unreadable = { kind: 'unknown', reason: 'not_readable' } as const

export async function zfsEncrypted(machine: Machine, dataset: string): Promise<Zfs> {
  // it becomes an argument: a dataset never begins with a dash
  if (!/^[A-Za-z0-9][\w.:/ -]*$/.test(dataset)) return unreadable
  const property = await ask(machine, 'zfs', [...PROPERTY, dataset])
  if (property.kind !== 'ended') return { kind: 'unknown', reason: reasonOf(property.kind) }
  const encryption = property.text.trim()
  if (property.code !== 0 || !/^[a-z0-9-]+$/.test(encryption)) return unreadable
  if (encryption !== 'off' && encryption !== '-') return { kind: 'encrypted' }
  const [pool = ''] = dataset.split('/')
  const listed = await ask(machine, 'zpool', ['list', '-v', '-H', '-P', '-L', pool])
  if (listed.kind !== 'ended') return { kind: 'unknown', reason: reasonOf(listed.kind) }
  const devices = poolDevices(listed.text)
  return listed.code !== 0 || devices.length === 0 ? unreadable : { kind: 'devices', devices }
}

/** Lines of `zpool list -vHPL`: vdevs are indented, and devices have their path. None: not understood. */
export function poolDevices(text: string): readonly string[] {
  const vdevs = text.split('\n').filter((line) => /^\s+\//.test(line))
  const names = vdevs.map((line) => /^\s+\/dev\/([\w!.-]+)(?:\s|$)/.exec(line)?.[1])
  // a file, or whatever else data lie in: what is behind it nobody has looked at
  return names.every((name) => name !== undefined) ? names : []
}

function reasonOf(kind: 'missing' | 'failed' | 'timed_out'): AnyFactReason {
  if (kind === 'missing') return 'tool_missing'
  return kind === 'timed_out' ? 'timed_out' : 'not_readable'
}
