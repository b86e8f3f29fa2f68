import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, movableClock, startServices, tenantNamed } from '../../support/control-plane.ts'

void t.test('who exists for a check only is swept when it is over', async (t) => {
  const clock = movableClock()
  const { store, tenants, users, sessions, trialPeople, revocations } = await startServices(t, {
    clock,
  })
  await tenants.create(tenantNamed('acme'), ACTOR)
  const ada = {
    username: 'ada',
    email: 'ada@example.test',
    name: 'Ada',
    password: 'password of ada',
  }
  const { userId: adaId } = await users.create('acme', ada, ACTOR)
  const person = await trialPeople.create('acme')
  t.match(await users.authenticate('acme', person.username, person.password), { kind: 'ok' })
  t.strictSame(
    (await users.list('acme', { limit: 10, cursor: undefined })).items.map(({ userId }) => userId),
    [adaId],
    'they are in no list',
  )
  const { tenantId, userId } = person
  const nowMs = clock.nowMs()
  await sessions.record({
    tenantId,
    userId,
    sid: 'open',
    ip: '',
    userAgent: '',
    issuedAtMs: nowMs,
    expiresAtMs: nowMs + 3_600_000,
  })
  t.equal(await trialPeople.isSignedIn(person), true)

  clock.advance(2 * LIMITS.signInTrialMsMax)
  t.equal(await trialPeople.prune(10), 0, 'a check may be under way for so long')
  clock.advance(1)
  let events = 0
  store.onCommit((committed) => void (events += committed.events.length))
  t.equal(await trialPeople.prune(10), 1)
  t.equal(await trialPeople.prune(10), 0)
  t.equal(await users.find('acme', userId), undefined)
  t.match(await users.find('acme', adaId), { username: 'ada' })
  t.equal(await trialPeople.isSignedIn(person), false)
  const { subjects } = await revocations.revokedState('acme')
  t.ok((subjects[userId] ?? 0) > nowMs / 1000, 'what was still open is dead at every gateway')
  t.equal(events, 0, 'and nobody is told')
})
