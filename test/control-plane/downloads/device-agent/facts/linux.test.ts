/** Updates, screen lock, firmware and version of a Linux machine, from what its programs say. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import {
  secureBoot,
  tpm,
} from '../../../../../control-plane/downloads/device-agent/facts/linux/firmware.ts'
import { parseOsRelease } from '../../../../../control-plane/downloads/device-agent/facts/linux/os-release.ts'
import { screenLock } from '../../../../../control-plane/downloads/device-agent/facts/linux/screen-lock.ts'
import { upToDate } from '../../../../../control-plane/downloads/device-agent/facts/linux/updates.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import { pretendedMachine, type Pretended } from './pretended-machine.ts'

const fixture = (name: string) =>
  readFileSync(new URL(`../../../../fixtures/device-facts/${name}`, import.meta.url), 'utf8')

const DAY = 86_400_000
const failed = { kind: 'ended', code: 1, text: '' } as const

t.test('apt: updates of a security source count, others do not', async (t) => {
  const lists = '/var/lib/apt/lists'
  const security = `${lists}/deb.debian.org_debian-security_dists_bookworm-security_main_binary-amd64_Packages`
  const pretended: Pretended = {
    files: { '/var/lib/dpkg/status': '', [security]: '' },
    folders: [`${lists}/partial`],
    writtenMs: { [`${lists}/partial`]: 10 * DAY },
    nowMs: 12 * DAY,
    commands: { 'apt-get': fixture('apt-simulate.txt') },
  }
  const asked = (more: Pretended = {}) =>
    upToDate(pretendedMachine({ ...pretended, ...more }), new Map())
  t.strictSame(await asked(), {
    value: false,
    reason: 'security_updates',
    detail: 'libssl3, tzdata, openssl, libbrotli-dev',
  })
  const ubuntu = `Inst openssl [3.0.2-0ubuntu1.17] (3.0.2-0ubuntu1.18 Ubuntu:22.04/jammy-updates, Ubuntu:22.04/jammy-security [amd64])
Inst vim [2:8.2] (2:8.3 Ubuntu:22.04/jammy-updates [amd64])
`
  t.match(await asked({ commands: { 'apt-get': ubuntu } }), { detail: 'openssl' })
  const [, others = ''] = ubuntu.split('\n')
  t.strictSame(await asked({ commands: { 'apt-get': others } }), {
    value: true,
    reason: 'up_to_date',
    detail: '(+1)',
  })
  t.match(await asked({ commands: { 'apt-get': '' } }), { value: true })
  t.match(await asked({ commands: { 'apt-get': failed } }), {
    value: 'unknown',
    reason: 'not_readable',
  })

  t.test('data that are old, missing, or without a security source prove nothing', async (t) => {
    const most = LIMITS.deviceUpdateDataDaysMax
    const commands = { 'apt-get': '' }
    t.match(await asked({ nowMs: (10 + most) * DAY, commands }), { value: true })
    t.match(await asked({ nowMs: (11 + most) * DAY, commands }), {
      value: 'unknown',
      reason: 'update_data_old',
      detail: `${most + 1} d`,
    })
    t.match(await asked({ nowMs: 8 * DAY, commands }), { value: true }, 'a clock set back')
    t.match(await asked({ writtenMs: {} }), { reason: 'update_data_missing' })
    const files = { '/var/lib/dpkg/status': '', [`${lists}/kali_main_Packages`]: '' }
    t.match(await asked({ files }), { value: 'unknown', reason: 'security_source_missing' })
  })

  t.test('a restart that is due comes first', async (t) => {
    const files = {
      '/run/reboot-required': '',
      '/run/reboot-required.pkgs': 'linux-image\nlibc6\nlibc6\n',
    }
    t.strictSame(await asked({ files }), {
      value: false,
      reason: 'restart_needed',
      detail: 'linux-image, libc6',
    })
  })

  t.test('is simulated anew only when something has changed', async (t) => {
    const earlier = new Map<string, string>()
    const simulations = ({ ran }: ReturnType<typeof pretendedMachine>) =>
      ran.filter(({ file }) => file === '/usr/bin/apt-get').length
    const first = pretendedMachine(pretended)
    const found = await upToDate(first, earlier)
    t.equal(simulations(first), 1)
    const second = pretendedMachine(pretended)
    t.strictSame(await upToDate(second, earlier), found)
    t.equal(simulations(second), 0)
    const writtenMs = { ...pretended.writtenMs, '/var/lib/dpkg/status': 11 * DAY }
    const third = pretendedMachine({ ...pretended, writtenMs })
    await upToDate(third, earlier)
    t.equal(simulations(third), 1)
  })
})

t.test('DNF 4 and 5: advisories of security', async (t) => {
  const stamp = '/var/cache/dnf/last_makecache'
  const five = '/var/cache/libdnf5/updates-1a2b/repodata/repomd.xml'
  const asked = (files: Record<string, string>, dnf: string) =>
    upToDate(
      pretendedMachine({
        files: { '/etc/dnf/dnf.conf': '', ...files },
        commands: { dnf },
        nowMs: DAY,
      }),
      new Map(),
    )
  t.match(await asked({ [stamp]: '' }, fixture('dnf4-updateinfo.txt')), {
    value: false,
    detail: 'openssl, openssl-libs, curl, python3-idna',
  })
  t.match(await asked({ [five]: '' }, fixture('dnf5-advisories.txt')), {
    value: false,
    detail: 'openssl-libs, vim-data',
  })
  t.match(await asked({ [five]: '' }, ''), { value: true, reason: 'up_to_date' })
  t.match(await asked({}, ''), { value: 'unknown', reason: 'update_data_missing' })
  const ostree = pretendedMachine({ files: { '/run/ostree-booted': '', '/etc/dnf/dnf.conf': '' } })
  t.match(await upToDate(ostree, new Map()), { reason: 'package_manager_not_known' })
  t.match(await upToDate(pretendedMachine({}), new Map()), { value: 'unknown' })
})

const LIST = 'loginctl list-sessions --no-legend --no-pager'
const session = (uid: number, more: Record<string, string> = {}) =>
  Object.entries({
    Class: 'user',
    Type: 'wayland',
    State: 'active',
    Remote: 'no',
    User: `${uid}`,
    Desktop: '',
    ...more,
  })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
const runs = (name: string, uid: number) => ({
  [`/proc/4${uid}/comm`]: `${name}\n`,
  [`/proc/4${uid}/status`]: `Name:\t${name}\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\n`,
})
const gsettings = (prefix: string, values: readonly [string, string, string, string?]) => ({
  [`gsettings get ${prefix}.screensaver lock-enabled`]: values[0],
  [`gsettings get ${prefix}.screensaver lock-delay`]: values[1],
  [`gsettings get ${prefix}.session idle-delay`]: values[2],
  [`gsettings get ${prefix}.lockdown disable-lock-screen`]: values[3] ?? 'false\n',
})

function askedLock(shown: string, files: Record<string, string>, commands: Pretended['commands']) {
  const machine = pretendedMachine({
    files,
    commands: {
      [LIST]: '  2 1000 ada  seat0 tty2\n c1  120 gdm  seat0 tty1\n',
      'loginctl show-session --no-pager -p Class -p Type -p State -p Remote -p User -p Desktop 2 c1':
        shown,
      'getent passwd 1000': 'ada:x:1000:1001:Ada:/home/ada:/bin/bash\n',
      'getent passwd 1002': 'ben:x:1002:1002:Ben:/home/ben:/bin/bash\n',
      ...commands,
    },
  })
  return { machine, found: screenLock(machine, new Map()) }
}

t.test('GNOME and Cinnamon, asked with the rights of who is signed in', async (t) => {
  const greeter = session(120, { Class: 'greeter' })
  const asked = (...values: Parameters<typeof gsettings>[1]) =>
    askedLock(
      `${session(1000)}\n${greeter}`,
      runs('gnome-shell', 1000),
      gsettings('org.gnome.desktop', values),
    )
  const on = asked('true\n', 'uint32 0\n', 'uint32 300\n')
  t.strictSame(await on.found, { value: true, reason: 'locks', detail: 'gnome: 5 min' })
  const users = on.machine.ran.filter(({ file }) => file === '/usr/bin/gsettings')
  t.equal(users.length, 4)
  for (const { user } of users) t.strictSame(user, { uid: 1000, gid: 1001, home: '/home/ada' })

  const most = LIMITS.deviceLockSecondsMax
  t.match(await asked('true\n', 'uint32 0\n', `uint32 ${most}\n`).found, { value: true })
  t.match(await asked('true\n', 'uint32 1\n', `uint32 ${most}\n`).found, { reason: 'lock_late' })
  t.match(await asked('false\n', 'uint32 0\n', 'uint32 300\n').found, {
    value: false,
    reason: 'lock_off',
  })
  t.match(await asked('true\n', 'uint32 0\n', 'uint32 0\n').found, { reason: 'lock_off' }, 'never')
  t.match(await asked('true\n', 'uint32 0\n', 'uint32 9\n', 'true\n').found, { reason: 'lock_off' })
  t.match(await asked('', 'uint32 0\n', 'uint32 9\n').found, {
    value: 'unknown',
    reason: 'not_readable',
  })

  const cinnamon = gsettings('org.cinnamon.desktop', ['true\n', 'uint32 0\n', 'uint32 900\n'])
  const mint = askedLock(session(1000, { Type: 'x11' }), runs('cinnamon', 1000), cinnamon)
  t.match(await mint.found, { value: true, detail: 'cinnamon: 15 min' })
})

t.test('KDE, from the file of the person and that of the machine', async (t) => {
  const cat = 'cat -- /home/ada/.config/kscreenlockerrc'
  const asked = (own: string, ofMachine = '') =>
    askedLock(
      session(1000, { Desktop: 'KDE' }),
      { ...runs('plasmashell', 1000), '/etc/xdg/kscreenlockerrc': ofMachine },
      { [cat]: own },
    ).found
  t.match(await asked(''), { value: true, detail: 'kde: 5 min' }, 'as it is shipped')
  t.match(await asked('[Daemon]\nAutolock=false\n'), { value: false, reason: 'lock_off' })
  t.match(await asked('[Daemon]\nTimeout=60\n'), { value: false, reason: 'lock_late' })
  t.match(await asked('[Greeter]\nAutolock=false\n[Daemon]\nTimeout=10\n'), {
    value: true,
    detail: 'kde: 10 min',
  })
  const fixed = '[Daemon]\nAutolock[$i]=true\nTimeout[$i]=5\n'
  t.match(await asked('[Daemon]\nAutolock=false\nTimeout=60\n', fixed), { value: true })
  t.match(await asked('[Daemon]\nAutolock=false\n', '[Daemon][$i]\nAutolock=true\n'), {
    value: true,
  })
})

t.test('all who are signed in count, and nobody is unknown', async (t) => {
  const kde = { 'cat -- /home/ben/.config/kscreenlockerrc': '[Daemon]\nAutolock=false\n' }
  const gnome = gsettings('org.gnome.desktop', ['true\n', 'uint32 0\n', 'uint32 300\n'])
  const both = askedLock(
    `${session(1000)}\n${session(1002, { State: 'online' })}`,
    { ...runs('gnome-shell', 1000), ...runs('plasmashell', 1002) },
    { ...gnome, ...kde },
  )
  t.match(await both.found, { value: false, reason: 'lock_off', detail: 'kde' })
  const none = { value: 'unknown', reason: 'no_session' }
  t.match(await askedLock(session(1000, { Type: 'tty' }), {}, {}).found, none)
  t.match(await askedLock(session(1000, { Remote: 'yes' }), {}, {}).found, none)
  t.match(await askedLock('', {}, { [LIST]: '' }).found, none)
  const sway = askedLock(session(1000, { Desktop: 'sway' }), runs('sway', 1000), {})
  t.match(await sway.found, { value: 'unknown', reason: 'desktop_not_known', detail: 'sway' })
  t.match(await askedLock('', {}, { [LIST]: failed }).found, { reason: 'tool_missing' })
})

t.test('Secure Boot by the fifth byte, unless shim checks nothing', async (t) => {
  const folder = '/sys/firmware/efi/efivars'
  const variable = `${folder}/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c`
  const shim = `${folder}/MokSBStateRT-605dab50-e046-4300-abb6-3dd810dd8b23`
  const asked = (files: Pretended['files'], folders: readonly string[] = []) =>
    secureBoot(pretendedMachine({ files: files ?? {}, folders }), new Map())
  const bytes = (...all: number[]) => Uint8Array.from(all)
  t.match(await asked({ [variable]: bytes(6, 0, 0, 0, 1) }), { value: true, reason: 'on' })
  t.match(await asked({ [variable]: bytes(6, 0, 0, 0, 0) }), { value: false, reason: 'off' })
  t.match(await asked({ [variable]: bytes(6, 0, 0, 1) }), {
    value: 'unknown',
    reason: 'not_readable',
  })
  t.match(await asked({ [variable]: bytes(6, 0, 0, 0, 2) }), { value: 'unknown' })
  const both = { [variable]: bytes(6, 0, 0, 0, 1), [shim]: bytes(6, 0, 0, 0, 1) }
  t.match(await asked(both), { value: false, reason: 'shim_validation_off' })
  t.match(await asked({}), { value: false, reason: 'legacy_boot' })
  t.match(await asked({}, [folder]), { value: 'unknown', reason: 'not_readable' })
  t.match(await asked({ [`${folder}/BootOrder-x`]: '' }), { value: false, reason: 'not_offered' })
})

t.test('a TPM by the version of its driver', async (t) => {
  const asked = (files: Pretended['files'], folders: readonly string[] = []) =>
    tpm(pretendedMachine({ files: files ?? {}, folders }), new Map())
  const version = '/sys/class/tpm/tpm0/tpm_version_major'
  t.match(await asked({ [version]: '2\n' }), { value: true, reason: 'tpm_2' })
  t.match(await asked({ [version]: '1\n' }), { value: false, reason: 'tpm_1' })
  t.match(await asked({}, ['/sys/class/tpm/tpm0/device']), {
    value: 'unknown',
    reason: 'tpm_version_not_known',
  })
  t.match(await asked({}), { value: false, reason: 'no_tpm' })
})

t.test('os-release in every spelling that a shell would read', async (t) => {
  t.strictSame(parseOsRelease('PRETTY_NAME="Debian"\nVERSION_ID="12"\nID=debian\n'), {
    id: 'debian',
    version: '12',
  })
  t.strictSame(parseOsRelease("ID='ubuntu'\nVERSION_ID='24.04'\n"), {
    id: 'ubuntu',
    version: '24.04',
  })
  t.strictSame(parseOsRelease('ID=arch\nBUILD_ID=rolling\n'), { id: 'arch', version: '' })
  t.strictSame(parseOsRelease('ID="<script>"\nVERSION_ID="1;rm"\n'), { id: 'linux', version: '' })
  t.strictSame(parseOsRelease(''), { id: 'linux', version: '' })
})
