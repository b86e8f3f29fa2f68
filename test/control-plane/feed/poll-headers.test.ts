import t from 'tap'
import { readPoll } from '../../../control-plane/feed/poll-headers.ts'

const read = (headers: Record<string, string>) => readPoll((name) => headers[name])

void t.test('what an instance says of itself is taken as it is', (t) => {
  const said = read({
    'x-service-instance': 'web-7f9c.eu-1:3000/4711@host_a',
    'x-service-sdk-version': '1.2.3-beta.1+5',
    'x-service-clock-offset': '-1500',
  })
  t.strictSame(said, {
    name: 'web-7f9c.eu-1:3000/4711@host_a',
    version: '1.2.3-beta.1+5',
    features: new Set(),
    clockOffsetMs: -1500,
  })
  t.strictSame(read({}), { name: '', version: '', features: new Set(), clockOffsetMs: null })
  const known = read({ 'x-service-features': 'other access_rules' })
  t.strictSame(known.features, new Set(['access_rules']))
  t.strictSame(read({ 'x-service-features': 'access_rules2' }).features, new Set())
  t.equal(read({ 'x-service-instance': 'a'.repeat(100) }).name.length, 100)
  t.equal(read({ 'x-service-sdk-version': 'a'.repeat(50) }).version.length, 50)
  t.equal(read({ 'x-service-clock-offset': '+5' }).clockOffsetMs, 5)
  t.ok(Object.is(read({ 'x-service-clock-offset': '-0' }).clockOffsetMs, 0))
  t.equal(read({ 'x-service-clock-offset': '-1795000000000' }).clockOffsetMs, -1_795_000_000_000)
  t.end()
})

void t.test('what is odd is left out, and the rest is still taken', (t) => {
  const names = ['', ' ', '<script>', 'a b', 'ä', 'a\u0000', 'a,b', '-x', '.', 'a'.repeat(101)]
  for (const name of names) {
    const said = read({ 'x-service-instance': name, 'x-service-sdk-version': '1' })
    t.strictSame(
      said,
      { name: '', version: '1', features: new Set(), clockOffsetMs: null },
      JSON.stringify(name),
    )
  }
  for (const version of ['', 'v 1', '<b>', 'a'.repeat(51), '1\n'])
    t.equal(read({ 'x-service-sdk-version': version }).version, '', JSON.stringify(version))
  for (const offset of ['', '1.5', '1e3', '0x10', '--1', ' 1', 'NaN', '1'.repeat(14), '١'])
    t.equal(read({ 'x-service-clock-offset': offset }).clockOffsetMs, null, JSON.stringify(offset))
  t.end()
})
