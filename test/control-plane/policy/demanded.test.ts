/** Days of grace: from when each thing was first asked, however often the policy is saved. */
import t from 'tap'
import { compliance } from '../../../control-plane/policy/compliance.ts'
import { demandedFrom, demandedNext } from '../../../control-plane/policy/demanded.ts'
import { asRecorded, complianceOf } from '../../../control-plane/policy/device.ts'
import { DEFAULT_POLICIES, type DevicePolicy } from '../../../control-plane/policy/policies.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { facts, machine, NOW, policies } from './facts.ts'

const NOW_MS = NOW * 1000
const DAY_MS = 86_400_000
const OFF = { value: false, reason: 'off' } as const
const FIREWALL = { facts: ['firewall'] } as const
const BOTH = { facts: ['tpm', 'firewall'] } as const

/** By how many days ago each was saved. */
type Saved = Readonly<Record<number, Partial<DevicePolicy>>>

/** Days of grace that are left under what was saved last; undefined: none. */
function daysLeft(saved: Saved, of: ReturnType<typeof machine>) {
  let before = DEFAULT_POLICIES.device
  let demanded: ReturnType<typeof demandedNext> = []
  for (const daysAgo of Object.keys(saved).map(Number).toReversed()) {
    const always = { ...DEFAULT_POLICIES.device, require: 'enrolled', grace_days: 10 } as const
    const after = { ...always, ...saved[daysAgo] }
    demanded = demandedNext(demanded, before, after, NOW_MS - daysAgo * DAY_MS)
    before = after
  }
  const found = compliance(of, before, { userId: 'usr_ada', nowMs: NOW_MS, demanded })
  return found.graceUntil === undefined ? undefined : (found.graceUntil - NOW_MS) / DAY_MS
}

t.test('a policy that is saved again leaves days of grace as they are', async (t) => {
  const since = NOW_MS - 40 * DAY_MS
  const of = machine({
    facts: { firewall: OFF, tpm: OFF },
    factsSince: { firewall: since, tpm: since },
    os: { id: 'ubuntu', version: '22.04' },
  })
  t.equal(daysLeft({ 6: FIREWALL }, of), 4)
  for (const more of [
    { notify_new: false },
    { break_glass: ['usr_1'] },
    { on_violation: 'end_sessions' },
    { owner: 'own' },
    { key_storage: 'tpm' },
    { fresh_hours: 24 },
    { min_os: { debian: '12' } },
    { min_agent: '1.0' },
    { unknown: 'pass' },
    BOTH,
  ] as const)
    t.equal(daysLeft({ 6: FIREWALL, 2: { ...FIREWALL, ...more } }, of), 4, JSON.stringify(more))
  t.equal(daysLeft({ 12: FIREWALL, 2: BOTH }, of), undefined, 'what is over stays over')
  t.equal(daysLeft({ 12: BOTH, 2: { facts: ['tpm'] } }, of), undefined)
  const good = machine({ facts: { tpm: OFF }, factsSince: { tpm: since } })
  t.equal(daysLeft({ 12: FIREWALL, 2: BOTH }, good), 8, 'what is new has days of its own')
  const between = { 20: FIREWALL, 15: { facts: [] }, 2: FIREWALL }
  t.equal(daysLeft(between, of), 8, 'what nobody asked for meanwhile begins anew')
  for (const [was, now, left] of [
    [{ mode: 'report' }, {}, 8],
    [{ mode: 'warn' }, {}, 8],
    [{ require: 'known' }, {}, 8],
    [{}, { grace_days: 14 }, 2],
    [{}, { grace_days: 7 }, undefined],
    [{}, { grace_days: 0 }, undefined],
  ] as const) {
    const saved = { 12: { ...FIREWALL, ...was }, 2: { ...FIREWALL, ...now } }
    t.equal(daysLeft(saved, of), left, JSON.stringify([was, now]))
  }
})

t.test('a least version that is raised again and again lets nobody off', async (t) => {
  const least = (version: string) => ({ min_os: { ubuntu: version } })
  const on = (version: string, more = {}) => machine({ os: { id: 'ubuntu', version }, ...more })
  const raised = { 12: least('22.04'), 5: least('23.10'), 1: least('24.04') }
  t.equal(daysLeft(raised, on('23.10')), 9, 'that was new enough until then')
  t.equal(daysLeft(raised, on('22.04')), 5)
  t.equal(daysLeft(raised, on('20.04')), undefined)
  t.equal(daysLeft({ ...raised, 0: least('22.04') }, on('20.04')), undefined, 'nor lowered')
  const enrolledAt = NOW_MS - 3 * DAY_MS
  t.equal(daysLeft(raised, on('20.04', { enrolledAt })), 7, 'who came later has the same days')
  t.equal(daysLeft({ 6: { min_agent: '1.5' }, 1: { min_agent: '1.6' } }, machine()), 4)
  t.equal(daysLeft({ 6: { min_agent: '1.4' }, 1: { min_agent: '1.6' } }, machine()), 9)
})

t.test('unknown and stale count from when they failed', async (t) => {
  const unknown = { value: 'unknown', reason: 'not_readable' } as const
  const of = machine({ facts: { tpm: unknown }, factsSince: { tpm: NOW_MS - 40 * DAY_MS } })
  const tpm = { facts: ['tpm'] } as const
  t.equal(daysLeft({ 12: { ...tpm, unknown: 'pass' }, 2: tpm }, of), 8)
  const stale = machine({ collectedAt: NOW_MS - 5 * DAY_MS })
  const fresh = (days: number) => ({ fresh_hours: 24 * days })
  t.equal(daysLeft({ 30: fresh(1) }, stale), 6)
  t.equal(daysLeft({ 30: fresh(1), 2: fresh(4) }, stale), 9, 'it was fresh enough for a while')
  t.equal(daysLeft({ 30: fresh(4), 3: fresh(1) }, stale), 7)
  t.equal(daysLeft({ 30: fresh(1), 4: fresh(2) }, stale), 7, 'it was fresh when that came')
})

t.test('of what was demanded is kept what days of grace can reach', async (t) => {
  let before: DevicePolicy = { ...DEFAULT_POLICIES.device, require: 'enrolled' }
  let known = demandedNext([], DEFAULT_POLICIES.device, before, 0)
  const save = (more: Partial<DevicePolicy>, day: number) => {
    const after = { ...before, ...more }
    known = demandedNext(known, before, after, day * DAY_MS)
    before = after
    return known.map(({ since }) => since / DAY_MS)
  }
  t.same(save({ facts: ['tpm', 'firewall'] }, 1), [0, 1])
  t.same(save({ facts: ['firewall', 'tpm'], grace_days: 3 }, 2), [0, 1], 'nothing else')
  t.same(save({ unknown: 'pass' }, 50), [0, 1, 50])
  t.same(save({ min_agent: '2' }, 1 + LIMITS.deviceGraceDaysMax), [1, 50, 91])
  for (let count = 0; count < 2 * LIMITS.deviceDemandsKeptMax; count++)
    save({ fresh_hours: 100 + count }, 92)
  t.equal(known.length, LIMITS.deviceDemandsKeptMax)
})

t.test('what is recorded is judged as it was, without what was demanded when', async (t) => {
  const days = (ago: number) => NOW_MS - ago * DAY_MS
  const of = machine({
    facts: { firewall: OFF, tpm: OFF },
    factsSince: { firewall: days(3), tpm: days(90) },
  })
  const now = policies({ device: { require: 'enrolled', grace_days: 10, ...BOTH } })
  const first = { ...now.device, ...FIREWALL }
  const demanded = [demandedFrom(first, days(20)), demandedFrom(now.device, days(5))]
  const browser = { isKnown: true, isNetworkKnown: true, demanded }
  for (const shown of [{ enrolled: of }, { last: of }]) {
    const live = facts({ userId: 'usr_ada', device: { ...browser, ...shown } })
    const kept = asRecorded(live, now)
    t.notOk('demanded' in kept.device)
    t.equal(kept.device.demandedSince, days(5) / 1000)
    t.equal(complianceOf(live, of, now).graceUntil, days(-5))
    t.equal(complianceOf(kept, of, now).graceUntil, days(-5))
  }
  const none = facts({ device: { ...browser, last: null } })
  t.equal(asRecorded(none, now).device.demandedSince, days(5) / 1000)
  t.notOk('demandedSince' in asRecorded(facts(), now).device)
})
