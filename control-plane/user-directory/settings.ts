/** What an operator decides about a tenant's own database. */
export const DIRECTORY_KINDS = ['postgres', 'mysql'] as const
export type DirectoryKind = (typeof DIRECTORY_KINDS)[number]

/** `verify`: encrypted, to a server whose certificate names the host. There is no in between. */
export const TLS_MODES = ['off', 'verify'] as const
type TlsMode = (typeof TLS_MODES)[number]

/** Which column of the query is what. */
export const ROLES = ['id', 'username', 'email', 'name', 'password_hash', 'disabled'] as const
export type Role = (typeof ROLES)[number]
export type Columns = Readonly<Record<Exclude<Role, 'disabled'>, string>> & {
  readonly disabled?: string | undefined
}

export interface DirectorySettings {
  readonly kind: DirectoryKind
  readonly host: string
  readonly port: number
  readonly database: string
  readonly username: string
  readonly tls: TlsMode
  readonly caPem: string | null
  readonly query: string
  readonly columns: Columns
}

/** With what a connection is opened. */
export interface DirectoryTarget extends DirectorySettings {
  readonly password: string
}

/** The columns that are asked for, in the order in which a row then has them. */
export function chosenColumns(columns: Columns): readonly { role: Role; column: string }[] {
  return ROLES.flatMap((role) => {
    const column = columns[role]
    return column === undefined ? [] : [{ role, column }]
  })
}

/** Under another of these a password that is kept would be sent to somebody new, or open more. */
const LOGIN = ['kind', 'host', 'port', 'database', 'username', 'tls', 'caPem'] as const

export function isSameLogin(a: DirectorySettings, b: DirectorySettings): boolean {
  return LOGIN.every((key) => a[key] === b[key])
}

/**
 * What only an operator says: where the service connects to in its own network, as whom, and what
 * it reads there with the password that it was given. The query is one of them: errors and samples
 * of another would show what else this login may read. Columns are those of that query.
 */
const RESERVED = [...LOGIN, 'query'] as const

/** The first of them that is another, as forms and the API name it. */
export function reservedChange(
  before: DirectorySettings | undefined,
  after: DirectorySettings,
): string | undefined {
  const other = RESERVED.find((key) => before?.[key] !== after[key])
  return other === 'caPem' ? 'ca_pem' : other
}
