/** A control plane dies in the middle of orders, before it has heard what came of them. */
// long: starts and kills a program eight times
import { createServer } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { challengeAnswer } from '../../../shared/acme-challenge.ts'
import { MINUTE_MS } from '../../../shared/clock.ts'
import { ON_POSTGRES, openDatabase, postgresUrl } from '../../support/databases.ts'
import { ACTOR, startServices, temporaryFolder, tenantNamed } from '../../support/control-plane.ts'
import { hurriedClock, startOrdering } from '../../support/acme.ts'
import { startFakeAuthority } from '../../support/fake-authority.ts'
import { Program } from '../../support/programs.ts'
import { listening } from '../../support/wire.ts'

const HOSTNAMES = Array.from({ length: 8 }, (_, index) => `h${index}.example.test`)
const DEATHS_AT = ['POST /new-order', 'POST /challenge/', 'POST /finalize/', 'POST /certificate/']
/** Over the lease of the dead, and until what was being asked for may be asked for again. */
const MINUTES_BETWEEN = 3

void t.test('whoever goes on finds the same order', async (t) => {
  const file = join(temporaryFolder(t), 'service.db')
  const masterKey = Buffer.alloc(32, 1)
  const services = await startServices(t, { file, engine: await openDatabase(file), masterKey })
  await services.tenants.create(tenantNamed('app', { hostnames: HOSTNAMES }), ACTOR)
  await services.tenants.publish('app', ACTOR)
  await services.close()

  let thumbprint = ''
  const gateway = createServer((request, response) => {
    response.end(challengeAnswer(request.url ?? '', thumbprint))
  })
  const httpPort = await listening(gateway)
  t.teardown(() => gateway.close())
  const clock = hurriedClock()
  const authority = await startFakeAuthority(t, clock)
  let program: Program | undefined
  t.teardown(() => program?.stop('SIGKILL'))
  const deaths = [...DEATHS_AT, ...DEATHS_AT]
  authority.onAnswer((request) => {
    const at = deaths.findIndex((one) => request.startsWith(one))
    if (at === -1) return true
    deaths.splice(at, 1)
    program?.child.kill('SIGKILL')
    return false // what it has asked for is done, and it never hears of it
  })
  for (let starts = 0; deaths.length > 0; starts++) {
    const ahead = String(starts * MINUTES_BETWEEN)
    program = new Program('test/support/ordering-program.ts', [
      ON_POSTGRES ? await postgresUrl(file) : file,
      authority.directory,
      String(httpPort),
      ahead,
    ])
    ;({ thumbprint } = (await program.ready) as { thumbprint: string })
    await program.exited
    clock.advance(MINUTES_BETWEEN * MINUTE_MS)
  }

  const engine = await openDatabase(file)
  const directories = [authority.directory]
  const { run, orders } = await startOrdering(t, { engine, masterKey, clock, directories })
  while ((await orders()).some(({ step }) => step !== 'issued')) await run()
  t.match(
    await orders(),
    HOSTNAMES.map((hostname) => ({ hostname, failures: 0 })),
  )
  t.same(authority.orders.map(({ hostname }) => hostname).sort(), HOSTNAMES, 'one order each')
  t.ok(
    authority.orders.every(({ finalized }) => finalized === 1),
    'and one certificate',
  )
})
