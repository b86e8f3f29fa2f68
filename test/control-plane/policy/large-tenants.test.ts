/** What administrators of one tenant ask for costs what it is, however much they have there. */
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { fromTo } from '../../../control-plane/console/blocks/diff.ts'
import { pausedUntil } from '../../../control-plane/policy/lockout.ts'
import { createReplay } from '../../../control-plane/policy/replay.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, startServices, tenantNamed } from '../../support/control-plane.ts'
import { NOW, facts, policies } from './facts.ts'

t.test('two long lists are compared item by item', async (t) => {
  const listOf = (network: string) =>
    Array.from({ length: 1000 }, (_item, at) => `${network}.${at >> 8}.${at & 255}`)
  const { stringify } = JSON
  let written = 0
  t.teardown(() => (JSON.stringify = stringify))
  JSON.stringify = (...given: [unknown]) => {
    written++
    return stringify(...given)
  }
  const [difference] = fromTo(
    { allow: listOf('192.0') },
    { allow: [...listOf('10.1'), '192.0.0.7'] },
  )
  t.equal((difference?.from as unknown[]).length, 999)
  t.equal((difference?.to as unknown[]).length, 1000)
  t.equal(written, 0, 'neither of the lists is written out, nor an item of them')
  const mixed = fromTo({ allow: ['1', 2, { a: 1 }] }, { allow: [1, '2', '{"a":1}', { a: 1 }] })
  t.strictSame(mixed, [{ name: 'allow', from: ['1', 2], to: [1, '2', '{"a":1}'] }])
})

/** As it is said: a pause begins with the failure that makes it `most` within the window. */
function plainlyPausedUntil(failures: readonly number[], most: number, window: number) {
  let until = 0
  let pauseSeconds = 60
  let counted: number[] = []
  for (const at of failures) {
    if (at < until) continue
    counted = [...counted.filter((before) => before > at - window), at]
    if (counted.length < most) continue
    until = at + pauseSeconds
    pauseSeconds *= 2
    counted = []
  }
  return until
}

t.test('pauses are found in one walk over the failures', async (t) => {
  const rules = { ...policies().lockout, window_seconds: 100, pause_seconds: 60 }
  let seed = 1
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
  for (let round = 0; round < 300; round++) {
    let at = NOW
    const failures = Array.from(
      { length: Math.floor(random() * 60) },
      () => (at += Math.floor(random() ** 3 * 120)),
    )
    const most = 1 + Math.floor(random() * 6)
    const until = pausedUntil(failures, most, rules)
    t.equal(until, plainlyPausedUntil(failures, most, 100), JSON.stringify({ failures, most }))
  }
})

t.test('an effect looks at as many failures as a sign-in does', async (t) => {
  const most = LIMITS.failuresLookedAtMax
  const rules = { window_seconds: 86_400, pause_seconds: 60, address_failures: 10 * most }
  const lenient = policies({ lockout: { ...rules, user_failures: 10 * most } })
  for (const [userFailures, after] of [
    [most, 'user_paused'],
    [most + 1, undefined],
  ] as const) {
    const strict = policies({ lockout: { ...rules, user_failures: userFailures } })
    const replay = createReplay(lenient, strict)
    const { failures: _, ...known } = facts()
    const past = {
      id: '',
      userId: null,
      loginHash: 'a',
      ip: '',
      countedAs: '',
      site: null,
      isKnownDevice: true,
    }
    for (let count = 0; count < most + 500; count++) {
      const at = NOW + Math.floor(count / 100)
      replay.add({ ...past, at, isFailure: true, facts: { ...known, at } }, false)
    }
    replay.add({ ...past, at: NOW + 15, isFailure: false, facts: { ...known, at: NOW + 15 } }, true)
    t.equal(replay.result().differences[0]?.after, after, `${userFailures} failures`)
  }
})

t.test('what a session policy ends is ended a few at a time', async (t) => {
  const { tenants, users, sessions, policies, store, clock } = await startServices(t)
  await tenants.create(tenantNamed('acme'), ACTOR)
  const account = { username: 'ada', email: 'ada@acme.test', name: 'Ada', password: '' }
  const { userId } = await users.create('acme', account, ACTOR)
  const issuedAtMs = clock.nowMs()
  const times = { issuedAtMs, expiresAtMs: issuedAtMs + 3_600_000 }
  const whose = { tenantId: 'acme', userId, ip: '192.0.2.1', userAgent: 'Firefox' }
  for (let at = 0; at < 121; at++) await sessions.record({ ...whose, ...times, sid: `sid-${at}` })
  const ended: number[] = []
  store.onCommit(({ revoked }) => {
    const sids = Object.keys(revoked.get('acme')?.sids ?? {})
    if (sids.length > 0) ended.push(sids.length)
  })
  await policies.put('acme', 'session', { concurrent_max: 1 }, ACTOR)
  t.strictSame(ended, [50, 50, 20])
  t.equal((await sessions.aliveOf('acme', userId)).length, 1)
})

t.test('what a change revokes is gathered entry by entry', async (t) => {
  const { tenants, store } = await startServices(t)
  await tenants.create(tenantNamed('acme'), ACTOR)
  const { entries } = Object
  let visited = 0
  t.teardown(() => (Object.entries = entries))
  const revoked = Promise.withResolvers<object>()
  store.onCommit((committed) => revoked.resolve(committed.revoked.get('acme') ?? {}))
  await store.change(async (change) => {
    Object.entries = ((given: object) => {
      const found = entries(given)
      visited += found.length
      return found
    }) as typeof entries
    for (let at = 0; at < 2000; at++)
      change.revoke('acme', { all: 0, subjects: { ada: at }, sids: { [`sid-${at}`]: 7 } })
    change.revoke('acme', { all: 5, subjects: { ada: 3 }, sids: { 'sid-1': 9 } })
    Object.entries = entries
    await turn()
  })
  t.ok(visited < 10_000, `${visited} entries looked at`)
  const { all, subjects, sids } = (await revoked.promise) as Record<string, object>
  t.match({ all, subjects }, { all: 5, subjects: { ada: 1999 } })
  t.equal(Object.keys(sids ?? {}).length, 2000)
  t.match(sids, { 'sid-0': 7, 'sid-1': 9 })
})
