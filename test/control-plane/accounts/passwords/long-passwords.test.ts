/** Passwords that are longer, or shorter, in the form that is hashed than as they were typed. */
import t from 'tap'
import {
  createPasswordHasher,
  normalized,
} from '../../../../control-plane/accounts/passwords/hasher.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { ACTOR, startWorld } from '../../realm/realm-world.ts'
import { begin, recordedSignIns, setPolicy } from '../../realm/steps.ts'

/** One character that is eighteen in form NFKC. */
const GROWING = '\ufdfa'
const TOO_LONG = GROWING.repeat(300)

t.test('the form that is hashed has its own limit', async (t) => {
  const most = LIMITS.passwordNormalizedBytesMax
  t.equal(normalized('x'.repeat(most))?.length, most)
  t.equal(normalized('x'.repeat(most + 1)), undefined)
  t.equal(normalized(TOO_LONG), undefined)
  const passwords = createPasswordHasher()
  t.equal(await passwords.verify(TOO_LONG, undefined), false)
  t.equal(await passwords.verify(TOO_LONG, await passwords.hash('x')), false)
  await t.rejects(passwords.hash(TOO_LONG), { code: 'field_invalid' })
})

t.test('who types one that grows has typed a wrong password, and it counts', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const person = await begin(world, acme)
  for (const username of ['ada', 'nobody'])
    t.equal((await person.send({ username, password: TOO_LONG })).response.status, 422)
  const failures = (await recordedSignIns(world)).filter(({ isFailure }) => isFailure)
  t.equal(failures.length, 2)
  const { userId } = acme.ada
  await t.rejects(world.users.patch('acme', userId, { password: TOO_LONG }, ACTOR), {
    code: 'field_invalid',
  })
  t.equal(await world.users.choosePassword('acme', userId, TOO_LONG, ACTOR), 'password_too_long')
})

t.test('the rules judge what is hashed: other spellings of it are no better', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'password', { min_length: 10, min_strength: 3 })
  const { userId } = acme.ada
  const choose = (plain: string) => world.users.choosePassword('acme', userId, plain, ACTOR)
  const wide = [...'password1234'].map((c) => String.fromCodePoint(c.charCodeAt(0) + 0xfee0))
  t.equal(await choose(wide.join('')), 'password_too_weak')
  t.equal(await choose(GROWING), 'password_too_short', 'one key')
  t.equal(await choose('a\u0308'.repeat(6)), 'password_too_short', 'six letters')
})
