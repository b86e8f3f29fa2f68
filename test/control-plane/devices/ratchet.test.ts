/** A check-in is believed once, and of two machines with one key each shows the other. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { machineJws, makePosture, random32, startDevices } from '../../support/devices.ts'

const CLONE = { status: 409, body: { error: 'device_suspect_clone' } }
const LOST = { status: 409, body: { error: 'device_chain_lost' } }

void t.test('a machine checks in, and says how it is only where that has changed', async (t) => {
  const { machine, checkIn, services } = await startDevices(t)
  const one = await machine()
  const first = await checkIn(one)
  t.match(first, {
    status: 200,
    body: { state: 'pending', poll_s: LIMITS.deviceCheckInSeconds, want_posture: true },
  })
  t.equal((first.body['challenge_jwks'] as { keys: unknown[] }).keys.length, 2)
  t.notOk('update' in first.body)
  t.match(await checkIn(one, { posture: one.posture }), { body: { want_posture: false } })
  t.match(await checkIn(one), { status: 200, body: { want_posture: false } })
  one.posture = { ...makePosture({ firewall: false }), agent: '0.1.9' }
  t.match(await checkIn(one), { body: { want_posture: true } })
  t.match(await checkIn(one, { posture: one.posture }), {
    body: { want_posture: false, update: { version: '0.2.0' } },
  })
  const posture = makePosture({ tpm: false })
  t.match(await checkIn(one, { posture }), { status: 200 })
  const { posture: kept } = await services.enrolledDevices.find('acme', one.deviceId)
  t.same(kept, posture, 'what it calls its facts does not hide that they are others')
})

void t.test('whose answer was lost says the same once more, as often as it takes', async (t) => {
  const { machine, checkIn, say } = await startDevices(t)
  const one = await machine()
  await checkIn(one)
  const jws = machineJws(one, 'checkIn')
  t.match(await say('checkin', jws), { status: 200 }, 'lost')
  t.match(await say('checkin', jws), { status: 200 }, 'lost again')
  t.match(await checkIn(one), { status: 200 })
  t.match(await checkIn(one), { status: 200 })
})

void t.test('who sends again what another has sent harms nobody', async (t) => {
  const { machine, checkIn, say } = await startDevices(t)
  const one = await machine()
  const jws = machineJws(one, 'checkIn')
  await checkIn(one)
  const replayed = await say('checkin', jws)
  t.equal(replayed.status, 200, 'it looks like a lost answer')
  t.match(await checkIn(one), { status: 200 }, 'and the machine goes on')
  t.match(
    await checkIn({ ...one, prev: String(replayed.body['next']) }),
    CLONE,
    'what it got is none',
  )
})

void t.test('a copied key shows, whichever of both comes first', async (t) => {
  const { machine, checkIn } = await startDevices(t)
  for (const name of ['copy', 'original']) {
    const original = await machine()
    await checkIn(original)
    const copy = { ...original, bootId: random32() }
    const [first, second] = name === 'copy' ? [copy, original] : [original, copy]
    t.match(await checkIn(first), { status: 200 }, name)
    t.match(await checkIn(second), CLONE, name)
    t.match(await checkIn(first), CLONE, 'nor is the other one believed')
  }
})

void t.test('a copy that says exactly what the machine said shows as well', async (t) => {
  const { machine, checkIn } = await startDevices(t)
  for (const isCopyFirst of [true, false]) {
    const one = await machine()
    await checkIn(one)
    const copy = { ...one }
    t.match([await checkIn(one), await checkIn(copy)], [{ status: 200 }, { status: 200 }])
    const [first, second] = isCopyFirst ? [copy, one] : [one, copy]
    t.match(await checkIn(first), { status: 200 })
    t.match(await checkIn(second), CLONE)
  }
})

void t.test('a start of the machine that comes back after another one shows', async (t) => {
  const { machine, checkIn } = await startDevices(t)
  const one = await machine()
  const boots = Array.from({ length: LIMITS.deviceBootsKept + 1 }, random32)
  for (const bootId of boots) {
    one.bootId = bootId
    t.match(await checkIn(one), { status: 200 })
  }
  one.bootId = boots[0]!
  t.match(await checkIn(one), { status: 200 }, 'so long is none remembered')
  one.bootId = boots[2]!
  t.match(await checkIn(one), CLONE)
})

void t.test('a lost chain is mended by a nonce, once and for a minute', async (t) => {
  const { machine, checkIn, nonce, clock } = await startDevices(t)
  const [one, other] = [await machine(), await machine()]
  await checkIn(one)
  const [given, second] = [await nonce(one.deviceId), await nonce(one.deviceId)]
  t.match(await checkIn({ ...one, prev: await nonce(other.deviceId) }), LOST, "another's")
  t.match(await checkIn({ ...one, prev: 'a.b.c' }), LOST)
  t.match(await checkIn({ ...one, prev: `${given}.c` }), LOST)
  const mended = { ...one, prev: given, ctr: 0, bootId: random32() }
  t.match(await checkIn(mended), { status: 200 })
  t.match(await checkIn({ ...mended, prev: given }), LOST, 'it was used')
  t.match(await checkIn({ ...mended, prev: second }), LOST, 'and with it all of its time')
  const late = await nonce(one.deviceId)
  clock.advance(LIMITS.deviceNonceMs)
  t.match(await checkIn({ ...mended, prev: late }), LOST)
  t.match(await checkIn(mended), { status: 200 }, 'and nobody is a copy for that')
  t.match(await nonce('dev_0000000000000000'), /^[\w-]+\.[\w-]+\.[\w-]+$/, 'of nobody')
})

void t.test('who mends the chain of another shows, as soon as that one comes', async (t) => {
  const { machine, checkIn, nonce } = await startDevices(t)
  const one = await machine()
  await checkIn(one)
  const thief = { ...one, prev: await nonce(one.deviceId), bootId: random32(), ctr: 0 }
  t.match(await checkIn(thief), { status: 200 })
  t.match(await checkIn(one), CLONE)
  t.match(await checkIn({ ...one, prev: await nonce(one.deviceId) }), CLONE)
})

void t.test('a machine that leaves is gone, and cannot come back', async (t) => {
  const { machine, checkIn, say, operator } = await startDevices(t)
  const one = await machine()
  await checkIn(one)
  t.match(await say('leave', machineJws(one, 'leave')), { status: 204 })
  const refused = { status: 401, body: { error: 'device_refused' } }
  t.match(await checkIn(one), refused)
  t.match(await say('leave', machineJws(one, 'leave')), refused)
  const { items } = await operator('GET', '/audit')
  t.match(items[0], { action: 'device.left', actor: `device:${one.deviceId}` })
})

void t.test('many check-ins at once are all written, each as its own', async (t) => {
  const { machine, checkIn } = await startDevices(t)
  const all = await Promise.all(Array.from({ length: 12 }, () => machine()))
  const copy = { ...all[0]!, bootId: random32() }
  const answers = await Promise.all([...all, copy].map((one) => checkIn(one)))
  t.equal(answers.filter(({ status }) => status === 200).length, 12)
  t.equal(answers.filter(({ status }) => status === 409).length, 1)
  const again = await Promise.all(all.slice(1).map((one) => checkIn(one)))
  t.ok(again.every(({ status }) => status === 200))
})
