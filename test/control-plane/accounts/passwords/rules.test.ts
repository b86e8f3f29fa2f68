import { mock } from 'node:test'
import t from 'tap'
import { createPasswordRules } from '../../../../control-plane/accounts/passwords/rules.ts'
import { createStrength } from '../../../../control-plane/accounts/passwords/strength.ts'
import { DEFAULT_POLICIES } from '../../../../control-plane/policy/policies.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { startApi } from '../../../support/api.ts'
import {
  ACTOR,
  movableClock,
  startServices,
  tenantNamed,
  WITHOUT_HASTE,
} from '../../../support/control-plane.ts'

const GOOD = 'lamp otter viaduct 88 quince'
/** Every character of it may stand for others. */
const SLOW = '4@8({[<369&#!1/|0$5+7%2'.repeat(3)
const ADA = { username: 'ada', email: 'ada.lovelace@example.com', name: 'Ada Lovelace' }

void t.test('each rule, and the cheap ones first', async (t) => {
  const services = await startServices(t)
  const asked: string[] = []
  const rules = createPasswordRules({
    store: services.store,
    passwords: services.passwords,
    strength: { of: async (plain) => (asked.push('strength'), plain === GOOD ? 4 : 1) },
    breaches: { has: async (plain) => (asked.push('breaches'), plain === 'breached password') },
  })
  const whose = { tenantId: 'acme', ...ADA }
  const policy = { ...DEFAULT_POLICIES.password, min_length: 10 }
  t.equal(await rules.check('short one', whose, policy), 'password_too_short')
  t.strictSame(asked, [], OF_ADA)
  t.equal(await rules.check('ö'.repeat(9), whose, policy), 'password_too_short', 'characters')
  t.equal(
    await rules.check('x'.repeat(LIMITS.passwordBytesMax + 1), whose, policy),
    'password_too_long',
  )
  t.equal(await rules.check('breached password', whose, policy), 'password_breached')
  t.equal(await rules.check('weak password', whose, policy), 'password_too_weak')
  t.equal(await rules.check(GOOD, whose, policy), undefined)
  const lenient = { ...policy, min_strength: 0, refuse_breached: false }
  t.equal(await rules.check('breached password', whose, lenient), undefined)
})

const OF_ADA = { tenantId: 'acme', person: 'ada' }

const strength = createStrength(WITHOUT_HASTE)
t.teardown(() => strength.close())

void t.test(
  'the real estimate: what everybody tries is weak, names of the person too',
  async (t) => {
    t.equal(await strength.of('password1', [], OF_ADA), 0)
    t.equal(await strength.of(GOOD, [], OF_ADA), 4)
    const named = await strength.of('ada.lovelace', ['ada.lovelace', 'ada', 'lovelace'], OF_ADA)
    t.ok(named < (await strength.of('ada.lovelace', [], OF_ADA)))
  },
)

void t.test('an estimate that takes too long is given up, and the next one is made', async (t) => {
  const hasty = createStrength({ timeoutMs: 1 })
  t.teardown(() => hasty.close())
  await t.rejects(hasty.of(SLOW, [], OF_ADA), { code: 'unavailable' })
  await t.rejects(hasty.of(SLOW, [], OF_ADA), { code: 'unavailable' })
  const all = await Promise.all(['password1', GOOD].map((plain) => strength.of(plain, [], OF_ADA)))
  t.strictSame(all, [0, 4])
})

void t.test('a thread that takes long to start takes nobody’s time', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const strength = createStrength()
  t.teardown(() => strength.close())
  const first = strength.of(GOOD, [], OF_ADA)
  mock.timers.tick(LIMITS.passwordStrengthMsMax * 2) // it cannot have said a word yet
  t.equal(await first, 4)
})

void t.test('a thread that does not start is given up', async (t) => {
  const strength = createStrength({ startMsMax: 1 })
  t.teardown(() => strength.close())
  await t.rejects(strength.of(GOOD, [], OF_ADA), { code: 'unavailable' })
})

/** The attack: one person asks for the slowest estimates that there are, many at once. */
void t.test('who asks for many at once is refused, and holds nobody else', async (t) => {
  const order: string[] = []
  const ask = (person: string, plain: string) =>
    strength.of(plain, ['ada'], { tenantId: 'acme', person }).then(
      () => order.push(person),
      (error: { code: string }) => order.push(error.code),
    )
  const all = Array.from({ length: 20 }, (_, at) => ask('mallory', SLOW.slice(at)))
  await Promise.all([...all, ask('bob', GOOD)])
  const { passwordStrengthPerPersonMax: most } = LIMITS
  t.equal(order.filter((one) => one === 'unavailable').length, 20 - most)
  t.same(order.slice(-most - 1), [...Array<string>(most).fill('mallory'), 'bob'])
})

void t.test('who has waited too long is told to come back, and the queue is empty', async (t) => {
  const strength = createStrength({ waitMsMax: -1 })
  t.teardown(() => strength.close())
  await t.rejects(strength.of(GOOD, [], OF_ADA), { code: 'unavailable' })
  t.ok(LIMITS.passwordStrengthWaitMsMax >= LIMITS.passwordStrengthMsMax)
})

void t.test('earlier passwords do not come back, as many as the policy remembers', async (t) => {
  const clock = movableClock()
  const { tenants, users, policies } = await startServices(t, { clock })
  await tenants.create(tenantNamed('acme'), ACTOR)
  await policies.put('acme', 'password', { history: 2, min_strength: 0 }, ACTOR)
  const { userId } = await users.create('acme', { ...ADA, password: 'the first one' }, ACTOR)
  const choose = (plain: string) => {
    clock.advance(1) // which of two at the same moment is older, nobody knows
    return users.choosePassword('acme', userId, plain, ACTOR)
  }
  t.equal(await choose('the first one'), 'password_used_before', 'the present one')
  t.equal(await choose('the second one'), undefined)
  t.equal(await choose('the first one'), 'password_used_before')
  t.equal(await choose('the third one'), undefined)
  t.equal(await choose('the first one'), undefined, 'two are remembered: the third, the second')
  t.match(await users.authenticate('acme', 'ada', 'the first one'), { kind: 'ok' })
  t.match(await users.authenticate('acme', 'ada', 'the third one'), { kind: 'refused' })
})

void t.test('an operator’s password is judged by a policy that was decided', async (t) => {
  const { operator, tenant } = await startApi(t)
  await tenant('acme')
  const create = (username: string, password: string) =>
    operator('POST', '/tenants/acme/users', {
      username,
      email: `${username}@example.com`,
      password,
    })
  t.match(await create('ada', 'password1'), { status: 201 }, 'a default is for people')
  await operator('PUT', '/tenants/acme/policies/password', { min_strength: 3, min_length: 9 })
  for (const [password, detail] of [
    ['password', /shorter/],
    ['password1', /too easy to guess/],
  ] as const)
    t.match(await create('bob', password), {
      status: 400,
      body: { error: 'field_invalid', field: 'password', detail },
    })
  const bob = await create('bob', GOOD)
  t.equal(bob.status, 201)
  const patch = { password: 'bob@example.com' }
  t.match(await operator('PATCH', `/tenants/acme/users/${String(bob.body['user_id'])}`, patch), {
    status: 400,
    body: { field: 'password' },
  })
})
