/** Whether each desktop that somebody is signed in to locks itself when nobody is at it. */
import { LIMITS } from '../../../../../shared/limits.ts'
import { fact, type FactOf, type Probe } from '../fact.ts'
import { textOf, type Machine } from '../machine.ts'
import { desktopOf, sessionsOf, type Desktop, type Session } from './sessions.ts'

type LockFact = FactOf<'screen_lock'>

export const screenLock: Probe<'screen_lock'> = async (machine) => {
  const sessions = await sessionsOf(machine)
  if (sessions === null) return fact('unknown', 'tool_missing', 'loginctl')
  if (sessions.length === 0) return fact('unknown', 'no_session')
  const found: LockFact[] = []
  for (const session of sessions) found.push(await ofSession(machine, session))
  return (
    found.find(({ value }) => value === false) ??
    found.find(({ value }) => value === 'unknown') ??
    found[0] ??
    fact('unknown', 'no_session')
  )
}

async function ofSession(machine: Machine, session: Session): Promise<LockFact> {
  const desktop = await desktopOf(machine, session)
  if (desktop === null) return fact('unknown', 'desktop_not_known', session.desktop)
  const settings =
    desktop === 'kde' ? await ofKde(machine, session) : await ofGnome(machine, session, desktop)
  if (settings === null) return fact('unknown', 'not_readable', desktop)
  return judged(settings, desktop)
}

interface LockSettings {
  readonly locks: boolean
  /** From the last movement until a password is needed; null: never. */
  readonly afterS: number | null
}

function judged({ locks, afterS }: LockSettings, desktop: Desktop): LockFact {
  if (!locks || afterS === null) return fact(false, 'lock_off', desktop)
  const minutes = `${desktop}: ${Math.round(afterS / 60)} min`
  return afterS > LIMITS.deviceLockSecondsMax
    ? fact(false, 'lock_late', minutes)
    : fact(true, 'locks', minutes)
}

/** As the person: their settings are in a file of theirs, and root has no business in reading it itself. */
async function asPerson(machine: Machine, { uid, gid, home }: Session, args: readonly string[]) {
  const [name = '', ...rest] = args
  const result = await machine.run({
    file: `/usr/bin/${name}`,
    args: rest,
    user: { uid, gid, home },
  })
  return result.kind === 'ended' && result.code === 0 ? result.text : null
}

async function ofGnome(machine: Machine, session: Session, desktop: 'gnome' | 'cinnamon') {
  const prefix = desktop === 'gnome' ? 'org.gnome.desktop' : 'org.cinnamon.desktop'
  const get = (schema: string, key: string) =>
    asPerson(machine, session, ['gsettings', 'get', `${prefix}.${schema}`, key])
  const enabled = await get('screensaver', 'lock-enabled')
  const delay = await get('screensaver', 'lock-delay')
  const idle = await get('session', 'idle-delay')
  const lockdown = await get('lockdown', 'disable-lock-screen')
  return parseGnome({ enabled, delay, idle, lockdown })
}

interface GnomeAnswers {
  readonly enabled: string | null
  readonly delay: string | null
  readonly idle: string | null
  readonly lockdown: string | null
}

/** `true`, `uint32 300`; an idle time of 0 is never. */
function parseGnome({ enabled, delay, idle, lockdown }: GnomeAnswers): LockSettings | null {
  const idleS = seconds(idle)
  const delayS = seconds(delay)
  const isOn = enabled?.trim()
  if (idleS === null || delayS === null || (isOn !== 'true' && isOn !== 'false')) return null
  return {
    locks: isOn === 'true' && lockdown?.trim() !== 'true',
    afterS: idleS === 0 ? null : idleS + delayS,
  }
}

function seconds(answer: string | null): number | null {
  const [, digits] = /^(?:uint32 )?(\d{1,9})$/.exec(answer?.trim() ?? '') ?? []
  return digits === undefined ? null : Number(digits)
}

async function ofKde(machine: Machine, session: Session): Promise<LockSettings | null> {
  const file = `${session.home}/.config/kscreenlockerrc`
  const own = await asPerson(machine, session, ['cat', '--', file])
  const ofMachine = await textOf(machine, '/etc/xdg/kscreenlockerrc')
  return parseKde(own ?? '', ofMachine ?? '')
}

/** What is not written down is as KDE ships it: after five minutes. */
function parseKde(own: string, ofMachine: string): LockSettings {
  const mine = daemonGroup(own)
  const base = daemonGroup(ofMachine)
  const value = (key: string) => {
    // `[$i]`: what the machine's file says cannot be changed
    const fixed = base.get(`${key}[$i]`)
    return fixed ?? mine.get(key) ?? base.get(key)
  }
  const minutes = Number(value('Timeout') ?? '5')
  const graceS = Number(value('LockGrace') ?? '5')
  const isOff = value('Autolock') === 'false' || !Number.isFinite(minutes) || minutes <= 0
  return {
    locks: !isOff,
    afterS: isOff ? null : minutes * 60 + (Number.isFinite(graceS) ? Math.max(0, graceS) : 0),
  }
}

function daemonGroup(text: string): ReadonlyMap<string, string> {
  let group = ''
  let isFixed = false
  const found = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, name, fixed] = /^\[([^\]]+)\](\[\$i\])?\s*$/.exec(line) ?? []
    if (name !== undefined) {
      group = name
      isFixed = fixed !== undefined
      continue
    }
    const [, key, value] = /^([^=]+?)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (group !== 'Daemon' || key === undefined || value === undefined) continue
    found.set(isFixed && !key.endsWith('[$i]') ? `${key}[$i]` : key, value)
  }
  return found
}
