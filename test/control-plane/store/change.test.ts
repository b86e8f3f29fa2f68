import { join } from 'node:path'
import t from 'tap'
import { eq } from '../../../control-plane/store/drizzle.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { openStore } from '../../../control-plane/store/store.ts'
import {
  ACTOR,
  movableClock,
  startServices,
  temporaryFolder,
  tenantNamed,
} from '../../support/control-plane.ts'
import { openDatabase } from '../../support/databases.ts'

void t.test(
  'a change that fails leaves nothing: no row, event, revision, entry or notice',
  async (t) => {
    const { tenants, store } = await startServices(t)
    await tenants.create(tenantNamed('acme'), ACTOR)
    const before = await store.revision()
    const notices: unknown[] = []
    store.onCommit((committed) => notices.push(committed))

    await t.rejects(
      store.change(async (change) => {
        await change.queries.update(schema.tenants).set({ name: 'changed' })
        await change.touch('acme')
        await change.emit('tenant.suspended', 'acme', { status: 'suspended' })
        await change.audit(ACTOR, { action: 'test', tenantId: 'acme' })
        change.revoke('acme', { all: 1, subjects: {}, sids: {} })
        throw new Error('at the very end')
      }),
      { message: 'at the very end' },
    )
    t.equal((await tenants.get('acme')).name, 'acme')
    t.equal(await store.revision(), before)
    t.equal((await store.read.select().from(schema.outbox)).length, 0)
    t.equal((await store.read.select().from(schema.audit)).length, 1)
    t.strictSame(notices, [])
    await tenants.publish('acme', ACTOR)
    t.equal(await store.revision(), before + 1, 'the next change gets the number that was not used')
  },
)

void t.test(
  'changes wait for each other, and each reads what the one before has written',
  async (t) => {
    const { store } = await startServices(t)
    const count = 50
    const one = () =>
      store.change(async ({ queries }) => {
        const named = eq(schema.facts.name, 'count')
        const [row] = await queries.select().from(schema.facts).where(named)
        await new Promise((resolve) => setImmediate(resolve)) // others would get in between here
        const value = String(Number(row?.value ?? 0) + 1)
        await queries
          .insert(schema.facts)
          .values({ name: 'count', value })
          .onConflictDoUpdate({ target: schema.facts.name, set: { value } })
      })
    await Promise.all(Array.from({ length: count }, one))
    const [row] = await store.read.select().from(schema.facts).where(eq(schema.facts.name, 'count'))
    t.equal(row?.value, String(count))
  },
)

void t.test('readers see nothing of a change before its commit', async (t) => {
  const { tenants, store } = await startServices(t)
  await tenants.create(tenantNamed('acme'), ACTOR)
  await store.change(async ({ queries }) => {
    await queries.update(schema.tenants).set({ name: 'half done' })
    t.equal((await tenants.get('acme')).name, 'acme')
  })
  t.equal((await tenants.get('acme')).name, 'half done')
})

void t.test('a second start keeps the data, the epoch and the revision', async (t) => {
  const file = join(temporaryFolder(t), 'service.db')
  const first = await openStore(await openDatabase(file), movableClock())
  await first.change(async (change) => {
    await change.touch('acme')
    await change.emit('tenant.suspended', 'acme', { status: 'suspended' })
  })
  const epoch = await first.epoch()
  await first.close()
  const second = await openStore(await openDatabase(file), movableClock())
  t.equal(await second.epoch(), epoch)
  t.equal(await second.revision(), 1)
  t.match(await second.read.select().from(schema.outbox), [
    { sequence: 1, event: 'tenant.suspended', content: { status: 'suspended' } },
  ])
  await second.close()
})

void t.test('an epoch that begins leaves nothing to be counted twice', async (t) => {
  const { store } = await startServices(t)
  await store.change(async (change) => {
    await change.touch('acme')
    await change.emit('tenant.suspended', 'acme', { status: 'suspended' })
    await change.audit(ACTOR, { action: 'before' })
  })
  const [epoch, revision] = [await store.epoch(), await store.revision()]
  await store.change((change) => change.beginEpoch())
  t.not(await store.epoch(), epoch)
  t.equal(await store.revision(), revision + LIMITS.fleetEpochRevisions)
  await store.change(async (change) => {
    await change.emit('tenant.suspended', 'acme', { status: 'suspended' })
    await change.audit(ACTOR, { action: 'after' })
  })
  const last = (rows: { sequence: number }[]) => Math.max(...rows.map(({ sequence }) => sequence))
  t.ok(last(await store.read.select().from(schema.outbox)) > LIMITS.fleetEpochRevisions)
  t.ok(last(await store.read.select().from(schema.audit)) > LIMITS.fleetEpochRevisions)
})

void t.test('changes that share a commit are each whole or nothing', async (t) => {
  const { store } = await startServices(t)
  const readers: number[] = []
  const entry = (action: string) =>
    store.change(async (change) => {
      await change.audit(ACTOR, { action })
      if (action === 'bad') throw new Error('bad')
      readers.push((await store.read.select().from(schema.audit)).length)
    })
  const before = (await store.read.select().from(schema.audit)).length
  const settled = await Promise.allSettled(['a', 'bad', 'b'].map(entry))
  t.same(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  const actions = (await store.read.select().from(schema.audit)).map(({ action }) => action)
  t.same(actions.slice(before), ['a', 'b'])
  t.equal(readers[0], before, 'nobody reads what is not kept yet')
})

void t.test('commits are told in their order', async (t) => {
  const { store } = await startServices(t)
  const told: (number | null)[] = []
  store.onCommit(({ revision }) => told.push(revision))
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => store.change((change) => change.touch(`t${index}`))),
  )
  t.strictSame(
    told,
    Array.from({ length: 20 }, (_, index) => index + 1),
  )
})

void t.test('two revocations of one tenant in one change are both told', async (t) => {
  const { store } = await startServices(t)
  const told: unknown[] = []
  store.onCommit(({ revoked }) => told.push(revoked.get('acme')))
  await store.change(async (change) => {
    change.revoke('acme', { all: 0, subjects: {}, sids: { one: 5 } })
    change.revoke('acme', { all: 0, subjects: { ada: 6 }, sids: { two: 7 } })
  })
  t.strictSame(told, [{ all: 0, subjects: { ada: 6 }, sids: { one: 5, two: 7 } }])
})

void t.test('a long queue of changes lets everybody else have a turn', async (t) => {
  const { store } = await startServices(t)
  let turns = 0
  let isOver = false
  const turn = () => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await Promise.all(Array.from({ length: 5 }, () => store.change(slowly)))
  isOver = true
  t.ok(turns >= 4, `${turns} turns`)
})

/** As a disk that makes the program stand still for longer than the queue has in one go. */
async function slowly() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
}

void t.test('who changes one thing after the other does not hold up the end', async (t) => {
  const file = join(temporaryFolder(t), 'service.db')
  const store = await openStore(await openDatabase(file), movableClock())
  const most = 200
  let changes = 0
  const first = Promise.withResolvers<void>()
  const loop = async () => {
    while (changes < most)
      await store.change(async () => {
        if (changes++ === 1) first.resolve()
      })
  }
  const looping = loop()
  await first.promise
  const asked = store.change(async () => 'asked for before')
  const closing = store.close()
  await t.rejects(looping, /closed/)
  t.equal(await asked, 'asked for before')
  await closing
  t.ok(changes < most, `${changes} changes`)
})
