/** The rows that the bench of the console adds by SQL of its own fit the tables of today. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { fill } from '../../bench/programs/console-rows.ts'
import { ACTOR, startServices, temporaryFolder, tenantNamed } from '../support/control-plane.ts'
import { newDatabase, ON_POSTGRES } from '../support/databases.ts'

for (const size of [1, 40])
  t.test(
    `a console with ${size} of everything is filled`,
    { skip: ON_POSTGRES && 'it writes to a file of SQLite' },
    async (t) => {
      const file = await newDatabase(join(temporaryFolder(t), 'service.db'))
      const services = await startServices(t, { file })
      await services.tenants.create(tenantNamed('acme'), ACTOR)
      fill(file, 'acme', { tenants: size, signIns: size, decisions: size })
      const database = new Database(file, { readonly: true })
      t.teardown(() => database.close())
      const rows = (table: string) =>
        database.prepare(`SELECT count(*) FROM ${table}`).pluck().get()
      t.equal(rows('tenants'), size + 1)
      for (const table of ['sign_ins', 'enforcement_events', 'sessions', 'outbox'])
        t.ok(Number(rows(table)) >= size, table)
    },
  )
