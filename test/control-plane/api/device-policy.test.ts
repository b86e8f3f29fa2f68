/** The device policy by the API: what it may hold, and who is told of it. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { startApi } from '../../support/api.ts'

const systems = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_none, index) => [`os${index}`, '1']))

void t.test('the device policy is taken whole, told whole, and answered whole', async (t) => {
  const api = await startApi(t)
  await api.tenant('acme')
  const policy = {
    require: 'enrolled',
    notify_new: false,
    mode: 'warn',
    grace_days: LIMITS.deviceGraceDaysMax,
    owner: 'own',
    approved: true,
    key_storage: 'tpm',
    facts: ['disk_encrypted', 'firewall'],
    unknown: 'pass',
    min_os: systems(LIMITS.deviceSystemsPerPolicyMax),
    min_agent: '1.2.3',
    fresh_hours: LIMITS.deviceFreshHoursMax,
    typed_code: true,
    break_glass: ['usr_1'],
    on_violation: 'end_sessions',
  }
  const path = '/tenants/acme/policies/device'
  t.match(await api.operator('PUT', path, policy), { status: 200, body: policy })
  t.strictSame((await api.operator('GET', path)).body, policy)
  const event = (await api.services.store.read.select().from(schema.outbox)).at(-1)
  t.match(event, { event: 'policy.device.updated' })
  t.strictSame(new Set(event?.content.changed as string[]), new Set(Object.keys(policy)))
})

void t.test('what the device policy cannot hold is refused by its name', async (t) => {
  const api = await startApi(t)
  await api.tenant('acme')
  const cases: [object, string][] = [
    [{ mode: 'maybe' }, 'mode'],
    [{ grace_days: LIMITS.deviceGraceDaysMax + 1 }, 'grace_days'],
    [{ facts: ['antivirus'] }, 'facts'],
    [{ facts: ['tpm', 'tpm'] }, 'facts'],
    [{ min_os: { ubuntu: '24.04-rc1' } }, 'min_os'],
    [{ min_os: { 'not an id': '1' } }, 'min_os'],
    [{ min_os: systems(LIMITS.deviceSystemsPerPolicyMax + 1) }, 'min_os'],
    [{ min_agent: 'v1' }, 'min_agent'],
    [{ fresh_hours: LIMITS.deviceFreshHoursMax + 1 }, 'fresh_hours'],
    [{ break_glass: Array(LIMITS.deviceBreakGlassMax + 1).fill('usr_1') }, 'break_glass'],
  ]
  for (const [body, field] of cases)
    t.match(
      await api.operator('PUT', '/tenants/acme/policies/device', body),
      { status: 400, body: { error: 'field_invalid', field } },
      JSON.stringify(body),
    )
})
