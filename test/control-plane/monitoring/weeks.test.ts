/** Two years of weeks, in zones that put their clocks forward and back, and in some oddly. */
import t from 'tap'
import { countedFrom, newestWeek, timeZoneNamed } from '../../../control-plane/monitoring/weeks.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts'

const FROM_MS = Date.parse('2026-01-05T00:00:00Z')
const WEEKS = 105
const ZONES: Readonly<Record<string, readonly number[]>> = {
  'Europe/Berlin': [167, 168, 169],
  'America/New_York': [167, 168, 169],
  'Asia/Kolkata': [168],
  'Pacific/Apia': [168],
  'Australia/Lord_Howe': [167.5, 168, 168.5],
  'America/Havana': [167, 168, 169],
  UTC: [168],
}

const localTime = (atMs: number, timeZone: string) =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
  }).format(atMs)

t.test('every week ends where the next one begins, and is told of on Monday at nine', async (t) => {
  for (const [timeZone, lengths] of Object.entries(ZONES)) {
    const seen = new Set<number>()
    const problems: string[] = []
    let last = newestWeek(FROM_MS, timeZone)
    let nowMs = FROM_MS
    for (let weeks = 0; weeks < WEEKS; weeks++) {
      while (newestWeek(nowMs, timeZone).name === last.name) nowMs += 30 * MINUTE_MS
      const week = newestWeek(nowMs, timeZone)
      const told = localTime(nowMs, timeZone)
      const ends = localTime(week.toMs, timeZone)
      if (week.fromMs !== last.toMs) problems.push(`${week.name} leaves a gap`)
      if (told !== 'Mon 09:00') problems.push(`${week.name} is told of on ${told}`)
      if (!/^Mon 0[01]:00$/.test(ends)) problems.push(`${week.name} ends on ${ends}`)
      seen.add((week.toMs - week.fromMs) / HOUR_MS)
      last = week
      nowMs += 6 * DAY_MS
    }
    t.same(problems, [], timeZone)
    t.same([...seen].sort(), lengths, `${timeZone}: hours of its weeks`)
  }
})

t.test('a day that a zone left out leaves a shorter week', async (t) => {
  // Samoa went over the date line: there was no 30 December 2011
  const week = newestWeek(Date.parse('2012-01-02T09:00:00+14:00'), 'Pacific/Apia')
  t.same(week, {
    name: '2012-01-02',
    fromMs: Date.parse('2011-12-26T00:00:00-10:00'),
    toMs: Date.parse('2012-01-02T00:00:00+14:00'),
  })
  t.equal((week.toMs - week.fromMs) / DAY_MS, 6)
})

t.test('a midnight that does not exist is the moment behind it', async (t) => {
  // Iran put its clocks forward at 00:00 of a Monday
  const week = newestWeek(Date.parse('2021-03-22T09:00:00+04:30'), 'Asia/Tehran')
  t.equal(week.toMs, Date.parse('2021-03-22T01:00:00+04:30'))
  t.equal((week.toMs - week.fromMs) / HOUR_MS, 168)
  const next = newestWeek(Date.parse('2021-03-29T09:00:00+04:30'), 'Asia/Tehran')
  t.equal((next.toMs - next.fromMs) / HOUR_MS, 167)
})

t.test('nine in the morning is waited for, to the millisecond', async (t) => {
  const nineMs = Date.parse('2026-03-30T09:00:00+02:00') // the night before had an hour less
  t.equal(newestWeek(nineMs - 1, 'Europe/Berlin').name, '2026-03-23')
  t.same(newestWeek(nineMs, 'Europe/Berlin'), {
    name: '2026-03-30',
    fromMs: Date.parse('2026-03-23T00:00:00+01:00'),
    toMs: Date.parse('2026-03-30T00:00:00+02:00'),
  })
})

t.test('a digest goes on from the one before, and never over a longer silence', async (t) => {
  const week = newestWeek(FROM_MS, 'Europe/Berlin')
  for (const [name, last, expected] of [
    ['as always', week.fromMs, week.fromMs],
    ['moved west', week.fromMs - 14 * HOUR_MS, week.fromMs - 14 * HOUR_MS],
    ['moved east', week.fromMs + 14 * HOUR_MS, week.fromMs + 14 * HOUR_MS],
    ['new in this week', week.toMs - DAY_MS, week.toMs - DAY_MS],
    ['new since it ended', week.toMs + HOUR_MS, week.toMs + HOUR_MS],
    ['a week was left out', week.fromMs - 7 * DAY_MS, week.fromMs],
    ['a year of silence', week.fromMs - 365 * DAY_MS, week.fromMs],
  ] as const)
    t.equal(countedFrom(week, last), expected, name)
})

t.test('a time zone has a name of the list', async (t) => {
  const zones = [...Intl.supportedValuesOf('timeZone'), 'UTC', 'US/Eastern']
  t.same(zones.map(timeZoneNamed), zones)
  t.equal(timeZoneNamed('europe/berlin'), 'Europe/Berlin')
  t.equal(timeZoneNamed('ASIA/KOLKATA'), 'Asia/Kolkata')
  for (const none of [
    '',
    ' ',
    '+01:00',
    '-08',
    'Z',
    'Europe',
    'Europe/Berlin ',
    'Europe/Atlantis',
    'Europe/Berlin\0',
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00+01:00[Europe/Berlin]',
    '__proto__',
  ])
    t.equal(timeZoneNamed(none), undefined, none)
})
