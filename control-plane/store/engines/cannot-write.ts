/** Why a database takes no changes, in the words of either. */

export type CannotWrite = 'full' | 'read_only' | 'failing'

/** https://www.sqlite.org/rescode.html, https://www.postgresql.org/docs/current/errcodes-appendix.html */
const CODES: readonly (readonly [RegExp, CannotWrite])[] = [
  [/^(?:SQLITE_FULL|53100)$/, 'full'],
  [/^(?:SQLITE_READONLY|25006$)/, 'read_only'],
  [/^(?:SQLITE_IOERR|58030$)/, 'failing'],
]

/** Undefined: it is something else that went wrong. */
export function cannotWrite(error: unknown): CannotWrite | undefined {
  for (let one = error; one instanceof Error; one = one.cause) {
    const { code } = one as { code?: unknown }
    const known = typeof code === 'string' && CODES.find(([codes]) => codes.test(code))
    if (known) return known[1]
  }
  return undefined
}
