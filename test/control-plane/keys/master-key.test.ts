/** A master key is replaced: what the one before has sealed opens, and is sealed anew. */
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { WrongMasterKey, type MasterKeys } from '../../../control-plane/keys/master-key.ts'
import { createResealing } from '../../../control-plane/keys/resealing.ts'
import { SEALED_COLUMNS } from '../../../control-plane/keys/sealed-columns.ts'
import { createVault, prefixOf } from '../../../control-plane/keys/vault.ts'
import {
  getTableColumns,
  getTableName,
  type SQLiteTable,
} from '../../../control-plane/store/drizzle.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { startServices, tenantNamed } from '../../support/control-plane.ts'
import { newDatabase } from '../../support/databases.ts'
import { temporaryFolder } from '../../support/fleet.ts'

const [FIRST, SECOND, THIRD] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [
  Buffer,
  Buffer,
  Buffer,
]
const WHO = { name: 'test', requestId: 'test' }

async function newFile(t: Test) {
  return newDatabase(join(temporaryFolder(t), 'service.db'))
}

/** Closed again by the test, before the next one begins on the same database. */
async function start(t: Test, file: string, keys: MasterKeys) {
  const lines: { msg: string; unopened?: number }[] = []
  // other jobs say what they make of rows that only look like theirs
  const write = (line: string) =>
    line.includes('MASTER_KEY') && lines.push(JSON.parse(line) as { msg: string })
  const services = await startServices(t, {
    file,
    ...keys,
    log: pino({ level: 'info' }, { write }),
  })
  const { store } = services
  return {
    ...services,
    lines,
    /** All sealed values, by table and column. */
    async values() {
      const found = new Map<string, string[]>()
      for (const { table, column } of SEALED_COLUMNS) {
        const rows = (await store.read.select().from(table)) as Record<string, unknown>[]
        const values = rows.map((row) => row[column]).filter((value) => value !== null)
        found.set(`${getTableName(table)}.${column}`, values.map(String))
      }
      const facts = await store.read.select().from(schema.facts)
      const sealed = facts.filter(({ value }) => value.startsWith('v1.'))
      return found.set(
        'facts',
        sealed.map(({ value }) => value),
      )
    },
  }
}

/** A row that has all that it needs, and in each sealed column its own name. */
function filled(table: SQLiteTable, at: number, vault: ReturnType<typeof createVault>) {
  const row: Record<string, unknown> = {}
  for (const [name, column] of Object.entries(getTableColumns(table))) {
    if (!column.notNull && !name.endsWith('Sealed')) continue
    if (column.getSQLType() === 'text') row[name] = `${name}-${at}`
    else row[name] = 4_000_000_000_000 + at // also where it is a time: nothing is tidied away
    if (column.columnType === 'SQLiteCustomColumn')
      row[name] = column.getSQLType() === 'text' ? [] : false
  }
  for (const { column, purpose } of SEALED_COLUMNS.filter((one) => one.table === table))
    row[column] = vault.seal(column, purpose(row))
  return row
}

t.test('each column that is sealed is known', async (t) => {
  const inSchema = Object.values(schema).flatMap((table) =>
    Object.keys(getTableColumns(table))
      .filter((name) => name.endsWith('Sealed'))
      .map((name) => `${getTableName(table)}.${name}`),
  )
  const known = SEALED_COLUMNS.map(({ table, column }) => `${getTableName(table)}.${column}`)
  t.same(known.toSorted(), inSchema.toSorted())
})

t.test('everything is sealed anew while it is in use, and then the old key can go', async (t) => {
  const file = await newFile(t)
  const before = await start(t, file, { masterKey: FIRST })
  const { analyzerKey } = await before.tenants.create(tenantNamed('acme'), WHO)
  const secret = await before.tenants.clientSecret('acme')
  await before.store.change(async ({ queries }) => {
    const vault = createVault(FIRST)
    for (const table of new Set(SEALED_COLUMNS.map((one) => one.table)))
      for (let at = 0; at < 101; at++)
        await queries.insert(table).values(filled(table, at, vault) as never)
  })
  const sealed = await before.values()
  await before.close()

  await t.rejects(start(t, file, { masterKey: SECOND }), WrongMasterKey)
  const during = await start(t, file, { masterKey: SECOND, previousMasterKey: FIRST })
  t.equal(await during.tenants.clientSecret('acme'), secret, 'what is not sealed anew yet opens')
  await during.jobs.run()
  for (const [name, values] of await during.values()) {
    t.equal(values.length, sealed.get(name)?.length, name)
    t.same(
      values.filter((value) => !value.startsWith(prefixOf(SECOND))),
      [],
      name,
    )
  }
  t.match(during.lines, [{ msg: /SERVICE_MASTER_KEY_PREVIOUS can go/ }])
  await during.jobs.run()
  t.equal(during.lines.length, 1, 'said once')
  await during.close()

  await t.rejects(start(t, file, { masterKey: FIRST }), WrongMasterKey)
  const after = await start(t, file, { masterKey: SECOND })
  t.equal(await after.tenants.clientSecret('acme'), secret)
  t.match(await after.tenants.byAnalyzerKey(analyzerKey), { tenantId: 'acme' }, 'found by its hash')
  await after.close()
})

t.test('very many values are looked through in turns', async (t) => {
  const file = await newFile(t)
  const { store, vault, close } = await start(t, file, { masterKey: FIRST })
  const { realmRecords: table } = schema
  const many = Array.from({ length: 6001 }, (_, at) => filled(table, at, createVault(SECOND)))
  const old = filled(table, 6001, createVault(FIRST))
  await store.change(async ({ queries }) => {
    const [kept] = many
    for (let at = 0; at < many.length; at += 500)
      await queries
        .insert(table)
        .values(
          many
            .slice(at, at + 500)
            .map((row) => ({ ...row, payloadSealed: kept?.['payloadSealed'] })) as never,
        )
    await queries.insert(table).values(old as never)
  })
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  const both = createVault(SECOND, { others: [FIRST] })
  const reseal = createResealing({ store, vault: both, log: pino({ level: 'silent' }) })
  setImmediate(count)
  await reseal(() => false)
  isOver = true
  t.ok(turns >= 3, 'others have theirs between')
  const left = (await store.read.select().from(table)) as { payloadSealed: string }[]
  t.same(
    left.filter(({ payloadSealed }) => payloadSealed.startsWith(vault.prefix)),
    [],
    'and the last one is found behind them',
  )
  await close()
})

t.test('as long as one value does not open, the old key stays', async (t) => {
  const file = await newFile(t)
  const before = await start(t, file, { masterKey: FIRST })
  await before.store.change(async ({ queries }) => {
    const [table] = SEALED_COLUMNS.map((one) => one.table)
    await queries.insert(table!).values(filled(table!, 1, createVault(THIRD)) as never)
  })
  await before.close()
  const during = await start(t, file, { masterKey: SECOND, previousMasterKey: FIRST })
  await during.jobs.run()
  t.match(during.lines, [{ msg: /keep every master key/, unopened: 1 }])
  await during.close()
  await t.rejects(start(t, file, { masterKey: SECOND }), WrongMasterKey)
})

t.test('of several control planes each opens what the others seal', async (t) => {
  const file = await newFile(t)
  const first = await start(t, file, { masterKey: FIRST, nextMasterKey: SECOND })
  await first.tenants.create(tenantNamed('acme'), WHO)
  await first.jobs.run()
  const untouched = await first.values()
  t.ok([...untouched.values()].flat().every((value) => value.startsWith(prefixOf(FIRST))))
  const [second, old] = [createVault(SECOND), createVault(FIRST)]
  t.equal(first.vault.open(second.seal('new', 'here'), 'here'), 'new')
  t.notSame(first.vault.deriveKeys('cookies'), [old.deriveKey('cookies')])
  t.same(
    first.vault.deriveKeys('cookies'),
    [old, second].map((one) => one.deriveKey('cookies')),
  )
  await first.close()
})
