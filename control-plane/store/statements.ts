/**
 * Statements that say no more than which columns they go by. Those that read are prepared once for
 * each connection: drizzle puts a text together anew each time, at more than SQLite needs to answer.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import {
  and,
  eq,
  getTableColumns,
  getTableConfig,
  lt,
  sql,
  type SQL,
  type SQLiteColumn,
  type SQLiteInsertValue,
  type SQLiteTable,
  type SQLiteUpdateSetSource,
} from './drizzle.ts'
import type { Queries } from './engine.ts'

type Row<Table extends SQLiteTable> = Table['$inferSelect']
type Name<Table extends SQLiteTable> = string & keyof Row<Table>
type Values<Table extends SQLiteTable, Names extends readonly Name<Table>[]> = {
  [Place in keyof Names]: NonNullable<Row<Table>[Names[Place]]>
}
/** What a store does with one. */
interface Changing {
  change<T>(
    work: (change: { readonly queries: Queries; readonly nowMs: number }) => Promise<T>,
  ): Promise<T>
}
interface Prepared {
  execute(values: Record<string, unknown>): PromiseLike<unknown>
}
interface Preparing<Rows> extends PromiseLike<Rows> {
  prepare(): Prepared
}

const ROWS_PER_STATEMENT = 100

/** Put together once for each connection, with placeholders for what is asked about. */
export function preparedBy<Rows>(build: (queries: Queries) => Preparing<Rows>) {
  const byConnection = new WeakMap<Queries, Prepared>()
  return async (queries: Queries, values: Record<string, unknown>): Promise<Rows> => {
    const statement = byConnection.getOrInsertComputed(queries, () => build(queries).prepare())
    return (await statement.execute(values)) as Rows
  }
}

const columnOf = (table: SQLiteTable, name: string) => getTableColumns(table)[name] as SQLiteColumn

const equal = (table: SQLiteTable, names: readonly string[], values: readonly unknown[]) =>
  and(...names.map((name, place) => eq(columnOf(table, name), values[place])))

function select<Table extends SQLiteTable>(
  table: Table,
  names: readonly string[],
  { order = [], isLimited }: { readonly order?: readonly SQL[]; readonly isLimited: boolean },
) {
  const given = names.map((name) => sql.param(sql.placeholder(name), columnOf(table, name)))
  const isMeant = equal(table, names, given)
  const ask = preparedBy<unknown>((queries) => {
    const ordered = queries
      .select()
      .from(table as SQLiteTable)
      .where(isMeant)
      .orderBy(...order)
    return isLimited ? ordered.limit(sql.placeholder('limit')) : ordered
  })
  return async (queries: Queries, values: readonly unknown[]) => {
    const named = values.map((value, place) => [names[place] ?? 'limit', value] as const)
    return (await ask(queries, Object.fromEntries(named))) as Row<Table>[]
  }
}

/** The row with these values. */
export function findBy<Table extends SQLiteTable, const Names extends readonly Name<Table>[]>(
  table: Table,
  ...names: Names
) {
  const find = select(table, names, { isLimited: false })
  return async (queries: Queries, ...values: Values<Table, Names>) =>
    (await find(queries, values))[0]
}

/** All rows with these values, in this order. */
export function allBy<Table extends SQLiteTable, const Names extends readonly Name<Table>[]>(
  table: Table,
  names: Names,
  ...order: SQL[]
) {
  const find = select(table, names, { order, isLimited: false })
  return async (queries: Queries, ...values: Values<Table, Names>) => find(queries, values)
}

/** The first so many rows with these values. */
export function firstBy<Table extends SQLiteTable, const Names extends readonly Name<Table>[]>(
  table: Table,
  names: Names,
  ...order: SQL[]
) {
  const find = select(table, names, { order, isLimited: true })
  return async (queries: Queries, ...values: [...Values<Table, Names>, limit: number]) =>
    find(queries, values)
}

/** Answers whether there was a row with these values. */
export function deleteBy<Table extends SQLiteTable, const Names extends readonly Name<Table>[]>(
  table: Table,
  ...names: Names
) {
  return async (queries: Queries, ...values: Values<Table, Names>): Promise<boolean> => {
    const areMeant = equal(table, names, values)
    const gone = await queries
      .delete(table)
      .where(areMeant)
      .returning({ one: sql`1` })
    return gone.length > 0
  }
}

/** Answers whether there was a row with these values; it becomes what comes behind them. */
export function updateBy<Table extends SQLiteTable, const Names extends readonly Name<Table>[]>(
  table: Table,
  ...names: Names
) {
  return async (
    queries: Queries,
    ...given: [...Values<Table, Names>, changes: Partial<Row<Table>>]
  ): Promise<boolean> => {
    const set = given.at(-1) as SQLiteUpdateSetSource<Table>
    const isMeant = equal(table, names, given)
    const changed = await queries
      .update(table)
      .set(set)
      .where(isMeant)
      .returning({ one: sql`1` })
    return changed.length > 0
  }
}

/**
 * The row with this key gets these columns anew, all of them. Prepared: for what is written again
 * and again, as each device does every hour.
 */
export function rewriteBy<
  Table extends SQLiteTable,
  const Key extends Name<Table>,
  const Names extends readonly Name<Table>[],
>(table: Table, key: Key, ...names: Names) {
  const given = (name: string) => sql.param(sql.placeholder(name), columnOf(table, name))
  const set = Object.fromEntries(names.map((name) => [name, sql`${given(name)}`]))
  const rewrite = preparedBy<unknown>((queries) =>
    queries
      .update(table)
      .set(set as SQLiteUpdateSetSource<Table>)
      .where(eq(columnOf(table, key), given(key))),
  )
  return async (queries: Queries, row: Pick<Row<Table>, Key | Names[number]>): Promise<void> =>
    void (await rewrite(queries, row))
}

/**
 * So many at a time, for a statement each. Others have their turn between: SQLite answers at once, so
 * that all of them would be one stall. What is read meanwhile, and not in this change, is of before it.
 */
export async function* inParts<Item>(
  items: readonly Item[],
  most: number = ROWS_PER_STATEMENT,
): AsyncGenerator<Item[], void> {
  for (let from = 0; from < items.length; from += most) {
    if (from > 0) await breathe()
    yield items.slice(from, from + most)
  }
}

export async function insertRows<Table extends SQLiteTable>(
  queries: Queries,
  table: Table,
  rows: readonly SQLiteInsertValue<Table>[],
): Promise<void> {
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT)
    await queries.insert(table).values(rows.slice(at, at + ROWS_PER_STATEMENT))
}

export function insertInto<Table extends SQLiteTable>(table: Table) {
  return async (queries: Queries, row: Row<Table>) => insertRows(queries, table, [row])
}

/** Where there is a row with the same key, these columns become as they are given. */
export function upsertInto<Table extends SQLiteTable, const Key extends readonly Name<Table>[]>(
  table: Table,
  key: Key,
  ...changed: Exclude<Name<Table>, Key[number]>[]
) {
  const target = key.map((name) => columnOf(table, name))
  const set = Object.fromEntries(
    changed.map((name) => [name, sql.raw(`excluded.${columnOf(table, name).name}`)]),
  ) as SQLiteUpdateSetSource<Table>
  return async (
    queries: Queries,
    given: Table['$inferInsert'] | readonly Table['$inferInsert'][],
  ): Promise<void> => {
    const rows = [given].flat() as Table['$inferInsert'][]
    for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT)
      await queries
        .insert(table)
        .values(rows.slice(at, at + ROWS_PER_STATEMENT))
        .onConflictDoUpdate({ target, set })
  }
}

/**
 * Where there is a row with the same primary key, its count grows by what is given. Put together once
 * for each number of rows: figures are written with every report and every sign-in.
 */
export function addTo<Table extends SQLiteTable & { readonly count: SQLiteColumn }>(table: Table) {
  const names = Object.keys(getTableColumns(table))
  const [key] = getTableConfig(table).primaryKeys
  const target = key?.columns ?? []
  const set = { count: sql`${table.count} + excluded.count` } as SQLiteUpdateSetSource<Table>
  const cells = (at: number) => names.map((name) => [name, sql.placeholder(name + at)] as const)
  const adding = new Map<number, ReturnType<typeof preparedBy<unknown>>>()
  const addingOf = (count: number) => {
    const rows = Array.from({ length: count }, (_, at) => Object.fromEntries(cells(at)))
    return preparedBy<unknown>((queries) =>
      queries
        .insert(table)
        .values(rows as SQLiteInsertValue<Table>[])
        .onConflictDoUpdate({ target, set }),
    )
  }
  return async (queries: Queries, rows: readonly Row<Table>[]): Promise<void> => {
    for await (const some of inParts(rows)) {
      const given = some.flatMap((row, at) =>
        names.map((name) => [name + at, row[name as Name<Table>]] as const),
      )
      const add = adding.getOrInsertComputed(some.length, addingOf)
      await add(queries, Object.fromEntries(given))
    }
  }
}

/** So many of those that are meant, each told by its primary key: rows have no other name everywhere. */
export function isOneOf(
  queries: Queries,
  table: SQLiteTable,
  areMeant: SQL | undefined,
  limit: number,
  ...order: SQL[]
): SQL {
  const { columns, primaryKeys } = getTableConfig(table)
  const key = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary)
  const some = queries
    .select(Object.fromEntries(key.map((column) => [column.name, column])))
    .from(table)
    .where(areMeant)
    .orderBy(...order)
    .limit(limit)
  return sql`(${sql.join(key, sql`, `)}) in ${some}`
}

/**
 * So many of those that are meant, so that a change never holds the writer for long; answers how
 * many there were.
 */
export async function deleteSome(
  queries: Queries,
  table: SQLiteTable,
  areMeant: SQL | undefined,
  limit: number,
  ...order: SQL[]
): Promise<number> {
  const gone = await queries
    .delete(table)
    .where(isOneOf(queries, table, areMeant, limit, ...order))
    .returning({ one: sql`1` })
  return gone.length
}

/** So many of those whose time is over. */
export function deleteBefore(time: SQLiteColumn) {
  return async (queries: Queries, beforeMs: number, limit: number) =>
    deleteSome(queries, time.table, lt(time, beforeMs), limit)
}

/** What a service takes away from time to time: so many of those that were kept long enough. */
export function pruneWith(
  store: Changing,
  deleteOld: ReturnType<typeof deleteBefore>,
  keptMs: number,
) {
  return (limit: number) =>
    store.change(({ queries, nowMs }) => deleteOld(queries, nowMs - keptMs, limit))
}
