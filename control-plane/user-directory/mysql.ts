/** MySQL and MariaDB by `mysql2`: prepared by the server, in a session that only reads. */
import { isUtf8 } from 'node:buffer'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import mysql, { type Connection, type FieldPacket } from 'mysql2'
import { LIMITS } from '../../shared/limits.ts'
import type { DriverConnection, Route, Row } from './driver.ts'
import { DirectoryFault, networkFault, type FaultKind } from './faults.ts'
import { columnsQuery, lookUpQuery } from './query.ts'
import { chosenColumns, type DirectoryTarget } from './settings.ts'
import { withoutTrailing } from '../../shared/trailing.ts'

export async function connectMysql(
  target: DirectoryTarget,
  { socket, address, contain }: Route,
): Promise<DriverConnection> {
  const { host, port, tls, caPem, query, columns } = target
  const idAt = chosenColumns(columns).findIndex(({ role }) => role === 'id')
  const connection = mysql.createConnection({
    host,
    port,
    database: target.database,
    user: target.username,
    password: target.password,
    stream: () => socket.setNoDelay(true).setKeepAlive(true).connect({ host: address, port }),
    ...(tls === 'verify' && {
      ssl: { verifyIdentity: true, ...(caPem !== null && { ca: caPem }) },
    }),
    flags: ['-LOCAL_FILES', '-CONNECT_ATTRS'],
    connectTimeout: LIMITS.directoryConnectMsMax,
    rowsAsArray: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    jsonStrings: true,
    disableEval: true,
    maxPreparedStatements: 4,
  })
  containEncrypted(connection, contain)
  connection.on('error', () => {}) // who asks next is told that the connection is gone
  const run = statementsOf(connection)
  try {
    await connected(connection)
    await run.plain('SET SESSION TRANSACTION READ ONLY')
    await limitStatements(run)
  } catch (error) {
    refuse(error)
  }

  async function find(login: string): Promise<Row[]> {
    const text = lookUpQuery('mysql', query, columns)
    const { fields, rows } = await run.prepared(text, [login])
    return rows.map((row) =>
      row.map((cell, at) => {
        const isPadded = PADDED.has(fields[at]?.columnType ?? 0)
        return at === idAt ? idText(cell, isPadded) : toText(cell, isPadded)
      }),
    )
  }

  return {
    async isReadOnly() {
      const names = "('transaction_read_only', 'tx_read_only')"
      const rows = await run.plain(`SHOW SESSION VARIABLES WHERE Variable_name IN ${names}`)
      return rows.some(([, value]) => value === 'ON' || value === '1')
    },
    columns: () => columnsOf(connection, columnsQuery(query)).catch(refuse),
    find: (login) => find(login).catch(refuse),
    end: () => connection.end(() => {}),
  }
}

/** The driver puts another stream in the socket's place, and reads from that. */
function containEncrypted(connection: Connection, contain: Route['contain']) {
  const wire = connection as unknown as {
    stream: Duplex
    startTLS(onSecure: (error?: Error) => void): void
  }
  const startTls = wire.startTLS.bind(wire)
  wire.startTLS = (onSecure) => {
    startTls(onSecure)
    contain(wire.stream)
  }
}

function connected(connection: Connection): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.connect((error) => (error === null ? resolve() : reject(error)))
  })
}

type Cells = readonly unknown[]

function statementsOf(connection: Connection) {
  type Answer = (error: Error | null, rows: unknown) => void
  const plain = promisify((sql: string, answer: Answer) => void connection.query(sql, answer))
  const prepared = (sql: string, values: string[]) =>
    new Promise<{ rows: unknown; fields: FieldPacket[] }>((resolve, reject) => {
      connection.execute(sql, values, (error: Error | null, rows: unknown, fields) =>
        error === null ? resolve({ rows, fields }) : reject(error),
      )
    })
  const rowsOf = (rows: unknown) => (Array.isArray(rows) ? (rows as Cells[]) : [])
  return {
    plain: async (sql: string) => rowsOf(await plain(sql)),
    prepared: async (sql: string, values: string[]) => {
      const { rows, fields } = await prepared(sql, values)
      return { rows: rowsOf(rows), fields }
    },
  }
}

/** MariaDB counts in seconds and calls it otherwise. */
async function limitStatements(run: ReturnType<typeof statementsOf>) {
  const [row] = await run.plain('SELECT VERSION()')
  const isMariaDb = String(row?.[0]).includes('MariaDB')
  const limit = isMariaDb
    ? `max_statement_time = ${LIMITS.directoryStatementMsMax / 1000}`
    : `max_execution_time = ${LIMITS.directoryStatementMsMax}`
  await run.plain(`SET SESSION ${limit}`)
}

interface Prepared {
  readonly columns: readonly FieldPacket[]
  readonly parameters: readonly unknown[]
  close(): void
}

/** Prepared and not run: the server tells columns and parameters all the same. */
function columnsOf(connection: Connection, sql: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    connection.prepare(sql, (error, statement) => {
      if (error !== null) return reject(error)
      const { columns, parameters } = statement as unknown as Prepared
      statement.close()
      if (parameters.length !== 1) return reject(new DirectoryFault('parameter_wrong'))
      resolve(columns.map(({ name }) => name))
    })
  })
}

/** BIT, and CHAR or BINARY: all values have one length, and their padding tells nobody apart. */
const PADDED: ReadonlySet<number> = new Set([16, 254])

function toText(cell: unknown, isPadded: boolean): string | null {
  if (cell === null || cell === undefined) return null
  if (!Buffer.isBuffer(cell)) {
    const text = `${cell as string | number | bigint}`
    return isPadded ? withoutTrailing(text, ' ') : text
  }
  // BIT is a number; other binary columns hold text, or an id that has no better spelling
  if (cell.length === 1 && (cell[0] ?? 0) < 2) return String(cell[0])
  const text = withoutTrailing(cell.toString('utf8'), '\0')
  return /[\p{Cc}\ufffd]/u.test(text) ? cell.toString('hex') : text
}

/**
 * As above, but no two values have the same text where the database tells them apart: what is no
 * text is written as Postgres writes it, and so is text that looks like that.
 */
function idText(cell: unknown, isPadded: boolean): string | null {
  if (!Buffer.isBuffer(cell) || (isPadded && cell.length > 1)) return toText(cell, isPadded)
  const text = cell.toString()
  const isText = isUtf8(cell) && !/[\p{Cc}\ufffd]/u.test(text) && !text.startsWith('\\x')
  return isText ? text : `\\x${cell.toString('hex')}`
}

/** https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html, and MariaDB's own. */
const NUMBERS: Readonly<Record<number, FaultKind>> = {
  1040: 'overloaded',
  1203: 'overloaded',
  1044: 'database_unknown',
  1045: 'credentials_wrong',
  1698: 'credentials_wrong',
  1049: 'database_unknown',
  1053: 'lost',
  1129: 'not_admitted',
  1130: 'not_admitted',
  3159: 'not_admitted',
  1060: 'column_twice',
  1142: 'query_forbidden',
  1143: 'query_forbidden',
  1370: 'query_forbidden',
  1210: 'parameter_wrong',
  1205: 'query_slow',
  1317: 'query_slow',
  1969: 'query_slow',
  3024: 'query_slow',
  1792: 'query_writes',
  1927: 'lost',
}

function refuse(error: unknown): never {
  if (error instanceof DirectoryFault) throw error
  const { code, errno, message } = error as { code?: string; errno?: number; message: string }
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') throw new DirectoryFault('tls_missing')
  const network = networkFault(code)
  if (network !== undefined) throw network
  const known = NUMBERS[errno ?? 0]
  if (known !== undefined)
    throw new DirectoryFault(known, known.startsWith('query_') ? message : undefined)
  if (/^ER_/.test(code ?? '')) throw new DirectoryFault('query_wrong', message)
  if (/closed state|closed the connection/i.test(message)) throw new DirectoryFault('lost')
  throw new DirectoryFault('not_a_database')
}
