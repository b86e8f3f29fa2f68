/**
 * The unique index refuses, not a SELECT before it: of two that ask at once exactly one gets in.
 * What the database then says is turned into our refusal here.
 */
import { Refusal, type ErrorCode } from '../../../shared/errors.ts'
import { takenColumns } from '../engines/taken.ts'

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
    const refusing = takenColumns(error)
    const taken = columns.find(({ column }) => refusing.includes(column))
    if (taken === undefined) throw error
    throw new Refusal(taken.refusal, { field: taken.field })
  }
}
