import t from 'tap'
import { compareVersions, compliance, isVersion } from '../../../control-plane/policy/compliance.ts'
import { demandedFrom } from '../../../control-plane/policy/demanded.ts'
import { device } from '../../../control-plane/policy/device.ts'
import { DEFAULT_POLICIES, type DevicePolicy } from '../../../control-plane/policy/policies.ts'
import { createReplay, type PastSignIn } from '../../../control-plane/policy/replay.ts'
import { judge } from '../../../control-plane/policy/sign-in.ts'
import type { SignInFacts } from '../../../control-plane/policy/verdict.ts'
import { facts, machine, NOW, policies } from './facts.ts'

const PASS = { kind: 'pass' }
const NOW_MS = NOW * 1000
const DAY_MS = 86_400_000

type Shown = Partial<SignInFacts['device']>

function judged(policy: Partial<DevicePolicy>, shown: Shown = {}, userId = 'usr_ada') {
  const attempt = facts({ userId, device: { isKnown: true, isNetworkKnown: true, ...shown } })
  const verdict = device(attempt, policies({ device: { require: 'enrolled', ...policy } }))
  return verdict.kind === 'pass' ? 'pass' : verdict.reason
}

function failing(policy: Partial<DevicePolicy>, of = machine(), userId: string | null = 'usr_ada') {
  const asked = { userId, nowMs: NOW_MS }
  const found = compliance(of, { ...DEFAULT_POLICIES.device, ...policy }, asked)
  return found.failing.map(({ what, reason }) => `${what} ${reason}`).join(', ')
}

t.test('only a machine that the browser was proven to run on is let through', async (t) => {
  t.equal(judged({ require: 'any' }), 'pass')
  t.equal(judged({ require: 'known' }, { isKnown: false }), 'pass', 'it is mfa that asks')
  t.equal(judged({}), 'device_proof_needed', 'a known browser is no proof')
  t.equal(judged({}, { isMissing: true }), 'device_not_enrolled', 'refused and never skipped')
  t.equal(judged({}, { isMissing: true, isWarned: true }), 'device_not_enrolled')
  t.equal(judged({}, { isWarned: true }), 'device_proof_needed')
  t.equal(judged({}, { last: machine() }), 'device_proof_needed', 'what they own is no proof')
  t.equal(judged({}, { enrolled: machine() }), 'pass')
  t.equal(judged({}, { enrolled: machine({ state: 'revoked' }) }), 'device_not_compliant')
})

t.test('modes: off and report ask nobody, warn lets people go on, enforce does not', async (t) => {
  const off = { facts: { firewall: { value: false, reason: 'off' } } } as const
  const bad = { enrolled: machine(off) }
  const demand = { facts: ['firewall'] } as const
  for (const mode of ['off', 'report'] as const)
    for (const shown of [{}, bad, { isMissing: true }])
      t.equal(judged({ ...demand, mode }, shown), 'pass', mode)
  t.equal(judged({ ...demand, mode: 'warn' }), 'device_proof_needed')
  t.equal(judged({ ...demand, mode: 'warn' }, { isMissing: true }), 'device_proof_needed')
  t.equal(judged({ ...demand, mode: 'warn' }, { isWarned: true }), 'pass')
  t.equal(judged({ ...demand, mode: 'warn' }, bad), 'device_warning')
  t.equal(judged({ ...demand, mode: 'warn' }, { ...bad, isWarned: true }), 'pass')
  t.equal(judged(demand, bad), 'device_not_compliant')
  t.equal(judged(demand, { ...bad, isWarned: true }), 'device_not_compliant')
})

t.test('who is named for emergencies is not asked, and nobody else', async (t) => {
  const policy = { break_glass: ['usr_root'] }
  t.equal(judged(policy, {}, 'usr_root'), 'pass')
  t.equal(judged(policy, {}, 'usr_ada'), 'device_proof_needed')
  const nobody = facts({ device: { isKnown: true, isNetworkKnown: true } })
  const { kind } = device(nobody, policies({ device: { require: 'enrolled', ...policy } }))
  t.equal(kind, 'ask', 'an account that nobody knows is not it')
})

t.test(
  'grace: what fails may be mended for so many days, from when it was first asked',
  async (t) => {
    const since = NOW_MS - 3 * DAY_MS
    const off = { value: false, reason: 'off' } as const
    const of = machine({ facts: { firewall: off }, factsSince: { firewall: since } })
    const demand = { require: 'enrolled', facts: ['firewall'], grace_days: 5 } as const
    const policy = { ...DEFAULT_POLICIES.device, ...demand }
    const asked = { userId: 'usr_ada', nowMs: NOW_MS }
    t.match(compliance(of, policy, asked), { complies: false, graceUntil: since + 5 * DAY_MS })
    const behind = { ...asked, nowMs: since + 5 * DAY_MS }
    t.equal(compliance(of, policy, behind).graceUntil, undefined, 'at its end it is over')
    t.match(compliance(of, policy, { ...behind, nowMs: behind.nowMs - 1 }), { graceUntil: Number })
    const demandedSince = NOW_MS - DAY_MS
    t.equal(
      compliance(of, policy, { ...asked, demanded: [demandedFrom(policy, demandedSince)] })
        .graceUntil,
      demandedSince + 5 * DAY_MS,
      'no earlier than it was demanded',
    )
    const two = machine({
      facts: { firewall: off, tpm: off },
      factsSince: { firewall: since, tpm: since - DAY_MS },
    })
    t.equal(
      compliance(two, { ...policy, facts: ['firewall', 'tpm'] }, asked).graceUntil,
      since + 4 * DAY_MS,
      'the first that ends',
    )
    const turned = { ...of, unmetSince: { firewall: since - DAY_MS } }
    const graceOf = (unknown: 'pass' | 'fail') =>
      compliance(turned, { ...policy, unknown }, asked).graceUntil
    t.equal(graceOf('fail'), since + 4 * DAY_MS, 'unknown has failed before it')
    t.equal(graceOf('pass'), since + 5 * DAY_MS, 'unknown has passed before it')
    for (const given of [{ state: 'suspect_clone' }] as const)
      t.equal(compliance(machine(given), policy, asked).graceUntil, undefined, given.state)
    const pending = machine({ state: 'pending' })
    t.equal(compliance(pending, { ...policy, approved: true }, asked).graceUntil, undefined)

    const signingIn = (shown: Shown) => judged(policy, { enrolled: of, ...shown })
    t.equal(signingIn({}), 'device_warning')
    t.equal(signingIn({ isWarned: true }), 'pass')
    t.equal(judged({ ...policy, grace_days: 1 }, { enrolled: of }), 'device_not_compliant')
    t.equal(
      judged({ ...policy, grace_days: 1 }, { enrolled: of, demandedSince: NOW - 60 }),
      'device_warning',
    )
  },
)

t.test('how it was enrolled: state, approval, owner, where its key lies', async (t) => {
  t.equal(failing({}), '')
  for (const state of ['revoked', 'suspect_clone'] as const)
    t.equal(failing({}, machine({ state })), `state ${state}`)
  t.equal(failing({}, machine({ state: 'pending' })), '')
  const pending = machine({ state: 'pending' })
  t.equal(failing({ approved: true }, pending), 'approved approval_pending')
  t.equal(failing({ approved: true }), '')
  t.equal(failing({ owner: 'own' }), '')
  t.equal(failing({ owner: 'own' }, machine(), 'usr_bob'), 'owner owned_by_another')
  t.equal(failing({ owner: 'own' }, machine({ userId: null })), 'owner owner_unknown')
  t.equal(failing({ owner: 'own' }, machine(), null), '', 'nobody signs in')
  t.equal(failing({ owner: 'anyone' }, machine(), 'usr_bob'), '')
  t.equal(
    failing({ key_storage: 'tpm' }, machine({ keyStorage: 'file' })),
    'key_storage key_in_file',
  )
  t.equal(failing({ key_storage: 'any' }, machine({ keyStorage: 'file' })), '')
})

t.test('facts: false fails, unknown counts as the administrator says', async (t) => {
  const all = ['tpm', 'disk_encrypted', 'firewall'] as const
  const of = machine({
    facts: {
      disk_encrypted: { value: false, reason: 'swap_in_clear' },
      firewall: { value: 'unknown', reason: 'not_readable' },
      screen_lock: { value: false, reason: 'off' },
    },
  })
  t.equal(failing({ facts: all }, of), 'disk_encrypted swap_in_clear, firewall not_readable')
  t.equal(failing({ facts: all, unknown: 'pass' }, of), 'disk_encrypted swap_in_clear')
  const silent = { ...machine(), posture: null }
  t.equal(failing({ facts: ['firewall'] }, silent), 'firewall not_reported')
  t.equal(failing({ facts: ['firewall'], unknown: 'pass' }, silent), '')
  t.equal(failing({ min_os: { debian: '12' } }, silent), 'os not_reported')
})

t.test('least versions', async (t) => {
  const on = (version: string, id = 'ubuntu') => machine({ os: { id, version } })
  const min_os = { ubuntu: '24.04', windows: '10.0.22631.4317' }
  t.equal(failing({ min_os }, on('24.04')), '')
  t.equal(failing({ min_os }, on('22.10')), 'os os_too_old')
  t.equal(failing({ min_os }, on('10.0.22631.4316', 'windows')), 'os os_too_old')
  t.equal(failing({ min_os }, on('10.0.26100', 'windows')), '')
  t.equal(failing({ min_os }, on('3', 'alpine')), '', 'a system that is not named')
  t.equal(failing({ min_os }, on('3', 'constructor')), '')
  t.equal(failing({ min_os }, on('', 'ubuntu')), 'os os_version_unknown')
  t.equal(failing({ min_os }, on('24.04-rc1', 'ubuntu')), 'os os_version_unknown')
  t.equal(failing({ min_os, unknown: 'pass' }, on('', 'ubuntu')), '')
  t.equal(failing({ min_agent: '1.4.0' }), '')
  t.equal(failing({ min_agent: '1.4.1' }), 'agent agent_too_old')
  t.equal(failing({ min_agent: '1.10' }), 'agent agent_too_old', 'numbers, not letters')
  t.equal(
    failing({ min_agent: '1.0', unknown: 'pass' }, machine({ agent: '2-evil' })),
    'agent agent_too_old',
    'our own version can always be read',
  )
})

t.test('versions compare as numbers, or not at all', async (t) => {
  const order = (a: string, b: string) => Math.sign(compareVersions(a, b) ?? Number.NaN)
  t.equal(order('9', '10'), -1)
  t.equal(order('24.04', '24.4'), 0)
  t.equal(order('24.04', '24.04.1'), -1)
  t.equal(order('24.04.0', '24.04'), 0)
  t.equal(order('10.0.26100.4061', '10.0.26100.999'), 1)
  for (const bad of [
    '',
    '.',
    '1.',
    '.1',
    '1..2',
    '1.2-rc',
    'v1',
    ' 1',
    '1 ',
    '-1',
    '1e3',
    '٣',
    '1\n',
  ]) {
    t.notOk(isVersion(bad), JSON.stringify(bad))
    t.equal(compareVersions(bad, '1'), undefined)
    t.equal(compareVersions('1', bad), undefined)
  }
  t.notOk(isVersion('1'.repeat(10)))
})

t.test('freshness is the age of what the machine says, not of its last contact', async (t) => {
  const collected = (hoursAgo: number) => machine({ collectedAt: NOW_MS - hoursAgo * 3_600_000 })
  t.equal(failing({ fresh_hours: 24 }, collected(23)), '')
  t.equal(failing({ fresh_hours: 24 }, collected(24)), 'fresh facts_too_old')
  t.equal(failing({}, collected(9999)), '')
  t.equal(failing({ fresh_hours: 1 }, { ...machine(), posture: null }), 'fresh not_reported')
})

t.test('a replay shows whom it would have stopped', async (t) => {
  const off = { facts: { firewall: { value: false, reason: 'off' } } } as const
  const past = (id: string, device: SignInFacts['device'], userId = id): PastSignIn => {
    const { failures: _none, ...own } = facts({ userId, device })
    const where = { loginHash: id, ip: '192.0.2.7', countedAs: '192.0.2.7', site: null }
    const told = { isFailure: false, isKnownDevice: true }
    return { id, at: NOW, userId, ...where, ...told, facts: own }
  }
  const browser = { isKnown: true, isNetworkKnown: true }
  const old = past('before', { ...browser, isEnrolled: false } as never)
  const seen = [
    old,
    past('has_good', { ...browser, last: machine() }),
    past('has_bad', { ...browser, last: machine(off) }),
    past('has_none', { ...browser, last: null }),
    past('emergency', { ...browser, last: null }),
  ]
  const effect = (from: Partial<DevicePolicy>, to: Partial<DevicePolicy>) => {
    const replay = createReplay(policies({ device: from }), policies({ device: to }))
    for (const one of seen) replay.add(one, true)
    const { examples } = replay.result()
    return Object.fromEntries(examples.map(({ id, after }) => [id, after]))
  }
  const demand = { require: 'enrolled', facts: ['firewall'], break_glass: ['emergency'] } as const
  t.same(effect({}, demand), {
    before: 'device_proof_needed',
    has_bad: 'device_not_compliant',
    has_none: 'device_not_enrolled',
  })
  t.same(effect({}, { ...demand, mode: 'report' }), {})
  t.same(effect({}, { ...demand, mode: 'warn' }), {
    before: 'device_proof_needed',
    has_bad: 'device_warning',
    has_none: 'device_proof_needed',
  })
  t.same(effect(demand, demand), {}, 'nothing differs where nothing is changed')
  const read = JSON.parse(JSON.stringify(old.facts)) as typeof old.facts
  t.match(judge({ ...read, failures: facts().failures }, policies()), { kind: 'signed_in' })
})

t.test('what is not demanded passes', async (t) => {
  t.same(device(facts(), policies()), PASS)
})
