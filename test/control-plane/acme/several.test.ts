/**
 * Three control planes on one database, a thousand hostnames, and one of them is killed every few
 * seconds. ACME_HOSTNAMES says how many, ACME_AUTHORITY=pebble asks a real authority.
 */
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
import { startPebble } from '../../support/pebble.ts'
import { Program } from '../../support/programs.ts'
import { listening } from '../../support/wire.ts'

const TENANTS = 10
const HOSTNAMES_EACH = Number(process.env['ACME_HOSTNAMES'] ?? 1000) / TENANTS
const IS_REAL = process.env['ACME_AUTHORITY'] === 'pebble'
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
  const fake = IS_REAL ? undefined : await startFakeAuthority(t)
  const pebble = IS_REAL ? await startPebble(t, { httpPort }) : undefined
  const directory = fake?.directory ?? pebble?.directory ?? ''

  const programs: Program[] = []
  t.teardown(async () => {
    for (const program of programs) await program.stop('SIGKILL')
  })
  async function start(at: number) {
    const args = [url, directory, String(httpPort), '0', pebble?.ca ?? '']
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
  if (fake !== undefined) {
    const ordered = Map.groupBy(fake.orders, ({ hostname }) => hostname)
    t.equal(ordered.size, wanted)
    const twice = [...ordered].filter(([, orders]) => orders.length > 1).map(([name]) => name)
    t.strictSame(twice, [], 'none was ordered twice')
  }
  // one that has refused an order is asked again: it says how many it has, and not for whom
  if (pebble !== undefined) t.comment(`${Math.max(...pebble.lines.map(ordersIn))} orders`)
  t.equal((await services.store.read.select().from(schema.tenantCertificates)).length, wanted)
})

const ordersIn = (line: string) =>
  Number(/There are now (\d+) orders in the db/.exec(line)?.[1] ?? 0)
