/** Figures of all tenants together: added to with each tenant's own, and kept for as long. */
import t, { type Test } from 'tap'
import type { Figure } from '../../../control-plane/store/monitoring-names.ts'
import { addFiguresOf } from '../../../control-plane/store/queries/figures.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, movableClock, startServices, tenantNamed } from '../../support/control-plane.ts'

const START_MS = Date.parse('2026-03-01T12:30:00Z')
const denied = (count: number): Figure => ({ outcome: 'denied', reason: 'network_denied', count })
const forwarded = (count: number): Figure => ({ outcome: 'forwarded', reason: 'session', count })

async function startFigures(t: Test) {
  const clock = movableClock(START_MS)
  const services = await startServices(t, { clock })
  for (const tenantId of ['acme', 'other', 'third'])
    await services.tenants.create(tenantNamed(tenantId), ACTOR)
  return {
    ...services,
    clock,
    add: (tenantId: string, ...figures: Figure[]) =>
      services.store.changeOf(tenantId, ({ queries }) =>
        addFiguresOf(queries, 'realm', clock.nowMs(), tenantId, figures),
      ),
  }
}

void t.test('what tenants are counted for is counted for the service, at every step', async (t) => {
  const { add, clock, figures } = await startFigures(t)
  await add('acme', denied(2), forwarded(5))
  clock.advance(MINUTE_MS)
  await add('other', denied(3))
  await add('console', denied(100))
  const fromMs = Date.parse('2026-03-01T00:00:00Z')
  const totals = async () => {
    const all = ['minute', 'hour', 'day'] as const
    const series = all.map((step) => figures.seriesOfAll({ fromMs, toMs: fromMs + DAY_MS, step }))
    return (await Promise.all(series)).map(({ lines }) =>
      lines.map(({ outcome, total }) => `${outcome} ${total}`),
    )
  }
  const wanted = Array.from({ length: 3 }, () => ['denied 5', 'forwarded 5'])
  t.same(await totals(), wanted, 'at once')
  await figures.prune(1)
  t.same(await totals(), wanted, 'some of them added together')
  await figures.prune(100)
  t.same(await totals(), wanted, 'and all of them')
  await add('third', denied(1))
  await figures.prune(100)
  t.same((await totals())[2], ['denied 6', 'forwarded 5'], 'and what came later')
  const minutes = { fromMs: START_MS, toMs: START_MS + 2 * MINUTE_MS, step: 'minute' } as const
  t.match((await figures.seriesOfAll(minutes)).lines[0], { counts: [2, 4] })
  const own = await figures.series('acme', minutes)
  t.match(own, { times: [START_MS, START_MS + MINUTE_MS], lines: [{ counts: [2, 0] }, {}] })
})

void t.test('what a tenant has added stays when it is removed', async (t) => {
  const { add, figures, tenants, jobs } = await startFigures(t)
  await add('acme', denied(2))
  await tenants.remove('acme', ACTOR)
  await jobs.run()
  const day = {
    fromMs: START_MS - HOUR_MS / 2,
    toMs: START_MS + HOUR_MS / 2,
    step: 'hour',
  } as const
  t.match((await figures.seriesOfAll(day)).lines, [{ total: 2 }])
})

void t.test(
  'the tenants that are refused most are known hour by hour and day by day',
  async (t) => {
    const { add, clock, figures, tenants } = await startFigures(t)
    await add('acme', denied(2), forwarded(500))
    await add('other', denied(3))
    await add('third', forwarded(9))
    const most = async (step: 'hour' | 'day', limit = 10) =>
      (await figures.mostRefused(step, limit)).map(({ tenantId, count }) => [tenantId, count])
    t.strictSame(await most('hour'), [
      ['other', 3],
      ['acme', 2],
    ])
    t.strictSame(await most('hour', 1), [['other', 3]])
    clock.advance(HOUR_MS)
    t.strictSame(await most('hour'), [], 'another hour')
    await add('acme', denied(7))
    t.strictSame(await most('day'), [
      ['acme', 9],
      ['other', 3],
    ])
    await tenants.remove('acme', ACTOR)
    t.strictSame(await most('day'), [['other', 3]], 'who is gone is in no list')
  },
)

void t.test('they are forgotten as those of tenants are', async (t) => {
  const { add, clock, figures, store } = await startFigures(t)
  await add('acme', denied(1))
  const steps = async () => {
    const { serviceFigures, tenantRefusals } = schema
    return {
      all: (await store.read.select().from(serviceFigures)).map(({ step }) => step).sort(),
      refused: (await store.read.select().from(tenantRefusals)).map(({ step }) => step).sort(),
    }
  }
  await figures.prune(100)
  t.strictSame(await steps(), { all: ['day', 'hour', 'minute'], refused: ['day', 'hour'] })
  clock.advance(LIMITS.figureMinutesKeptMs + MINUTE_MS)
  await figures.prune(100)
  t.strictSame(await steps(), { all: ['day', 'hour'], refused: ['day'] })
  clock.advance(LIMITS.figureHoursKeptMs)
  await figures.prune(100)
  t.strictSame(await steps(), { all: ['day'], refused: [] })
  clock.advance(LIMITS.figureDaysKeptMs)
  await figures.prune(100)
  t.strictSame(await steps(), { all: [], refused: [] })
})
