import Database from 'better-sqlite3'
import t from 'tap'
import { migrations } from '../../../control-plane/store/migrations/migrations.ts'

t.test('who agreed still has, and a no from before is kept', (t) => {
  const database = new Database(':memory:')
  t.teardown(() => database.close())
  const run = (made: readonly (typeof migrations)[number][]) => {
    for (const { statements } of made) for (const text of statements) database.exec(text)
  }
  const ours = ['0038-alert-consent', '0044-one-kind-of-stop-link']
  const isOurs = ({ name }: (typeof migrations)[number]) => ours.includes(name)
  run(migrations.filter((one) => !isOurs(one)))
  const recipient = database.prepare('INSERT INTO alert_recipients VALUES (?, ?, ?, ?, ?, ?)')
  recipient.run('acme', 'agreed@', 'en', 'token-1', 5, 7)
  recipient.run('acme', 'asked@', 'en', 'token-2', 8, null)
  recipient.run('acme', 'stopped@', 'de', 'token-3', 9, null)
  recipient.run('other', 'stopped@', 'de', 'token-4', 9, null)
  const entry = database.prepare(`INSERT INTO audit
    (sequence, at, actor, action, tenant_id, content, request_id)
    VALUES (?, ?, 'stopped@', ?, 'acme', '{}', '')`)
  entry.run(1, 9, 'alert_recipient.stopped')
  entry.run(2, 8, 'alert_recipient.confirmed')
  run(migrations.filter(isOurs))
  const found = database.prepare(`SELECT tenant_id, email, asked_at, confirmed_at, stopped_at,
    confirm_hash FROM alert_recipients ORDER BY email, tenant_id`)
  t.strictSame(found.raw().all(), [
    ['acme', 'agreed@', 5, 7, null, null],
    ['acme', 'asked@', 0, null, null, null],
    ['acme', 'stopped@', 9, null, 9, null],
    ['other', 'stopped@', 0, null, null, null],
  ])
  t.end()
})
