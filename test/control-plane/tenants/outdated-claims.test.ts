/** What a token says of groups does not come back with a session that lasts longer than new ones. */
import t from 'tap'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../shared/clock.ts'
import { startApi } from '../../support/api.ts'
import { ACTOR, movableClock, tenantNamed } from '../../support/control-plane.ts'

t.test('sessions became shorter for a while, and somebody was taken out meanwhile', async (t) => {
  const clock = movableClock()
  const { services } = await startApi(t, { clock })
  const { tenants, users, groups, accessRules, revocations, sessions } = services
  const week = (7 * DAY_MS) / SECOND_MS
  await tenants.create({ ...tenantNamed('acme'), maxSessionSeconds: week }, ACTOR)
  const person = { username: 'ada', email: 'ada@example.test', name: 'Ada', password: '' }
  const { userId } = await users.create('acme', person, ACTOR)
  await groups.create('acme', { name: 'finance' }, ACTOR)
  const membership = { tenantId: 'acme', group: 'finance', userId, source: 'local' } as const
  await groups.add(membership, ACTOR)
  const rules = [{ path: '/reports', allow: [{ group: 'finance' }] }]
  await accessRules.put('acme', { rules }, ACTOR)
  const issuedAtMs = clock.nowMs()
  await sessions.record({
    ...{ tenantId: 'acme', sid: 'of-a-week', userId, ip: '192.0.2.1', userAgent: 'test' },
    ...{ issuedAtMs, expiresAtMs: issuedAtMs + 7 * DAY_MS },
  })

  await tenants.patch('acme', { maxSessionSeconds: HOUR_MS / SECOND_MS }, ACTOR)
  await groups.take(membership, ACTOR)
  clock.advance(2 * HOUR_MS)
  await revocations.prune(100)
  await tenants.patch('acme', { maxSessionSeconds: week }, ACTOR)
  const { claims = {}, session_seconds: kept = 0 } = await revocations.revokedState('acme')
  t.strictSame(Object.keys(claims), [userId], 'the token of the week counts again, its group not')
  t.ok(kept >= week - 1, 'and gateways keep it as long')

  clock.advance(8 * DAY_MS)
  await revocations.prune(100)
  t.strictSame((await revocations.revokedState('acme')).claims ?? {}, {})
})
