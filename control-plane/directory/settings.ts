/** What an operator decides about a tenant's own database. */
export const DIRECTORY_KINDS = ['postgres', 'mysql'] as const
export type DirectoryKind = (typeof DIRECTORY_KINDS)[number]

/** `verify`: encrypted, to a server whose certificate names the host. There is no in between. */
export const TLS_MODES = ['off', 'verify'] as const
export type TlsMode = (typeof TLS_MODES)[number]

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

/** Under another of these a password that is kept would be sent to somebody new. */
export function isSameLogin(a: DirectorySettings, b: DirectorySettings): boolean {
  const keys = ['kind', 'host', 'port', 'username', 'tls', 'caPem'] as const
  return keys.every((key) => a[key] === b[key])
}
