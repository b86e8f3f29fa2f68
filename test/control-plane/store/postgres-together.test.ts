/** Changes on Postgres that share a commit. */
import t from 'tap'
import type { Change } from '../../../control-plane/store/store.ts'
import { ownPostgres } from '../../support/databases.ts'
import {
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
