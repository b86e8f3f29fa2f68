/** PostgreSQL by `pg`: unnamed statements in transactions of their own, so that poolers work too. */
import type { EventEmitter } from 'node:events'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { LIMITS } from '../../shared/limits.ts'
import type { DriverConnection, Route } from './driver.ts'
import { DirectoryFault, networkFault, type FaultKind } from './faults.ts'
import { columnsQuery, lookUpQuery } from './query.ts'
import type { DirectoryTarget } from './settings.ts'
import { withoutTrailing } from '../../shared/trailing.ts'

/** In one round trip; `LOCAL`, so that nothing of it stays in a pooled session. */
const BEGIN = [
  'BEGIN TRANSACTION READ ONLY',
  `SET LOCAL statement_timeout = ${LIMITS.directoryStatementMsMax}`,
  `SET LOCAL lock_timeout = ${LIMITS.directoryStatementMsMax}`,
].join('; ')

/** Everything as the text that the database writes: no reading of numbers, dates or JSON. */
const AS_TEXT = { getTypeParser: () => (value: string) => value } as pg.CustomTypesConfig

/** `character(n)`: the spaces at the end are its padding, and count in no comparison there. */
const PADDED = pg.types.builtins.BPCHAR

/** What is under a client; the stream is another one once it is encrypted. */
interface Wire extends EventEmitter {
  readonly stream: Duplex
}

export async function connectPostgres(
  target: DirectoryTarget,
  { socket, address, contain }: Route,
): Promise<DriverConnection> {
  const { host, tls, caPem, query, columns } = target
  const client = new pg.Client({
    host: address,
    port: target.port,
    database: target.database,
    user: target.username,
    password: target.password,
    stream: () => socket,
    ssl:
      tls === 'off'
        ? false
        : {
            ...(isIP(host) === 0 && { servername: host }),
            ...(caPem !== null && { ca: caPem }),
          },
    application_name: 'user directory',
    keepAlive: true,
    types: AS_TEXT,
  })
  const wire = (client as unknown as { readonly connection: Wire }).connection
  wire.once('sslconnect', () => contain(wire.stream))
  client.on('error', () => {}) // who asks next is told that the connection is gone
  await client.connect().catch(refuse)

  async function ask(text: string, values: string[] = []) {
    try {
      await client.query(BEGIN)
      const result = await client.query<(string | null)[]>({
        text,
        values,
        rowMode: 'array',
        types: AS_TEXT,
      })
      await client.query('ROLLBACK')
      return result
    } catch (error) {
      return refuse(error)
    }
  }

  return {
    async isReadOnly() {
      const { rows } = await ask('SHOW transaction_read_only')
      return rows[0]?.[0] === 'on'
    },
    async columns() {
      const { fields } = await ask(columnsQuery(query), [''])
      return fields.map(({ name }) => name)
    },
    async find(login) {
      const { fields, rows } = await ask(lookUpQuery('postgres', query, columns), [login])
      return rows.map((row) =>
        row.map((cell, at) =>
          fields[at]?.dataTypeID === PADDED ? cell && withoutTrailing(cell, ' ') : cell,
        ),
      )
    },
    end: () => void client.end().catch(() => {}),
  }
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const STATES: Readonly<Record<string, FaultKind>> = {
  '28P01': 'credentials_wrong',
  '28000': 'not_admitted',
  '3D000': 'database_unknown',
  '25006': 'query_writes',
  '57014': 'query_slow',
  '55P03': 'query_slow',
  '42501': 'query_forbidden',
  '42P18': 'parameter_wrong',
  '42P02': 'parameter_wrong',
  '08P01': 'parameter_wrong',
  '22P02': 'parameter_wrong',
  '42702': 'column_twice',
  '53300': 'overloaded',
  '57P01': 'lost',
  '57P02': 'lost',
  '57P03': 'lost',
}

function refuse(error: unknown): never {
  if (error instanceof DirectoryFault) throw error
  const { code, message } = error as { code?: string; message: string }
  const network = networkFault(code)
  if (network !== undefined) throw network
  const known = STATES[code ?? '']
  if (known !== undefined)
    throw new DirectoryFault(known, isAboutQuery(known) ? message : undefined)
  if (code === '0A000' && message.includes('data-modifying'))
    throw new DirectoryFault('query_writes', message)
  if (/^(?:42|0A)/.test(code ?? '')) throw new DirectoryFault('query_wrong', message)
  // without a code, since the driver has them from nobody
  if (/does not support SSL/.test(message)) throw new DirectoryFault('tls_missing')
  if (/establishing an SSL connection|invalid response|SASL|expected/i.test(message))
    throw new DirectoryFault('not_a_database')
  if (/terminated|closed|not queryable/i.test(message)) throw new DirectoryFault('lost')
  throw new DirectoryFault('other', code === undefined ? undefined : message)
}

const isAboutQuery = (kind: FaultKind) =>
  ['query_writes', 'query_forbidden', 'parameter_wrong', 'column_twice'].includes(kind)
