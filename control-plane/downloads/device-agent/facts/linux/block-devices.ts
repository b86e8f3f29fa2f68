/** From a mount down `/sys/class/block/…/slaves` to what is at the bottom. */
import { textOf, type Machine } from '../machine.ts'
import type { Mount } from './mounts.ts'

const BLOCK = '/sys/class/block'
/** More is no machine, but a circle or a joke. */
const DEVICES_MAX = 200

/**
 * What encrypts: `dm/uuid` of what cryptsetup has opened. Not all of cryptsetup's does: VERITY and INTEGRITY
 * only check.
 */
const ENCRYPTS = /^CRYPT-(?:LUKS[12]|PLAIN|TCRYPT|BITLK|FVAULT2|LOOPAES)-/

export interface Leaf {
  readonly name: string
  /** The file behind a loop device. */
  readonly backing?: string
}

/** Names of the devices right below a mount; null: could not be found out. */
export async function blockDevices(
  machine: Machine,
  { device, type, source }: Mount,
): Promise<readonly string[] | null> {
  if (type === 'btrfs') return await btrfsDevices(machine, source)
  const name = await nameOf(machine, `/sys/dev/block/${device}`)
  return name === null ? null : [name]
}

async function nameOf(machine: Machine, path: string): Promise<string | null> {
  const resolved = await machine.resolved(path)
  return resolved === null ? null : (resolved.split('/').at(-1) ?? null)
}

/** A file system over several devices names one of them as its source. */
async function btrfsDevices(machine: Machine, source: string): Promise<readonly string[] | null> {
  const name = await nameOf(machine, source)
  const all = (await machine.names('/sys/fs/btrfs')) ?? []
  for (const id of all.filter((name) => /^[0-9a-f-]{36}$/.test(name))) {
    const devices = await machine.names(`/sys/fs/btrfs/${id}/devices`)
    if (name !== null && devices?.includes(name) === true) return devices
  }
  return null
}

/** null: one of the devices could not be looked at. */
export async function plainLeaves(
  machine: Machine,
  devices: readonly string[],
): Promise<{ readonly plain: readonly Leaf[]; readonly encrypted: number } | null> {
  const plain: Leaf[] = []
  const seen = new Set<string>()
  let encrypted = 0
  const left = [...devices]
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (seen.has(name)) continue
    seen.add(name)
    const folder = `${BLOCK}/${name}`
    const path = seen.size > DEVICES_MAX ? null : await machine.resolved(folder)
    if (path === null) return null
    const uuid = (await textOf(machine, `${folder}/dm/uuid`))?.trim() ?? ''
    if (ENCRYPTS.test(uuid)) {
      encrypted++
      continue
    }
    const below = (await machine.names(`${folder}/slaves`)) ?? []
    const whole = await wholeDevice(machine, folder, path)
    if (below.length > 0) left.push(...below)
    else if (whole !== null) left.push(whole)
    else plain.push(await leafOf(machine, name))
  }
  // ways that end nowhere prove nothing
  if (plain.length + encrypted === 0) return null
  plain.sort((a, b) => (a.name < b.name ? -1 : 1))
  return { plain, encrypted }
}

/** The disk that a partition is a part of: an array, or a loop device, may be partitioned, too. */
async function wholeDevice(machine: Machine, folder: string, path: string) {
  if ((await textOf(machine, `${folder}/partition`)) === null) return null
  return path.split('/').at(-2) ?? null
}

async function leafOf(machine: Machine, name: string): Promise<Leaf> {
  const backing = await textOf(machine, `${BLOCK}/${name}/loop/backing_file`)
  return backing === null ? { name } : { name, backing: backing.replace(/\n$/, '') }
}
