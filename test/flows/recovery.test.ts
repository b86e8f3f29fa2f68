// long: starts a fleet twice, one of them beside a database server
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { PASSWORD, startApplication, startTenant } from '../support/application.ts'
import {
  ADMIN,
  asNobody,
  NO_POSTGRES,
  postgresProgram,
  serverFolder,
  startPostgres,
} from '../support/postgres.ts'
import { Program, SECRETS, startFleet, type Fleet } from '../support/programs.ts'

const command = (fleet: Fleet, ...args: string[]) => commandWith(SECRETS, fleet, ...args)

/** What a terminal would have shown. */
async function commandWith(environment: Record<string, string>, fleet: Fleet, ...args: string[]) {
  const config = ['--config', `${fleet.folder}/config-0.yaml`]
  const program = new Program('control-plane/main.ts', [...args, ...config], environment)
  return { code: await program.exited, output: program.output }
}

interface Way {
  backUp(fleet: Fleet): unknown
  /** The control plane is stopped. */
  putBack(fleet: Fleet): unknown
}

async function walk(t: Test, fleet: Fleet, { backUp, putBack }: Way) {
  const tenant = await startTenant(fleet, 'acme', (await startApplication(t)).origin)
  const url = `${tenant.edge()}/work`
  const [before, behind, anew] = [fleet.browser(), fleet.browser(), fleet.browser()]
  t.match(await before.signIn(url, 'ada', PASSWORD), { status: 200 })
  await backUp(fleet)
  const end = await fleet.operator('POST', '/tenants/acme/revocations', { all: true })
  t.equal(end.status, 200)
  t.match(await behind.signIn(url, 'ada', PASSWORD), { status: 200 })

  await fleet.controlPlane.stop()
  t.match(await behind.once(url), { status: 200 }, 'the gateway goes on')
  t.not((await before.once(url)).status, 200, 'and keeps what was revoked')
  await putBack(fleet)
  await fleet.startControlPlane()
  await fleet.settled()
  for (const browser of [before, behind])
    t.not((await browser.once(url)).status, 200, 'nobody of before comes in')
  t.match(await anew.signIn(url, 'ada', PASSWORD), { status: 200 }, 'who signs in does')
}

t.test('a backup of SQLite, put back under a gateway that runs', async (t) => {
  const fleet = await startFleet(t)
  const file = join(fleet.folder, 'backup.db')
  await walk(t, fleet, {
    async backUp() {
      const { code, output } = await command(fleet, 'backup', '--to', file)
      t.match({ code, output }, { code: 0, output: /^Backed up to / })
    },
    async putBack() {
      const keyless = await commandWith({}, fleet, 'restore', '--from', file)
      t.match(keyless, {
        code: 2,
        output: /SERVICE_MASTER_KEY expected in it, or in the environment/,
      })
      const { code, output } = await command(fleet, 'restore', '--from', file)
      t.match({ code, output }, { code: 0, output: /^Restored from .*\nEverybody signs in again/ })
    },
  })
})

t.test(
  'a dump of Postgres, put back under a gateway that runs',
  { skip: NO_POSTGRES },
  async (t) => {
    const server = await startPostgres({ teardown: (work) => t.after(work) })
    await server.run('CREATE DATABASE service')
    const url = `postgres://${ADMIN.user}:${encodeURIComponent(ADMIN.password)}@127.0.0.1:${server.port}/service`
    const folder = serverFolder({ teardown: (work) => t.after(work) }, 'dump-')
    const dump = join(folder, 'service.dump')
    const run = (program: string, ...args: string[]) =>
      execFileSync(postgresProgram(program), args, { ...asNobody, cwd: folder })
    const fleet = await startFleet(t, { database: url })
    await walk(t, fleet, {
      async backUp() {
        const { code, output } = await command(fleet, 'backup', '--to', 'service.dump')
        t.match({ code, output }, { code: 1, output: /pg_dump --format=custom --no-owner/ })
        run('pg_dump', '--format=custom', '--no-owner', `--file=${dump}`, url)
        t.match(await command(fleet, 'restored'), { code: 1, output: /another control plane/ })
      },
      async putBack() {
        await server.run('DROP DATABASE service')
        await server.run('CREATE DATABASE service')
        run('pg_restore', '--no-owner', '--exit-on-error', `--dbname=${url}`, dump)
        const { code, output } = await command(fleet, 'restored')
        t.match({ code, output }, { code: 0, output: /^Everybody signs in again/ })
      },
    })
  },
)
