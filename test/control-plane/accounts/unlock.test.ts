/** Lockout as an administrator sees it: who has to wait, until when, and nobody any more. */
import t from 'tap'
import { OPERATOR_KEY, startApi } from '../../support/api.ts'
import { ACTOR, movableClock, tenantNamed } from '../../support/control-plane.ts'
import { failSignIns } from '../../support/sign-ins.ts'

const ADA = { username: 'ada', email: 'ada@example.test', name: 'Ada', invite: true }

for (const login of ['ada', 'ADA@example.test', undefined])
  void t.test(
    `who has failed too often as ${login ?? 'themselves'} waits until unlocked`,
    async (t) => {
      const clock = movableClock()
      const { services, operator, tenant } = await startApi(t, { clock })
      await tenant('acme')
      const { body } = await operator('POST', '/tenants/acme/users', ADA)
      const userId = String(body['user_id'])
      const { users, attempts, policies } = services
      const tried = login === undefined ? {} : { login }
      const pause = async () =>
        attempts.pauseOf(await users.get('acme', userId), await policies.of('acme'))

      await failSignIns(services, { tenantId: 'acme', userId }, 9, tried)
      t.equal(await pause(), undefined, 'nine are not ten')
      const [last] = await failSignIns(services, { tenantId: 'acme', userId }, 1, tried)
      t.match(last, { kind: 'asking' }, 'the tenth is still looked at')
      const endMs = Math.floor(clock.nowMs() / 1000) * 1000 + 900_000
      t.equal(await pause(), endMs)
      const [refused] = await failSignIns(services, { tenantId: 'acme', userId }, 1, tried)
      t.match(refused, { kind: 'refused', reason: 'user_paused' })

      clock.advance(1000)
      const path = `/tenants/acme/users/${userId}/unlock`
      t.match(await operator('POST', path), { status: 200, body: { user_id: userId } })
      t.equal(await pause(), undefined)
      const again = await failSignIns(services, { tenantId: 'acme', userId }, 9, tried)
      t.ok(
        again.every(({ kind }) => kind === 'asking'),
        'counted from the first one again',
      )
      t.match(await operator('POST', path.replace(userId, 'usr_nobody')), { status: 404 })
      t.match(await operator('POST', path, {}, { key: `${OPERATOR_KEY}x` }), { status: 401 })
      const { items } = await services.auditTrail.list({ limit: 1 }, { tenantId: 'acme' })
      t.match(items, [{ action: 'user.unlocked', content: { user_id: userId } }])
    },
  )

void t.test('what a person has tried is told newest first', async (t) => {
  const clock = movableClock()
  const { services } = await startApi(t, { clock })
  await services.tenants.create(tenantNamed('acme'), ACTOR)
  const ada = { tenantId: 'acme', userId: 'usr_ada' }
  await failSignIns(services, ada, 1, { ip: '192.0.2.1' })
  clock.advance(5000)
  await failSignIns(services, ada, 1, { ip: '192.0.2.2' })
  await failSignIns(services, { ...ada, userId: 'usr_bob' }, 1, { ip: '192.0.2.3' })
  t.match(await services.attempts.newestOf('acme', 'usr_ada'), [
    { ip: '192.0.2.2', reason: 'credentials_wrong' },
    { ip: '192.0.2.1' },
  ])
})
