import t from 'tap'
import { judge } from '../../../control-plane/policy/sign-in.ts'
import type { Policy } from '../../../control-plane/policy/verdict.ts'

t.test('without a password it is asked for; with a wrong one, asked again', (t) => {
  const asking = { kind: 'asking', step: 'password' }
  t.match(judge({ password: 'not_given' }), { ...asking, reason: 'password_needed' })
  t.match(judge({ password: 'wrong' }), { ...asking, reason: 'credentials_wrong' })
  t.match(judge({ password: 'right_but_disabled' }), { ...asking, reason: 'account_disabled' })
  t.end()
})

t.test('the right password signs in, and the token says how', (t) => {
  t.same(judge({ password: 'right' }), { kind: 'signed_in', amr: ['pwd'], acr: 'aal1' })
  t.end()
})

t.test('policies are asked in order: the first that objects decides', (t) => {
  const asked: string[] = []
  const named = (name: string, policy: Policy): Policy => {
    return (facts) => {
      asked.push(name)
      return policy(facts)
    }
  }
  const state = judge({ password: 'right' }, [
    named('first', () => ({ kind: 'pass', amr: ['pwd'], acr: 'aal1' })),
    named('second', () => ({ kind: 'refuse', reason: 'account_disabled' })),
    named('third', () => ({ kind: 'pass' })),
  ])
  t.same(state, { kind: 'refused', reason: 'account_disabled' })
  t.same(asked, ['first', 'second'])
  t.end()
})
