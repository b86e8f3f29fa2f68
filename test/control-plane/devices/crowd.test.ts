/** All machines at once, as after an outage: spread, and none of them lost. */
import t from 'tap'
import { createCheckInRoom } from '../../../control-plane/devices/check-in-room.ts'
import { Refusal } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { machineJws, startDevices } from '../../support/devices.ts'

const shownOf = (tenantId: string) => () => Promise.resolve({ tenantId })
const shown = shownOf('acme')
const RATE = LIMITS.rateDeviceCheckIns

void t.test('a hundred thousand that do as they are told all come in', async (t) => {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0 // of each refusal it would cost more than all else
  t.teardown(() => void (Error.stackTraceLimit = stackTraceLimit))
  const clock = movableClock()
  const room = createCheckInRoom({ clock })
  const waiting = new Map<number, number>([[0, 100_000]])
  let [done, longest, most] = [0, 0, 0]
  for (let second = 0; waiting.size > 0 && second < 3600; second++) {
    let inThisSecond = 0
    const here = waiting.get(second) ?? 0
    waiting.delete(second)
    for (let one = 0; one < here; one++) {
      const again = await room
        .enter(shown, () => Promise.resolve(undefined))
        .catch((error: unknown) => (error as Refusal).fields['retry_after'] as number)
      if (again === undefined) inThisSecond++
      else waiting.set(second + again, (waiting.get(second + again) ?? 0) + 1)
      longest = Math.max(longest, again ?? 0)
    }
    done += inThisSecond
    most = Math.max(most, inThisSecond)
    clock.advance(1000)
  }
  t.equal(done, 100_000)
  t.equal(longest, LIMITS.deviceCheckInAgainSecondsMax)
  t.equal(most, RATE.burst / 2, 'and never more at once: the others have the other half')
})

void t.test('so many are worked on at once, and no line forms behind them', async (t) => {
  const room = createCheckInRoom({ clock: movableClock(), random: () => 0 })
  const { promise, resolve } = Promise.withResolvers<string>()
  const under: Promise<string>[] = []
  const busy = new Refusal('unavailable', { retry_after: 1 })
  /** As many as a tenant gets in. */
  async function fill(tenantId: string) {
    for (let count = 0; ; count++) {
      const one = room.enter(shownOf(tenantId), () => promise)
      const refused = await Promise.race([one.catch(() => true), new Promise(setImmediate)])
      if (refused === true) {
        await t.rejects(one, busy)
        return count
      }
      under.push(one)
    }
  }
  const most = LIMITS.deviceCheckInsAtOnceMax
  const got = [await fill('acme'), await fill('beta'), await fill('gamma')]
  t.same(got, [most / 2, most / 4, most / 8])
  resolve('done')
  await Promise.all(under)
  t.equal(await room.enter(shown, () => Promise.resolve('next')), 'next')
})

void t.test('a tenant whose machines flood leaves those of the others their room', async (t) => {
  const clock = movableClock()
  const room = createCheckInRoom({ clock })
  /** How many of so many get in, and how long the others are told to wait at most. */
  async function come(tenantId: string, count: number) {
    let [isIn, longest] = [0, 0]
    for (let one = 0; one < count; one++)
      await room
        .enter(shownOf(tenantId), async () => void isIn++)
        .catch(
          ({ fields }: Refusal) => (longest = Math.max(longest, fields['retry_after'] as number)),
        )
    return { isIn, longest }
  }
  for (let second = 0; second < 30; second += RATE.burst / RATE.perSecond) {
    t.equal((await come('acme', 2000)).isIn, RATE.burst / 2)
    t.equal((await come('beta', 2000)).isIn, RATE.burst / 4)
    t.same(await come('gamma', 30), { isIn: 30, longest: 0 }, 'nobody of it waits')
    clock.advance((RATE.burst / RATE.perSecond) * 1000)
  }
  t.ok((await come('acme', 2000)).longest > 100)
  const { isIn, longest } = await come('delta', 300)
  t.equal(isIn, RATE.burst / 4)
  t.ok(longest < 10, `${longest} seconds: it does not wait for the others`)
})

void t.test('strangers, and one device again and again, keep no other one out', async (t) => {
  const { machine, checkIn, say } = await startDevices(t)
  const [one, loud] = [await machine(), await machine()]
  const { burst } = RATE
  const nobody = machineJws({ ...loud, deviceId: 'dev_0000000000000000' }, 'checkIn')
  for (let sent = 0; sent <= burst; sent += 20) {
    const some = Array.from({ length: 20 }, (_, at) =>
      say('checkin', nobody, null, `192.0.2.${at}`),
    )
    t.ok((await Promise.all(some)).every(({ status }) => status === 401))
  }
  t.match(await checkIn(one), { status: 200 })
  const again = machineJws(loud, 'checkIn')
  for (let sent = 0; sent <= burst; sent++) {
    const { status } = await say('checkin', again)
    if (sent > LIMITS.rateDeviceOwn.burst && status !== 429) t.fail(`${status}`)
  }
  t.match(await checkIn(one), { status: 200 })
})

void t.test('an address, and a device, may ask so often', async (t) => {
  const { machine, checkIn, call, enrol, say } = await startDevices(t)
  const one = await machine()
  for (let times = LIMITS.rateDeviceOwn.burst; times > 0; times--)
    if ((await checkIn(one)).status !== 200) t.fail('too early')
  const often = { status: 429, body: { error: 'rate_limited', retry_after: Number } }
  t.match(await checkIn(one), often)
  t.match(await checkIn(await machine()), { status: 200 })

  const nonce = (address: string) =>
    call('POST', '/agent/v1/nonce', { device_id: one.deviceId }, { key: null, address })
  for (let times = LIMITS.rateDeviceAgent.burst; times > 0; times--)
    if ((await nonce('192.0.2.7')).status !== 200) t.fail('too early')
  t.match(await nonce('192.0.2.7'), often)
  const jws = machineJws(one, 'checkIn')
  t.match(await say('checkin', jws, null, '192.0.2.7'), often)
  t.match(await nonce('192.0.2.8'), { status: 200 })

  for (let times = LIMITS.rateDeviceEnrol.burst; times > 0; times--)
    if ((await enrol('sdt_nobodys', one.own, {}, '192.0.2.7')).status !== 401) t.fail('too early')
  t.match(await enrol('sdt_nobodys', one.own, {}, '192.0.2.7'), often)
  t.match(await enrol('sdt_nobodys', one.own, {}, '192.0.2.8'), { status: 401 })
})
