/** PgBouncer of this test alone, which lends sessions of a server by transaction. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import pg from 'pg'
import { freePort } from './ports.ts'
import {
  ADMIN,
  answering,
  asNobody,
  ended,
  NO_POSTGRES,
  serverFile,
  serverFolder,
  type Teardown,
} from './postgres.ts'

const PROGRAM = '/usr/sbin/pgbouncer'
export const NO_PGBOUNCER =
  NO_POSTGRES || (!existsSync(PROGRAM) && 'PgBouncer is not installed here')

/** Fewer sessions than the control plane has connections, so that each is lent to many. */
const SESSIONS = 3

export async function startPgbouncer(t: Teardown, serverPort: number): Promise<number> {
  const folder = serverFolder(t, 'pgbouncer-')
  const users = serverFile(folder, 'users.txt', `"${ADMIN.user}" "${ADMIN.password}"\n`)
  const port = await freePort()
  const settings = serverFile(
    folder,
    'pgbouncer.ini',
    `[databases]
* = host=127.0.0.1 port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${SESSIONS}
`,
  )
  const bouncer = spawn(PROGRAM, ['-q', settings], { ...asNobody, cwd: folder, stdio: 'ignore' })
  t.teardown(() => ended(bouncer, 'SIGKILL'))
  await answering(async () => {
    const client = new pg.Client({ ...ADMIN, host: '127.0.0.1', port, database: 'postgres' })
    await client.connect()
    await client.end()
  })
  return port
}
