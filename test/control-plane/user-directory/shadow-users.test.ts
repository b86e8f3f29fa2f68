/** Who of a directory is which of our users, in a table where people choose what they are called. */
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { sharedKeyOf } from '../../../control-plane/accounts/login-keys.ts'
import type { Person } from '../../../control-plane/user-directory/person.ts'
import { keepShadow, shadowIdOf } from '../../../control-plane/user-directory/shadow-users.ts'
import { migrations } from '../../../control-plane/store/migrations/migrations.ts'
import { numberOf } from '../../../control-plane/store/queries/tenants.ts'
import { updateUser } from '../../../control-plane/store/queries/users.ts'
import { startApi } from '../../support/api.ts'
import { ACTOR } from '../../support/control-plane.ts'

async function startShadows(t: Test) {
  const api = await startApi(t)
  await api.tenant('acme')
  const { store } = api.services
  const number = await numberOf(store.read, 'acme')

  /** What came of it: the id of our user or the refusal, behind what the operator was told. */
  async function keep(externalId: string, username: string, email: string, name = 'N') {
    const told: string[] = []
    const person: Person = { externalId, username, email, name, isDisabled: false }
    const kept = keepShadow(store, 'acme', person, number, (kind) => void told.push(kind))
    const answer = await kept.then(
      ({ userId }) => (userId === shadowIdOf('acme', externalId) ? 'in' : 'somebody else'),
      (error: unknown) => (error as { code?: string }).code ?? String(error),
    )
    return [...told, answer]
  }
  return { ...api, keep }
}

/**
 * The attack: somebody registers in the tenant's own application under a name that only reads like
 * that of another person, signs in once, and the other one is in their way ever after.
 */
t.test('names that look alike keep nobody out, whoever comes first', async (t) => {
  const { keep, services } = await startShadows(t)
  t.same(await keep('68', 'GRACE', 'm2@evil.test'), ['in'])
  t.same(await keep('8', 'grace', 'grace@example.test'), ['username_alike', 'in'])
  t.same(await keep('69', 'ｌｉｎ', 'm3@evil.test'), ['in'])
  t.same(await keep('9', 'lin', 'lin@example.test'), ['username_alike', 'in'])
  t.same(await keep('70', 'mal4', 'KIM@example.test'), ['in'])
  t.same(await keep('10', 'kim', 'kim@example.test'), ['email_alike', 'in'])
  t.same(await keep('71', 'mal5', 'kim@example.test'), ['email_alike', 'in'], 'as it is there')
  t.same(await keep('10', 'kim', 'kim@example.test'), ['in'], 'and told once')
  const { userId } = await services.users.create(
    'acme',
    { username: 'grace', email: 'own@acme.test', name: 'Own', password: 'a long walk home' },
    ACTOR,
  )
  t.equal((await services.users.byLogin('acme', 'GRACE'))?.userId, userId, 'own ones have theirs')
  t.same(await keep('71', 'grace', 'kim@example.test'), ['email_alike', 'username_alike', 'in'])
  t.same(await keep('72', 'x', 'OWN@acme.test'), ['email_taken', 'directory_account_unusable'])
})

t.test('they are found by what their names begin with, and changed like others', async (t) => {
  const { keep, services, operator } = await startShadows(t)
  await keep('68', 'GRACE', 'm2@evil.test')
  await keep('8', 'grace', 'grace@example.test')
  const found = await services.users.search('acme', 'Grace', 10)
  t.same(found.map(({ username }) => username).sort(), ['GRACE', 'grace'])
  for (const id of ['68', '8'])
    for (const disabled of [true, false])
      t.match(
        await operator('PATCH', `/tenants/acme/users/${shadowIdOf('acme', id)}`, { disabled }),
        { status: 200, body: { disabled } },
      )
  t.same(await keep('8', 'grace', 'grace@example.test', 'New'), ['username_alike', 'in'])
})

t.test('an id stays who it was as long as name or address is the same', async (t) => {
  const { keep, services } = await startShadows(t)
  const isIn = async (...row: Parameters<typeof keep>) => (await keep(...row)).at(-1) === 'in'
  t.ok(await isIn('1', 'ada', 'ada@example.test'))
  t.ok(await isIn('1', 'ada.king', 'ada@example.test'), 'who marries')
  t.ok(await isIn('1', 'ada.king', 'ada.king@example.test'), 'and gets an address for it')
  t.ok(await isIn('1', 'Ada.King', 'Ada.King@Example.test'), 'in letters of another size')
  const obstacle = ['id_of_somebody_else', 'directory_account_unusable']
  t.same(await keep('1', 'eve', 'eve@evil.test'), obstacle)
  t.same(await keep('1', 'Ada.King ', 'Ada.King@Example.test '), obstacle, 'no space is nothing')
  t.match(await services.users.get('acme', shadowIdOf('acme', '1')), { username: 'Ada.King' })
})

/** The attack: a name is free again, and whoever takes it has the same id and the same name. */
t.test('where the id is the name or the address itself, the other one has to stay', async (t) => {
  const { keep } = await startShadows(t)
  const obstacle = ['id_of_somebody_else', 'directory_account_unusable']
  t.same(await keep('root', 'root', 'root@example.test'), ['in'])
  t.same(await keep('root', 'root', 'm@evil.test'), obstacle)
  t.same(await keep('root', 'Root', 'm@evil.test'), obstacle)
  t.same(await keep('root', 'root', 'root@example.test', 'Root'), ['in'])
  t.same(await keep('a@x.test', 'ada', 'a@x.test'), ['in'])
  t.same(await keep('a@x.test', 'eve', 'a@x.test'), obstacle)
  t.same(await keep('b@x.test', 'b@x.test', 'b@x.test'), ['in'])
  t.same(await keep('b@x.test', 'b@x.test', 'b@x.test', 'B'), ['in'], 'all that there is')
})

t.test('an address that only reads the same has not been proven', async (t) => {
  const { keep, services } = await startShadows(t)
  const userId = shadowIdOf('acme', '1')
  await keep('1', 'ada', 'ada@example.test')
  await services.store.change(async ({ queries }) => {
    await updateUser(queries, 'acme', userId, { emailProvenAt: 1 })
  })
  await keep('1', 'ada', 'ada@example.test', 'Ada')
  t.equal((await services.users.get('acme', userId)).emailProvenAt, 1)
  await keep('1', 'ada', 'ａda@example.test')
  t.equal((await services.users.get('acme', userId)).emailProvenAt, null)
})

t.test('whose record is older gets such keys as well', async (t) => {
  const database = new Database(':memory:')
  t.teardown(() => database.close())
  const at = migrations.findIndex(({ name }) => name === '0020-directory-keys')
  const run = (some: readonly { statements: readonly string[] }[]) => {
    for (const { statements } of some) for (const text of statements) database.exec(text)
  }
  run(migrations.slice(0, at))
  for (const [userId, source] of [
    ['usr_1', 'own'],
    ['usr_2', 'directory'],
  ])
    database
      .prepare(
        `INSERT INTO users (user_id, tenant_id, username, username_key, email, email_key, name,
          password_hash, is_disabled, created_at, updated_at, source)
          VALUES (@userId, 'acme', @userId, @userId, @userId, @userId, 'N', '', 0, 0, 0, @source)`,
      )
      .run({ userId, source })
  run(migrations.slice(at))
  const keys = database.prepare('SELECT username_key, email_key FROM users ORDER BY user_id').all()
  const key = `${sharedKeyOf('usr_2')}usr_2`
  t.same(keys, [
    { username_key: 'usr_1', email_key: 'usr_1' },
    { username_key: key, email_key: key },
  ])
})
