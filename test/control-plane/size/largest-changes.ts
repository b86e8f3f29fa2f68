/** What changes and statements have held: the largest of each, and what was going on. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { LIMITS } from '../../../shared/limits.ts'
import type { ChangedRows, RowsTold } from '../../../control-plane/store/engines/counted-rows.ts'

interface Largest {
  readonly rows: number
  readonly during: string
}

export function countChanges() {
  const during = new AsyncLocalStorage<string>()
  const written = new Map<string, Largest>()
  const read = new Map<string, Largest>()
  const statements = new Map<string, Largest>()

  function note(largest: Map<string, Largest>, name: string, rows: number) {
    if (rows > (largest.get(name)?.rows ?? -1))
      largest.set(name, { rows, during: during.getStore() ?? 'a job' })
  }

  const told: RowsTold = {
    change(rows: ChangedRows) {
      // what a test writes is no change of the service
      if (rows.by.startsWith('test/')) return
      note(written, rows.by, rows.written)
      note(read, rows.by, rows.read)
    },
    statement: ({ text, read: rows }) => note(statements, text, rows),
  }

  const above = (largest: Map<string, Largest>, most: number) =>
    [...largest]
      .filter(([, { rows }]) => rows > most)
      .sort(([, one], [, other]) => other.rows - one.rows)
      .map(([name, { rows, during }]) => `${rows} rows: ${name} (${during})`)

  return {
    told,
    during: <T>(name: string, work: () => Promise<T>): Promise<T> => during.run(name, work),
    /** Who holds more than a change may. */
    tooLarge: () => ({
      written: above(written, LIMITS.changeRowsWrittenMax),
      read: above(read, LIMITS.changeRowsReadMax),
    }),
    /** For whoever looks for the next one to mend. */
    report: (most: number) => ({
      written: above(written, most),
      read: above(read, most),
      statements: above(statements, most),
    }),
    get count() {
      return written.size
    },
  }
}
