/** Nobody is called what reads as the address of another one, in whatever script it is typed. */
import t from 'tap'
import { updateUser } from '../../../control-plane/store/queries/users.ts'
import { startApi } from '../../support/api.ts'

const PASSWORD = 'a long walk along the harbour wall'
const SPELLINGS = [
  'ada@acme.test',
  'ada\uff20acme.test',
  'ada\ufe6bacme.test',
  'ADA\uff20ACME.TEST',
  'ada@acme\u3002test',
  'ada@acme\uff61test',
  'ada@acme\uff0etest',
  '\uff41da\uff20\uff41cme\u3002test',
]

t.test('an address is one account in every spelling', async (t) => {
  const { operator, services, tenant } = await startApi(t)
  await tenant('acme')
  const create = (username: string, email: string) =>
    operator('POST', '/tenants/acme/users', { username, email, password: PASSWORD })
  for (const username of SPELLINGS)
    t.match(
      await create(username, 'eve@evil.test'),
      { status: 400, body: { error: 'field_invalid', field: 'username' } },
      username,
    )
  t.equal((await create('eve', 'eve@evil.test')).status, 201)
  const { body } = await create('ada\uff20acme.test', 'ada@acme.test')
  for (const login of SPELLINGS)
    t.equal((await services.users.byLogin('acme', login))?.userId, body['user_id'], login)
  for (const email of SPELLINGS.filter((text) => text.includes('@')))
    t.match(await create('bob', email), { status: 409, body: { error: 'email_taken' } }, email)
  const eve = (await services.users.byLogin('acme', 'eve'))?.userId
  for (const username of SPELLINGS)
    t.match(
      await operator('PATCH', `/tenants/acme/users/${eve}`, { username }),
      { status: 400, body: { field: 'username' } },
      username,
    )
})

t.test('who has such a name from before can still be disabled', async (t) => {
  const { operator, services, tenant } = await startApi(t)
  await tenant('acme')
  const eve = { username: 'eve', email: 'eve@evil.test', name: 'Eve', password: PASSWORD }
  const { userId } = await services.users.create('acme', eve, { name: 'x', requestId: 'x' })
  const username = 'ada\uff20acme.test'
  await services.store.change(({ queries }) => updateUser(queries, 'acme', userId, { username }))
  const path = `/tenants/acme/users/${userId}`
  t.match(await operator('PATCH', path, { disabled: true }), { status: 200 })
  t.match(await operator('PATCH', path, { email: 'e@evil.test' }), { body: { field: 'username' } })
})
