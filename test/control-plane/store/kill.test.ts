import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import Database from 'better-sqlite3'
import t from 'tap'
import { temporaryFolder } from '../../support/control-plane.ts'

const WRITER = join(import.meta.dirname, '../../support/write-until-killed.ts')
const ROUNDS = 3
const COMMITS_BEFORE_KILL = 20

void t.test(
  'kill -9 while it writes keeps every commit that was acknowledged, and no half',
  async (t) => {
    const file = join(temporaryFolder(t), 'service.db')
    const acknowledged: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const writer = spawn(process.execPath, [WRITER, file, `r${round}`], { env: {} })
      let count = 0
      for await (const name of createInterface({ input: writer.stdout })) {
        acknowledged.push(name)
        if (++count === COMMITS_BEFORE_KILL) writer.kill('SIGKILL')
      }
      t.ok(count >= COMMITS_BEFORE_KILL, `round ${round}: killed in the middle`)
    }
    const database = new Database(file, { readonly: true })
    t.teardown(() => database.close())
    t.equal(database.pragma('integrity_check', { simple: true }), 'ok')
    const names = (sql: string) => database.prepare<[], { name: string }>(sql).all()
    const tenants = new Set(names('SELECT tenant_id AS name FROM tenants').map(({ name }) => name))
    t.strictSame(
      acknowledged.filter((name) => !tenants.has(name)),
      [],
      `of ${acknowledged.length} acknowledged none is lost`,
    )
    for (const half of [
      `SELECT tenant_id AS name FROM tenants WHERE tenant_id NOT IN (SELECT tenant_id FROM audit)`,
      `SELECT tenant_id AS name FROM tenants WHERE tenant_id NOT IN (SELECT tenant_id FROM tenant_hostnames)`,
      `SELECT tenant_id AS name FROM tenant_hostnames WHERE tenant_id NOT IN (SELECT tenant_id FROM tenants)`,
      `SELECT tenant_id AS name FROM tenants WHERE revision > (SELECT value FROM counters WHERE name = 'revision')`,
    ])
      t.strictSame(names(half), [], half)
  },
)
