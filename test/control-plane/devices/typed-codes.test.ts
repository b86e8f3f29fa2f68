/** Codes that people type: each good once, for one tenant, for a minute, and only where a policy allows them. */
import t from 'tap'
import { SECOND_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { startDevices } from '../../support/devices.ts'

const [DEVICE, OTHER] = ['dev_0123456789abcdef', 'dev_fedcba9876543210']

async function start(t: Parameters<typeof startDevices>[0]) {
  const api = await startDevices(t)
  await api.tenant('other')
  const { services, clock } = api
  const { deviceTypedCodes: codes, store, policies } = services
  const allow = (typed_code: boolean) =>
    policies.put('acme', 'device', { require: 'enrolled', typed_code }, ACTOR)
  await allow(true)
  const make = (deviceId = DEVICE, tenantId = 'acme') =>
    store.change((change) => codes.make(change, { tenantId, deviceId }))
  const take = (typed: string, tenantId = 'acme') =>
    store.changeOf(tenantId, (change) => codes.take(change, tenantId, typed))
  return { clock, store, codes, allow, make, take }
}

void t.test('a code is good once, however it is typed', async (t) => {
  const { make, take } = await start(t)
  const code = await make()
  t.match(code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
  t.equal(await take(` ${code.toLowerCase().replace('-', ' ')} `), DEVICE)
  t.equal(await take(code), undefined, 'it was used')
  const other = await make()
  const all = await Promise.all(Array.from({ length: 20 }, () => take(other)))
  t.equal(all.filter((one) => one === DEVICE).length, 1, 'of twenty at once one has it')
})

void t.test('a device has one at a time, and it lives a minute', async (t) => {
  const { make, take, clock, codes } = await start(t)
  const [first, ofAnother, second] = [await make(), await make(OTHER), await make()]
  t.equal(await take(first), undefined, 'the next one has replaced it')
  t.equal(LIMITS.deviceTypedCodeSeconds, 60)
  clock.advance(LIMITS.deviceTypedCodeSeconds * SECOND_MS - 1)
  t.equal(await take(second), DEVICE)
  clock.advance(1)
  t.equal(await take(ofAnother), undefined)
  await make()
  clock.advance(LIMITS.deviceTypedCodeSeconds * SECOND_MS + 1)
  t.equal(await codes.prune(10), 1, 'and none is kept')
})

void t.test('nothing else is a code, and another tenant has none', async (t) => {
  const { make, take } = await start(t)
  const code = await make()
  for (const typed of ['', code.slice(1), `${code}B`, 'AAAA-AAAA', 'x'.repeat(1000), '%', "' OR 1"])
    t.equal(await take(typed), undefined, typed.slice(0, 20))
  t.equal(await take(code, 'other'), undefined)
  t.equal(await take(code), DEVICE, 'and took nothing of it')
})

void t.test('no code is made where the policy does not allow it', async (t) => {
  const { make, allow } = await start(t)
  await allow(false)
  await t.rejects(make(), { code: 'device_code_off' })
  await t.rejects(make(OTHER, 'other'), { code: 'device_code_off' }, 'which is so by itself')
})
