/** Three control planes on one database, a thousand hostnames, and one of them is killed every few seconds. */
// long: three programs, killed and started again, with a server of PostgreSQL
// waits: for leases of programs that were killed
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { challengeAnswer } from '../../../shared/acme-challenge.ts'
import { systemClock } from '../../../shared/clock.ts'
import { openServer } from '../../../control-plane/store/engines/server.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { postgresUrl } from '../../support/databases.ts'
import { ACTOR, startServices, temporaryFolder, tenantNamed } from '../../support/control-plane.ts'
import { startFakeAuthority } from '../../support/fake-authority.ts'
import { Program } from '../../support/programs.ts'
import { listening } from '../../support/wire.ts'

const TENANTS = 10
const HOSTNAMES_EACH = 100
const PROGRAMS = 3
const KILL_EVERY_MS = 4000

void t.test('each hostname has one order, and a certificate', async (t) => {
  const url = await postgresUrl(join(temporaryFolder(t), 'service.db'))
  const { engine } = await openServer(url)
  const masterKey = Buffer.alloc(32, 1)
  const services = await startServices(t, { engine, masterKey, clock: systemClock })
  const named = (tenant: number) =>
    Array.from({ length: HOSTNAMES_EACH }, (_, at) => `h${at}.t${tenant}.example.test`)
  for (let tenant = 0; tenant < TENANTS; tenant++) {
    await services.tenants.create(tenantNamed(`t${tenant}`, { hostnames: named(tenant) }), ACTOR)
    await services.tenants.publish(`t${tenant}`, ACTOR)
  }
  let thumbprint = ''
  const gateway = createServer((request, response) => {
    response.end(challengeAnswer(request.url ?? '', thumbprint))
  })
  const httpPort = await listening(gateway)
  t.teardown(() => gateway.close())
  const authority = await startFakeAuthority(t)

  const programs: Program[] = []
  t.teardown(async () => {
    for (const program of programs) await program.stop('SIGKILL')
  })
  async function start(at: number) {
    const args = [url, authority.directory, String(httpPort), '0']
    const program = (programs[at] = new Program('test/support/ordering-program.ts', args))
    ;({ thumbprint } = (await program.ready) as { thumbprint: string })
  }
  for (let at = 0; at < PROGRAMS; at++) await start(at)
  const issued = async () =>
    (await services.store.read.select().from(schema.acmeOrders)).filter(
      ({ step, issuedBy }) => step === 'issued' && issuedBy !== null,
    ).length
  const wanted = TENANTS * HOSTNAMES_EACH
  for (let turn = 0; (await issued()) < wanted; turn++) {
    await pause(KILL_EVERY_MS)
    t.comment(`${await issued()} of ${wanted}`)
    // whoever holds the lease is among them; later they are left to finish
    if (turn >= 4 * PROGRAMS) continue
    await programs[turn % PROGRAMS]?.stop('SIGKILL')
    await start(turn % PROGRAMS)
  }
  const ordered = Map.groupBy(authority.orders, ({ hostname }) => hostname)
  t.equal(ordered.size, wanted)
  const twice = [...ordered].filter(([, orders]) => orders.length > 1).map(([name]) => name)
  t.strictSame(twice, [], 'none was ordered twice')
  t.equal((await services.store.read.select().from(schema.tenantCertificates)).length, wanted)
})
