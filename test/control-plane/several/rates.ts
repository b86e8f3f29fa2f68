/** What is counted in the database: as much as there is, over all control planes. */
import t from 'tap'
import { leftOfRate, takeRate, waitOfRate } from '../../../control-plane/store/queries/rates.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, tenantNamed } from '../../support/control-plane.ts'
import { atOnce, fulfilledOf, startTwo } from './nodes.ts'

t.test('of a bucket that all have, all together get what there is', async (t) => {
  const { here, there, clock } = await startTwo(t)
  const bucket = { kind: 'knocks', key: 'ada', rate: { burst: 7, perSecond: 0.5 } }
  const answers = fulfilledOf(
    await atOnce([here, there], 100, ({ store }) =>
      store.changeOf('acme', (change) => takeRate(change, bucket)),
    ),
  )
  t.equal(answers.length, 100)
  t.equal(answers.filter((wait) => wait === undefined).length, 7)
  t.strictSame(
    answers.filter((wait) => wait !== undefined),
    Array.from({ length: 93 }, () => 2),
  )
  const left = () => leftOfRate(there.store.read, bucket, clock.nowMs())
  const take = (cost: number) => here.store.change((change) => takeRate(change, bucket, cost))
  t.equal(await left(), 0)
  clock.advance(5_000)
  t.equal(await left(), 2)
  t.equal(await take(3), 1, 'half of a token is missing')
  t.equal(await take(2), undefined)
  t.equal(await waitOfRate(there.store.read, bucket, clock.nowMs()), 1)
  const undone = here.store.change(async (change) => {
    await takeRate(change, { ...bucket, key: 'eve' })
    throw new Error('undone')
  })
  await t.rejects(undone, { message: 'undone' })
  t.equal(await leftOfRate(here.store.read, { ...bucket, key: 'eve' }, clock.nowMs()), 7)
  t.ok(Number(await take(8)) > 0, 'what is more than all of it nobody ever gets')
  clock.advance(60_000)
  await there.jobs.run()
  t.equal(await left(), 7, 'what is full again is forgotten')
})

t.test('invitations of a colleague count at all control planes together', async (t) => {
  const { here, there } = await startTwo(t)
  await here.tenants.create(tenantNamed('acme'), ACTOR)
  const inviter = { userId: undefined, actor: ACTOR, language: 'en' }
  const sent = await atOnce([here, there], 30, ({ consoleAccess }, number) =>
    consoleAccess.invitations.invite('acme', `${number}@acme.test`, inviter),
  )
  t.equal(fulfilledOf(sent).length, LIMITS.rateConsoleInvitations.burst)
  const refused = sent.find(({ status }) => status === 'rejected')
  t.match(refused, { reason: { code: 'rate_limited', fields: { retry_after: 360 } } })
})

t.test('who guesses codes of tools has as many guesses as at one control plane', async (t) => {
  const { here, there } = await startTwo(t)
  await here.consoleAccess.ensureRealm()
  const own = await here.consoleAccess.deviceCodes.open({
    machine: 'm',
    application: '',
    address: '192.0.2.1',
  })
  const { burst } = LIMITS.rateDeviceCodeGuesses
  const look = (userId: string) => (node: typeof here) =>
    node.consoleAccess.deviceCodes.look('BBBB-BBBB', userId)
  const looked = await atOnce([here, there], 40, look('kim'))
  t.equal(fulfilledOf(looked).length, burst)
  t.match(await there.consoleAccess.deviceCodes.look(own.userCode, 'ada'), { machine: 'm' })
  await t.rejects(there.consoleAccess.deviceCodes.look(own.userCode, 'kim'), {
    code: 'rate_limited',
  })
})
