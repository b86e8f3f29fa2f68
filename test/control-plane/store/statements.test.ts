/** Statements that are put together once say the same as those that are put together each time. */
import t from 'tap'
import { sql } from '../../../control-plane/store/drizzle.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import {
  deleteBy,
  findBy,
  insertingInto,
  updateBy,
  upsertInto,
} from '../../../control-plane/store/statements.ts'
import { startServices } from '../../support/control-plane.ts'

const { serviceSecrets: table } = schema
type Row = typeof table.$inferSelect

const find = findBy(table, 'secretId')
const insert = insertingInto(table)
const update = updateBy(table, 'tenantId', 'secretId')
const remove = deleteBy(table, 'tenantId', 'secretId')
const upsert = upsertInto(table, ['secretId'], 'usedAt', 'publicKey')

const KEY = { kty: 'OKP', crv: 'Ed25519', x: 'x' } as unknown as Row['publicKey']

const row = (secretId: string): Row => ({
  secretId,
  tenantId: 'acme',
  serviceId: 'svc',
  secretHash: 'hash',
  createdAt: 1,
  endsAt: 2,
  usedAt: null,
  publicKey: null,
  isEndNoted: true,
})

void t.test('a row is written as it was given: null, JSON and yes or no', async (t) => {
  const { store } = await startServices(t)
  const whole = { ...row('whole'), usedAt: 3, publicKey: KEY, isEndNoted: false }
  await store.change(async ({ queries }) => {
    await insert(queries, row('empty'))
    await insert(queries, whole)
  })
  t.strictSame(await find(store.read, 'empty'), row('empty'))
  t.strictSame(await find(store.read, 'whole'), whole)
  // JSON that says null would be read back as null, too
  const held = await store.read.values(
    sql`select public_key from service_secrets order by secret_id`,
  )
  t.strictSame(held, [[null], [JSON.stringify(KEY)]])
})

void t.test('what is left out, or undefined, has its default or stays as it is', async (t) => {
  const { store } = await startServices(t)
  const { isEndNoted: _left, usedAt: _out, ...some } = row('some')
  await store.change(({ queries }) => insert(queries, { ...some, publicKey: KEY }))
  const made = { ...some, usedAt: null, publicKey: KEY, isEndNoted: false }
  t.strictSame(await find(store.read, 'some'), made)
  const change = { usedAt: 5, publicKey: undefined } as unknown as Partial<Row>
  const isChanged = await store.change(({ queries }) => update(queries, 'acme', 'some', change))
  t.equal(isChanged, true)
  t.strictSame(await find(store.read, 'some'), { ...made, usedAt: 5 })
})

void t.test('a row is found by what it had, also where that is what changes', async (t) => {
  const { store } = await startServices(t)
  await store.change(async ({ queries }) => {
    await insert(queries, row('mine'))
    t.equal(await update(queries, 'other', 'mine', { usedAt: 1 }), false, 'nobody elses')
    t.equal(await update(queries, 'acme', 'mine', { tenantId: 'other' }), true)
    t.equal(await update(queries, 'acme', 'mine', { usedAt: 1 }), false)
    t.equal(await remove(queries, 'acme', 'mine'), false)
  })
  t.strictSame(await find(store.read, 'mine'), { ...row('mine'), tenantId: 'other' })
  t.equal(await store.change(({ queries }) => remove(queries, 'other', 'mine')), true)
  t.equal(await find(store.read, 'mine'), undefined)
})

void t.test('of a row that is there, only what is named becomes as it is given', async (t) => {
  const { store } = await startServices(t)
  await store.change(async ({ queries }) => {
    await upsert(queries, { ...row('one'), publicKey: KEY })
    await upsert(queries, { ...row('one'), tenantId: 'other', usedAt: 9 })
  })
  t.strictSame(await find(store.read, 'one'), { ...row('one'), usedAt: 9 })
})
