// long: runs the service in two releases on one database
/**
 * While control planes are replaced one after the other, those of the release before have leases on
 * tables that this one has changed. Certificates are what is worst done twice: the release before is
 * killed in the middle of them, then this one, and then the other one of the release before goes on.
 */
import { createServer } from 'node:http'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openServer } from '../../control-plane/store/engines/server.ts'
import { eq } from '../../control-plane/store/drizzle.ts'
import { schema } from '../../control-plane/store/schema.ts'
import { challengeAnswer } from '../../shared/acme-challenge.ts'
import { systemClock } from '../../shared/clock.ts'
import { ACTOR, startServices, temporaryFolder, tenantNamed } from '../support/control-plane.ts'
import { startFakeAuthority } from '../support/fake-authority.ts'
import { ADMIN, NO_POSTGRES, startPostgres } from '../support/postgres.ts'
import { Program } from '../support/programs.ts'
import { checkOut, releaseBefore, ROOT } from '../support/release-before.ts'
import { listening } from '../support/wire.ts'

const HOSTNAMES = Array.from({ length: 30 }, (_, at) => `h${at + 10}.example.test`)
/** Certificates until whoever orders them is killed. */
const KILLED_AT = [10, 20]
const PROGRAM = 'test/support/ordering-program.ts'

const before = releaseBefore()
const skip = NO_POSTGRES || (before === undefined && 'there is no release before in this clone')

void t.test(
  'each goes on where the other was killed, and nothing is ordered twice',
  { skip },
  async (t) => {
    const old = checkOut(before as string, temporaryFolder(t))
    t.ok(existsSync(join(old, PROGRAM)), `the release before is ${before}`)
    const postgres = await startPostgres(t)
    await postgres.run('CREATE DATABASE service')
    const password = encodeURIComponent(ADMIN.password)
    const url = `postgres://${ADMIN.user}:${password}@127.0.0.1:${postgres.port}/service`
    const authority = await startFakeAuthority(t)
    let thumbprint = ''
    const gateway = createServer((request, response) => {
      response.end(challengeAnswer(request.url ?? '', thumbprint))
    })
    const httpPort = await listening(gateway)
    t.teardown(() => gateway.close())

    const programs: Program[] = []
    t.teardown(async () => {
      for (const program of programs) await program.stop('SIGKILL')
    })
    async function start(root: string) {
      const args = [url, authority.directory, String(httpPort), '0']
      const program = new Program(PROGRAM, args, {}, root)
      programs.push(program)
      ;({ thumbprint } = (await program.ready) as { thumbprint: string })
      return program
    }
    const first = await start(old)
    const last = await start(old)
    // as the first control plane of this release does when it starts
    const { engine } = await openServer(url)
    const masterKey = Buffer.alloc(32, 1)
    const services = await startServices(t, { engine, masterKey, clock: systemClock })
    last.child.kill('SIGSTOP')

    let working = first
    let certificates = 0
    authority.onAnswer((request) => {
      if (!request.startsWith('POST /finalize/')) return true
      certificates += 1
      if (!KILLED_AT.includes(certificates)) return true
      working.child.kill('SIGKILL')
      return false
    })
    /** What it had is anybody's, as it would be when its time is over. */
    const leavesAll = () =>
      services.store.change(async ({ queries }) => {
        await queries.delete(schema.leases)
        const { acmeOrders: orders } = schema
        await queries.update(orders).set({ dueAt: 0 }).where(eq(orders.step, 'asking'))
      })
    await services.tenants.create(tenantNamed('app', { hostnames: HOSTNAMES }), ACTOR)
    await services.tenants.publish('app', ACTOR)
    await first.exited
    await leavesAll()
    working = await start(ROOT)
    await working.exited
    await leavesAll()
    last.child.kill('SIGCONT')

    const rows = () => services.store.read.select().from(schema.acmeOrders)
    while ((await rows()).some(({ step }) => step !== 'issued'))
      await new Promise((resolve) => setTimeout(resolve, 100))
    t.equal(last.child.exitCode, null)
    t.same(authority.orders.map(({ hostname }) => hostname).sort(), HOSTNAMES, 'one order each')
    t.ok(
      authority.orders.every(({ finalized }) => finalized === 1),
      'and one certificate',
    )
    t.match(
      await rows(),
      HOSTNAMES.map(() => ({ failures: 0 })),
    )
  },
)
