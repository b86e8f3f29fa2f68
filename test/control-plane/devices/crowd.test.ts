/** All machines at once, as after an outage: spread, and none of them lost. */
import t from 'tap'
import { createCheckInRoom } from '../../../control-plane/devices/check-in-room.ts'
import { Refusal } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { machineJws, startDevices } from '../../support/devices.ts'

const shown = () => Promise.resolve()

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
  t.equal(most, LIMITS.rateDeviceCheckIns.burst, 'and never more in a second')
})

void t.test('so many are worked on at once, and no line forms behind them', async (t) => {
  const room = createCheckInRoom({ clock: movableClock(), random: () => 0 })
  const { promise, resolve } = Promise.withResolvers<string>()
  const under = Array.from({ length: LIMITS.deviceCheckInsAtOnceMax }, () =>
    room.enter(shown, () => promise),
  )
  await t.rejects(
    room.enter(shown, () => promise),
    new Refusal('unavailable', { retry_after: 1 }),
  )
  resolve('done')
  t.equal((await Promise.all(under)).length, LIMITS.deviceCheckInsAtOnceMax)
  t.equal(await room.enter(shown, () => Promise.resolve('next')), 'next')
})

void t.test('strangers, and one device again and again, keep no other one out', async (t) => {
  const { machine, checkIn, say } = await startDevices(t)
  const [one, loud] = [await machine(), await machine()]
  const { burst } = LIMITS.rateDeviceCheckIns
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
