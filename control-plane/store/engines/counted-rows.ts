/**
 * How many rows a change touches, and by whom it was asked for: so a test with a full tenant finds the
 * one that grows with it (`changeRowsWrittenMax`, `changeRowsReadMax`). Nobody counts where nobody is told.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type Database from 'better-sqlite3'
import type { Queries } from '../engine.ts'

export interface ChangedRows {
  /** File and function that asked the store, below whoever it is that called them. */
  readonly by: string
  readonly read: number
  readonly written: number
}

interface AskedRows {
  readonly text: string
  readonly read: number
  readonly ms: number
  /** Of which change it is a part. */
  readonly by: string | undefined
}

export interface RowsTold {
  change(rows: ChangedRows): void
  statement(asked: AskedRows): void
}

export type CountedRows = ReturnType<typeof countRows>

interface Counted {
  readonly by: string
  read: number
  written: number
}

export function countRows(told: RowsTold) {
  const current = new AsyncLocalStorage<Counted>()

  function note({ source, readonly }: Database.Statement, count: number, ms: number) {
    const counted = current.getStore()
    if (counted !== undefined) counted[readonly ? 'read' : 'written'] += count
    told.statement({ text: source, read: readonly ? count : 0, ms, by: counted?.by })
  }

  return {
    ofChange<T>(work: (queries: Queries) => Promise<T>): typeof work {
      const by = asker()
      return (queries) => {
        const counted: Counted = { by, read: 0, written: 0 }
        return current.run(counted, () => work(queries)).finally(() => told.change(counted))
      }
    },

    of(statement: Database.Statement) {
      const { all, get, run } = statement
      const counting =
        <Given, Result>(ask: (...given: Given[]) => Result, rowsIn: (result: Result) => number) =>
        (...given: Given[]) => {
          const begunMs = performance.now()
          const result = ask.apply(statement, given)
          note(statement, rowsIn(result), performance.now() - begunMs)
          return result
        }
      statement.all = counting(all, (found) => found.length)
      statement.get = counting(get, (found) => (found === undefined ? 0 : 1))
      statement.run = counting(run, ({ changes }) => changes)
    },
  }
}

const FRAME =
  /at (?:async )?(?:(?<name>\S+) (?:\[as \S+\] )?\()?file:\/\/\S*?\/(?<file>(?:control-plane|test)\/\S+?):\d+/

/** The first two that are not the store's own. */
function asker(): string {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = 30
  const { stack = '' } = new Error('asked')
  Error.stackTraceLimit = before
  const frames = stack.split('\n').flatMap((line) => {
    const { name = '', file = '' } = FRAME.exec(line)?.groups ?? {}
    if (file === '' || /^control-plane\/(?:store|tracing)\//.test(file)) return []
    return [name === '' ? file : `${file} ${name.replace(/^(?:async|Object\.)/, '')}`]
  })
  // whoever has waited for their turn has left their callers behind
  return frames.slice(0, 2).join(' < ') || 'somebody in their turn'
}
