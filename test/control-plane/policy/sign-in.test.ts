import t from 'tap'
import { judge } from '../../../control-plane/policy/sign-in.ts'
import type { Policy } from '../../../control-plane/policy/verdict.ts'
import { facts, machine, policies } from './facts.ts'

t.test('without a password it is asked for; with a wrong one, asked again', async (t) => {
  const asking = { kind: 'asking', step: 'password' }
  const judged = (password: 'not_given' | 'wrong' | 'right_but_disabled') =>
    judge(facts({ password }), policies())
  t.match(judged('not_given'), { ...asking, reason: 'password_needed' })
  t.match(judged('wrong'), { ...asking, reason: 'credentials_wrong' })
  t.match(judged('right_but_disabled'), { ...asking, reason: 'account_disabled' })
})

t.test('the right password signs in, and the token says how', async (t) => {
  t.same(judge(facts(), policies()), { kind: 'signed_in', amr: ['pwd'], acr: 'aal1' })
})

t.test('a second factor makes the level, whatever else is asked at last', async (t) => {
  const shown = facts({ factors: ['totp'], proof: 'totp' })
  const signedIn = { kind: 'signed_in', amr: ['pwd', 'otp', 'mfa'], acr: 'aal2' }
  t.same(judge(shown, policies()), signedIn)
})

t.test('a password that is too old is replaced only by who has passed everything', async (t) => {
  const rules = policies({ password: { max_age_days: 1 }, mfa: { mode: 'required' } })
  const old = { passwordChangedAt: 0, factors: ['totp'] } as const
  t.match(judge(facts(old), rules), { step: 'second_factor' })
  t.match(judge(facts({ ...old, proof: 'totp' }), rules), {
    kind: 'asking',
    step: 'new_password',
    reason: 'password_expired',
  })
})

t.test(
  'who reads the mail of the account comes in, where the policy says so and only there',
  async (t) => {
    const judged = (settings: object, given: object = {}) =>
      judge(facts({ password: 'mailed', ...given }), policies({ password: settings }))
    const asked = { kind: 'asking', step: 'password', reason: 'password_needed' }
    t.same(judged({ email_sign_in: true }), { kind: 'signed_in', amr: ['email'], acr: 'aal1' })
    t.same(judged({}), asked, 'off unless somebody has decided it')
    t.same(judged({ email_sign_in: true, sign_in: 'break_glass' }), asked)
    t.same(judged({ email_sign_in: true }, { isConnecting: true }), asked)
    const emergency = { email_sign_in: true, sign_in: 'break_glass', break_glass: ['usr_ada'] }
    t.same(judged(emergency, { userId: 'usr_ada', factors: ['totp'] }), asked)
    const old = { passwordChangedAt: 0 }
    t.match(judged({ email_sign_in: true, max_age_days: 1 }, old), { kind: 'signed_in' })
    t.same(judged({ email_sign_in: true }, { password: 'mail_wrong' }), {
      ...{ kind: 'asking', step: 'password', reason: 'email_code_wrong' },
    })
  },
)

t.test('policies are asked in order: the first that objects decides', async (t) => {
  const asked: string[] = []
  const named = (name: string, policy: Policy): Policy => {
    return (...given) => {
      asked.push(name)
      return policy(...given)
    }
  }
  const state = judge(facts(), policies(), [
    named('first', () => ({ kind: 'pass', amr: ['pwd'], acr: 'aal1' })),
    named('second', () => ({ kind: 'refuse', reason: 'user_paused' })),
    named('third', () => ({ kind: 'pass' })),
  ])
  t.same(state, { kind: 'refused', reason: 'user_paused' })
  t.same(asked, ['first', 'second'])
})

t.test('the order is network, lockout, password, device, mfa, session', async (t) => {
  const failing = Array.from({ length: 10 }, () => facts().at)
  const rules = policies({
    network: { deny: ['192.0.2.0/24'] },
    device: { require: 'enrolled' },
    mfa: { mode: 'required' },
    session: { concurrent_max: 1, when_full: 'refuse' },
  })
  const all = facts({
    failures: { user: failing, address: [], site: [] },
    password: 'wrong',
    factors: ['totp'],
    sessions: 1,
  })
  const mended: [string, object][] = [
    ['network_denied', { address: '198.51.100.1' }],
    ['user_paused', { failures: { user: [], address: [], site: [] } }],
    ['credentials_wrong', { password: 'right' }],
    ['device_proof_needed', { device: { ...facts().device, isMissing: true } }],
    ['device_not_enrolled', { device: { ...facts().device, enrolled: machine() } }],
    ['second_factor_needed', { proof: 'totp' }],
    ['too_many_sessions', { sessions: 0 }],
  ]
  let now = all
  for (const [reason, next] of mended) {
    t.match(judge(now, rules), { reason })
    now = { ...now, ...next }
  }
  t.match(judge(now, rules), { kind: 'signed_in' })
})
