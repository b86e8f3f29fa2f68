/** The facts of a Windows machine, from what PowerShell 5.1 answers; and that no answer is in a language. */
import t from 'tap'
import type { Probe } from '../../../../../control-plane/downloads/device-agent/facts/fact.ts'
import type { CommandResult } from '../../../../../control-plane/downloads/device-agent/facts/machine.ts'
import { windowsDisk } from '../../../../../control-plane/downloads/device-agent/facts/windows/disk.ts'
import { windowsFirewall } from '../../../../../control-plane/downloads/device-agent/facts/windows/firewall.ts'
import {
  windowsSecureBoot,
  windowsTpm,
} from '../../../../../control-plane/downloads/device-agent/facts/windows/firmware.ts'
import { windowsScreenLock } from '../../../../../control-plane/downloads/device-agent/facts/windows/screen-lock.ts'
import { windowsUpdates } from '../../../../../control-plane/downloads/device-agent/facts/windows/updates.ts'
import { windowsVersion } from '../../../../../control-plane/downloads/device-agent/facts/windows/version.ts'
import type { DeviceFact } from '../../../../../shared/device/facts.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import { pretendedMachine } from './pretended-machine.ts'

const windows = (answer: string | CommandResult) =>
  pretendedMachine({ platform: 'win32', commands: { 'powershell.exe': answer } })

const asked = <Name extends DeviceFact>(probe: Probe<Name>, answer: unknown) =>
  probe(windows(JSON.stringify(answer)), new Map())

const error = (id: string, category: string, reason: string) => ({
  error: { id, category, reason },
})

const volume = (letter: string, type: number, protection: number, conversion: number) => ({
  letter,
  type,
  protection,
  conversion,
  returned: 0,
})
const disk = (...volumes: readonly object[]) => asked(windowsDisk, { volumes, system: 'C:' })

t.test('BitLocker: on, off, suspended, and under way', async (t) => {
  t.strictSame(await disk(volume('C:', 0, 1, 1)), {
    value: true,
    reason: 'encrypted',
    detail: 'C:',
  })
  t.strictSame(await disk(volume('C:', 0, 0, 0)), {
    value: false,
    reason: 'not_encrypted',
    detail: 'C:',
  })
  t.strictSame(await disk(volume('C:', 0, 0, 1)), {
    value: false,
    reason: 'encryption_suspended',
    detail: 'C:',
  })
  for (const conversion of [2, 3, 4, 5])
    for (const protection of [0, 1])
      t.match(
        await disk(volume('C:', 0, protection, conversion)),
        { value: false, reason: 'encryption_in_progress' },
        `${protection} ${conversion}`,
      )
})

t.test(
  'BitLocker: other fixed drives count, sticks and partitions of the vendor do not',
  async (t) => {
    const system = volume('C:', 0, 1, 1)
    t.match(await disk(system, volume('E:', 2, 0, 0), volume('', 1, 0, 0)), { value: true })
    t.strictSame(await disk(volume('D:', 1, 0, 0), system), {
      value: false,
      reason: 'partly_encrypted',
      detail: 'D:',
    })
    t.match(
      await disk(system, { ...volume('D:', 1, 2, 0), returned: 0x80310000 }),
      { value: true },
      'locked',
    )
    t.match(await disk({ ...volume('C:', 0, 1, 1), returned: 0x80310000 }), { value: 'unknown' })
    t.match(await disk(volume('D:', 1, 1, 1)), { value: 'unknown', reason: 'not_readable' })
    const wrapped = { volumes: { value: [system], Count: 1 }, system: 'c:' }
    t.match(await asked(windowsDisk, wrapped), { value: true }, 'a list as 5.1 may write it')
  },
)

t.test('BitLocker: an edition that has none, and rights that are missing', async (t) => {
  const cim = 'Microsoft.Management.Infrastructure.CimCmdlets.GetCimInstanceCommand'
  const missing = error(`HRESULT 0x8004100e,${cim}`, 'InvalidArgument', 'CimException')
  t.match(await asked(windowsDisk, missing), { value: false, reason: 'encryption_not_offered' })
  const denied = error(`HRESULT 0x80041003,${cim}`, 'PermissionDenied', 'CimException')
  t.match(await asked(windowsDisk, denied), { value: 'unknown', reason: 'not_allowed' })
})

t.test('the firewall: every profile, by what is in force', async (t) => {
  const profiles = (...all: readonly (readonly [number, number])[]) => ({
    profiles: all.map(([enabled, inbound], at) => ({
      name: ['Domain', 'Private', 'Public'][at] ?? '',
      enabled,
      inbound,
    })),
  })
  const ask = (...all: readonly (readonly [number, number])[]) =>
    asked(windowsFirewall, profiles(...all))
  t.strictSame(await ask([1, 0], [1, 4], [1, 4]), { value: true, reason: 'windows_firewall' })
  t.strictSame(await ask([1, 4], [1, 4], [0, 4]), {
    value: false,
    reason: 'profile_off',
    detail: 'Public',
  })
  t.match(await ask([1, 4], [1, 2], [1, 4]), {
    value: false,
    reason: 'allows_all',
    detail: 'Private',
  })
  t.match(await ask(), { value: 'unknown', reason: 'not_readable' })
})

t.test('the screen lock: of the machine, or of each person', async (t) => {
  const person = { active: '1', secure: '1', after: '600', saver: true }
  const ask = (machine: number, ...people: readonly object[]) =>
    asked(windowsScreenLock, { machine, people })
  t.strictSame(await ask(900), { value: true, reason: 'locks', detail: '15 min' })
  t.match(await ask(0, person), { value: true, detail: '10 min' })
  t.match(await ask(0, person, { ...person, active: '0' }), { value: false, reason: 'lock_off' })
  t.match(await ask(0, { ...person, saver: false }), { value: false, reason: 'lock_off' })
  t.match(await ask(0, { ...person, after: '' }), { value: false, reason: 'lock_off' })
  t.match(await ask(0, { ...person, secure: '0' }), { reason: 'lock_without_password' })
  const late = LIMITS.deviceLockSecondsMax + 1
  t.match(await ask(0, { ...person, after: `${late}` }), { value: false, reason: 'lock_late' })
  t.match(await ask(late, person), { value: true })
  t.match(await ask(late, { ...person, active: '0' }), { value: false, reason: 'lock_late' })
  t.match(await ask(late), { value: false, reason: 'lock_late' })
  t.match(await ask(0), { value: 'unknown', reason: 'no_session' })
})

t.test('updates: looked for lately, none of security, no restart due', async (t) => {
  const security = {
    articles: ['5046633'],
    categories: ['0FA1201D-4330-4FA8-8AE9-B877473B6441', 'x'],
  }
  const other = { articles: [], categories: ['cd5ffd1e-e932-4e3a-bf74-18bf0b1bbd83'] }
  const ask = (state: object, updates: readonly object[] | CommandResult = []) => {
    const machine = windows('')
    const waiting = 'kind' in updates ? updates : JSON.stringify({ updates })
    return windowsUpdates(
      {
        ...machine,
        run: (command) =>
          windows(
            command.args.join().includes('CreateUpdateSearcher') ? waiting : JSON.stringify(state),
          ).run(command),
      },
      new Map(),
    )
  }
  const state = { restart: false, hours: 5 }
  t.strictSame(await ask(state), { value: true, reason: 'up_to_date' })
  t.strictSame(await ask(state, [other]), { value: true, reason: 'up_to_date', detail: '(+1)' })
  t.strictSame(await ask(state, [other, security]), {
    value: false,
    reason: 'security_updates',
    detail: 'KB5046633',
  })
  t.match(await ask({ ...state, restart: true }), { value: false, reason: 'restart_needed' })
  t.match(await ask({ ...state, hours: null }), { value: 'unknown', reason: 'update_data_missing' })
  const most = LIMITS.deviceUpdateDataDaysMax * 24 + 23
  t.match(await ask({ ...state, hours: most }), { value: true })
  t.match(await ask({ ...state, hours: most + 1 }), { value: 'unknown', reason: 'update_data_old' })
  t.match(await ask({ ...state, hours: -48 }), { value: true }, 'a clock set back')
  t.match(await ask(state, { kind: 'timed_out' }), { value: 'unknown', reason: 'timed_out' })
})

t.test('Secure Boot: on, off, and where the firmware has none', async (t) => {
  t.match(await asked(windowsSecureBoot, { on: true }), { value: true, reason: 'on' })
  t.match(await asked(windowsSecureBoot, { on: false }), { value: false, reason: 'off' })
  const id = 'GetFWVarFailed,Microsoft.SecureBoot.Commands.ConfirmSecureBootUefiCommand'
  const unsupported = error(id, 'NotImplemented', 'PlatformNotSupportedException')
  t.match(await asked(windowsSecureBoot, unsupported), { value: false, reason: 'legacy_boot' })
  const denied = error(id, 'PermissionDenied', 'UnauthorizedAccessException')
  t.match(await asked(windowsSecureBoot, denied), { value: 'unknown', reason: 'not_allowed' })
  const gone = error('CommandNotFoundException', 'ObjectNotFound', 'CommandNotFoundException')
  t.match(await asked(windowsSecureBoot, gone), { value: 'unknown', reason: 'tool_missing' })
})

t.test('the TPM: there, of version 2, and ready', async (t) => {
  const ready = { present: true, ready: true, version: '2.0, 0, 1.59' }
  t.match(await asked(windowsTpm, ready), { value: true, reason: 'tpm_2' })
  t.match(await asked(windowsTpm, { ...ready, ready: false }), {
    value: false,
    reason: 'tpm_not_ready',
  })
  t.match(await asked(windowsTpm, { ...ready, version: '1.2, 2, 3' }), {
    value: false,
    reason: 'tpm_1',
  })
  t.match(await asked(windowsTpm, { ...ready, version: '' }), { value: 'unknown' })
  t.match(await asked(windowsTpm, { present: false, ready: false, version: '' }), {
    reason: 'no_tpm',
  })
})

t.test('the version has the revision that monthly updates raise', async (t) => {
  const version = (answer: string) => windowsVersion(windows(answer))
  t.strictSame(await version('{"build":"22631","revision":4460}'), {
    id: 'windows',
    version: '10.0.22631.4460',
  })
  t.strictSame(await version('{"build":"x","revision":1}'), { id: 'windows', version: '' })
})

const PROBES: readonly Probe<DeviceFact>[] = [
  windowsDisk,
  windowsFirewall,
  windowsScreenLock,
  windowsUpdates,
  windowsSecureBoot,
  windowsTpm,
]

t.test('whatever else it prints, or however it ends, is unknown', async (t) => {
  const answers: readonly (string | CommandResult)[] = [
    '',
    'null',
    '[]',
    '{}',
    '{"error":{}}',
    '{"volumes":null}',
    'Die Benennung "Get-Tpm" wurde nicht als Name eines Cmdlet erkannt.',
    { kind: 'timed_out' },
    { kind: 'failed' },
    { kind: 'missing' },
  ]
  for (const answer of answers)
    for (const probe of PROBES) t.equal((await probe(windows(answer), new Map())).value, 'unknown')
  const noise = '\uFEFF{"on":true}\r\n'
  t.match(await windowsSecureBoot(windows(`Willkommen\r\n${noise}`), new Map()), { value: true })
})

t.test('scripts are one line, without quotes to escape, and ask for no message', async (t) => {
  const machine = windows('{}')
  for (const probe of PROBES) await probe(machine, new Map())
  await windowsVersion(machine)
  t.equal(machine.ran.length, PROBES.length + 1)
  for (const { file, args } of machine.ran) {
    const script = args.at(-1) ?? ''
    t.match(file, /^%SystemRoot%\\System32\\WindowsPowerShell\\v1\.0\\powershell\.exe$/)
    t.ok(args.includes('-NoProfile') && args.includes('-NonInteractive'))
    t.notMatch(script, /["\n\r`]/)
    t.notMatch(script, /\.Message\b|Invoke-Expression|DownloadString|Add-Type/i)
    t.ok(script.length < 8000, 'what a command line of Windows may be')
  }
})
