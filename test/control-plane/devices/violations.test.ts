/** What was begun on a device that falls out of the policy. */
import t from 'tap'
import { HOUR_MS } from '../../../shared/clock.ts'
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
      ...{ issuedAtMs: clock.nowMs(), expiresAtMs: clock.nowMs() + HOUR_MS },
    })
  await begin('on-one', ada, one.deviceId)
  await begin('of-eve', eve, one.deviceId)
  await begin('elsewhere', ada)
  const report = (of: Machine, values: Record<string, boolean>) => {
    of.posture = makePosture(values)
    return checkIn(of, { posture: of.posture })
  }
  const ended = async () => {
    const sids = ['on-one', 'of-eve', 'elsewhere']
    const all = await Promise.all(sids.map((sid) => services.sessions.find('acme', sid)))
    return sids.filter((_sid, at) => all[at]?.endReason === 'device_violation')
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
