/** A session that is taken away while a form of its account is on the way changes nothing any more. */
import { request } from 'node:http'
import { once } from 'node:events'
import t from 'tap'
import { personAt } from './account-visit.ts'
import { ACTOR, PASSWORD, startWorld, type World } from './realm-world.ts'
import { createUsers } from '../../../control-plane/accounts/users.ts'

type Account = Awaited<ReturnType<typeof personAt>>

/** The head and the first byte are there; the rest comes once something has happened. */
async function slowly(
  { browser, url }: Account,
  path: string,
  fields: Record<string, string>,
  happens: () => Promise<unknown>,
) {
  const text = new URLSearchParams(fields).toString()
  const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const sent = request(url(path), {
    method: 'POST',
    headers: {
      ...{ accept: 'text/html', cookie, 'content-length': Buffer.byteLength(text) },
      'content-type': 'application/x-www-form-urlencoded',
    },
  })
  sent.write(text.slice(0, 1))
  await new Promise((done) => setTimeout(done, 200)) // it has been begun by then
  await happens()
  sent.end(text.slice(1))
  const [answer] = (await once(sent, 'response')) as [{ statusCode: number; resume(): void }]
  answer.resume()
  return answer.statusCode
}

const nameOf = async ({ users }: World, userId: string) => (await users.get('acme', userId)).name

t.test('the name of an account', async (t) => {
  const world = await startWorld(t)
  const tenant = await world.tenant('acme')
  const { userId } = tenant.ada
  const fields = async (account: Account) => ({ csrf: await account.csrf(), name: 'Mallory' })

  const one = await personAt(world, tenant)
  t.equal(await slowly(one, '/profile', await fields(one), async () => {}), 303)
  t.equal(await nameOf(world, userId), 'Mallory', 'slow as it is')

  await world.users.patch('acme', userId, { name: 'Ada' }, ACTOR)
  const ends: Readonly<Record<string, (thief: Account) => Promise<unknown>>> = {
    'all of them': () => world.revocations.revoke('acme', { subject: userId }, ACTOR),
    'this one': ({ sid }) => world.revocations.revoke('acme', { sid }, ACTOR),
  }
  for (const [which, end] of Object.entries(ends)) {
    const thief = await personAt(world, tenant)
    t.equal(await slowly(thief, '/profile', await fields(thief), () => end(thief)), 403, which)
    t.equal(await nameOf(world, userId), 'Ada')
  }
})

t.test('a password that is chosen while somebody else sets one', async (t) => {
  let whileHashing = async () => {}
  const world = await startWorld(t, {
    adapt: (services) => {
      const hash = async (plain: string) => {
        await whileHashing()
        return services.passwords.hash(plain)
      }
      return { users: createUsers({ ...services, passwords: { ...services.passwords, hash } }) }
    },
  })
  const tenant = await world.tenant('acme')
  const { userId } = tenant.ada
  const chosen = 'a lantern beside the old canal'
  const fields = { current: PASSWORD, password: chosen, repeated: chosen }
  const isIn = async (password: string) =>
    (await world.users.authenticate('acme', 'ada', password)).kind === 'ok'

  const given = 'seven grey herons over water'
  const ends: Readonly<Record<string, (thief: Account) => Promise<unknown>>> = {
    'this session': ({ sid }) => world.revocations.revoke('acme', { sid }, ACTOR),
    'all of them': () => world.revocations.revoke('acme', { subject: userId }, ACTOR),
    'another password': () => world.users.patch('acme', userId, { password: given }, ACTOR),
  }
  for (const [which, end] of Object.entries(ends)) {
    const thief = await personAt(world, tenant)
    whileHashing = async () => void (await end(thief))
    t.equal((await thief.send('/password', fields)).response.status, 410, which)
    whileHashing = async () => {}
    t.notOk(await isIn(chosen))
  }
  t.ok(await isIn(given), 'what an administrator has set stays')
})
