/** `npm run control-plane -- backup --to FILE`, `restore --from FILE`, `copy` to PostgreSQL, `restored` there, and `migrate`. */
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { systemClock } from '../../shared/clock.ts'
import { openVault, type MasterKeys } from '../keys/master-key.ts'
import { openServer, type Opened } from '../store/engines/server.ts'
import { openSqlite } from '../store/engines/sqlite.ts'
import type { Voided } from '../store/queries/void-older.ts'
import { openStore } from '../store/store.ts'
import { copy } from './copy.ts'
import { makeSafe } from './make-safe.ts'
import { RecoveryProblem } from './problem.ts'
import {
  copyDatabase,
  keepPrivate,
  removeDatabase,
  replaceDatabase,
  requireAlone,
} from './sqlite-files.ts'

interface Settings extends MasterKeys {
  readonly database: string
  readonly dataDir: string
}
type Say = (line: string) => void

const COMMANDS = {
  backup: { option: '--to', run: backup },
  restore: { option: '--from', run: restore },
} as const

export interface RecoveryCommand {
  /** Arguments that are not its own. */
  readonly rest: readonly string[]
  run(settings: Settings, say: Say): Promise<void>
}

/** undefined: it is no such command, and the control plane itself is meant. */
export function recoveryCommand(args: readonly string[]): RecoveryCommand | undefined {
  const [name, ...others] = args
  if (name === 'restored') return { rest: others, run: restored }
  if (name === 'migrate') return { rest: others, run: migrate }
  if (name === 'copy') {
    const [from, withoutFrom] = valueOf('--from', others)
    const [to, rest] = valueOf('--to', withoutFrom)
    if (from === undefined || to === undefined)
      throw new RecoveryProblem(
        `npm run control-plane -- copy --from sqlite:FILE --to postgres://…: ${from === undefined ? '--from' : '--to'} is missing`,
      )
    return { rest, run: (_settings, say) => copy(from, to, say) }
  }
  if (name !== 'backup' && name !== 'restore') return undefined
  const { option, run } = COMMANDS[name]
  const [file, rest] = valueOf(option, others)
  if (file === undefined)
    throw new RecoveryProblem(
      `npm run control-plane -- ${name} ${option} FILE: the file is missing`,
    )
  return {
    rest,
    run: (settings, say) => run(databaseOf(settings, name), file, { settings, say }),
  }
}

/** What is given with an option, and the arguments without both. */
function valueOf(option: string, args: readonly string[]): [string | undefined, readonly string[]] {
  const at = args.findIndex((arg) => arg === option || arg.startsWith(`${option}=`))
  if (at === -1) return [undefined, args]
  const isApart = args[at] === option
  const value = isApart ? args[at + 1] : args[at]?.slice(option.length + 1)
  return [value === '' ? undefined : value, args.toSpliced(at, isApart ? 2 : 1)]
}

function databaseOf({ database, dataDir }: Settings, name: 'backup' | 'restore'): string {
  if (database === 'sqlite') return join(dataDir, 'service.db')
  throw new RecoveryProblem(`this control plane uses PostgreSQL: ${ON_POSTGRES[name]}`)
}

const ON_POSTGRES = {
  backup:
    'pg_dump --format=custom --no-owner --file=FILE DATABASE backs it up while it is in use; keep the master key with it',
  restore:
    'stop the control plane, run pg_restore --no-owner --exit-on-error --dbname=DATABASE FILE into a new, empty database, name that in control_plane.database, then run npm run control-plane -- restored',
} as const

interface World {
  readonly settings: Settings
  readonly say: Say
}

async function backup(database: string, file: string, { say }: World): Promise<void> {
  await copyDatabase(database, file)
  say(`Backed up to ${file}, and checked.`)
  say(
    'Keep secrets.json (or SERVICE_MASTER_KEY) with it: without the master key nothing in it opens.',
  )
}

async function restore(database: string, from: string, { settings, say }: World): Promise<void> {
  const fresh = `${database}.restored`
  // on another machine nothing has been started yet
  mkdirSync(dirname(database), { recursive: true, mode: 0o700 })
  requireAlone(database)
  removeDatabase(fresh)
  await copyDatabase(from, fresh)
  try {
    const voided = await prepare(fresh, settings)
    requireAlone(fresh)
    requireAlone(database) // by now somebody may have started
    const kept = `${database}.before-${new Date(systemClock.nowMs()).toISOString().replace(/[:.]/g, '-')}`
    replaceDatabase(database, fresh, kept)
    say(`Restored from ${from}. The database before it is kept as ${kept}.`)
    for (const line of linesOf(voided)) say(line)
  } catch (error) {
    removeDatabase(fresh)
    throw error
  }
}

/** Made safe before it gets its name, so that nobody is ever served from what it was. */
async function prepare(file: string, settings: Settings): Promise<Voided> {
  const opened = { engine: openSqlite(file), clock: systemClock }
  return madeSafe(opened, settings, () => keepPrivate(file))
}

async function madeSafe(
  { engine, clock }: Pick<Opened, 'engine' | 'clock'>,
  keys: MasterKeys,
  isOpened = () => {},
): Promise<Voided> {
  const store = await openStore(engine, clock)
  try {
    isOpened()
    await openVault(store, keys)
    return await makeSafe(store, clock)
  } finally {
    await store.close()
  }
}

/** What pg_restore has put back, before a control plane starts on it. */
async function restored(settings: Settings, say: Say): Promise<void> {
  const { database } = settings
  if (database === 'sqlite')
    throw new RecoveryProblem(
      'restored is for PostgreSQL; on SQLite: npm run control-plane -- restore --from FILE',
    )
  const opened = await openServer(database, { isAlone: true })
  for (const line of linesOf(await madeSafe(opened, settings))) say(line)
}

/** What a start does as well: for platforms that want it done, and over, before the first one. */
async function migrate({ database }: Settings, say: Say): Promise<void> {
  if (database === 'sqlite')
    throw new RecoveryProblem('migrate is for PostgreSQL; on SQLite each start does it by itself')
  const { engine } = await openServer(database)
  await engine.close()
  say('The database has the tables of this release.')
}

function linesOf(voided: Voided): string[] {
  const { sessions, consoleSessions, links, tickets, devices } = voided
  return [
    `Everybody signs in again: ${sessions + consoleSessions} sessions ended, and all others that this copy does not know.`,
    `${links} links in mails and invitations and ${tickets} tickets and join tokens are void: send or make them again where somebody waits.`,
    ...(devices > 0
      ? [`${devices} devices check in as usual; each is believed once without its last answer.`]
      : []),
    'Everything else is as it was then. Check what has changed since: keys of gateways and of the API, roles, disabled users, passwords.',
    'Start the control plane. Gateways keep what they know to be revoked, and hand it up.',
  ]
}
