import t from 'tap'
import { fingerprintOf, isSameNetwork, networkOf } from '../../../shared/enforcement/fingerprint.ts'
import {
  deriveKey,
  readSeen,
  seenIntervalSeconds,
  writeSeen,
} from '../../../shared/enforcement/seen.ts'
import {
  isSeenDue,
  judgeSession,
  type RevokedView,
  type SessionFacts,
  type SessionRules,
} from '../../../shared/enforcement/session.ts'
import { isNavigation } from '../../../shared/enforcement/navigation.ts'
import type { TokenClaims } from '../../../shared/enforcement/token.ts'

const NOW = 1_800_000_000
const claims: TokenClaims = {
  sub: 'u1',
  sid: 's1',
  iat: NOW - 100,
  exp: NOW + 1000,
  nbf: 0,
  authTime: NOW - 100,
  acr: '',
  amr: [],
  email: '',
  name: '',
}
const rules: SessionRules = { sessionSecondsMax: 1000, idleSeconds: 60, binding: 'off' }
const nothing: RevokedView = { all: 0, subjects: new Map(), sids: new Map() }
const facts: SessionFacts = {
  claims,
  seen: { seconds: NOW - 10, fingerprint: 'f' },
  fingerprint: 'f',
  nowSeconds: NOW,
}

t.test('a session holds until the second it ends, without leeway', async (t) => {
  t.equal(judgeSession(facts, rules, nothing), undefined)
  const ends = { ...facts, claims: { ...claims, exp: NOW } }
  t.equal(judgeSession(ends, rules, nothing), 'expired')
  t.equal(
    judgeSession({ ...facts, claims: { ...claims, exp: NOW + 1 } }, rules, nothing),
    undefined,
  )
})

t.test('a session is not older than its tenant allows, whatever its token says', async (t) => {
  t.equal(judgeSession(facts, { ...rules, sessionSecondsMax: 100 }, nothing), 'session_too_old')
  t.equal(judgeSession(facts, { ...rules, sessionSecondsMax: 101 }, nothing), undefined)
})

t.test('a token from the future is refused beyond a minute of clock skew', async (t) => {
  const ahead = (seconds: number) => ({ ...facts, claims: { ...claims, iat: NOW + seconds } })
  t.equal(judgeSession(ahead(60), rules, nothing), undefined)
  t.equal(judgeSession(ahead(61), rules, nothing), 'issued_ahead')
})

t.test('an idle session ends, and one without its companion cookie is not continued', async (t) => {
  const seenAt = (seconds: number) => ({ ...facts, seen: { seconds, fingerprint: 'f' } })
  t.equal(judgeSession(seenAt(NOW - 60), rules, nothing), undefined)
  t.equal(judgeSession(seenAt(NOW - 61), rules, nothing), 'idle')
  t.equal(judgeSession({ ...facts, seen: undefined }, rules, nothing), 'seen_missing')
})

t.test('a revocation is a not-before time for all, one subject or one session', async (t) => {
  const at = claims.iat
  for (const [revoked, reason] of [
    [{ ...nothing, all: at }, undefined],
    [{ ...nothing, all: at + 1 }, 'revoked'],
    [{ ...nothing, subjects: new Map([['u1', at + 1]]) }, 'revoked'],
    [{ ...nothing, subjects: new Map([['u2', at + 1]]) }, undefined],
    [{ ...nothing, sids: new Map([['s1', at + 1]]) }, 'revoked'],
    [{ ...nothing, sids: new Map([['s1', at]]) }, undefined],
  ] as const)
    t.equal(judgeSession(facts, rules, revoked), reason)
})

t.test('a user called constructor is revoked only when that user was', async (t) => {
  const odd = { ...facts, claims: { ...claims, sub: 'constructor', sid: '__proto__' } }
  t.equal(judgeSession(odd, rules, nothing), undefined)
  const revoked = { ...nothing, subjects: new Map([['constructor', NOW]]) }
  t.equal(judgeSession(odd, rules, revoked), 'revoked')
})

t.test(
  'another client ends or steps up a bound session, and does nothing to an unbound one',
  async (t) => {
    const moved = { ...facts, fingerprint: 'other' }
    t.equal(judgeSession(moved, rules, nothing), undefined)
    t.equal(judgeSession(moved, { ...rules, binding: 'step_up' }, nothing), 'binding_step_up')
    t.equal(judgeSession(moved, { ...rules, binding: 'terminate' }, nothing), 'binding_terminate')
  },
)

t.test('an unreadable network equals nothing, not itself, and proves nobody another', async (t) => {
  const nowhere = 'firefox-linux/unreadable'
  const home = 'firefox-linux/192.0.2.0-24'
  for (const binding of ['step_up', 'terminate'] as const) {
    const bound = { ...rules, binding }
    for (const [was, is] of [
      [nowhere, nowhere],
      [home, nowhere],
      [nowhere, home],
    ] as const) {
      const moved = { ...facts, fingerprint: is, seen: { seconds: NOW, fingerprint: was } }
      t.equal(judgeSession(moved, bound, nothing), 'binding_step_up', `${was}, then ${is}`)
      t.equal(judgeSession(moved, rules, nothing), undefined, 'unless nothing is bound')
      t.notOk(isSeenDue({ ...moved, fingerprint: was }, rules), 'and the cookie is not rewritten')
    }
  }
  t.notOk(isSameNetwork('', ''))
  t.notOk(isSameNetwork('unreadable', 'unreadable'))
  t.ok(isSameNetwork('192.0.2.1', '192.0.2.200'))
})

t.test('the companion cookie is rewritten at most every thirtieth of the idle time', async (t) => {
  t.equal(seenIntervalSeconds(900), 30)
  t.equal(seenIntervalSeconds(1), 1)
  const seenAt = (seconds: number) => ({ ...facts, seen: { seconds, fingerprint: 'f' } })
  t.notOk(isSeenDue(seenAt(NOW - 1), rules))
  t.ok(isSeenDue(seenAt(NOW - 2), rules))
  t.ok(isSeenDue({ ...facts, fingerprint: 'other' }, rules))
})

t.test('the companion cookie fits one session of one tenant and cannot be altered', async (t) => {
  const key = deriveKey('secret', 'seen')
  const seen = { seconds: NOW, fingerprint: 'chrome-linux/10.0.0.0-24' }
  const value = writeSeen(seen, 's1', key)
  t.same(readSeen(value, 's1', [key]), seen)
  t.equal(readSeen(value, 's2', [key]), undefined, 'another session')
  t.equal(readSeen(value, 's1', [deriveKey('other', 'seen')]), undefined, 'another tenant')
  t.equal(readSeen(value, 's1', [deriveKey('secret', 'flow')]), undefined, 'another purpose')
  const later = (NOW + 1).toString(36)
  t.equal(readSeen(later + value.slice(later.length), 's1', [key]), undefined, 'another time')
  for (const bad of ['', 'x', '..', value + 'A', value.slice(1), `${value}.`])
    t.equal(readSeen(bad, 's1', [key]), undefined, bad)
})

t.test(
  'a client is its browser family, system and network, not its version or address',
  async (t) => {
    const chrome = (version: number) =>
      `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`
    t.equal(fingerprintOf(chrome(120), '192.0.2.1'), fingerprintOf(chrome(121), '192.0.2.200'))
    t.not(fingerprintOf(chrome(120), '192.0.2.1'), fingerprintOf(chrome(120), '192.0.3.1'))
    t.not(fingerprintOf(chrome(120), '192.0.2.1'), fingerprintOf('curl/8.0', '192.0.2.1'))
    t.equal(networkOf('2001:db8:1:2::1'), networkOf('2001:0db8:0001:ffff:0:0:0:9'))
    t.equal(networkOf('2001:db8:1::'), '2001-db8-1-48')
    t.equal(networkOf('::1'), '0-0-0-48')
    t.equal(networkOf('nonsense'), 'unreadable')
  },
)

t.test('people are sent to sign in, programs are told', async (t) => {
  const get = {
    method: 'GET',
    secFetchMode: '',
    accept: 'text/html',
    requestedWith: '',
    isUpgrade: false,
  }
  t.ok(isNavigation(get))
  t.ok(isNavigation({ ...get, accept: '', secFetchMode: 'navigate', method: 'POST' }))
  t.notOk(isNavigation({ ...get, secFetchMode: 'cors' }))
  t.notOk(isNavigation({ ...get, requestedWith: 'XMLHttpRequest' }))
  t.notOk(isNavigation({ ...get, accept: 'application/json' }))
  t.notOk(isNavigation({ ...get, accept: '*/*' }))
  t.notOk(isNavigation({ ...get, method: 'POST' }))
  t.notOk(isNavigation({ ...get, isUpgrade: true }))
})
