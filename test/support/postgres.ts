/** A PostgreSQL of this test alone: own cluster, own port, run by somebody without rights. */
import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process'
import {
  chownSync,
  existsSync,
  globSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from './ports.ts'

const FOLDERS = globSync('/usr/lib/postgresql/*/bin').sort().reverse()
const binaries = FOLDERS.find((folder) => existsSync(join(folder, 'initdb')))
/** Passed to `t.test` as `skip`: what is not installed is skipped in sight. */
export const NO_POSTGRES = binaries === undefined && 'PostgreSQL is not installed here'

export interface Teardown {
  teardown(work: () => unknown): void
}

export interface ServerCertificate {
  readonly certificate_pem: string
  readonly private_key_pem: string
}

export const ADMIN = { user: 'owner', password: 'owner of the tests' } as const

/** Database servers refuse to run as root. */
const isRoot = process.getuid?.() === 0
const NOBODY = 65_534
export const asNobody = isRoot ? { uid: NOBODY, gid: NOBODY } : {}

/** A folder that the server may write to. */
export function serverFolder(t: Teardown, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), name))
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

export function serverFile(folder: string, name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text, { mode: 0o600 })
  if (isRoot) chownSync(file, NOBODY, NOBODY)
  return file
}

export const UNTIL_THE_END: Teardown = { teardown: (work) => void process.once('exit', work) }

/** The runner's, for all of its processes. */
const OF_THE_RUN = process.env['TEST_RUN_FOLDER']

/** What takes seconds to set up is set up once in a run, or else in a process, and copied into the folder of a test. */
export function setUpOnce(name: string, setUp: (data: string, folder: string) => void) {
  const shared = OF_THE_RUN === undefined ? undefined : join(OF_THE_RUN, `${name}of-all`)
  let made: string | undefined
  const make = () => {
    if (shared !== undefined && existsSync(shared)) return join(shared, 'data')
    const folder = serverFolder(UNTIL_THE_END, name)
    setUp(join(folder, 'data'), folder)
    return join(shared === undefined || !isFirst(folder, shared) ? folder : shared, 'data')
  }
  return (folder: string): string => {
    const data = join(folder, 'data')
    execFileSync('cp', ['-a', (made ??= make()), data], { ...asNobody, cwd: folder })
    return data
  }
}

/** It is there at once and whole; another process may have had the same thought. */
function isFirst(folder: string, shared: string): boolean {
  try {
    renameSync(folder, shared)
    return true
  } catch {
    return false
  }
}

export function postgresProgram(name: string): string {
  if (binaries === undefined)
    throw new Error('PostgreSQL is not installed here: apt-get install postgresql')
  return join(binaries, name)
}

const newCluster = setUpOnce('postgres-set-up-', (cluster, folder) => {
  const secret = serverFile(folder, 'secret', ADMIN.password)
  const setUp = ['-D', cluster, '-U', ADMIN.user, '-A', 'scram-sha-256', `--pwfile=${secret}`]
  execFileSync(postgresProgram('initdb'), [...setUp, '-N', '-E', 'UTF8', '--locale=C'], {
    ...asNobody,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
})

/** All that the server at this port has, and from then on what it sends. */
async function copyOf(port: number, folder: string): Promise<string> {
  const cluster = join(folder, 'data')
  const { user, password } = ADMIN
  const from = `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`
  const copy = ['-D', cluster, '-d', from, '-R', '-X', 'stream', '-c', 'fast']
  await promisify(execFile)(postgresProgram('pg_basebackup'), copy, { ...asNobody, cwd: folder })
  return cluster
}

interface ServerOptions {
  /** Of nobody: it waits for changes that do not come. */
  readonly isReplica?: boolean
  /** Of the server at this port. */
  readonly replicaOf?: number
  readonly fsync?: 'on' | 'off'
  /** Called with its folder before anything is there. */
  readonly prepare?: (folder: string, owner: number) => void
}

export async function startPostgres(
  t: Teardown,
  certificate?: ServerCertificate,
  { isReplica = false, replicaOf, fsync = 'off', prepare }: ServerOptions = {},
) {
  const folder = serverFolder(t, 'postgres-')
  prepare?.(folder, isRoot ? NOBODY : (process.getuid?.() ?? 0))
  const cluster = replicaOf === undefined ? newCluster(folder) : await copyOf(replicaOf, folder)
  if (isReplica) serverFile(cluster, 'standby.signal', '')
  const port = await freePort()
  const tls =
    certificate === undefined
      ? []
      : [
          'ssl=on',
          `ssl_cert_file=${serverFile(folder, 'server.crt', certificate.certificate_pem)}`,
          `ssl_key_file=${serverFile(folder, 'server.key', certificate.private_key_pem)}`,
        ]
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    `fsync=${fsync}`,
    ...tls,
  ]
  let server: ChildProcess | undefined

  async function run(sql: string, database = 'postgres'): Promise<pg.QueryResult> {
    const client = new pg.Client({ ...ADMIN, host: '127.0.0.1', port, database, ssl: false })
    client.on('error', () => {})
    await client.connect()
    try {
      return await client.query(sql)
    } finally {
      await client.end()
    }
  }

  async function start() {
    const options = settings.flatMap((setting) => ['-c', setting])
    await answering(() => {
      // it does not begin before the last backend of one that was killed has gone
      if (hasEnded(server))
        server = spawn(
          postgresProgram('postgres'),
          ['-D', cluster, '-p', String(port), ...options],
          { ...asNobody, cwd: folder, stdio: 'ignore' },
        )
      return run('SELECT 1')
    })
  }

  /** As a machine that loses its power: nobody takes leave of anybody. With SIGKILL not even its own. */
  async function kill(signal: 'SIGQUIT' | 'SIGKILL' = 'SIGQUIT') {
    await ended(server, signal)
    server = undefined
  }

  await start()
  t.teardown(() => kill())
  return {
    kind: 'postgres' as const,
    port,
    run,
    start,
    kill,
    unref: () => server?.unref(),
    pid: () => server?.pid,
  }
}

export type TestPostgres = Awaited<ReturnType<typeof startPostgres>>

export async function answering(ask: () => Promise<unknown>, tries = 200): Promise<void> {
  for (let left = tries; ; left--) {
    try {
      await ask()
      return
    } catch (error) {
      if (left === 0) throw error
      await sleep(100)
    }
  }
}

export async function ended(server: ChildProcess | undefined, signal: NodeJS.Signals) {
  if (server === undefined || hasEnded(server)) return
  const exit = new Promise((resolve) => server.once('exit', resolve))
  server.kill(signal)
  await exit
}

const hasEnded = (server: ChildProcess | undefined) =>
  server === undefined || server.exitCode !== null || server.signalCode !== null
