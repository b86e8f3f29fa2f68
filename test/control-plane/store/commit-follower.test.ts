/** What a node hears of the others, from a log that is only as good as the database. */
import t, { type Test } from 'tap'
import { followCommits } from '../../../control-plane/store/commit-follower.ts'
import type { LoggedNews } from '../../../control-plane/store/nodes.ts'
import { until } from '../../support/fleet.ts'

async function startFollowing(t: Test, startAt = 0) {
  const log = { epoch: 'one', position: startAt, rows: [] as LoggedNews[], isAway: false }
  const told: (number | 'restart')[] = []
  let heard = -1
  const ask = <T>(answer: T) =>
    log.isAway ? Promise.reject(new Error('the database is away')) : Promise.resolve(answer)
  const follower = await followCommits({
    nodes: {
      nodeId: 'own',
      head: () => ask({ epoch: log.epoch, position: log.position }),
      after: (position, limit) =>
        ask(log.rows.filter((row) => row.position > position).slice(0, limit)),
    },
    pollMs: 1,
    behindMs: 50,
    onNews: ({ position }) => void told.push(position),
    onHeard: (position) => void (heard = position),
    onRestart: () => void told.push('restart'),
  })
  t.teardown(() => follower.close())
  const commit = (nodeId: string) => {
    const news = { tenantIds: [], revoked: new Map(), isOfFleet: false, removedGateways: [] }
    log.rows.push({ ...news, nodeId, position: ++log.position })
  }
  return {
    log,
    told,
    follower,
    commit,
    heard: (position: number) => until(() => heard === position),
  }
}

t.test(
  'what others commit is told once and in order, and what it has told is left out',
  async (t) => {
    const { told, follower, commit, heard } = await startFollowing(t, 7)
    await heard(7)
    follower.isTold(9)
    for (const nodeId of ['other', 'own', 'third', 'own', 'other']) commit(nodeId)
    await heard(12)
    t.same(told, [8, 10, 11, 12], 'also its own, of which it has had no answer')
    follower.isTold(11)
    commit('own')
    await heard(13)
    t.same(told, [8, 10, 11, 12, 13])
  },
)

t.test('whoever finds rows missing, or another database, starts over', async (t) => {
  const { log, told, follower, commit, heard } = await startFollowing(t)
  follower.isTold(4) // of which the next database knows nothing
  log.position = 5 // and the rows have been pruned
  await heard(5)
  commit('other')
  await heard(6)
  t.same(told, ['restart', 6])
  log.epoch = 'two'
  log.position = 3
  log.rows = []
  await heard(3)
  commit('own')
  await heard(4)
  t.same(told, ['restart', 6, 'restart', 4])
})

t.test('a database that is away is told of, and read on from where it was', async (t) => {
  const { log, told, follower, commit, heard } = await startFollowing(t)
  log.isAway = true
  commit('other')
  await until(() => follower.isBehind())
  log.isAway = false
  await heard(1)
  t.same(told, [1])
  await until(() => !follower.isBehind())
})
