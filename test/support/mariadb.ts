/** A MariaDB of this test alone; it speaks MySQL's protocol, and most of its SQL. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import { freePort } from './ports.ts'
import {
  ADMIN,
  answering,
  asNobody,
  ended,
  serverFile,
  serverFolder,
  setUpOnce,
  type ServerCertificate,
  type Teardown,
} from './postgres.ts'

const PROGRAM = '/usr/sbin/mariadbd'
const SET_UP = '/usr/bin/mariadb-install-db'
const isThere = existsSync(PROGRAM) && existsSync(SET_UP)
export const NO_MARIADB = !isThere && 'MariaDB is not installed here'

const newData = setUpOnce('mariadb-set-up-', (data, folder) => {
  execFileSync(
    SET_UP,
    [
      '--no-defaults',
      `--datadir=${data}`,
      `--tmpdir=${folder}`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      '--skip-name-resolve',
    ],
    { ...asNobody, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  )
})

export async function startMariaDb(t: Teardown, certificate?: ServerCertificate) {
  const folder = serverFolder(t, 'mariadb-')
  const data = newData(folder)
  const port = await freePort()
  const admin = `'${ADMIN.user}'@'%' IDENTIFIED BY '${ADMIN.password}'`
  const first = serverFile(
    folder,
    'first.sql',
    `CREATE USER IF NOT EXISTS ${admin};\nGRANT ALL ON *.* TO '${ADMIN.user}'@'%' WITH GRANT OPTION;\n`,
  )
  const tls =
    certificate === undefined
      ? []
      : [
          `--ssl-cert=${serverFile(folder, 'server.crt', certificate.certificate_pem)}`,
          `--ssl-key=${serverFile(folder, 'server.key', certificate.private_key_pem)}`,
        ]
  let server: ChildProcess | undefined

  async function run(sql: string, database?: string) {
    const connection = await mysql.createConnection({
      ...ADMIN,
      host: '127.0.0.1',
      port,
      multipleStatements: true,
      ...(database !== undefined && { database }),
    })
    connection.on('error', () => {})
    try {
      const [rows] = await connection.query(sql)
      return rows
    } finally {
      connection.destroy()
    }
  }

  async function start() {
    const places = [`--datadir=${data}`, `--tmpdir=${folder}`, `--socket=${join(folder, 'socket')}`]
    const network = ['--bind-address=127.0.0.1', `--port=${port}`, '--skip-name-resolve']
    const quick = ['--innodb-flush-log-at-trx-commit=0', '--innodb-buffer-pool-size=16M']
    const options = [...places, ...network, ...quick, ...tls, `--init-file=${first}`]
    server = spawn(PROGRAM, ['--no-defaults', ...options], {
      ...asNobody,
      cwd: folder,
      stdio: 'ignore',
    })
    await answering(() => run('SELECT 1'))
  }

  async function kill() {
    await ended(server, 'SIGKILL')
    server = undefined
  }

  await start()
  t.teardown(kill)
  return { kind: 'mysql' as const, port, run, start, kill }
}

export type TestMariaDb = Awaited<ReturnType<typeof startMariaDb>>
