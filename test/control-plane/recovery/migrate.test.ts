// long: has a PostgreSQL of its own
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { recoveryCommand } from '../../../control-plane/recovery/commands.ts'
import { migrations } from '../../../control-plane/store/migrations/migrations.ts'
import { asAdmin, newUrl } from '../../support/postgres-store.ts'

void t.test('a database gets its tables before the first start, once', async (t) => {
  const database = await newUrl()
  const said: string[] = []
  const settings = { database, dataDir: t.testdir(), masterKey: randomBytes(32) }
  const migrate = () => recoveryCommand(['migrate'])!.run(settings, (line) => void said.push(line))
  await migrate()
  await migrate()
  t.same(said, Array(2).fill('The database has the tables of this release.'))
  const rows = await asAdmin(database, 'SELECT name FROM migrations')
  t.equal(rows.length, migrations.length)
  await t.rejects(
    recoveryCommand(['migrate'])!.run({ ...settings, database: 'sqlite' }, () => {}),
    { message: 'migrate is for PostgreSQL; on SQLite each start does it by itself' },
  )
})
