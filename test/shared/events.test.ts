import * as v from 'valibot'
import t from 'tap'
import { DEFAULT_POLICIES } from '../../control-plane/policy/policies.ts'
import { EVENTS, EVENT_NAMES, type EventName } from '../../shared/events.ts'

/** The table of the specification, sentence by sentence. */
const SPECIFIED: Readonly<Record<EventName, string>> = {
  'alert.triggered': 'A configured threshold alert has tripped.',
  'credentials.updated': 'Database credentials changed.',
  'ip.block.lifted': 'An IP block was lifted.',
  'licence.changed': 'Licence state changed.',
  'monitoring.digest': 'Weekly summary of what the policy decided.',
  'policy.device.updated': 'Device policy changed.',
  'policy.lockout.updated': 'Lockout policy changed.',
  'policy.mfa.updated': 'Multi-factor policy changed.',
  'policy.network.updated': 'Network policy changed.',
  'policy.password.updated': 'Password policy changed.',
  'policy.session.updated': 'Session policy changed.',
  'session.revoked': 'Sessions were revoked for a user.',
  'session.terminated': 'A session was terminated.',
  'signin.denied': 'A sign-in was refused by policy.',
  'signin.step_up': 'A sign-in required additional verification.',
  'tenant.activated': 'The tenant was reactivated.',
  'tenant.suspended': 'The tenant was suspended.',
}

void t.test('there are the seventeen events of the contract, no more and no less', async (t) => {
  t.equal(EVENT_NAMES.length, 17)
  t.strictSame(
    Object.fromEntries(EVENT_NAMES.map((name) => [name, EVENTS[name].sentWhen])),
    SPECIFIED,
  )
})

void t.test('each example is what the event really holds', async (t) => {
  for (const name of EVENT_NAMES) {
    const { data, example } = EVENTS[name]
    t.same(v.safeParse(data, example).issues ?? [], [], name)
  }
})

void t.test('the example of a policy has the settings of that policy', async (t) => {
  for (const [policy, settings] of Object.entries(DEFAULT_POLICIES) as [string, object][]) {
    const { example } = EVENTS[`policy.${policy as keyof typeof DEFAULT_POLICIES}.updated`]
    t.strictSame(Object.keys(example.settings), Object.keys(settings), policy)
    for (const name of example.changed) t.ok(name in settings, `${policy}: ${name}`)
  }
})
