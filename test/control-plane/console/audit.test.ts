/** The audit trail on its page: who changed what, as a difference. */
import t from 'tap'
import { startConsole } from '../../support/console.ts'

void t.test('a change of a user says what was and what is, and no password', async (t) => {
  const { services, person } = await startConsole(t)
  const operator = await person('operator')
  const path = '/console/tenants/acme/users/new'
  const password = 'a lantern on the long pier'
  const form = { email: 'ada@acme.test', username: '', name: 'Ada', password }
  t.equal((await operator.post(path, form)).status, 303)
  const { items } = await services.users.list('acme', { limit: 10, cursor: undefined })
  const userId = items[0]?.userId ?? ''
  const { users } = services
  const actor = { name: 'operator', requestId: 'r1' }
  await users.patch('acme', userId, { name: 'Ada Lovelace', isDisabled: true }, actor)
  await users.patch('acme', userId, { password: 'another lantern on the pier' }, actor)

  const { text } = await operator.get('/console/tenants/acme/audit')
  t.match(
    text,
    /<dt>name<\/dt>[\s\S]*?<del>[\s\S]*?Ada<\/del>[\s\S]*?<ins>[\s\S]*?Ada Lovelace<\/ins>/,
  )
  t.match(text, /<dt>disabled<\/dt>[\s\S]*?<ins>/)
  t.match(text, /<dt>password<\/dt>[\s\S]*?a new one/)
  t.notMatch(text, /lantern/)
})
