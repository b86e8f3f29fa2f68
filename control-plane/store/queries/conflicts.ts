/**
 * The unique index refuses, not a SELECT before it: of two that ask at once exactly one gets in.
 * What the database then says is turned into our refusal here.
 */
import { Refusal, type ErrorCode } from '../../../shared/errors.ts'

interface UniqueColumn {
  /** As the database names it: `users.username_key`. */
  readonly column: string
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
}

function isRefusedBy(error: unknown, { column }: UniqueColumn): boolean {
  const { code, message = '' } = ((error as Error).cause ?? error) as DriverError
  if (!/^SQLITE_CONSTRAINT_(?:UNIQUE|PRIMARYKEY)$/.test(code ?? '')) return false
  return message.split(/[ ,]+/).includes(column)
}
