/** What the checklist shows of trial sign-ins: the newest of each tenant as it is, and of so many. */
import t from 'tap'
import { createLatestTrials } from '../../../control-plane/verification/latest-trials.ts'
import { LIMITS } from '../../../shared/limits.ts'

const trial = (revision: number, atMs = 0) => ({ atMs, revision, checks: [] })

void t.test('a tenant that has changed since was not tried', (t) => {
  const trials = createLatestTrials()
  trials.put('acme', trial(7, 1))
  t.match(trials.of({ tenantId: 'acme', revision: 7 }), { atMs: 1 })
  t.equal(trials.of({ tenantId: 'acme', revision: 8 }), undefined)
  t.equal(trials.of({ tenantId: 'other', revision: 7 }), undefined)
  t.end()
})

void t.test('of so many tenants they are kept, and the oldest goes first', (t) => {
  const most = LIMITS.signInTrialsKeptMax
  const trials = createLatestTrials()
  const isKept = (at: number) => trials.of({ tenantId: `t${at}`, revision: 1 }) !== undefined
  for (let at = 0; at < most; at++) trials.put(`t${at}`, trial(1))
  t.ok(isKept(0))
  trials.put('t0', trial(1))
  trials.put(`t${most}`, trial(1))
  t.ok(isKept(0), 'tried again meanwhile')
  t.notOk(isKept(1))
  t.ok(isKept(most))
  t.end()
})
