/** Trees of devices as `lsblk` and `dmsetup info` show them on machines that people have described. */
import t from 'tap'
import { diskEncrypted } from '../../../../../control-plane/downloads/device-agent/facts/linux/disk.ts'
import { pretendedMachine, sysfs, type PretendedDevice } from './pretended-machine.ts'

const LVM = 'LVM-5toAbPiziFesOo8CILcH7y4jGBvaiARgsqUvYnzuoMj0OuOzQ4WYLsmUAZ2xiTAg'
const CRYPT = 'CRYPT-LUKS2-00b4b79c209a4dcfadf37e310778f583'

/** What each kind of line is in `dm/uuid`. */
const UUIDS: Readonly<Record<string, (name: string) => string>> = {
  crypt: (name) => `${CRYPT}-${name}`,
  lvm: (name) =>
    `${LVM}${/_(?:cvol|tdata|tmeta|cdata|cmeta)$/.exec(name)?.[0].replace('_', '-') ?? ''}`,
  mpath: () => 'mpath-36001438005deddc80000400003340000',
}

/** The machine that a tree of `lsblk` is of. A device that stands twice lies on both. */
function machineOf(tree: string) {
  const devices: Record<string, PretendedDevice & { slaves: string[] }> = {}
  const names: Record<string, string> = {}
  const mounts: string[] = []
  const path: { depth: number; kernel: string }[] = []
  for (const line of tree.trim().split('\n').slice(1)) {
    const [, before = '', name = '', number = '', type = '', at] =
      /^([\s│├└─]*)(\S+)\s+(\d+:\d+)\s+\d\s+\S+\s+\d (\w+)\s*(\S*)/.exec(line) ?? []
    while ((path.at(-1)?.depth ?? -1) >= before.length) path.pop()
    const above = path.at(-1)?.kernel
    const kernel = (names[name] ??= type in UUIDS ? `dm-${number.split(':')[1]}` : name)
    const uuid = UUIDS[type]?.(name)
    const own = (devices[kernel] ??= {
      ...{ number, slaves: [] },
      ...(uuid !== undefined && { uuid }),
      ...(type === 'part' && above !== undefined && { partOf: above }),
    })
    if (type !== 'part' && above !== undefined) own.slaves.push(above)
    path.push({ depth: before.length, kernel })
    if (at?.startsWith('/') === true)
      mounts.push(
        `${mounts.length + 20} 1 ${number} / ${at} rw,relatime shared:1 - ext4 /dev/${name} rw`,
      )
  }
  const { files, links, folders } = sysfs(devices)
  return pretendedMachine({
    files: { '/proc/1/mountinfo': `${[...new Set(mounts)].join('\n')}\n`, ...files },
    ...{ links, folders },
  })
}

const HEAD = 'NAME MAJ:MIN RM SIZE RO TYPE MOUNTPOINT'
const TREES: Readonly<Record<string, readonly [tree: string, found: object]>> = {
  'Debian, guided, encrypted LVM': [
    `${HEAD}
sda                       8:0    0   40G  0 disk
├─sda1                    8:1    0  512M  0 part  /boot/efi
├─sda2                    8:2    0  488M  0 part  /boot
└─sda3                    8:3    0   39G  0 part
  └─sda3_crypt          254:0    0   39G  0 crypt
    ├─debian--vg-root   254:1    0  7.6G  0 lvm   /
    ├─debian--vg-var    254:2    0  2.9G  0 lvm   /var
    ├─debian--vg-swap_1 254:3    0  976M  0 lvm   [SWAP]
    └─debian--vg-home   254:5    0   27G  0 lvm   /home
sr0                      11:0    1  336M  0 rom`,
    { value: true, reason: 'encrypted', detail: '/' },
  ],
  'LVM without encryption': [
    `${HEAD}
sda               8:0    0   64G  0 disk
├─sda1            8:1    0    1G  0 part /boot
└─sda2            8:2    0   63G  0 part
  ├─centos-root 253:0    0   41G  0 lvm  /
  ├─centos-swap 253:1    0   16G  0 lvm  [SWAP]
  └─centos-home 253:2    0   20G  0 lvm  /home`,
    { value: false, reason: 'not_encrypted', detail: '/: sda, /home: sda' },
  ],
  'LUKS on LVM, root alone': [
    `${HEAD}
nvme0n1                 259:0    0 476.9G  0 disk
├─nvme0n1p1             259:1    0     1G  0 part  /boot
└─nvme0n1p2             259:2    0 475.9G  0 part
  ├─MyVolGroup-cryptroot 254:0   0    32G  0 lvm
  │ └─root              254:2    0    32G  0 crypt /
  └─MyVolGroup-home     254:1    0 443.9G  0 lvm   /home`,
    { value: false, reason: 'partly_encrypted', detail: '/home: nvme0n1' },
  ],
  'LUKS on LVM': [
    `${HEAD}
nvme0n1                 259:0    0 476.9G  0 disk
├─nvme0n1p1             259:1    0     1G  0 part  /boot
└─nvme0n1p2             259:2    0 475.9G  0 part
  ├─MyVolGroup-cryptroot 254:0   0    32G  0 lvm
  │ └─root              254:2    0    32G  0 crypt /
  └─MyVolGroup-crypthome 254:1   0 443.9G  0 lvm
    └─home              254:3    0 443.9G  0 crypt /home`,
    { value: true, reason: 'encrypted' },
  ],
  'a second disk was added to the group in clear': [
    `${HEAD}
sda                       8:0    0   40G  0 disk
└─sda3                    8:3    0   39G  0 part
  └─sda3_crypt          254:0    0   39G  0 crypt
    └─debian--vg-root   254:1    0   70G  0 lvm   /
sdb                       8:16   0   40G  0 disk
└─sdb1                    8:17   0   40G  0 part
  └─debian--vg-root     254:1    0   70G  0 lvm   /`,
    { value: false, reason: 'partly_encrypted', detail: '/: sdb' },
  ],
  'a cache in clear before an encrypted disk': [
    `${HEAD}
sda                              8:0    0  931G  0 disk
└─sda3_crypt                   254:0    0  931G  0 crypt
  └─vg-root_corig              254:3    0  900G  0 lvm
    └─vg-root                  254:4    0  900G  0 lvm   /
nvme0n1                        259:0    0  100G  0 disk
└─vg-fast_cvol                 254:1    0  100G  0 lvm
  ├─vg-fast_cvol-cdata         254:2    0   99G  0 lvm
  │ └─vg-root                  254:4    0  900G  0 lvm   /
  └─vg-fast_cvol-cmeta         254:5    0    1G  0 lvm
    └─vg-root                  254:4    0  900G  0 lvm   /`,
    { value: false, reason: 'partly_encrypted', detail: '/: nvme0n1' },
  ],
  'an encrypted array of two disks': [
    `${HEAD}
sda                8:0    0   3.6T  0 disk
└─sda1             8:1    0   3.6T  0 part
  └─md0            9:0    0   3.6T  0 raid1
    └─md0_crypt  253:0    0   3.6T  0 crypt
      └─vg-root  253:1    0   3.6T  0 lvm   /
sdb                8:16   0   3.6T  0 disk
└─sdb1             8:17   0   3.6T  0 part
  └─md0            9:0    0   3.6T  0 raid1
    └─md0_crypt  253:0    0   3.6T  0 crypt
      └─vg-root  253:1    0   3.6T  0 lvm   /`,
    { value: true, reason: 'encrypted' },
  ],
  'several ways to one disk': [
    `${HEAD}
sda                                      8:0    0  20G  0 disk
└─mpatha                               253:6    0  20G  0 mpath
  └─hdvg-rootlv                        253:7    0  20G  0 lvm   /
sdb                                      8:16   0  20G  0 disk
└─mpatha                               253:6    0  20G  0 mpath
  └─hdvg-rootlv                        253:7    0  20G  0 lvm   /`,
    { value: false, reason: 'not_encrypted', detail: '/: sda, sdb' },
  ],
}

for (const [name, [tree, found]] of Object.entries(TREES))
  t.test(name, async (t) => {
    t.match(await diskEncrypted(machineOf(tree), new Map()), found)
  })
