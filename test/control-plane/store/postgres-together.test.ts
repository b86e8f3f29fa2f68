/** Changes on Postgres that share a commit. */
import t from 'tap'
import { outboxAfter } from '../../../control-plane/store/queries/outbox.ts'
import type { Change } from '../../../control-plane/store/store.ts'
import { ownPostgres } from '../../support/databases.ts'
import {
  asAdmin,
  failOnce,
  namesIn,
  newUrl,
  remember,
  startRelay,
  storeAt,
} from '../../support/postgres-store.ts'

t.test('changes that come together share a commit, and each fails for itself', async (t) => {
  const url = await newUrl()
  const { port } = await ownPostgres()
  const relay = await startRelay(t, port)
  const store = await storeAt(t, url.replace(`:${port}/`, `:${relay.port}/`), {
    commitWorkMsMax: Infinity,
  })
  const commits = () => relay.sent.split('; COMMIT').length - 1
  const before = commits()
  const fail = (name: string, state: string) => async (change: Change) => {
    await remember(name)(change)
    await failOnce(state)(change)
  }
  const gate = Promise.withResolvers<void>()
  const first = store.change(() => gate.promise) // the others come while it is under way
  const others = ['a', '22012', 'b', '57014', 'c'].map((name) =>
    store.change(/\d/.test(name) ? fail(name, name) : remember(name)),
  )
  const settling = Promise.allSettled(others)
  gate.resolve()
  await first
  const settled = await settling
  t.strictSame(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
  )
  t.match(settled[1], { reason: { code: '22012' } })
  t.match(settled[3], { reason: { code: 'unavailable' } })
  t.strictSame((await namesIn(store)).sort(), ['a', 'b', 'c'])
  t.equal(commits() - before, 1)

  relay.onCommit = 'cut before'
  let runs = 0
  const again = ['d', 'e', 'f'].map((name) =>
    store.change(async (change) => {
      runs++
      await remember(name)(change)
    }),
  )
  await Promise.all(again)
  t.strictSame((await namesIn(store)).sort(), ['a', 'b', 'c', 'd', 'e', 'f'])
  t.ok(runs > 3, 'what shared a commit that did not come about is made again')

  const isFirst = store.change(fail('g', '22012'))
  const next = store.change(remember('h'))
  await t.rejects(isFirst, { code: '22012' })
  await next
  t.notOk((await namesIn(store)).includes('g'), 'of the first of them nothing is kept either')
})

t.test('tenants that change beside each other leave no event out', async (t) => {
  const url = await newUrl()
  const store = await storeAt(t, url)
  const noted: boolean[] = []
  store.onCommit(({ events }) => noted.push(events.length > 0))
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const status = 'suspended'
  const slow = store.changeOf('slow', async (change) => {
    await change.emit('tenant.suspended', 'slow', { status })
    await change.audit({ name: 'ada', requestId: '' }, { action: 'slow' })
    begun.resolve()
    await gate.promise
  })
  await begun.promise
  const undone = store.changeOf('undone', async (change) => {
    await change.emit('tenant.suspended', 'undone', { status })
    throw new Error('given up')
  })
  await t.rejects(undone, { message: 'given up' })
  await store.changeOf('quick', (change) => change.emit('tenant.suspended', 'quick', { status }))
  t.strictSame(noted, [true], 'who is quick does not wait, and what is undone is not told')

  const most = { rows: 10, bytes: 100_000 }
  const idsAfter = (at: number) =>
    store.change(async ({ queries }) => {
      const rows = await outboxAfter(queries, at, most)
      return rows.map(({ tenantId, sequence }) => ({ tenantId, sequence }))
    })
  const looking = idsAfter(0)
  let hasLooked = false
  const looked = () => void (hasLooked = true)
  looking.then(looked, looked)
  const waits = `SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
    WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`
  while (!hasLooked && (await asAdmin(url, waits)).length === 0);
  t.notOk(hasLooked, 'it waits as long as somebody has a number and no commit')
  gate.resolve()
  await slow
  const found = await looking
  t.strictSame(
    found.map(({ tenantId }) => tenantId),
    ['slow', 'quick'],
    'whoever reads in order waits for what has a number already',
  )
  await store.changeOf('late', (change) => change.emit('tenant.suspended', 'late', { status }))
  t.match(await idsAfter(found[1]?.sequence ?? 0), [{ tenantId: 'late' }], 'later is larger')
})
