/** What the sign-in pages decide is counted, each answer once, with the policy that decided. */
import t from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import { makePosture } from '../../support/devices.ts'
import { enrolDevice } from '../../support/enrolled-devices.ts'
import { ADA, Browser, signIn, startWorld, userNamed, ACTOR, type World } from './realm-world.ts'
import { begin, enrolApp, setPolicy } from './steps.ts'

const WRONG = { ...ADA, password: 'wrong' }

async function figuresOf({ store }: World): Promise<Record<string, number>> {
  const rows = await store.read.select().from(schema.figures)
  const hours = rows.filter(({ step, source }) => step === 'hour' && source === 'realm')
  return Object.fromEntries(
    hours.map(({ outcome, reason, count }) => [`${outcome} ${reason}`.trim(), count]),
  )
}

t.test('who signs in, who fails, and who is asked for more', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await signIn(new Browser(world.baseUrl), acme)
  t.strictSame(await figuresOf(world), { signed_in: 1 })
  const { send } = await begin(world, acme)
  await send(WRONG)
  await send({ username: 'nobody', password: 'wrong' })
  t.strictSame(await figuresOf(world), { signed_in: 1, 'failed credentials_wrong': 2 })

  const app = await enrolApp(world, acme)
  await setPolicy(world, 'mfa', { mode: 'required' })
  await send(ADA)
  t.match(await figuresOf(world), { 'step_up second_factor_needed': 1 })
  await send({ code: '000000' })
  t.match(await figuresOf(world), { 'failed code_wrong': 1 })
  await send({ code: app.code() })
  t.match(await figuresOf(world), { signed_in: 2, 'step_up second_factor_needed': 1 })
})

t.test('who comes in without a device, and what is only reported so far', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const { userId } = acme.ada
  await world.users.create('acme', userNamed('bob'), ACTOR)
  const enrolled = { require: 'enrolled', facts: ['firewall'] } as const
  await setPolicy(world, 'device', { ...enrolled, break_glass: [userId] })
  await signIn(new Browser(world.baseUrl), acme)
  t.strictSame(await figuresOf(world), { 'signed_in device_break_glass': 1 })
  const reported = async () => {
    await signIn(new Browser(world.baseUrl), acme)
    return figuresOf(world)
  }
  await setPolicy(world, 'device', { ...enrolled, mode: 'report', break_glass: [userId] })
  t.match(await reported(), { signed_in: 1 }, 'who is asked for none is no news')
  await setPolicy(world, 'device', { ...enrolled, mode: 'report', break_glass: [] })
  t.match(await reported(), { 'signed_in device_not_enrolled': 1 })
  await enrolDevice(world, { userId, posture: makePosture({ firewall: false }) })
  t.match(await reported(), { 'signed_in device_not_compliant': 1 })
  await setPolicy(world, 'device', { ...enrolled, mode: 'report', grace_days: 3, break_glass: [] })
  t.match(await reported(), { 'signed_in device_warning': 1 })
  await setPolicy(world, 'device', { require: 'enrolled', mode: 'report', facts: [] })
  t.match(await reported(), { signed_in: 2 })
  await setPolicy(world, 'device', { ...enrolled, mode: 'off' })
  t.match(await reported(), { signed_in: 3 })
})

t.test('a lockout is counted when it begins, and then who is refused by it', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await world.users.create('acme', userNamed('bob'), ACTOR)
  await setPolicy(world, 'lockout', { user_failures: 2, address_failures: 5 })
  const guess = async (username: string) =>
    (await begin(world, acme)).send({ username, password: 'wrong' })
  for (let count = 0; count < 4; count++) await guess('ada')
  t.strictSame(await figuresOf(world), {
    'failed credentials_wrong': 2,
    'lockout user_paused': 1,
    'denied user_paused': 2,
  })
  for (let count = 0; count < 4; count++) await guess(`user-${count}`)
  t.match(await figuresOf(world), {
    'failed credentials_wrong': 5,
    'lockout user_paused': 1,
    'lockout address_blocked': 1,
    'denied address_blocked': 1,
  })
})

t.test('the policy that denies is named', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'network', { deny: ['127.0.0.0/8'] })
  await (await begin(world, acme)).send(ADA)
  const figures = await figuresOf(world)
  t.ok(figures['denied network_denied']! >= 1)
  t.same(Object.keys(figures), ['denied network_denied'])
})
