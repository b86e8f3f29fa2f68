import t from 'tap'
import { RevokedState } from '../../../shared/enforcement/revoked-state.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { createRateLimits } from '../../../shared/rate-limits.ts'
import { movableClock } from '../../support/control-plane.ts'

const NOW = 2_000_000_000
const sidsAt = (count: number, notBefore: (at: number) => number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, notBefore(at)]))

t.test('the later not-before wins, in any order', async (t) => {
  const parts = [
    { all: 5, subjects: { u: 10 }, sids: { s: 6 } },
    { all: 3, subjects: { u: 12 }, sids: { r: 7, covered: 5 } },
    { all: 4, subjects: { w: 8 }, sids: { s: 9 } },
  ]
  const merged = { all: 5, subjects: { u: 12, w: 8 }, sids: { s: 9, r: 7 } }
  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
  ]) {
    const state = new RevokedState()
    for (const at of order) state.merge(parts[at]!, NOW)
    t.same(state.whole(), merged)
    for (const part of parts) t.equal(state.merge(part, NOW), null, 'nothing new')
  }
})

t.test('names that every object has are ordinary names', async (t) => {
  const state = new RevokedState()
  const hostile = '{"__proto__":5,"constructor":6,"toString":7}'
  const names = JSON.parse(hostile) as Record<string, number>
  state.merge({ all: 0, subjects: names, sids: names }, NOW)
  for (const entries of [state.subjects, state.sids])
    t.same(
      [...entries],
      [
        ['__proto__', 5],
        ['constructor', 6],
        ['toString', 7],
      ],
    )
  t.same(JSON.stringify(state.whole().sids), hostile)
  t.equal(state.subjects.get('hasOwnProperty'), undefined)
})

t.test('what is older than any session can be is forgotten, and nothing else', async (t) => {
  const state = new RevokedState()
  state.expectSessionSeconds(3_600)
  state.expectSessionSeconds(10 * 86_400)
  state.expectSessionSeconds(60)
  const oldest = NOW - 10 * 86_400
  const both = { all: 0, subjects: { old: oldest - 1, young: oldest }, sids: {} }
  state.merge(both, NOW - 100)
  t.equal(state.subjects.size, 2)
  state.merge({ all: 0, subjects: {}, sids: sidsAt(1_000, () => NOW) }, NOW)
  t.equal(state.merge(both, NOW), null, 'and is not learnt again')
  t.equal(state.subjects.get('old'), undefined)
  t.equal(state.subjects.get('young'), oldest)
  t.equal(state.sids.size, 1_000)
})

t.test('nothing is forgotten while the length of a session is not known', async (t) => {
  const state = new RevokedState()
  state.merge({ all: 0, subjects: {}, sids: sidsAt(2_000, () => 1) }, NOW)
  t.equal(state.sids.size, 2_000)
})

t.test(
  'too many revocations become one for everybody, which revokes more and never less',
  async (t) => {
    const max = LIMITS.revokedEntriesPerTenantMax
    const within = new RevokedState()
    within.merge({ all: 0, subjects: {}, sids: sidsAt(max, (at) => NOW + at) }, NOW)
    t.equal(within.all, 0)
    t.equal(within.sids.size, max)

    const beyond = new RevokedState()
    beyond.merge({ all: 0, subjects: {}, sids: sidsAt(max + 1, (at) => NOW + at) }, NOW)
    t.equal(beyond.all, NOW + max / 2)
    t.ok(beyond.sids.size <= max / 2)
    for (let at = 0; at <= max; at += 1)
      if (Math.max(beyond.all, beyond.sids.get(`s${at}`) ?? 0) < NOW + at)
        t.fail(`s${at} lives again`)
  },
)

for (const days of [1, 30])
  t.test(`one person signs nobody else out, with sessions of ${days} days`, (t) => {
    const clock = movableClock(NOW * 1000)
    const rates = createRateLimits(clock)
    const state = new RevokedState()
    state.expectSessionSeconds(days * 86_400)
    const endMs = clock.nowMs() + 2 * days * 86_400_000
    for (let count = 0; clock.nowMs() < endMs; count += 1) {
      const wait = rates.waitSeconds('signIn', 'acme ada', LIMITS.rateSignInOfPerson)
      if (wait !== undefined) {
        clock.advance(wait * 1000)
        continue
      }
      const nowSeconds = Math.floor(clock.nowMs() / 1000)
      state.merge({ all: 0, subjects: {}, sids: { [`s${count}`]: nowSeconds + 1 } }, nowSeconds)
    }
    t.equal(state.all, 0)
    t.ok(state.sids.size > 1440 * days)
    t.end()
  })
