/** What was decided, per hour and day: who feeds it, how it is read, and how little is kept. */
import t, { type Test } from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import { addFigures } from '../../../control-plane/store/queries/figures.ts'
import type { Figure } from '../../../control-plane/store/monitoring-names.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startApi } from '../../support/api.ts'
import { movableClock } from '../../support/control-plane.ts'
import { startFeedApi } from '../../support/feed-api.ts'

const START_MS = Date.parse('2026-03-01T12:00:00Z')
const sealed = (count = 1): Figure => ({ outcome: 'sealed', reason: 'sealed', count })

async function startFigures(t: Test) {
  const clock = movableClock(START_MS)
  const api = await startApi(t, { clock })
  await api.tenant('acme')
  const { store, figures } = api.services
  return {
    ...api,
    clock,
    ask: (query: string) => api.operator('GET', `/tenants/acme/figures?${query}`),
    add: (atMs: number, ...added: Figure[]) =>
      store.change(({ queries }) => addFigures(queries, 'edge', atMs, new Map([['acme', added]]))),
    async rows(): Promise<Record<string, number>> {
      const rows = await store.read.select().from(schema.figures)
      const byStep = Object.groupBy(rows, ({ step }) => step)
      return Object.fromEntries(Object.entries(byStep).map(([step, own]) => [step, own.length]))
    },
    async prune() {
      while ((await figures.prune(100)) === 100);
    },
  }
}

void t.test('hours and days are told as lines, with a number for every time', async (t) => {
  const { ask, add } = await startFigures(t)
  await add(START_MS - 2 * HOUR_MS, sealed(3))
  await add(START_MS - 2 * HOUR_MS + 59 * MINUTE_MS, sealed(2))
  await add(START_MS - 1, sealed(), { outcome: 'forwarded', reason: 'session', count: 7 })
  await add(START_MS, sealed(100))
  const { status, body } = await ask('from=2026-03-01T09:30:00Z&to=2026-03-01T12:00:00Z')
  t.equal(status, 200)
  t.strictSame(body, {
    step: 'hour',
    from: '2026-03-01T09:00:00.000Z',
    to: '2026-03-01T12:00:00.000Z',
    times: ['09', '10', '11'].map((hour) => `2026-03-01T${hour}:00:00.000Z`),
    series: [
      { source: 'edge', outcome: 'forwarded', reason: 'session', total: 7, counts: [0, 0, 7] },
      { source: 'edge', outcome: 'sealed', reason: 'sealed', total: 6, counts: [0, 5, 1] },
    ],
  })
  await add(START_MS - DAY_MS, sealed(4))
  const days = await ask('from=2026-02-28T00:00:00Z&to=2026-03-01T00:00:01%2B00:00&step=day')
  t.match(days.body, {
    to: '2026-03-02T00:00:00.000Z',
    series: [{ outcome: 'forwarded' }, { outcome: 'sealed', total: 110, counts: [4, 106] }],
  })
  t.match((await ask('')).body, { from: '2026-02-28T12:00:00.000Z', series: { length: 2 } })
})

void t.test('hours become days after two weeks, and nothing is lost by it', async (t) => {
  const { add, prune, rows, clock, ask } = await startFigures(t)
  const days = 20
  for (let hour = 0; hour < days * 24; hour++) await add(START_MS + hour * HOUR_MS, sealed())
  clock.advance(days * DAY_MS)
  const total = async () => {
    const from = new Date(START_MS).toISOString()
    const { body } = await ask(`from=${from}&step=day`)
    return (body['series'] as { total: number }[])[0]?.total
  }
  t.equal(await total(), days * 24)
  await prune()
  t.equal(await total(), days * 24)
  const hoursKept = LIMITS.figureHoursKeptMs / HOUR_MS
  const kept = await rows()
  t.ok(kept['hour']! >= hoursKept && kept['hour']! < hoursKept + 24, `${kept['hour']} hours`)
  t.equal(kept['day'], 5)
  t.equal(kept['minute'], LIMITS.figureMinutesKeptMs / HOUR_MS)

  await add(START_MS, sealed(5)) // what a gateway reports late
  await prune()
  t.equal(await total(), days * 24 + 5)
  t.equal((await rows())['day'], 5)

  clock.advance(LIMITS.figureDaysKeptMs - days * DAY_MS)
  await prune()
  t.equal((await rows())['day'], 20, 'the first of 21 began more than 400 days ago')
  clock.advance(DAY_MS)
  await prune()
  t.strictSame(await rows(), { day: 19 })
  clock.advance(LIMITS.figureDaysKeptMs)
  await prune()
  t.strictSame(await rows(), {})
})

void t.test('an answer is bounded, and says what it wants', async (t) => {
  const { ask } = await startFigures(t)
  const most = LIMITS.figureTimesMax
  const to = '2026-03-01T00:00:00Z'
  const from = (hours: number) => new Date(Date.parse(to) - hours * HOUR_MS).toISOString()
  const whole = await ask(`from=${from(most)}&to=${to}`)
  t.equal((whole.body['times'] as string[]).length, most)
  const refused = async (query: string, field: string) =>
    t.match(await ask(query), { status: 400, body: { error: 'query_invalid', field } }, query)
  await refused(`from=${from(most + 1)}&to=${to}`, 'from')
  await refused(`from=${from(most * 24 + 1)}&to=${to}&step=day`, 'from')
  await refused(`from=${to}&to=${to}`, 'from')
  await refused(`from=2026-03-01T00:00:01Z&to=${to}`, 'from')
  await refused('step=week', 'step')
  for (const wrong of [
    '',
    '2026-03-01',
    '2026-03-01T00:00:00',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-03-01T25:00:00Z',
    '1767225600000',
    '0999-03-01T00:00:00Z',
    `2026-03-01T00:00:00.${'0'.repeat(30)}Z`,
  ]) {
    await refused(`from=${wrong}`, 'from')
    await refused(`to=${wrong}`, 'to')
  }
})

void t.test('a tenant sees its own figures, and takes them along when it goes', async (t) => {
  const { add, operator, rows, tenant } = await startFigures(t)
  await tenant('other')
  await add(START_MS, sealed())
  t.strictSame((await operator('GET', '/tenants/other/figures')).body['series'], [])
  t.match(await operator('GET', '/tenants/nobody/figures'), { status: 404 })
  await operator('DELETE', '/tenants/acme')
  t.strictSame(await rows(), {})
})

void t.test('what a middleware reports is counted, under names that are known', async (t) => {
  const api = await startFeedApi(t)
  await api.sdkTenant('acme')
  const events = [
    { outcome: 'sealed' },
    { outcome: 'sealed', ip: '192.0.2.1' },
    { outcome: 'step_up', reason: 'binding' },
    { outcome: 'invented', reason: 'by somebody' },
    { outcome: 'constructor' },
    { outcome: 7 },
  ]
  await api.report('acme', { events })
  const { body } = await api.operator('GET', '/tenants/acme/figures?to=2026-01-01T01:00:00Z')
  const lines = body['series'] as { source: string; outcome: string; total: number }[]
  t.match(lines, [
    { source: 'application', outcome: 'other', reason: '', total: 1 },
    { outcome: 'other', reason: 'other', total: 1 },
    { outcome: 'sealed', reason: '', total: 2 },
    { outcome: 'step_up', reason: 'binding', total: 1 },
  ])
})

void t.test('very many are added up in turns, and none twice', async (t) => {
  const { services, add } = await startFigures(t)
  const reasons = Array.from({ length: 1000 }, (_, at) => `reason ${at}`)
  for (let hours = 0; hours < 8; hours++)
    await add(
      START_MS - hours * HOUR_MS,
      ...reasons.map((reason) => ({ outcome: 'refused', reason, count: 1 }) as const),
    )
  let turns = 0
  const count = () => {
    turns += 1
    turn = setImmediate(count)
  }
  let turn = setImmediate(count)
  const span = { fromMs: START_MS - 7 * HOUR_MS, toMs: START_MS + HOUR_MS, step: 'hour' } as const
  const { lines } = await services.figures.series('acme', span)
  clearImmediate(turn)
  t.same(new Set(lines.map(({ total }) => total)), new Set([8]))
  t.equal(lines.length, reasons.length)
  t.ok(turns >= 2)
})
