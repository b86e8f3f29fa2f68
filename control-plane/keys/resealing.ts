/**
 * A master key is replaced while the service runs: what the one before has sealed is sealed anew, a
 * few rows at a time, and found among some thousands at a time, since SQLite answers at once. Whoever stops in the middle begins again, and finds less to do. The check of
 * the master key comes last: as long as that needs the key before, a start without it is refused.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import type { Logger } from 'pino'
import {
  and,
  asc,
  eq,
  getTableColumns,
  getTableConfig,
  getTableName,
  ne,
  sql,
  type SQL,
  type SQLiteColumn,
} from '../store/drizzle.ts'
import type { Queries } from '../store/engine.ts'
import { schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { factPurpose, MASTER_KEY_CHECK } from './master-key.ts'
import { SEALED_COLUMNS, type SealedColumn } from './sealed-columns.ts'
import type { Vault } from './vault.ts'

/** In one change, which others wait for. */
const BATCH = 100
/** Rows that are looked through between two turns of the event loop. */
const LOOKED_THROUGH = 2000

type Row = Readonly<Record<string, unknown>>

interface ResealingWorld {
  readonly store: Store
  readonly vault: Vault
  readonly log: Pick<Logger, 'info' | 'error'>
}

const FACTS: SealedColumn = {
  table: schema.facts,
  column: 'value',
  purpose: ({ name }) => factPurpose(String(name)),
}
/** Of values that may be no sealed ones. */
const SEALED_LIKE = /^v1\.[\w-]{8}\./

export function createResealing({ store, vault, log }: ResealingWorld) {
  let isDone = false

  /** One round over everything; the next one finds what was sealed with the old key meanwhile. */
  return async function reseal(isClosed: () => boolean): Promise<void> {
    let [sealedAnew, unopened] = [0, 0]
    const others = ne(schema.facts.name, MASTER_KEY_CHECK)
    for (const [column, only] of [
      ...SEALED_COLUMNS.map((one) => [one, undefined] as const),
      [FACTS, others] as const,
    ])
      for await (const counts of batches(column, only)) {
        sealedAnew += counts.sealedAnew
        unopened += counts.unopened
        if (isClosed()) return
      }
    if (unopened > 0)
      return log.error(
        { sealed_anew: sealedAnew, unopened },
        'not everything opens with SERVICE_MASTER_KEY_PREVIOUS: keep every master key that this database was written with',
      )
    const isCheck = eq(schema.facts.name, MASTER_KEY_CHECK)
    for await (const counts of batches(FACTS, isCheck)) sealedAnew += counts.sealedAnew
    if (isDone && sealedAnew === 0) return
    isDone = true
    log.info(
      { sealed_anew: sealedAnew },
      'everything is sealed with SERVICE_MASTER_KEY: once every control plane has been started with it, SERVICE_MASTER_KEY_PREVIOUS can go',
    )
  }

  async function* batches(sealed: SealedColumn, only: SQL | undefined) {
    const key = keyOf(sealed)
    let last: Row | undefined
    for (;;) {
      const end = await endBehind(store.read, sealed, key, last)
      const rows = await select(store.read, sealed, key, { last, end }, only)
      if (rows.length > 0)
        yield await store.change(({ queries }) => sealAnew(queries, sealed, key, rows))
      const isAll = rows.length < BATCH
      if (isAll && end === undefined) return
      last = isAll ? end : rows.at(-1)
      await breathe()
    }
  }

  /** The last of as many rows as are looked through; undefined: there are no more than those. */
  async function endBehind(
    queries: Queries,
    { table }: SealedColumn,
    key: readonly string[],
    last: Row | undefined,
  ): Promise<Row | undefined> {
    const columns = getTableColumns(table) as Record<string, SQLiteColumn>
    const [row] = await queries
      .select(Object.fromEntries(key.map((name) => [name, columns[name] as SQLiteColumn])))
      .from(table)
      .where(last && compared(table, key, '>', last))
      .orderBy(...key.map((name) => asc(columns[name] as SQLiteColumn)))
      .limit(1)
      .offset(LOOKED_THROUGH - 1)
    return row
  }

  async function select(
    queries: Queries,
    { table, column }: SealedColumn,
    key: readonly string[],
    { last, end }: { readonly last: Row | undefined; readonly end: Row | undefined },
    only: SQL | undefined,
  ): Promise<readonly Row[]> {
    const columns = getTableColumns(table) as Record<string, SQLiteColumn>
    const isBehind = last && compared(table, key, '>', last)
    const isBefore = end && compared(table, key, '<=', end)
    const isOther = sql`substr(${columns[column]}, 1, ${vault.prefix.length}) <> ${vault.prefix}`
    return queries
      .select()
      .from(table)
      .where(and(isOther, isBehind, isBefore, only))
      .orderBy(...key.map((name) => asc(columns[name] as SQLiteColumn)))
      .limit(BATCH)
  }

  async function sealAnew(
    queries: Queries,
    { table, column, purpose }: SealedColumn,
    key: readonly string[],
    rows: readonly Row[],
  ) {
    const columns = getTableColumns(table) as Record<string, SQLiteColumn>
    const counts = { sealedAnew: 0, unopened: 0 }
    for (const row of rows) {
      const before = String(row[column])
      if (!SEALED_LIKE.test(before)) continue
      const plain = opened(before, purpose(row))
      if (plain === undefined) {
        counts.unopened++
        continue
      }
      const named = key.map((name) => eq(columns[name] as SQLiteColumn, row[name]))
      await queries
        .update(table)
        .set({ [column]: vault.seal(plain, purpose(row)) })
        .where(and(...named, eq(columns[column] as SQLiteColumn, before))) // unless it has changed since
      counts.sealedAnew++
    }
    return counts
  }

  function opened(value: string, purpose: string): string | undefined {
    try {
      return vault.open(value, purpose)
    } catch {
      return undefined
    }
  }
}

/** By its primary key. */
function compared(
  table: SealedColumn['table'],
  key: readonly string[],
  how: '>' | '<=',
  row: Row,
): SQL {
  const columns = getTableColumns(table) as Record<string, SQLiteColumn>
  const names = key.map((name) => columns[name] as SQLiteColumn)
  const values = key.map((name) => sql.param(row[name], columns[name]))
  return sql`(${sql.join(names, sql`, `)}) ${sql.raw(how)} (${sql.join(values, sql`, `)})`
}

/** The names of its primary key. */
function keyOf({ table }: SealedColumn): readonly string[] {
  const { columns, primaryKeys } = getTableConfig(table)
  const ofTable = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary)
  const names = Object.entries(getTableColumns(table) as Record<string, SQLiteColumn>)
  const key = ofTable.map((column) => names.find(([, one]) => one.name === column.name)?.[0])
  if (key.length === 0 || key.includes(undefined))
    throw new Error(`${getTableName(table)} has no primary key`)
  return key as string[]
}
