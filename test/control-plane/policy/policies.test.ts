import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { lockout, pausedUntil, siteFailuresMax } from '../../../control-plane/policy/lockout.ts'
import { mfa } from '../../../control-plane/policy/mfa.ts'
import { network } from '../../../control-plane/policy/network.ts'
import { parseNetwork } from '../../../shared/networks.ts'
import { password } from '../../../control-plane/policy/password.ts'
import { session } from '../../../control-plane/policy/session.ts'
import type { Policies } from '../../../control-plane/policy/policies.ts'
import { facts, NOW, policies } from './facts.ts'

const PASS = { kind: 'pass' }

t.test('network', async (t) => {
  const at = (address: string | null, network_: Partial<Policies['network']>) => {
    const verdict = network(facts({ address }), policies({ network: network_ }))
    return verdict.kind === 'refuse' ? verdict.reason : verdict.kind
  }
  t.equal(at('203.0.113.9', {}), 'pass')
  t.equal(at('203.0.113.9', { deny: ['203.0.113.0/24'] }), 'network_denied')
  t.equal(at('203.0.114.9', { deny: ['203.0.113.0/24'] }), 'pass')
  t.equal(at('203.0.113.9', { allow: ['198.51.100.7'] }), 'network_not_allowed')
  t.equal(at('198.51.100.7', { allow: ['198.51.100.7'] }), 'pass')
  t.equal(at('198.51.100.7', { allow: ['0.0.0.0/0'], deny: ['198.51.100.7'] }), 'network_denied')
  t.equal(at('2001:db8:1::9', { allow: ['2001:db8::/32'] }), 'pass')
  t.equal(at('2001:db9::9', { allow: ['2001:db8::/32'] }), 'network_not_allowed')
  t.equal(at('::ffff:203.0.113.9', { deny: ['203.0.113.0/24'] }), 'network_denied', 'mapped')
  t.equal(at('203.0.113.9', { deny: ['::ffff:203.0.113.0/120'] }), 'network_denied', 'mapped list')
  for (const unreadable of [
    null,
    '',
    'unknown',
    '203.0.113.9, 10.0.0.1',
    '1.2.3',
    '203.0.113.9:80',
  ])
    t.equal(at(unreadable, {}), 'address_unreadable', String(unreadable))
  t.throws(
    () => at('203.0.113.9', { deny: ['nonsense'] }),
    'a list that cannot be read opens nothing',
  )
})

t.test('what a list of networks may hold', async (t) => {
  for (const good of ['10.0.0.0/8', '10.0.0.1', '::1', '2001:db8::/0', '::ffff:10.0.0.0/104'])
    t.ok(parseNetwork(good), good)
  for (const bad of [
    '',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0/8',
    'fe80::1%eth0',
    '::/129',
    '10.0.0.0/8/8',
    '::ffff:10.0.0.0/8',
    'example.com',
    '10.0.0.0/-1',
    '010.0.0.1',
  ])
    t.equal(parseNetwork(bad), undefined, bad)
})

t.test('lockout: pauses grow, end, and are the account’s or the address’s', async (t) => {
  const rules = { user_failures: 3, address_failures: 5, window_seconds: 60, pause_seconds: 100 }
  const until = (failures: number[]) => pausedUntil(failures, 3, rules)
  t.equal(until([]), 0)
  t.equal(until([1000, 1001]), 0)
  t.equal(until([1000, 1001, 1002]), 1102)
  t.equal(until([1000, 1059, 1060]), 0, 'the first has left the window')
  t.equal(until([1000, 1001, 1002, 1050, 1101]), 1102, 'who is sent away does not fail')
  t.equal(until([1000, 1001, 1002, 1102, 1103, 1104]), 1304, 'the second pause is twice as long')
  const day = Array.from({ length: 90_000 }, (_item, index) => index)
  t.ok(until(day) <= 90_000 + 86_400, 'no pause is longer than a day')

  const judged = (user: number[], address: number[], site: number[] = [], isKnown = false) => {
    const device = { isKnown, isNetworkKnown: false }
    return lockout(
      facts({ failures: { user, address, site }, device }),
      policies({ lockout: rules }),
    )
  }
  t.same(judged([NOW - 2, NOW - 1], []), PASS)
  t.same(judged([NOW - 3, NOW - 2, NOW - 1], []), {
    kind: 'refuse',
    reason: 'user_paused',
    until: NOW + 99,
  })
  const five = [NOW - 5, NOW - 4, NOW - 3, NOW - 2, NOW - 1]
  t.match(judged([], five), { kind: 'refuse', reason: 'address_blocked', until: NOW + 99 })
  t.same(judged([NOW - 203, NOW - 202, NOW - 201], []), PASS, 'a pause ends')
  const ofSite = Array.from({ length: 5 * LIMITS.rateSiteFactor }, () => NOW - 1)
  t.match(judged([], [], ofSite), { kind: 'refuse', reason: 'address_blocked', until: NOW + 99 })
  t.same(judged([], [], ofSite.slice(1)), PASS)
  t.same(judged([], [], ofSite, true), PASS, 'in their own browser a neighbor keeps nobody out')
  t.equal(siteFailuresMax({ ...rules, address_failures: 1000 }), LIMITS.failuresLookedAtMax)
})

t.test('password: age', async (t) => {
  const judged = (passwordChangedAt: number | null, max_age_days: number | null) =>
    password(facts({ passwordChangedAt }), policies({ password: { max_age_days } }))
  const old = { finally: { step: 'new_password', reason: 'password_expired' } }
  t.notMatch(judged(0, null), old)
  t.notMatch(judged(NOW - 86_399, 1), old)
  t.match(judged(NOW - 86_400, 1), old)
  t.notMatch(judged(null, 1), old, 'of a tenant’s own database nobody knows')
})

t.test('mfa: who is asked for what', async (t) => {
  const ask = (
    mode: Policies['mfa']['mode'],
    others: Parameters<typeof facts>[0] = {},
    more: Parameters<typeof policies>[0] = {},
  ) => {
    const verdict = mfa(facts(others), policies({ ...more, mfa: { mode, ...more.mfa } }))
    return verdict.kind === 'ask' ? verdict.reason : verdict.kind
  }
  const enrolled = { factors: ['totp'] } as const
  const newDevice = { device: { isKnown: false, isNetworkKnown: true } }
  const newNetwork = { device: { isKnown: true, isNetworkKnown: false } }

  t.equal(ask('off', enrolled), 'pass')
  t.equal(ask('off', { ...enrolled, isStepUp: true }), 'second_factor_needed')
  t.equal(ask('off', { isStepUp: true }), 'pass', 'nobody can be made to have one')
  t.equal(ask('optional'), 'pass')
  t.equal(ask('optional', enrolled), 'second_factor_needed')
  t.equal(ask('required'), 'enrolment_needed')
  t.equal(ask('required', enrolled), 'second_factor_needed')
  t.equal(ask('on_risk', enrolled), 'pass')
  t.equal(ask('on_risk', { ...enrolled, ...newDevice }), 'second_factor_needed')
  t.equal(ask('on_risk', { ...enrolled, ...newNetwork }), 'second_factor_needed')
  t.equal(
    ask('on_risk', { ...enrolled, ...newNetwork }, { mfa: { risks: ['new_device'] } }),
    'pass',
  )
  t.equal(ask('on_risk', newDevice), 'enrolment_needed')
  t.equal(
    ask('off', { ...enrolled, ...newDevice }, { device: { require: 'known' } }),
    'second_factor_needed',
  )
  t.equal(ask('required', { ...enrolled, proof: 'wrong' }), 'code_wrong')
  for (const proof of ['totp', 'passkey', 'recovery'] as const)
    t.equal(ask('required', { ...enrolled, proof }), 'pass')
})

t.test('session: how many at once', async (t) => {
  const judged = (sessions: number, settings: Partial<Policies['session']>) =>
    session(facts({ sessions }), policies({ session: settings }))
  t.same(judged(99, {}), PASS)
  t.same(judged(1, { concurrent_max: 2, when_full: 'refuse' }), PASS)
  const refused = { kind: 'refuse', reason: 'too_many_sessions' }
  t.same(judged(2, { concurrent_max: 2, when_full: 'refuse' }), refused)
  t.same(judged(2, { concurrent_max: 2, when_full: 'end_oldest' }), PASS)
})
