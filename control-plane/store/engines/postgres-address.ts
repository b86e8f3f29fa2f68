/**
 * `postgres://user:password@one:5432,two/database?sslmode=verify-full`, read here since neither URLs
 * nor the driver know several hosts. Nothing that is said about it repeats the password.
 */
import { readFileSync } from 'node:fs'
import type { ClientConfig } from 'pg'
import { ConfigError } from '../../../shared/config/config.ts'
import { isThisMachine } from '../../../shared/hosts.ts'

export interface PostgresAddress {
  /** In the order in which they are tried for the one that takes changes. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
  readonly database: string
  readonly user: string | undefined
  /** Undefined: as the driver finds it, in PGPASSWORD. */
  readonly password: string | undefined
  /** Of a host: how it is spoken to. */
  readonly tlsFor: (host: string) => ClientConfig['ssl']
}

const SETTING = 'control_plane.database'
const SHAPE = 'postgres://user:password@host:5432/database'
const PORT = 5432
const HOSTS_MAX = 8

const URL_SHAPE =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^@/?#]*)(?:\/(?<database>[^/?#]*))?(?:\?(?<options>[^#]*))?$/
const HOST_SHAPE = /^(?:\[(?<v6>[0-9a-f:.]+)\]|(?<name>[^:[\]\s]+))(?::(?<port>\d{1,5}))?$/i

export function postgresAddress(url: string): PostgresAddress {
  const parts = URL_SHAPE.exec(url)?.groups
  if (parts === undefined)
    throw problem(`expected ${SHAPE}; in a user or password write @ : / ? as %40 %3A %2F %3F`)
  const { hosts = '', database = '', options = '' } = parts
  if (database === '') throw problem(`expected ${SHAPE}: the name of the database is missing`)
  const named = hosts.split(',').map(hostOf)
  if (named.length > HOSTS_MAX) throw problem(`expected at most ${HOSTS_MAX} hosts`)
  return {
    hosts: named,
    database: decoded(database),
    user: parts['user'] === undefined ? undefined : decoded(parts['user']),
    password: parts['password'] === undefined ? undefined : decoded(parts['password']),
    tlsFor: tlsOf(new URLSearchParams(options)),
  }
}

function hostOf(text: string) {
  const parts = HOST_SHAPE.exec(text)?.groups
  const host = parts?.['v6'] ?? parts?.['name']
  const port = Number(parts?.['port'] ?? PORT)
  if (host === undefined || port < 1 || port > 65_535)
    throw problem(`expected a host like db.example.com:5432, got ${JSON.stringify(text)}`)
  return { host: decoded(host), port }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw problem('expected every % to begin an escape like %40; a plain % is written %25')
  }
}

/** As libpq means them, but for those that go on in the clear when they are told to. */
const MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const
const isMode = (mode: string): mode is (typeof MODES)[number] =>
  (MODES as readonly string[]).includes(mode)

/** Encrypted and checked wherever it leaves this machine, unless somebody says otherwise. */
function tlsOf(options: URLSearchParams): PostgresAddress['tlsFor'] {
  for (const name of options.keys())
    if (name !== 'sslmode' && name !== 'sslrootcert')
      throw problem(`unknown option "${name}"; there are sslmode and sslrootcert`)
  const mode = options.get('sslmode')
  if (mode !== null && !isMode(mode))
    throw problem(`sslmode: expected disable, require, verify-ca or verify-full, got "${mode}"`)
  const file = options.get('sslrootcert')
  const ca = file === null || file === 'system' ? {} : { ca: certificatesIn(file) }
  const isPlain = (host: string) => mode === 'disable' || (mode === null && isLocal(host))
  return (host) => {
    if (isPlain(host)) return false
    // with an authority, libpq checks for it there too
    if (mode === 'require' && file === null) return { rejectUnauthorized: false }
    if (mode === 'require' || mode === 'verify-ca')
      return { ...ca, checkServerIdentity: () => undefined }
    return ca
  }
}

/** A host that begins with a slash is the folder of a socket. */
const isLocal = (host: string) =>
  host.startsWith('/') || isThisMachine(host.includes(':') ? `[${host}]` : host)

function certificatesIn(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw problem(`sslrootcert: ${(error as Error).message}`)
  }
}

const problem = (text: string) => new ConfigError(`${SETTING}: ${text}`)

/** What an operator can do about a database that could not be opened; undefined: nothing known. */
export function adviceOn(error: unknown, { hosts, database, user }: PostgresAddress) {
  const { code = '', message } = error as { code?: string; message: string }
  const where = hosts.map(({ host, port }) => `${host}:${port}`).join(', ')
  const as = user === undefined ? 'this user' : `user "${user}"`
  const advice: Readonly<Record<string, string>> = {
    ECONNREFUSED: `nobody listens at ${where}; is PostgreSQL running there, and is the port right?`,
    ENOTFOUND: `no address is known for ${where}; check the name`,
    EAI_AGAIN: `no address could be found for ${where}; check the name, and this machine’s DNS`,
    ETIMEDOUT: `nobody answered at ${where}; check the address, and the firewalls in between`,
    EHOSTUNREACH: `there is no way to ${where}; check the address and the network`,
    '28P01': `the password for ${as} was not accepted; set it in the address, or in PGPASSWORD`,
    '28000': `${as} is not admitted; check pg_hba.conf on the server`,
    '3D000': `there is no database "${database}"; create it with: createdb --encoding=UTF8 --template=template0 ${database}`,
    '53300': 'it has no connection left; raise max_connections, or put PgBouncer before it',
    '42501': `${as} may not create tables; run: GRANT ALL ON SCHEMA public TO ${user ?? 'that user'}`,
    '57P03': `it is still starting, or recovering; try again shortly`,
  }
  if (advice[code] !== undefined) return advice[code]
  if (/does not support SSL/.test(message))
    return `${where} offers no TLS; set it up there, or add ?sslmode=disable where the network is yours alone`
  if (/self.signed|unable to (?:get|verify)|altname|certificate/i.test(message))
    return `the certificate at ${where} is not trusted (${message}); name its authority with ?sslrootcert=FILE`
  if (/password must be a string/.test(message))
    return `it wants a password for ${as}; set it in the address, or in PGPASSWORD`
  return undefined
}
