/** What was begun on a device that falls out of the policy. */
import t from 'tap'
import { insertRows } from '../../../control-plane/store/statements.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { DAY_MS, HOUR_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { makePosture, random32, startDevices, type Machine } from '../../support/devices.ts'

async function start(t: Parameters<typeof startDevices>[0], more: object = {}) {
  const world = await startDevices(t)
  const { operator, services, clock, machine, checkIn, person } = world
  const [ada, eve] = [await person('ada'), await person('eve')]
  const policy = { require: 'enrolled', facts: ['firewall'], on_violation: 'end_sessions', ...more }
  const put = await operator('PUT', '/tenants/acme/policies/device', policy)
  if (put.status !== 200) throw new Error(JSON.stringify(put.body))
  const one = await machine()
  await checkIn(one, { posture: one.posture })
  const begin = (sid: string, userId: string, deviceId?: string) =>
    services.sessions.record({
      ...{ tenantId: 'acme', sid, userId, ip: '192.0.2.1', userAgent: 'x', deviceId },
      ...{ issuedAtMs: clock.nowMs(), expiresAtMs: clock.nowMs() + 9 * DAY_MS },
    })
  await begin('on-one', ada, one.deviceId)
  await begin('of-eve', eve, one.deviceId)
  await begin('elsewhere', ada)
  const report = (of: Machine, values: Record<string, boolean>) => {
    of.posture = makePosture(values)
    return checkIn(of, { posture: of.posture })
  }
  const ended = async (reason = 'device_violation') => {
    const sids = ['on-one', 'of-eve', 'elsewhere']
    const all = await Promise.all(sids.map((sid) => services.sessions.find('acme', sid)))
    return sids.filter((_sid, at) => all[at]?.endReason === reason)
  }
  return { ...world, ada, eve, one, report, ended }
}

void t.test('it ends with the report that says so, and elsewhere goes on', async (t) => {
  const { one, report, ended } = await start(t)
  await report(one, { screen_lock: false })
  t.strictSame(await ended(), [], 'nobody has demanded that')
  t.match(await report(one, { firewall: false }), { status: 200 })
  t.strictSame(await ended(), ['on-one', 'of-eve'])
})

void t.test('it ends when the key shows on two machines', async (t) => {
  const { one, checkIn, ended } = await start(t)
  t.match(await checkIn({ ...one, prev: random32() }), { status: 409 })
  t.strictSame(await ended(), ['on-one', 'of-eve'])
})

void t.test('not while it may still be mended, nor where nobody wants it', async (t) => {
  for (const more of [
    { grace_days: 1 },
    { on_violation: 'nothing' },
    { on_violation: 'ask_again' },
    { mode: 'warn' },
    { mode: 'report' },
    { require: 'known' },
  ]) {
    const { one, report, ended } = await start(t, more)
    await report(one, { firewall: false })
    t.strictSame(await ended(), [], JSON.stringify(more))
  }
})

void t.test('people who need no device keep what they have begun', async (t) => {
  const world = await start(t)
  const { one, report, ended, operator, eve } = world
  await operator('PUT', '/tenants/acme/policies/device', {
    ...{ require: 'enrolled', facts: ['firewall'], on_violation: 'end_sessions' },
    break_glass: [eve],
  })
  await report(one, { firewall: false })
  t.strictSame(await ended(), ['on-one'])
})

void t.test('what time does to a device is found without a word of it', async (t) => {
  const { services, clock, ended, one, report } = await start(t, { grace_days: 2 })
  await report(one, { firewall: false })
  clock.advance(2 * DAY_MS - 1000)
  await services.jobs.run()
  t.strictSame(await ended(), [], 'it may still be mended')
  clock.advance(1000)
  await services.jobs.run()
  t.strictSame(await ended(), ['on-one', 'of-eve'])

  const stale = await start(t, { facts: [], fresh_hours: 1 })
  stale.clock.advance(HOUR_MS - 11_000)
  await stale.services.jobs.run()
  t.strictSame(await stale.ended(), [])
  stale.clock.advance(1000)
  await stale.services.jobs.run()
  t.strictSame(await stale.ended(), ['on-one', 'of-eve'])
})

void t.test('days of grace are counted once, also where false turns into unknown', async (t) => {
  const { clock, ended, one, report, checkIn } = await start(t, { grace_days: 2 })
  await report(one, { firewall: false })
  clock.advance(DAY_MS)
  const { facts } = one.posture
  const firewall = { value: 'unknown', reason: 'not_readable' } as const
  one.posture = { ...one.posture, facts: { ...facts, firewall } }
  t.match(await checkIn(one, { posture: one.posture }), { status: 200 })
  t.strictSame(await ended(), [])
  clock.advance(DAY_MS - 1000)
  await report(one, { firewall: false, tpm: false })
  t.strictSame(await ended(), [])
  clock.advance(1000)
  await report(one, { firewall: false })
  t.strictSame(await ended(), ['on-one', 'of-eve'])

  const mended = await start(t, { grace_days: 2 })
  await mended.report(mended.one, { firewall: false })
  await mended.report(mended.one, {})
  mended.clock.advance(2 * DAY_MS)
  await mended.report(mended.one, { firewall: false })
  t.strictSame(await mended.ended(), [], 'what was mended meanwhile begins anew')
})

void t.test('days of grace go on where the policy is saved for something else', async (t) => {
  const { services, clock, ended, one, report, operator } = await start(t, { grace_days: 2 })
  await report(one, { firewall: false, tpm: false })
  const path = '/tenants/acme/policies/device'
  const save = async (more: object) =>
    t.match(
      await operator('PUT', path, { ...(await operator('GET', path)).body, ...more }),
      { status: 200 },
      JSON.stringify(more),
    )
  clock.advance(DAY_MS)
  await save({ notify_new: false })
  await save({ facts: ['firewall', 'tpm'] })
  await save({ facts: ['firewall', 'tpm'], min_os: { windows: '10' } })
  clock.advance(DAY_MS - 1000)
  await services.jobs.run()
  t.strictSame(await ended(), [])
  clock.advance(1000)
  await services.jobs.run()
  t.strictSame(await ended(), ['on-one', 'of-eve'], 'from when it was first asked')

  const begun = await start(t, { grace_days: 2 })
  await begun.report(begun.one, { firewall: false })
  await begun.operator('PUT', path, { require: 'enrolled', facts: [], grace_days: 2 })
  begun.clock.advance(2 * DAY_MS)
  const again = { require: 'enrolled', facts: ['firewall'], grace_days: 2 }
  await begun.operator('PUT', path, { ...again, on_violation: 'end_sessions' })
  await begun.services.jobs.run()
  t.strictSame(await begun.ended(), [], 'what was not asked meanwhile begins anew')
})

void t.test('a policy saved before its demands were dated counts from then', async (t) => {
  const { services, clock, ended, one, report } = await start(t, { grace_days: 2 })
  await report(one, { firewall: false })
  const table = schema.tenantPolicies
  await services.store.change(({ queries }) => queries.update(table).set({ demanded: [] }))
  clock.advance(2 * DAY_MS - 1000)
  await services.jobs.run()
  t.strictSame(await ended(), [])
  clock.advance(1000)
  await services.jobs.run()
  t.strictSame(await ended(), ['on-one', 'of-eve'])
})

void t.test('what an administrator decides of a device counts at once', async (t) => {
  const { ended, one, operator, ada, eve } = await start(t, { facts: [], owner: 'own' })
  const path = `/tenants/acme/devices/${one.deviceId}`
  const toAda = await operator('PATCH', path, { owner: ada })
  t.match(toAda.body, { enforced: { gateways: 0, of: 0 } }, 'as of every other end')
  t.strictSame(await ended(), ['of-eve'], 'it is not hers')
  t.notMatch((await operator('PATCH', path, { owner: ada })).body, { enforced: {} }, 'none ended')
  await operator('PATCH', path, { owner: eve })
  t.strictSame(await ended(), ['on-one', 'of-eve'])

  const approved = await start(t, { facts: [] })
  const toApprove = `/tenants/acme/devices/${approved.one.deviceId}`
  await approved.operator('PATCH', toApprove, { approved: true })
  const policy = { require: 'enrolled', approved: true, on_violation: 'end_sessions' }
  await approved.operator('PUT', '/tenants/acme/policies/device', policy)
  await approved.services.jobs.run()
  t.strictSame(await approved.ended(), [])
  await approved.operator('PATCH', toApprove, { approved: false })
  t.strictSame(await approved.ended(), ['on-one', 'of-eve'])
})

void t.test('a policy that wants one’s own device reaches those on somebody else’s', async (t) => {
  const { services, ended, operator, one, ada } = await start(t, { facts: [] })
  await operator('PATCH', `/tenants/acme/devices/${one.deviceId}`, { owner: ada })
  const policy = { require: 'enrolled', owner: 'own', on_violation: 'end_sessions' }
  await operator('PUT', '/tenants/acme/policies/device', policy)
  await services.jobs.run()
  t.strictSame(await ended(), ['of-eve'])
})

void t.test('where the device is asked for once more, its sessions are over so long', async (t) => {
  const { services, clock, ended, eve, operator } = await start(t, {
    ...{ facts: [], fresh_hours: 1, on_violation: 'ask_again' },
  })
  const { body } = await operator('GET', '/tenants/acme/policies/device')
  const settings = { ...(body['settings'] ?? body), break_glass: [eve] }
  t.match(await operator('PUT', '/tenants/acme/policies/device', settings), { status: 200 })
  clock.advance(HOUR_MS)
  await services.jobs.run()
  t.strictSame(await ended('device_check'), ['on-one'], 'and who needs no device goes on')
})

void t.test('a policy that demands more reaches what has begun before', async (t) => {
  const { services, ended, operator, one, report } = await start(t, { facts: [] })
  await report(one, { firewall: false })
  await services.jobs.run()
  t.strictSame(await ended(), [])
  const policy = { require: 'enrolled', facts: ['firewall'], on_violation: 'end_sessions' }
  await operator('PUT', '/tenants/acme/policies/device', policy)
  await services.jobs.run()
  t.strictSame(await ended(), ['on-one', 'of-eve'])
})

void t.test('a round looks at so many devices, and the next goes on there', async (t) => {
  const { services, clock, ended, one, ada, report, operator } = await start(t, { facts: [] })
  await report(one, { firewall: false })
  const policy = { require: 'enrolled', facts: ['firewall'], on_violation: 'end_sessions' }
  await operator('PUT', '/tenants/acme/policies/device', policy)
  const nowMs = clock.nowMs()
  const others = Array.from({ length: LIMITS.devicesJudgedPerRoundMax }, (_, index) => ({
    ...{ sid: `other-${index}`, deviceId: `dev_ ${index}`, tenantId: 'acme', userId: ada },
    ...{ ip: '192.0.2.1', userAgent: 'x', createdAt: nowMs, issuedAt: nowMs, lastSeenAt: nowMs },
    ...{ expiresAt: nowMs + DAY_MS, endedAt: null, endReason: null },
  }))
  await services.store.change(({ queries }) => insertRows(queries, schema.sessions, others))
  await services.jobs.run()
  t.strictSame(await ended(), [])
  await services.jobs.run()
  t.strictSame(await ended(), ['on-one', 'of-eve'])
})
