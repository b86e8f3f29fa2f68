/**
 * Statements that say no more than which columns they go by. They are prepared once for each
 * connection: drizzle puts a text together anew each time, at more than SQLite needs to answer.
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

/**
 * In a prepared statement: the value of this name, written as its column writes it. Null is null for
 * each of them, as where drizzle is given a value at once.
 */
export function given(column: SQLiteColumn, name: string): SQL {
  const encoder = {
    mapToDriverValue: (value: unknown) => (value === null ? null : column.mapToDriverValue(value)),
  }
  return sql`${sql.param(sql.placeholder(name), encoder)}`
}

/** Each of these columns has the value of its name. */
const equal = (table: SQLiteTable, names: readonly string[], prefix = '') =>
  and(
    ...names.map((name) => eq(columnOf(table, name), given(columnOf(table, name), prefix + name))),
  )

const named = (names: readonly string[], values: readonly unknown[]) =>
  Object.fromEntries(names.map((name, place) => [name, values[place]] as const))

function select<Table extends SQLiteTable>(
  table: Table,
  names: readonly string[],
  { order = [], isLimited }: { readonly order?: readonly SQL[]; readonly isLimited: boolean },
) {
  const isMeant = equal(table, names)
  const ask = preparedBy<unknown>((queries) => {
    const ordered = queries
      .select()
      .from(table as SQLiteTable)
      .where(isMeant)
      .orderBy(...order)
    return isLimited ? ordered.limit(sql.placeholder('limit')) : ordered
  })
  return async (queries: Queries, values: readonly unknown[]) => {
    return (await ask(queries, named([...names, 'limit'], values))) as Row<Table>[]
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
  const remove = preparedBy<unknown[]>((queries) =>
    queries
      .delete(table)
      .where(equal(table, names))
      .returning({ one: sql`1` }),
  )
  return async (queries: Queries, ...values: Values<Table, Names>): Promise<boolean> =>
    (await remove(queries, named(names, values))).length > 0
}

/** In front of the names of values that rows are found by, where they may get others. */
const FOUND_BY = 'by '

/** Answers whether there was a row with these values; it becomes what comes behind them. */
export function updateBy<Table extends SQLiteTable, const Names extends readonly Name<Table>[]>(
  table: Table,
  ...names: Names
) {
  const isMeant = equal(table, names, FOUND_BY)
  const keys = names.map((name) => FOUND_BY + name)
  const updating = (changed: readonly string[]) =>
    preparedBy<unknown[]>((queries) =>
      queries
        .update(table)
        .set(valuesOf(table, changed) as SQLiteUpdateSetSource<Table>)
        .where(isMeant)
        .returning({ one: sql`1` }),
    )
  const byNames = new Map<string, ReturnType<typeof updating>>()
  return async (
    queries: Queries,
    ...values: [...Values<Table, Names>, changes: Partial<Row<Table>>]
  ): Promise<boolean> => {
    const changes = values.at(-1) as Partial<Row<Table>>
    const changed = namesIn(table, changes)
    const update = byNames.getOrInsertComputed(changed.join(), () => updating(changed))
    return (await update(queries, { ...changes, ...named(keys, values) })).length > 0
  }
}

/** The columns of a table for which something is given. */
const namesIn = (table: SQLiteTable, row: object) =>
  Object.keys(getTableColumns(table)).filter((name) => Reflect.get(row, name) !== undefined)

const valuesOf = (table: SQLiteTable, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, given(columnOf(table, name), name)]))

type OnConflict = Parameters<
  ReturnType<ReturnType<Queries['insert']>['values']>['onConflictDoUpdate']
>[0]

/** One row; put together once for each set of columns that is given. */
export function insertingInto<Table extends SQLiteTable>(table: Table, onConflict?: OnConflict) {
  const inserting = (names: readonly string[]) =>
    preparedBy<unknown>((queries) => {
      const values = valuesOf(table, names) as SQLiteInsertValue<SQLiteTable>
      const insert = queries.insert(table as SQLiteTable).values(values)
      return onConflict === undefined ? insert : insert.onConflictDoUpdate(onConflict)
    })
  const byNames = new Map<string, ReturnType<typeof inserting>>()
  return async (queries: Queries, row: Table['$inferInsert']): Promise<void> => {
    const names = namesIn(table, row)
    const insert = byNames.getOrInsertComputed(names.join(), () => inserting(names))
    await insert(queries, row)
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
  const rewrite = preparedBy<unknown>((queries) =>
    queries
      .update(table)
      .set(valuesOf(table, names) as SQLiteUpdateSetSource<Table>)
      .where(equal(table, [key])),
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
  const insert = insertingInto(table)
  return (queries: Queries, row: Row<Table>) => insert(queries, row)
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
  const upsert = insertingInto(table, { target, set })
  return async (
    queries: Queries,
    wished: Table['$inferInsert'] | readonly Table['$inferInsert'][],
  ): Promise<void> => {
    const rows = [wished].flat() as Table['$inferInsert'][]
    if (rows.length === 1) return upsert(queries, rows[0] as Table['$inferInsert'])
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
      const values = some.flatMap((row, at) =>
        names.map((name) => [name + at, row[name as Name<Table>]] as const),
      )
      const add = adding.getOrInsertComputed(some.length, addingOf)
      await add(queries, Object.fromEntries(values))
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
