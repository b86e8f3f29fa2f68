/** Whether the disks of a Linux machine are encrypted, down to the last device of each way. */
import t from 'tap'
import { diskEncrypted } from '../../../../../control-plane/downloads/device-agent/facts/linux/disk.ts'
import { poolDevices } from '../../../../../control-plane/downloads/device-agent/facts/linux/zfs.ts'
import { parseMounts } from '../../../../../control-plane/downloads/device-agent/facts/linux/mounts.ts'
import {
  pretendedMachine,
  sysfs,
  type Pretended,
  type PretendedDevice,
} from './pretended-machine.ts'

function machine(
  mountinfo: string,
  devices: Readonly<Record<string, PretendedDevice>> = {},
  more: Pretended = {},
) {
  const tree = sysfs(devices)
  return pretendedMachine({
    ...more,
    files: { '/proc/1/mountinfo': mountinfo, ...tree.files, ...more.files },
    links: { ...tree.links, ...more.links },
    folders: [...tree.folders, ...(more.folders ?? [])],
  })
}

const asked = (...those: Parameters<typeof machine>) => diskEncrypted(machine(...those), new Map())

const ROOT = '27 1 254:1 / / rw,relatime shared:1 - ext4 /dev/mapper/vg-root rw\n'
const LUKS = 'CRYPT-LUKS2-0f6a9bd7e34c4d3c8f0f1d7a5a6b0c11-sda3_crypt'
const PLAIN_LV = 'LVM-GbxJ0dZyq0Qb3SxWkN0r0yV1pH2c3D4e'

t.test('LUKS under LVM, as installers make it', async (t) => {
  const found = await asked(ROOT, {
    'dm-1': { number: '254:1', slaves: ['dm-0'], uuid: PLAIN_LV },
    'dm-0': { slaves: ['sda3'], uuid: LUKS },
    sda3: { partOf: 'sda' },
    sda: {},
  })
  t.strictSame(found, { value: true, reason: 'encrypted', detail: '/' })
})

t.test('one plain disk in the volume group is enough to be not encrypted', async (t) => {
  const found = await asked(ROOT, {
    'dm-1': { number: '254:1', slaves: ['dm-0', 'sdb1'], uuid: PLAIN_LV },
    'dm-0': { slaves: ['sda3'], uuid: LUKS },
    sda3: { partOf: 'sda' },
    sdb1: { partOf: 'sdb' },
    sda: {},
    sdb: {},
  })
  t.strictSame(found, { value: false, reason: 'partly_encrypted', detail: '/: sdb' })
})

t.test('no encryption at all, also of an array and of a whole disk', async (t) => {
  const plain = { value: false, reason: 'not_encrypted' }
  t.match(await asked(ROOT, { vda1: { number: '254:1', partOf: 'vda' }, vda: {} }), plain)
  t.match(await asked(ROOT, { vda: { number: '254:1' } }), { ...plain, detail: '/: vda' })
  const array = { md0: { number: '254:1', slaves: ['sda1', 'sdb1'] }, sda1: {}, sdb1: {} }
  t.match(await asked(ROOT, array), { ...plain, detail: '/: sda1, sdb1' })
})

t.test('an encrypted array with partitions is followed through its partition', async (t) => {
  const found = await asked(ROOT, {
    md0p1: { number: '254:1', partOf: 'md0' },
    md0: { slaves: ['dm-0', 'dm-2'] },
    'dm-0': { slaves: ['sda'], uuid: LUKS },
    'dm-2': { slaves: ['sdb'], uuid: LUKS },
    sda: {},
    sdb: {},
  })
  t.match(found, { value: true, reason: 'encrypted' })
})

t.test('what only checks is no encryption, though cryptsetup has opened it', async (t) => {
  for (const uuid of ['CRYPT-VERITY-d0c1-usr', 'CRYPT-INTEGRITY-root', 'LVM-CRYPT-LUKS2-x'])
    t.match(
      await asked(ROOT, { 'dm-1': { number: '254:1', slaves: ['sda'], uuid }, sda: {} }),
      { value: false, reason: 'not_encrypted' },
      uuid,
    )
  for (const kind of ['LUKS1', 'PLAIN', 'TCRYPT', 'BITLK'])
    t.match(
      await asked(ROOT, { 'dm-1': { number: '254:1', uuid: `CRYPT-${kind}-root` } }),
      { value: true },
      kind,
    )
})

t.test('a home of its own counts, what is plugged in and /boot do not', async (t) => {
  const mounts = `${ROOT}30 27 8:2 / /boot rw - ext4 /dev/sda2 rw
31 27 8:33 / /media/ada/stick rw - ext4 /dev/sdc1 rw
`
  const devices = {
    'dm-1': { number: '254:1', slaves: ['sda3'], uuid: LUKS },
    sda3: { partOf: 'sda' },
    sda2: { partOf: 'sda', number: '8:2' },
    sda: {},
    sdc1: { number: '8:33' },
    sdb1: { number: '8:17' },
  }
  t.match(await asked(mounts, devices), { value: true })
  const home = `${mounts}32 27 8:17 / /home rw - xfs /dev/sdb1 rw\n`
  t.strictSame(await asked(home, devices), {
    value: false,
    reason: 'partly_encrypted',
    detail: '/home: sdb1',
  })
})

t.test('a loop device is as good as the disk that its file lies on', async (t) => {
  const mounts = `25 1 8:2 / / rw - ext4 /dev/sda2 rw
27 25 7:0 / /home rw - ext4 /dev/loop0 rw
`
  const loop = { loop0: { number: '7:0', backing: '/srv/home.img' } }
  const plain = { ...loop, sda2: { number: '8:2' } }
  t.match(await asked(mounts, plain), { value: false, detail: '/: sda2, /home: loop0' })
  const encrypted = { ...loop, 'dm-0': { number: '8:2', uuid: LUKS } }
  t.match(await asked(mounts, encrypted), { value: true })
  const inside = {
    loop0: { number: '7:0', backing: '/home/home.img' },
    sda2: { number: '8:2', uuid: LUKS },
  }
  t.match(await asked(mounts, inside), { value: 'unknown', reason: 'not_readable' }, 'a circle')
})

t.test('btrfs over several devices: all of them', async (t) => {
  const mounts = '64 1 0:39 / / rw - btrfs /dev/mapper/one rw,subvol=/\n'
  const devices = {
    'dm-0': { slaves: ['sda'], uuid: LUKS },
    'dm-1': { slaves: ['sdb'], uuid: LUKS },
    sda: {},
    sdb: {},
    sdc: {},
  }
  const of = (second: string) => ({
    links: { '/dev/mapper/one': '/dev/dm-0' },
    files: { '/dev/dm-0': '' },
    folders: ['dm-0', second].map(
      (name) => `/sys/fs/btrfs/5f6f45b3-5b86-404f-8863-48f9c5fd3c2a/devices/${name}`,
    ),
  })
  t.match(await asked(mounts, devices, of('dm-1')), { value: true })
  t.strictSame(await asked(mounts, devices, of('sdc')), {
    value: false,
    reason: 'partly_encrypted',
    detail: '/: sdc',
  })
  t.match(await asked(mounts, devices), { value: 'unknown', reason: 'not_readable' })
})

t.test('ZFS: by its own encryption, or by what its pool lies on', async (t) => {
  const mounts = '28 1 0:25 / / rw - zfs rpool/ROOT/debian rw\n'
  const property = 'zfs get -H -p -o value encryption rpool/ROOT/debian'
  const list = 'zpool list -v -H -P -L rpool'
  const pool = `rpool\t460G\t102G\t358G\t-\t-\t4%\t22%\t1.00x\tONLINE\t-
\tmirror-0\t460G\t102G\t358G\t-\t-\t4%\t22.1%\t-\tONLINE
\t/dev/dm-0\t-\t-\t-\t-\t-\t-\t-\t-\tONLINE
\t/dev/sdb3\t-\t-\t-\t-\t-\t-\t-\t-\tONLINE
`
  t.strictSame(poolDevices(pool), ['dm-0', 'sdb3'])
  for (const other of ['/srv/pool.img', '/dev/mapper/one', '/dev/disk/by-id/wwn-0x5'])
    t.strictSame(poolDevices(`${pool}\t${other}\t-\t-\n`), [], 'one that is not understood')
  const own = { commands: { [property]: 'aes-256-gcm\n' } }
  t.match(await asked(mounts, {}, own), { value: true, detail: '/: ZFS' })
  const off = { commands: { [property]: 'off\n', [list]: pool } }
  const devices = { 'dm-0': { uuid: LUKS }, sdb3: {} }
  t.match(await asked(mounts, devices, off), { value: false, reason: 'partly_encrypted' })
  const both = { 'dm-0': { uuid: LUKS }, sdb3: { uuid: LUKS } }
  t.match(await asked(mounts, both, off), { value: true })
  t.match(await asked(mounts), { value: 'unknown', reason: 'tool_missing' })
  const failed = { commands: { [property]: { kind: 'ended', code: 1, text: '' } as const } }
  t.match(await asked(mounts, {}, failed), { value: 'unknown', reason: 'not_readable' })
  const hostile = machine('28 1 0:25 / / rw - zfs -rf rw\n', {}, own)
  t.match(await diskEncrypted(hostile, new Map()), { value: 'unknown' })
  t.strictSame(hostile.ran, [], 'a dataset that looks like an option becomes no argument')
})

t.test('what no disk of this machine is behind is unknown', async (t) => {
  const roots = {
    'overlay overlay': 'root_overlay',
    'tmpfs tmpfs': 'root_in_memory',
    'nfs4 server:/export': 'root_network',
    'bcachefs /dev/sda': 'filesystem_not_known',
  }
  for (const [root, reason] of Object.entries(roots))
    t.match(await asked(`1 1 0:30 / / rw - ${root} rw\n`), { value: 'unknown', reason }, root)
  t.match(await asked(''), { value: 'unknown', reason: 'not_readable' })
  t.match(await asked(ROOT), { value: 'unknown', reason: 'not_readable' }, 'no such device')
})

t.test('mountinfo is read as the kernel writes it', async (t) => {
  const line = '36 27 8:1 /sub /mnt/two\\040words rw master:1 shared:2 - ext4 /dev/sda1 rw'
  t.strictSame(parseMounts(`${line}\nodd\n1 2 3:4 / /x rw\n`), [
    { at: '/mnt/two words', device: '8:1', type: 'ext4', source: '/dev/sda1' },
  ])
})

t.test('a circle of devices ends', async (t) => {
  const devices = {
    'dm-1': { number: '254:1', slaves: ['dm-2'] },
    'dm-2': { slaves: ['dm-1'] },
  }
  t.match(await asked(ROOT, devices), { value: 'unknown' })
})
