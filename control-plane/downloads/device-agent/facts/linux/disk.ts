/**
 * Whether the disks that people's data lie on are encrypted: each such mount is followed down to
 * the devices at the bottom, and every way down must pass through encryption. No rights are needed for that.
 */
import { fact, some, type FactOf, type Probe } from '../fact.ts'
import { textOf, type Machine } from '../machine.ts'
import { blockDevices, plainLeaves, type Leaf } from './block-devices.ts'
import { mountAt, mountOf, parseMounts, type Mount } from './mounts.ts'
import { zfsEncrypted } from './zfs.ts'

type DiskFact = FactOf<'disk_encrypted'>

/** Beside the root, where they are mounts of their own. */
const DATA_MOUNTS = ['/home', '/var', '/root', '/srv', '/opt', '/usr']

const IN_MEMORY = new Set(['tmpfs', 'ramfs', 'rootfs', 'squashfs', 'zram'])
const NETWORK = /^(?:nfs4?|cifs|smb3|9p|virtiofs|ceph|glusterfs|afs|fuse\.sshfs)$/
/** One device is behind each of these, and its number is the mount's. */
const ON_ONE_DEVICE = /^(?:ext[234]|xfs|f2fs|jfs|reiserfs|nilfs2|erofs|vfat|ntfs3?)$/

export const diskEncrypted: Probe<'disk_encrypted'> = async (machine) => {
  // of the first process: our own may not see /home
  const text =
    (await textOf(machine, '/proc/1/mountinfo')) ?? (await textOf(machine, '/proc/self/mountinfo'))
  const mounts = parseMounts(text ?? '')
  const root = mountAt(mounts, '/')
  if (root === undefined) return fact('unknown', 'not_readable', 'mountinfo')
  const others = DATA_MOUNTS.flatMap((at) => mountAt(mounts, at) ?? [])
  const found: DiskFact[] = [await ofMount(machine, mounts, root)]
  // what is in memory, or elsewhere, says nothing of the disk of this machine
  for (const mount of others.filter(isOnDisk)) found.push(await ofMount(machine, mounts, mount))
  return worst(found)
}

function worst(found: readonly DiskFact[]): DiskFact {
  const plain = found.filter(({ value }) => value === false)
  const [first] = plain
  if (first !== undefined) {
    const isPartly = plain.length < found.length || first.reason === 'partly_encrypted'
    const where = some(plain.flatMap(({ detail }) => detail ?? []))
    return fact(false, isPartly ? 'partly_encrypted' : first.reason, where)
  }
  const unclear = found.find(({ value }) => value === 'unknown')
  return unclear ?? found[0] ?? fact('unknown', 'not_readable')
}

function isOnDisk({ type }: Mount): boolean {
  return ON_ONE_DEVICE.test(type) || type === 'btrfs' || type === 'zfs'
}

async function ofMount(
  machine: Machine,
  mounts: readonly Mount[],
  mount: Mount,
  depth = 0,
): Promise<DiskFact> {
  const { type, at } = mount
  if (type === 'overlay' || type === 'aufs') return fact('unknown', 'root_overlay', at)
  if (IN_MEMORY.has(type)) return fact('unknown', 'root_in_memory', `${at}: ${type}`)
  if (NETWORK.test(type)) return fact('unknown', 'root_network', `${at}: ${type}`)
  if (type === 'zfs') {
    const pool = await zfsEncrypted(machine, mount.source)
    if (pool.kind === 'encrypted') return fact(true, 'encrypted', `${at}: ZFS`)
    if (pool.kind === 'unknown') return fact('unknown', pool.reason, `${at}: ZFS`)
    return await ofDevices(machine, mounts, mount, pool.devices, depth)
  }
  if (type !== 'btrfs' && !ON_ONE_DEVICE.test(type))
    return fact('unknown', 'filesystem_not_known', `${at}: ${type}`)
  const devices = await blockDevices(machine, mount)
  return devices === null
    ? fact('unknown', 'not_readable', `${at}: ${mount.source}`)
    : await ofDevices(machine, mounts, mount, devices, depth)
}

async function ofDevices(
  machine: Machine,
  mounts: readonly Mount[],
  mount: Mount,
  devices: readonly string[],
  depth: number,
): Promise<DiskFact> {
  const ends = await plainLeaves(machine, devices)
  if (ends === null) return fact('unknown', 'not_readable', `${mount.at}: ${some(devices)}`)
  const plain: string[] = []
  const unclear: DiskFact[] = []
  for (const leaf of ends.plain) {
    const below = await behindLoop(machine, mounts, leaf, depth)
    if (below === null || below.value === false) plain.push(leaf.name)
    else if (below.value === 'unknown') unclear.push(below)
  }
  if (plain.length > 0) {
    const isPartly = ends.encrypted > 0 || plain.length < ends.plain.length
    const where = `${mount.at}: ${some(plain)}`
    return fact(false, isPartly ? 'partly_encrypted' : 'not_encrypted', where)
  }
  return unclear[0] ?? fact(true, 'encrypted', mount.at)
}

/** A loop device is as good as the mount that its file lies in. null: it is no loop device. */
async function behindLoop(
  machine: Machine,
  mounts: readonly Mount[],
  { name, backing }: Leaf,
  depth: number,
): Promise<DiskFact | null> {
  if (backing === undefined) return null
  const around = depth < 4 ? mountOf(mounts, backing) : undefined
  if (around === undefined || backing.endsWith(' (deleted)'))
    return fact('unknown', 'not_readable', `${name}: ${backing}`)
  return await ofMount(machine, mounts, around, depth + 1)
}
