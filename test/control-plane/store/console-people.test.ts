import Database from 'better-sqlite3'
import t from 'tap'
import { migrations } from '../../../control-plane/store/migrations/migrations.ts'

t.test('an old entry is whose it must be, and nobody’s where it may be another’s', (t) => {
  const database = new Database(':memory:')
  t.teardown(() => database.close())
  const at = migrations.findIndex(({ name }) => name === '0015-console-people')
  const run = (made: (typeof migrations)[number][]) => {
    for (const { statements } of made) for (const text of statements) database.exec(text)
  }
  run(migrations.slice(0, at))
  const person = database.prepare(`INSERT INTO users (user_id, tenant_id, username, username_key,
    email, email_key, name, password_hash, is_disabled, created_at, updated_at)
    VALUES (@id, 'console', @id, @id, @email, @email, '', '', 0, @created, @updated)`)
  person.run({ id: 'usr_a', email: 'y@', created: 0, updated: 5 }) // was x@ until then
  person.run({ id: 'usr_b', email: 'x@', created: 1, updated: 6 }) // and is x@ since then
  person.run({ id: 'usr_c', email: 'c@', created: 1, updated: 1 })
  const entry = database.prepare(`INSERT INTO audit
    (sequence, at, actor, action, tenant_id, content, request_id)
    VALUES (?, ?, ?, ?, 'console', ?, '')`)
  entry.run(1, 3, 'console:x@', 'tenant.created', '{}')
  entry.run(2, 7, 'console:x@', 'tenant.created', '{"user_id":7,"subject":"usr_c"}')
  entry.run(3, 3, 'console:c@', 'console.role_given', '{"user_id":"usr_a","by":"usr_b"}')
  entry.run(4, 0, 'console:c@', 'console.invited', '{"note":"usr_a"}')
  run(migrations.slice(at))
  const found = database.prepare('SELECT actor_id, user_id FROM audit ORDER BY sequence').raw()
  t.strictSame(found.all(), [
    [null, null],
    ['usr_b', 'usr_c'],
    ['usr_c', 'usr_a'],
    [null, null],
  ])
  t.end()
})
