/**
 * Three control planes on one database, a thousand hostnames, and one of them is killed every few
 * seconds. The authority is one of ours, which says for whom it has been asked; and with a part of the
 * hostnames a real one, with its pages of three orders. ACME_HOSTNAMES says how many they are.
 */
// long: three programs, killed and started again, with a server of PostgreSQL
// waits: for leases of programs that were killed
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { challengeAnswer } from '../../../shared/acme-challenge.ts'
import { systemClock } from '../../../shared/clock.ts'
import { openServer } from '../../../control-plane/store/engines/server.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { postgresUrl } from '../../support/databases.ts'
import { ACTOR, startServices, temporaryFolder, tenantNamed } from '../../support/control-plane.ts'
import { startFakeAuthority } from '../../support/fake-authority.ts'
import { NO_PEBBLE, startPebble } from '../../support/pebble.ts'
import { Program } from '../../support/programs.ts'
import { listening } from '../../support/wire.ts'

const TENANTS = 10
const PROGRAMS = 3
const KILL_EVERY_MS = 4000

type Named = ReadonlyMap<string, readonly unknown[]>
interface Authority {
  readonly directory: string
  readonly ca?: string
  /** How many orders there are for each hostname, or of those that came to something how many in all. */
  orders(): Named | number
}

const AUTHORITIES = [
  { kind: 'ours', hostnames: 1000, skip: false, start: startOurs },
  { kind: 'pebble', hostnames: 400, skip: NO_PEBBLE, start: startReal },
] as const

async function startOurs(t: Test): Promise<Authority> {
  const { directory, orders } = await startFakeAuthority(t)
  return { directory, orders: () => Map.groupBy(orders, ({ hostname }) => hostname) }
}

/** It says how many orders it has, and not for whom; one that it has refused is rightly asked for again. */
async function startReal(t: Test, httpPort: number): Promise<Authority> {
  const { directory, ca, lines } = await startPebble(t, { httpPort })
  const saying = (words: RegExp) => lines.filter((line) => words.test(line)).length
  return {
    ...{ directory, ca },
    orders: () => saying(/Added order "/) - saying(/set INVALID by invalid authz/),
  }
}

for (const { kind, hostnames, skip, start } of AUTHORITIES)
  void t.test(`each hostname has one order, and a certificate: ${kind}`, { skip }, async (t) => {
    const each = Math.ceil(Number(process.env['ACME_HOSTNAMES'] ?? hostnames) / TENANTS)
    await orderAll(t, each, start)
  })

async function orderAll(
  t: Test,
  each: number,
  startAuthority: (t: Test, httpPort: number) => Promise<Authority>,
) {
  const url = await postgresUrl(join(temporaryFolder(t), 'service.db'))
  const { engine } = await openServer(url)
  const masterKey = Buffer.alloc(32, 1)
  const services = await startServices(t, { engine, masterKey, clock: systemClock })
  for (let tenant = 0; tenant < TENANTS; tenant++) {
    const named = Array.from({ length: each }, (_, at) => `h${at}.t${tenant}.example.test`)
    await services.tenants.create(tenantNamed(`t${tenant}`, { hostnames: named }), ACTOR)
    await services.tenants.publish(`t${tenant}`, ACTOR)
  }
  let thumbprint = ''
  const gateway = createServer((request, response) => {
    response.end(challengeAnswer(request.url ?? '', thumbprint))
  })
  const httpPort = await listening(gateway)
  t.teardown(() => gateway.close())
  const { directory, ca = '', orders } = await startAuthority(t, httpPort)

  const programs: Program[] = []
  t.teardown(async () => {
    for (const program of programs) await program.stop('SIGKILL')
  })
  async function start(at: number) {
    const args = [url, directory, String(httpPort), '0', ca]
    const program = (programs[at] = new Program('test/support/ordering-program.ts', args))
    ;({ thumbprint } = (await program.ready) as { thumbprint: string })
  }
  for (let at = 0; at < PROGRAMS; at++) await start(at)
  const issued = async () =>
    (await services.store.read.select().from(schema.acmeOrders)).filter(
      ({ step, issuedBy }) => step === 'issued' && issuedBy !== null,
    ).length
  const wanted = TENANTS * each
  for (let turn = 0; (await issued()) < wanted; turn++) {
    await pause(KILL_EVERY_MS)
    t.comment(`${await issued()} of ${wanted}`)
    // whoever holds the lease is among them; later they are left to finish
    if (turn >= 4 * PROGRAMS) continue
    await programs[turn % PROGRAMS]?.stop('SIGKILL')
    await start(turn % PROGRAMS)
  }
  const ordered = orders()
  t.equal(typeof ordered === 'number' ? ordered : ordered.size, wanted, 'as many orders')
  const names = typeof ordered === 'number' ? [] : [...ordered]
  const twice = names.filter(([, those]) => those.length > 1).map(([name]) => name)
  t.strictSame(twice, [], 'none was ordered twice')
  t.equal((await services.store.read.select().from(schema.tenantCertificates)).length, wanted)
}
