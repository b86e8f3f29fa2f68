/** A browser that cannot reach the agent: a code is typed, where the policy allows it, and counted. */
import t from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import { movableClock } from '../../support/control-plane.ts'
import { provingMachine } from '../../support/proving-machine.ts'
import { startWorld, type TestTenant, type World } from './realm-world.ts'
import { begin, isAskingForPassword, recordedSignIns, setPolicy } from './steps.ts'

const OFF = { firewall: { value: false, reason: 'no_firewall' } } as const
const WRONG = 'BBBB-BBBB'

async function start(t: Parameters<typeof startWorld>[0], typed_code = true) {
  const world = await startWorld(t, { clock: movableClock(Date.now()) })
  const acme = await world.tenant('acme')
  await allow(world, typed_code)
  return { world, acme, machine: await provingMachine(world) }
}

const allow = (world: World, typed_code: boolean) =>
  setPolicy(world, 'device', { require: 'enrolled', facts: ['firewall'], typed_code })

async function asked(world: World, acme: TestTenant) {
  const person = await begin(world, acme)
  const { html } = await person.password()
  const type = (device_code: string) => person.send({ device_code })
  return { ...person, html, type }
}

const audited = async (world: World) =>
  (await world.store.read.select().from(schema.audit)).filter(
    ({ action }) => action === 'device.proof.typed_code',
  )

t.test('the code that the agent shows is typed, and signs in on that device', async (t) => {
  const { world, acme, machine } = await start(t)
  const person = await asked(world, acme)
  t.match(person.html, /name="device_code"/)
  const { sub } = await person.claims((await person.type(await machine.code())).url)
  t.equal(sub, acme.ada.userId)
  const [session] = await world.store.read.select().from(schema.sessions)
  t.equal(session?.deviceId, machine.deviceId)
  const [own] = await world.enrolledDevices.ofPerson('acme', acme.ada.userId)
  t.equal(own?.deviceId, machine.deviceId, 'who first comes with it owns it')
  const [entry] = await audited(world)
  t.match(entry?.content, { user_id: acme.ada.userId, device_id: machine.deviceId })
  t.match((await recordedSignIns(world)).at(-1)?.facts, {
    device: { enrolled: { deviceId: machine.deviceId } },
  })
})

t.test('where the policy does not allow it, no page asks for it and none is taken', async (t) => {
  const { world, acme, machine } = await start(t, false)
  const person = await asked(world, acme)
  t.notMatch(person.html, /device_code/)
  await t.rejects(machine.code(), { code: 'device_code_off' })
  await machine.checkIn() // a code that was refused has moved nothing
  await allow(world, true)
  const code = await machine.code()
  await allow(world, false)
  t.equal((await person.type(code)).response.status, 422, 'also one from before')
  t.equal((await audited(world)).length, 0)
})

t.test('wrong codes are counted; after ten the password is asked for again', async (t) => {
  const { world, acme, machine } = await start(t)
  const person = await asked(world, acme)
  const used = await machine.code()
  await (await asked(world, acme)).type(used)
  for (const code of [used, WRONG, 'x', ...Array<string>(6).fill(WRONG)]) {
    const answer = await person.type(code)
    t.equal(answer.response.status, 422)
    t.match(answer.html, /That code is wrong.*<details open>/s)
  }
  await person.type(WRONG)
  t.ok(isAskingForPassword((await person.type(await machine.code())).html))
  t.equal((await audited(world)).length, 1, 'only the one that was right')
})

t.test('a code of another tenant is a wrong one', async (t) => {
  const { world, acme } = await start(t)
  const other = await world.tenant('other')
  await world.policies.put(
    'other',
    'device',
    { require: 'enrolled', typed_code: true },
    {
      name: 'test',
      requestId: '',
    },
  )
  const foreign = await provingMachine(world, { tenantId: 'other' })
  const code = await foreign.code()
  const person = await asked(world, acme)
  t.equal((await person.type(code)).response.status, 422)
  const theirs = await asked(world, other)
  t.ok((await theirs.claims((await theirs.type(code)).url)).sub, 'and it was not used up')
})

t.test('what the machine fails is said, stays known, and guesses go on counting', async (t) => {
  const { world, acme, machine } = await start(t)
  const person = await asked(world, acme)
  const refused = await person.type(await machine.code(OFF))
  t.equal(refused.response.status, 403)
  t.match(refused.html, /Firewall.*ufw enable/s)
  for (let guess = 0; guess < 3; guess++) t.equal((await person.type(WRONG)).response.status, 403)
  await machine.checkIn()
  t.ok((await person.claims((await person.send({ device: 'continue' })).url)).sub, 'once mended')

  const another = await asked(world, acme)
  await another.type(await machine.code(OFF))
  for (let guess = 0; guess < 10; guess++) await another.type(WRONG)
  await machine.checkIn()
  t.ok(isAskingForPassword((await another.send({ device: 'continue' })).html))
})

t.test('a revoked machine has no codes, and the one that it has shown opens nothing', async (t) => {
  const { world, acme, machine } = await start(t)
  const person = await asked(world, acme)
  const code = await machine.code()
  await world.enrolledDevices.revoke('acme', [machine.deviceId], { name: 'test', requestId: '' })
  t.not((await person.type(code)).response.status, 303)
  t.equal((await world.store.read.select().from(schema.sessions)).length, 0)
  await t.rejects(machine.code(), { code: 'device_refused' })
})
