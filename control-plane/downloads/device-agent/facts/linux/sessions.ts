/** Who is signed in to a desktop of this machine, and to which. */
import { textOf, type Machine } from '../machine.ts'
import { ask } from './programs.ts'

export interface Session {
  readonly uid: number
  readonly gid: number
  readonly home: string
  /** As the login manager calls it; often empty. */
  readonly desktop: string
}

export type Desktop = 'gnome' | 'cinnamon' | 'kde'

/** Of the program that draws a desktop; who else locks a screen is not known to us. */
const SHELLS: Readonly<Record<string, Desktop>> = {
  'gnome-shell': 'gnome',
  cinnamon: 'cinnamon',
  plasmashell: 'kde',
}

const PROPERTIES = ['Class', 'Type', 'State', 'Remote', 'User', 'Desktop']
const GRAPHICAL = new Set(['x11', 'wayland', 'mir'])

/** null: nobody here knows of sessions. */
export async function sessionsOf(machine: Machine): Promise<readonly Session[] | null> {
  const list = await ask(machine, 'loginctl', ['list-sessions', '--no-legend', '--no-pager'])
  if (list.kind !== 'ended' || list.code !== 0) return null
  const ids = list.text.split('\n').flatMap((line) => /^\s*([A-Za-z0-9]+)\s/.exec(line)?.[1] ?? [])
  if (ids.length === 0) return []
  const wanted = PROPERTIES.flatMap((name) => ['-p', name])
  const shown = await ask(machine, 'loginctl', ['show-session', '--no-pager', ...wanted, ...ids])
  if (shown.kind !== 'ended' || shown.code !== 0) return null
  const found: Session[] = []
  for (const { uid, desktop } of parseSessions(shown.text)) {
    // also of a company's directory, which no file of this machine lists
    const entry = await ask(machine, 'getent', ['passwd', `${uid}`])
    const account = entry.kind === 'ended' ? parseAccount(entry.text) : null
    found.push({ uid, desktop, ...(account ?? { gid: uid, home: '/nonexistent' }) })
  }
  return found
}

/** Blocks of `Name=value`; of each person one desktop is enough. */
function parseSessions(text: string): readonly { uid: number; desktop: string }[] {
  const found = new Map<number, string>()
  for (const block of text.split(/\n\s*\n/)) {
    const values = new Map(
      block.split('\n').map((line) => {
        const at = line.indexOf('=')
        return [line.slice(0, at), line.slice(at + 1)]
      }),
    )
    const uid = Number(values.get('User'))
    const isDesktop =
      values.get('Class') === 'user' &&
      values.get('Remote') === 'no' &&
      values.get('State') !== 'closing' &&
      GRAPHICAL.has(values.get('Type') ?? '')
    if (isDesktop && Number.isSafeInteger(uid)) found.set(uid, values.get('Desktop') ?? '')
  }
  return [...found].map(([uid, desktop]) => ({ uid, desktop }))
}

/** `ada:x:1000:1000:Ada:/home/ada:/bin/bash` */
function parseAccount(line: string): { gid: number; home: string } | null {
  const [, , , gid = '', , home = ''] = line.split('\n', 1)[0]?.split(':') ?? []
  return /^\d+$/.test(gid) && home.startsWith('/') ? { gid: Number(gid), home } : null
}

/** By what runs, because a name of a session is what somebody wrote into a file. */
export async function desktopOf(machine: Machine, { uid }: Session): Promise<Desktop | null> {
  const ids = ((await machine.names('/proc')) ?? []).filter((name) => /^\d+$/.test(name))
  for (const id of ids) {
    const name = (await textOf(machine, `/proc/${id}/comm`))?.trim() ?? ''
    const desktop = SHELLS[name]
    if (desktop === undefined) continue
    const status = (await textOf(machine, `/proc/${id}/status`)) ?? ''
    const [, owner] = /^Uid:\s+(\d+)/m.exec(status) ?? []
    if (owner !== undefined && Number(owner) === uid) return desktop
  }
  return null
}
