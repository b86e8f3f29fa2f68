/** What is asked of others while no authority takes orders. */
import t from 'tap'
import { HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts'
import { hurriedClock, startOrdering } from '../../support/acme.ts'
import { ACTOR, tenantNamed } from '../../support/control-plane.ts'
import { startFakeAuthority } from '../../support/fake-authority.ts'

const NAME = 'app.example.test'

void t.test('while no authority takes orders nobody is asked where a hostname leads', async (t) => {
  const clock = hurriedClock()
  const authority = await startFakeAuthority(t, clock)
  const directories = [authority.directory]
  const { run, orders, asked, services } = await startOrdering(t, { clock, directories })
  await services.tenants.create(tenantNamed('app', { hostnames: [NAME] }), ACTOR)
  await services.tenants.publish('app', ACTOR)
  authority.refuse('*', { status: 503, type: 'serverInternal', retryAfter: '3600' })
  await run()
  t.same(asked.splice(0), [NAME])
  await services.tenants.create(tenantNamed('next', { hostnames: ['next.example.test'] }), ACTOR)
  await services.tenants.publish('next', ACTOR)
  await run()
  t.same(asked, [])
  const next = (await orders()).find(({ hostname }) => hostname === 'next.example.test')
  t.match(next, { step: 'waiting', failures: 0 })
  t.ok((next?.dueAt ?? 0) > clock.nowMs(), 'once one may be asked')
  authority.refuse('*', undefined)
  clock.advance(HOUR_MS + MINUTE_MS)
  await run()
  t.same(asked.toSorted(), [NAME, 'next.example.test'])
})
