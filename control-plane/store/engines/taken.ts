/** What a unique index has refused, in the words of either database. */

interface DriverError {
  readonly code?: string
  readonly message?: string
  /** Of Postgres. */
  readonly table?: string
  readonly detail?: string
}

const POSTGRES_UNIQUE = '23505'

/** The columns of the index, each as `users.username_key`; none: it was something else. */
export function takenColumns(error: unknown): readonly string[] {
  const {
    code = '',
    message = '',
    table,
    detail = '',
  } = ((error as Error).cause ?? error) as DriverError
  if (code === POSTGRES_UNIQUE) {
    // Key (tenant_id, username_key)=(acme, ada) already exists; whatever language it speaks
    const [, columns = ''] = /\(([^()]*)\)=/.exec(detail) ?? []
    return columns.split(', ').map((column) => `${table}.${column}`)
  }
  return /^SQLITE_CONSTRAINT_(?:UNIQUE|PRIMARYKEY)$/.test(code) ? message.split(/[ ,]+/) : []
}
