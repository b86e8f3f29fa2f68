/**
 * The unique index refuses, not a SELECT before it: of two that ask at once exactly one gets in.
 * What the database then says is turned into our refusal here.
 */
import { Refusal, type ErrorCode } from '../../../shared/errors.ts'

interface UniqueColumn {
  /** As SQLite names it (`users.username_key`), and the index as Postgres names it. */
  readonly column: string
  readonly index: string
  readonly refusal: ErrorCode
  readonly field: string
}

export async function refuseTaken<T>(work: PromiseLike<T>, columns: readonly UniqueColumn[]) {
  try {
    return await work
  } catch (error) {
    const taken = columns.find((column) => isRefusedBy(error, column))
    if (taken === undefined) throw error
    throw new Refusal(taken.refusal, { field: taken.field })
  }
}

interface DriverError {
  readonly code?: string
  readonly message?: string
  readonly constraint?: string
}

function isRefusedBy(error: unknown, { column, index }: UniqueColumn): boolean {
  const { code, message = '', constraint } = ((error as Error).cause ?? error) as DriverError
  if (code === '23505') return constraint === index
  if (!/^SQLITE_CONSTRAINT_(?:UNIQUE|PRIMARYKEY)$/.test(code ?? '')) return false
  return message.split(/[ ,]+/).includes(column)
}
