/** The weekly digest, with a control plane that comes and goes and clocks that are changed. */
import t, { type Test } from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import { addFigures } from '../../../control-plane/store/queries/figures.ts'
import type { Figure } from '../../../control-plane/store/monitoring-names.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts'
import { startApi } from '../../support/api.ts'
import { movableClock } from '../../support/control-plane.ts'

/** A Thursday. */
const START = '2026-03-05T10:00:00Z'

interface Digest {
  readonly from: string
  readonly to: string
  readonly time_zone: string
  readonly outcomes: Readonly<Record<string, number>>
  readonly reasons: Readonly<Record<string, number>>
}

const sealed = (count = 1): Figure => ({ outcome: 'sealed', reason: 'sealed', count })

async function startDigests(t: Test, timeZone = 'Europe/Berlin', start = START) {
  const clock = movableClock(Date.parse(start))
  const api = await startApi(t, { clock })
  const { services, operator } = api
  const { store, digests, figures } = services
  await api.tenant('acme', { time_zone: timeZone })
  await operator('POST', '/tenants/acme/publish')

  async function told(tenantId = 'acme'): Promise<Digest[]> {
    const rows = await store.read.select().from(schema.outbox)
    const own = rows.filter((row) => row.tenantId === tenantId && row.event === 'monitoring.digest')
    return own.map(({ content }) => content as unknown as Digest)
  }
  let looks = 0
  async function round() {
    while ((await figures.prune(500)) === 500);
    await digests.send()
  }
  return {
    ...api,
    clock,
    store,
    told,
    round,
    ends: async () => (await told()).map(({ to }) => to),
    sum: async () =>
      (await told()).reduce((sum, { outcomes }) => sum + (outcomes['sealed'] ?? 0), 0),
    add: (...added: Figure[]) =>
      store.change(({ queries, nowMs }) =>
        addFigures(queries, 'edge', nowMs, new Map([['acme', added]])),
      ),
    /** Looks every so often until then. */
    async until(time: string, everyMs = HOUR_MS) {
      const endMs = Date.parse(time)
      while (clock.nowMs() < endMs) {
        clock.advance(Math.min(everyMs, endMs - clock.nowMs()))
        await (looks++ % 24 === 0 ? round() : digests.send())
      }
    },
    set: (time: string) => clock.advance(Date.parse(time) - clock.nowMs()),
    move: (zone: string) => operator('PATCH', '/tenants/acme', { time_zone: zone }),
  }
}

t.test('on Monday at nine the week is told of, once', async (t) => {
  const { add, until, told, round, clock } = await startDigests(t)
  await round()
  await add(sealed(3), { outcome: 'forwarded', reason: 'session', count: 50 })
  await add({ outcome: 'denied', reason: 'network_denied', count: 2 })
  await until('2026-03-08T22:59:00Z')
  await add({ outcome: 'denied', reason: 'user_paused', count: 1 })
  await until('2026-03-08T23:00:00Z')
  await add(sealed(100)) // of the next week
  await until('2026-03-09T07:59:59Z')
  t.same(await told(), [])
  clock.advance(SECOND_MS)
  await Promise.all([round(), round()])
  await round()
  t.same(await told(), [
    {
      from: '2026-03-05T10:00:00.000Z',
      to: '2026-03-08T23:00:00.000Z',
      time_zone: 'Europe/Berlin',
      outcomes: { forwarded: 50, sealed: 3, denied: 3 },
      reasons: { sealed: 3, network_denied: 2, user_paused: 1 },
    },
  ])
  await until('2026-03-16T08:00:00Z')
  t.match((await told())[1], {
    from: '2026-03-08T23:00:00.000Z',
    to: '2026-03-15T23:00:00.000Z',
    outcomes: { sealed: 100 },
  })
})

t.test('over two years nothing is left out and nothing told of twice', async (t) => {
  for (const zone of [
    'Europe/Berlin',
    'America/New_York',
    'Asia/Kolkata',
    'Pacific/Apia',
    'Australia/Lord_Howe',
  ]) {
    const { services, store, told, sum, round, clock } = await startDigests(t, zone)
    await round()
    clock.advance(Date.parse('2026-03-09T18:00:00Z') - clock.nowMs()) // Monday, everywhere
    const counted: { atMs: number; count: number }[] = []
    for (let week = 0; week < 104; week++) {
      await services.digests.send()
      if (week % 4 === 0) await round()
      await store.change(async ({ queries, nowMs }) => {
        // 7 hours and 7 minutes: every part of an hour has its turn, and many a midnight
        for (let atMs = nowMs; atMs < nowMs + 7 * DAY_MS; atMs += 427 * MINUTE_MS) {
          const count = 1 + (counted.length % 7)
          counted.push({ atMs, count })
          await addFigures(queries, 'edge', atMs, new Map([['acme', [sealed(count)]]]))
        }
      })
      clock.advance(7 * DAY_MS)
    }
    await services.digests.send()
    const digests = await told()
    t.equal(digests.length, 105, zone)
    const gaps = digests.filter(({ from }, at) => at > 0 && from !== digests[at - 1]?.to)
    t.same(gaps, [], zone)
    const endMs = Date.parse(digests.at(-1)?.to ?? '')
    const expected = counted
      .filter(({ atMs }) => atMs < endMs)
      .reduce((total, { count }) => total + count, 0)
    t.equal(await sum(), expected, `${zone}: every count is in one digest`)
  }
})

t.test('a week that ends within an hour of UTC is counted to the minute', async (t) => {
  const { add, until, set, told, round } = await startDigests(t, 'Asia/Kolkata')
  await round()
  set('2026-03-08T18:29:00Z') // Sunday 23:59 there
  await add(sealed(1))
  set('2026-03-08T18:30:00Z')
  await add(sealed(10))
  await until('2026-03-16T04:00:00Z')
  t.match(await told(), [
    { to: '2026-03-08T18:30:00.000Z', outcomes: { sealed: 1 } },
    { from: '2026-03-08T18:30:00.000Z', outcomes: { sealed: 10 } },
  ])
})

t.test('it is as exact when the digest is made days late', async (t) => {
  const places = [
    ['Asia/Kolkata', '2026-03-08T18:30:00Z', '2026-03-15T18:30:00Z'],
    ['Asia/Kathmandu', '2026-03-08T18:15:00Z', '2026-03-15T18:15:00Z'],
    ['Pacific/Chatham', '2026-03-08T10:15:00Z', '2026-03-15T10:15:00Z'],
    ['Pacific/Marquesas', '2026-03-09T09:30:00Z', '2026-03-16T09:30:00Z'],
    ['Australia/Lord_Howe', '2026-04-05T13:30:00Z', '2026-04-12T13:30:00Z'], // no summer any more
  ] as const
  for (const [zone, begin, end] of places)
    for (const daysLate of zone === 'Asia/Kolkata' ? [0, 3, 6] : [3]) {
      const start = new Date(Date.parse(begin) - 3 * DAY_MS).toISOString()
      const { add, set, told, round } = await startDigests(t, zone, start)
      await round()
      const around = async (time: string, before: number, after: number) => {
        set(new Date(Date.parse(time) - MINUTE_MS).toISOString())
        await add(sealed(before))
        set(time)
        await add(sealed(after))
      }
      await around(begin, 1, 10)
      set(new Date(Date.parse(begin) + (9 + 24 * daysLate) * HOUR_MS).toISOString())
      await round()
      await around(end, 100, 1000)
      set(new Date(Date.parse(end) + (9 + 24 * daysLate) * HOUR_MS).toISOString())
      for (let again = 0; again < 2; again++) await round()
      t.match(
        await told(),
        [
          { to: begin.replace('Z', '.000Z'), outcomes: { sealed: 1 } },
          { to: end.replace('Z', '.000Z'), outcomes: { sealed: 110 } },
        ],
        `${zone}, ${daysLate} days late`,
      )
    }
})

t.test('after a silence of weeks the newest begins as exactly as it ends', async (t) => {
  for (const daysLate of [0, 6]) {
    const { add, set, told, round, services } = await startDigests(t, 'Asia/Kolkata')
    await round()
    for (const [time, count] of [
      ['2026-03-22T18:29:00Z', 1],
      ['2026-03-22T18:30:00Z', 10],
      ['2026-03-29T18:29:00Z', 100],
      ['2026-03-29T18:30:00Z', 1000],
    ] as const) {
      set(time)
      await add(sealed(count))
      while ((await services.figures.prune(500)) === 500);
    }
    set(new Date(Date.parse('2026-03-30T12:00:00Z') + daysLate * DAY_MS).toISOString())
    await round()
    t.match(
      await told(),
      [{ from: '2026-03-22T18:30:00.000Z', outcomes: { sealed: 110 } }],
      `${daysLate} days late`,
    )
  }
})

t.test('after four missed weeks the newest is told of, and no other', async (t) => {
  const { set, round, ends, told } = await startDigests(t)
  await round()
  set('2026-04-08T12:00:00Z') // a Wednesday
  for (let again = 0; again < 3; again++) await round()
  t.same(await ends(), ['2026-04-05T22:00:00.000Z'])
  t.match(await told(), [{ from: '2026-03-29T22:00:00.000Z' }])
  set('2026-04-13T07:00:00Z')
  await round()
  t.equal((await ends()).length, 2)
})

t.test(
  'a time zone that is changed in the middle of a week moves its end, and no more',
  async (t) => {
    const { add, until, told, move, sum } = await startDigests(t, 'Europe/Berlin')
    await until('2026-03-10T12:00:00Z')
    t.equal((await told()).length, 1)
    await move('America/Los_Angeles')
    await add(sealed())
    await until('2026-03-16T12:00:00Z')
    t.equal((await told()).length, 1, 'it is not nine there yet')
    await add(sealed())
    await until('2026-03-16T16:00:00Z')
    t.match((await told())[1], {
      from: '2026-03-08T23:00:00.000Z',
      to: '2026-03-16T07:00:00.000Z',
      time_zone: 'America/Los_Angeles',
      outcomes: { sealed: 1 },
    })
    for (const zone of [
      'Europe/Berlin',
      'Pacific/Apia',
      'America/Los_Angeles',
      'Pacific/Pago_Pago',
    ]) {
      await move(zone)
      await until(new Date(Date.parse('2026-03-17T12:00:00Z')).toISOString())
    }
    t.equal((await told()).length, 2, 'no zone tells of the same week again')
    await until('2026-03-24T12:00:00Z')
    t.equal((await told()).length, 3)
    t.equal(await sum(), 2)
  },
)

t.test('a clock that jumps, either way and back, tells of no week twice', async (t) => {
  for (const jumpMs of [DAY_MS, 7 * DAY_MS, 40 * DAY_MS, 400 * DAY_MS]) {
    const { clock, until, ends, round } = await startDigests(t)
    await until('2026-03-24T12:00:00Z')
    t.equal((await ends()).length, 3)
    for (const ms of [-jumpMs, jumpMs]) {
      clock.advance(ms)
      await round()
      await round()
    }
    t.equal((await ends()).length, 3, `${jumpMs / DAY_MS} days back`)
    for (const ms of [jumpMs, -jumpMs]) {
      clock.advance(ms)
      await round()
    }
    await until('2026-04-14T12:00:00Z')
    const told = await ends()
    t.equal(new Set(told).size, told.length, `${jumpMs / DAY_MS} days ahead`)
    const due = ['2026-03-29T22:00:00.000Z', '2026-04-05T22:00:00.000Z', '2026-04-12T22:00:00.000Z']
    t.same(
      due.filter((week) => !told.includes(week)),
      [],
      'and the next ones are told of',
    )
  }
})

t.test('a start in between tells of nothing again', async (t) => {
  const { services, until, ends, clock } = await startDigests(t)
  await until('2026-03-09T08:00:00Z')
  t.equal((await ends()).length, 1)
  const { createDigests } = await import('../../../control-plane/monitoring/digests.ts')
  await createDigests({ ...services, clock }).send()
  t.equal((await ends()).length, 1)
})

t.test('a draft is not told of, and begins when it is published', async (t) => {
  const { tenant, operator, until, told } = await startDigests(t)
  await tenant('later')
  await until('2026-03-10T12:00:00Z')
  t.same(await told('later'), [])
  await operator('POST', '/tenants/later/publish')
  await until('2026-03-17T12:00:00Z')
  t.match(await told('later'), [{ from: '2026-03-09T00:00:00.000Z', time_zone: 'UTC' }])
})

t.test('what was told of is forgotten after a year, and a tenant leaves nothing', async (t) => {
  const { services, store, clock, until, operator } = await startDigests(t)
  await until('2026-03-24T12:00:00Z', DAY_MS)
  const rows = async () => (await store.read.select().from(schema.digests)).length
  t.equal(await rows(), 4)
  clock.advance(390 * DAY_MS)
  t.equal(await services.digests.prune(100), 2)
  await operator('DELETE', '/tenants/acme')
  t.equal(await rows(), 0)
})

t.test('the time zone of a tenant is one of the list, and shown', async (t) => {
  const { operator, move } = await startDigests(t)
  t.match((await operator('GET', '/tenants/acme')).body, { time_zone: 'Europe/Berlin' })
  t.match(await move('asia/kolkata'), { status: 200, body: { time_zone: 'Asia/Kolkata' } })
  for (const wrong of ['', 'Europe/Atlantis', '+01:00', 'x'.repeat(65), 5, null])
    t.match(await operator('PATCH', '/tenants/acme', { time_zone: wrong }), {
      status: 400,
      body: { field: 'time_zone' },
    })
})
