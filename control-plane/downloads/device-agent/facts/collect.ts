/** All facts of this machine. One that takes too long, or goes wrong, is unknown; the others still count. */
import type { DeviceFact, Posture } from '../../../../shared/device/facts.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { fact, type FactOf, type Probe } from './fact.ts'
import { diskEncrypted } from './linux/disk.ts'
import { secureBoot, tpm } from './linux/firmware.ts'
import { firewall } from './linux/firewall.ts'
import { osRelease } from './linux/os-release.ts'
import { screenLock } from './linux/screen-lock.ts'
import { upToDate } from './linux/updates.ts'
import type { Earlier, Machine } from './machine.ts'
import { windowsDisk } from './windows/disk.ts'
import { windowsSecureBoot, windowsTpm } from './windows/firmware.ts'
import { windowsFirewall } from './windows/firewall.ts'
import { windowsVersion } from './windows/version.ts'
import { windowsScreenLock } from './windows/screen-lock.ts'
import { windowsUpdates } from './windows/updates.ts'

interface Probes {
  readonly facts: { readonly [Name in DeviceFact]: Probe<Name> }
  readonly os: (machine: Machine) => Promise<Posture['os']>
  readonly osUnread: Posture['os']
}

const LINUX: Probes = {
  facts: {
    disk_encrypted: diskEncrypted,
    up_to_date: upToDate,
    firewall,
    screen_lock: screenLock,
    secure_boot: secureBoot,
    tpm,
  },
  os: osRelease,
  osUnread: { id: 'linux', version: '' },
}

const WINDOWS: Probes = {
  facts: {
    disk_encrypted: windowsDisk,
    up_to_date: windowsUpdates,
    firewall: windowsFirewall,
    screen_lock: windowsScreenLock,
    secure_boot: windowsSecureBoot,
    tpm: windowsTpm,
  },
  os: windowsVersion,
  osUnread: { id: 'windows', version: '' },
}

const unsupported = <Name extends DeviceFact>() =>
  Promise.resolve(fact<Name>('unknown', 'platform_not_supported'))
const OTHER: Probes = {
  facts: {
    disk_encrypted: unsupported,
    up_to_date: unsupported,
    firewall: unsupported,
    screen_lock: unsupported,
    secure_boot: unsupported,
    tpm: unsupported,
  },
  os: () => Promise.resolve({ id: 'other', version: '' }),
  osUnread: { id: 'other', version: '' },
}

function probesOf(platform: string): Probes {
  if (platform === 'linux') return LINUX
  return platform === 'win32' ? WINDOWS : OTHER
}

/**
 * Never throws. One after the other: a machine that somebody works at has better things to do. Who keeps
 * `earlier` from round to round spares it what costs most.
 */
export async function collectFacts(
  machine: Machine,
  earlier: Earlier = new Map(),
): Promise<Pick<Posture, 'facts' | 'os'>> {
  const { facts, os, osUnread } = probesOf(machine.platform)
  const asked = <Name extends DeviceFact>(probe: Probe<Name>): Promise<FactOf<Name>> =>
    within<FactOf<Name>>((until) => probe(until, earlier), machine, {
      late: fact('unknown', 'timed_out'),
      wrong: fact('unknown', 'not_readable'),
    })
  return {
    facts: {
      disk_encrypted: await asked(facts.disk_encrypted),
      up_to_date: await asked(facts.up_to_date),
      firewall: await asked(facts.firewall),
      screen_lock: await asked(facts.screen_lock),
      secure_boot: await asked(facts.secure_boot),
      tpm: await asked(facts.tpm),
    },
    os: await within(os, machine, { late: osUnread, wrong: osUnread }),
  }
}

interface Otherwise<Answer> {
  readonly late: Answer
  readonly wrong: Answer
}

/** A probe that is late starts no further command: it is asked again with the next round. */
async function within<Answer>(
  ask: (machine: Machine) => Promise<Answer>,
  machine: Machine,
  { late, wrong }: Otherwise<Answer>,
): Promise<Answer> {
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<Answer>((resolve) => {
    timer = setTimeout(() => resolve(late), LIMITS.deviceFactMsMax)
  })
  const until: Machine = {
    ...machine,
    run: (command) => (isOver ? Promise.resolve({ kind: 'timed_out' }) : machine.run(command)),
  }
  try {
    return await Promise.race([ask(until), over])
  } catch {
    return wrong
  } finally {
    isOver = true
    clearTimeout(timer)
  }
}
