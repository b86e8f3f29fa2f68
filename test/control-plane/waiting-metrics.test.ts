/** What waits, as figures. */
import t from 'tap'
import { createMetrics } from '../../control-plane/metrics.ts'
import { addForService } from '../../control-plane/store/queries/service-figures.ts'
import { MINUTE_MS } from '../../shared/clock.ts'
import { ACTOR, movableClock, startServices } from '../support/control-plane.ts'

void t.test('a rotation under way, and minutes that are not in the figures of all', async (t) => {
  const clock = movableClock()
  const services = await startServices(t, { clock })
  const { store, connectorAuthority, jobs } = services
  const metrics = createMetrics(services)
  const told = async () => {
    const text = await metrics.text()
    const valueOf = (name: string) =>
      Number(new RegExp(`^control_plane_${name} (\\S+)$`, 'm').exec(text)?.[1])
    return [valueOf('connector_key_rotation'), valueOf('figures_lag_seconds')]
  }
  t.same(await told(), [0, 0])
  await connectorAuthority.prepare(ACTOR)
  const atMs = clock.nowMs() - (clock.nowMs() % MINUTE_MS)
  await store.change(({ queries }) =>
    addForService(queries, 'realm', atMs, 'acme', [{ outcome: 'signed_in', reason: '', count: 1 }]),
  )
  clock.advance(atMs + 5 * MINUTE_MS - clock.nowMs())
  t.same(await told(), [1, 300])
  await jobs.run()
  await connectorAuthority.promote({ force: false, leaked: false }, ACTOR)
  t.same(await told(), [0, 0])
})
