/** Lengths of time as people type them: one reader and one writer for every form. */
import t from 'tap'
import {
  DAY_SECONDS,
  durationText,
  durationWish,
  parseDuration,
} from '../../../control-plane/console/durations.ts'
import { startConsole } from '../../support/console.ts'

t.test('what people type is read, in any case and with or without a space', async (t) => {
  for (const [typed, seconds] of [
    ['90', 90],
    ['90 s', 90],
    ['90sec', 90],
    ['15 min', 900],
    ['15m', 900],
    [' 1 Minute ', 60],
    ['8 h', 28_800],
    ['1 hour', 3600],
    ['1 h 30 min', 5400],
    ['1d12h', 129_600],
    ['30 days', 2_592_000],
    ['0', 0],
  ] as const)
    t.equal(parseDuration(typed), seconds, typed)
  t.equal(parseDuration('90', DAY_SECONDS), 90 * DAY_SECONDS, 'a number alone, where days count')
})

t.test('nothing else is taken for a length of time', async (t) => {
  for (const typed of [
    '',
    '-5',
    '1.5 h',
    '1,5 h',
    '15 months',
    'min 15',
    '15 min 1 h',
    '1 h 2 h',
    '15 min 30',
    '1e3',
    '0x10',
    '١٥ min',
    '15  min',
    `${'9'.repeat(13)}`,
    `1 h ${'0'.repeat(40)}`,
    'soon',
  ])
    t.equal(parseDuration(typed), undefined, typed)
})

t.test('what is written is read again as the same', async (t) => {
  for (const [seconds, text] of [
    [1, '1 s'],
    [90, '90 s'],
    [900, '15 min'],
    [5400, '90 min'],
    [3600, '1 h'],
    [28_800, '8 h'],
    [86_400, '1 day'],
    [2_592_000, '30 days'],
    [0, '0 s'],
  ] as const) {
    t.equal(durationText(seconds), text)
    t.equal(parseDuration(text), seconds)
  }
  t.equal(durationWish('one of a, b'), 'one of a, b', 'what is no number stays')
})

t.test('every form takes them, shows them so, and says what is accepted', async (t) => {
  const { services, person } = await startConsole(t)
  const [ada, grace] = [await person('acme'), await person('operator')]
  const policies = '/console/tenants/acme/policies'
  t.match((await ada.get(`${policies}/session`)).text, /name="idle_seconds"[^>]*value="15 min"/s)
  t.match((await grace.get('/console/tenants/acme/settings')).text, 'value="8 h"')
  const session = { session_binding: 'off', concurrent_max: '', when_full: 'refuse' }
  const form = { ...session, max_session_seconds: '12 h', idle_seconds: '1200' }
  t.equal((await ada.post(`${policies}/session`, form)).status, 303)
  t.match((await services.policies.of('acme')).session, {
    max_session_seconds: 43_200,
    idle_seconds: 1200,
  })
  t.match((await ada.get(policies)).text, /12 h.*20 min/s)
  const wrong = await ada.post(`${policies}/session`, { ...form, idle_seconds: 'a while' })
  t.match(wrong, {
    status: 422,
    text: /id="idle_seconds-error">Must be a length of time from 1 s to 365 days, like 90 s, 15 min/,
  })
  t.match(wrong.text, 'value="a while"', 'with what was typed')
  const device = `${policies}/device`
  t.notMatch((await ada.get(device)).text, '"0 s"', 'no grace period is an empty field')
  const sent = { require: 'enrolled', mode: 'warn', owner: 'anyone', key_storage: 'any' }
  const checks = { ...sent, unknown: 'fail', on_violation: 'nothing', grace_days: '' }
  const effect = await ada.post(`${device}/effect`, { ...checks, fresh_hours: '2 days', days: '7' })
  t.match(effect.text, /Maximum age of the report.*Any age.*2 days/s)
  t.match(await ada.post(`${device}/effect`, { ...checks, fresh_hours: '90 min', days: '7' }), {
    status: 422,
    text: /id="fresh_hours-error">Must be a length of time from 1 h to 90 days, like 8 h or 30 days/,
  })
  const rules = { min_length: '12', min_strength: '3', history: '0' }
  const password = { sign_in: 'everyone', sign_up: 'off', break_glass: '', ...rules }
  const days = async (typed: string) =>
    ada.post(`${policies}/password`, { ...password, max_age_days: typed })
  for (const typed of ['90 days', '90']) t.equal((await days(typed)).status, 303, typed)
  t.match((await ada.get(`${policies}/password`)).text, 'value="90 days"')
  t.match(
    (await days('90 h')).text,
    /Must be a length of time from 1 day to 3650 days, like 90 days/,
  )
})
