/** One tenant does not use up what an authority takes of all together. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { takeRate } from '../../../control-plane/store/queries/rates.ts'
import { startOrdering } from '../../support/acme.ts'
import { ACTOR, tenantNamed } from '../../support/control-plane.ts'
import { startFakeAuthority } from '../../support/fake-authority.ts'

const { rateAcmeOrders: rate } = LIMITS

void t.test('who has ordered very many waits for a turn, and others do not', async (t) => {
  const authority = await startFakeAuthority(t)
  const { services, run, orders, clock } = await startOrdering(t, {
    directories: [authority.directory],
  })
  await services.store.change(async (change) => {
    await takeRate(change, { kind: 'certificate orders', key: 'busy', rate }, rate.burst)
  })
  for (const tenantId of ['busy', 'other']) {
    const hostnames = [`${tenantId}.example.test`]
    await services.tenants.create(tenantNamed(tenantId, { hostnames }), ACTOR)
    await services.tenants.publish(tenantId, ACTOR)
  }
  await run()
  const [busy, other] = await orders()
  t.match(other, { tenantId: 'other', step: 'issued' })
  t.match(busy, { tenantId: 'busy', step: 'waiting', failures: 0, problem: /many certificates/ })
  t.equal(authority.orders.length, 1)
  clock.advance(1000 / rate.perSecond)
  await run()
  t.match((await orders())[0], { step: 'issued', problem: null })
})
