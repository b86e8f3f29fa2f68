/** A hostname whose proof is gone is served on for two weeks, with a warning, and then no more. */
import t, { type Test } from 'tap'
import { createMetrics } from '../../../control-plane/metrics.ts'
import { proofOf, proofRecordOf } from '../../../control-plane/hostnames/proof.ts'
import { DAY_MS, HOUR_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, movableClock, startServices, tenantNamed } from '../../support/control-plane.ts'

const APP = 'app.example.com'

async function start(t: Test) {
  const records = new Map<string, string[][]>()
  let failure = ''
  let asked = 0
  const clock = movableClock()
  const proofs = {
    resolve: async () => [],
    timeoutMs: 1000,
    async resolveTxt(name: string) {
      asked++
      if (failure !== '') throw Object.assign(new Error(failure), { code: failure })
      return records.get(name) ?? []
    },
  }
  const services = await startServices(t, { clock, proofs })
  const { tenants, hostnames, rechecks, auditTrail } = services
  for (const id of ['acme', 'other']) await tenants.create(tenantNamed(id), ACTOR)
  const prove = async (id = 'acme') => {
    const { token } = await hostnames.claim(id, APP, ACTOR)
    records.set(proofRecordOf(APP), [[proofOf(token)]])
    clock.advance(LIMITS.hostnameLookAgainMsMin)
    t.equal(await hostnames.check(id, APP, ACTOR), true)
    return token
  }
  return {
    ...{ services, clock, records, tenants, hostnames, rechecks, prove },
    fails: (code: string) => void (failure = code),
    asked: () => asked,
    /** So long, and whoever is due is looked at as often as it becomes due. */
    async pass(ms: number) {
      for (const endMs = clock.nowMs() + ms; clock.nowMs() < endMs;) {
        clock.advance(Math.min(HOUR_MS, endMs - clock.nowMs()))
        if (await rechecks.isDue()) await rechecks.lookAtDue(() => false)
        if (await hostnames.isDue()) await hostnames.lookAtDue(() => false)
      }
    },
    namesOf: async (id = 'acme') => (await tenants.get(id)).hostnames,
    actions: async (id = 'acme') =>
      (await auditTrail.list({ limit: 50 }, { tenantId: id })).items.map(({ action }) => action),
  }
}

void t.test('while the record is there it is looked for once a day, and no more', async (t) => {
  const { prove, pass, asked, namesOf, rechecks } = await start(t)
  await prove()
  const before = asked()
  await pass(10 * DAY_MS)
  const looks = asked() - before
  t.ok(looks >= 9 && looks <= 10, `${looks} looks in ten days`)
  t.same(await namesOf(), ['acme.localhost', APP])
  t.same(await rechecks.unproven('acme'), [])
})

void t.test('gone: warned after a day, served for two weeks, and then a claim again', async (t) => {
  const world = await start(t)
  const { prove, pass, records, namesOf, rechecks, hostnames, actions, services } = world
  const token = await prove()
  records.clear()
  await pass(DAY_MS + 2 * HOUR_MS)
  t.same(await rechecks.unproven('acme'), [], 'nothing is said of what was missed for hours')
  await pass(DAY_MS)
  t.match(await rechecks.unproven('acme'), [{ hostname: APP, token }])
  t.equal((await rechecks.unproven('acme')).length, 1)
  const metric = await createMetrics(services).text()
  t.match(metric, /^control_plane_hostnames_unproven 1$/m)
  await pass(11 * DAY_MS)
  t.same(await namesOf(), ['acme.localhost', APP], 'never at once')
  t.same((await actions()).filter((action) => action === 'hostname.unproven').length, 1)
  await pass(3 * DAY_MS)
  t.same(await namesOf(), ['acme.localhost'])
  t.equal((await actions()).filter((action) => action === 'hostname.stopped').length, 1)
  t.match(await hostnames.list('acme'), [{ hostname: APP, token }])
  t.same(await rechecks.unproven('acme'), [])

  records.set(proofRecordOf(APP), [[proofOf(token)]])
  await pass(DAY_MS)
  t.same(await namesOf(), ['acme.localhost', APP], 'the record brings it back by itself')
})

void t.test('a record that comes back in time changes nothing', async (t) => {
  const { prove, pass, records, namesOf, rechecks } = await start(t)
  const token = await prove()
  records.clear()
  await pass(10 * DAY_MS)
  t.equal((await rechecks.unproven('acme')).length, 1)
  records.set(proofRecordOf(APP), [[proofOf(token)]])
  await pass(DAY_MS)
  t.same(await rechecks.unproven('acme'), [])
  records.clear()
  await pass(10 * DAY_MS)
  t.same(await namesOf(), ['acme.localhost', APP], 'days are counted anew')
})

void t.test('a name server that does not answer says nothing', async (t) => {
  const { prove, pass, fails, namesOf, rechecks } = await start(t)
  await prove()
  for (const code of ['ESERVFAIL', 'ETIMEOUT', 'ECONNREFUSED']) {
    fails(code)
    await pass(20 * DAY_MS)
    t.same(await rechecks.unproven('acme'), [], code)
  }
  t.same(await namesOf(), ['acme.localhost', APP])
  fails('ENOTFOUND')
  await pass(17 * DAY_MS)
  t.same(await namesOf(), ['acme.localhost'], 'that there is no such name is an answer')
})

void t.test('two weeks without us are not two weeks without a proof', async (t) => {
  const { prove, pass, records, clock, namesOf } = await start(t)
  await prove()
  records.clear()
  await pass(2 * DAY_MS)
  clock.advance(30 * DAY_MS)
  await pass(HOUR_MS)
  t.same(await namesOf(), ['acme.localhost', APP], 'it was looked for too seldom')
  await pass(4 * DAY_MS)
  t.same(await namesOf(), ['acme.localhost'])
})

void t.test('what an operator has added is nobody’s to look for', async (t) => {
  const { pass, tenants, asked, namesOf } = await start(t)
  await tenants.patch('acme', { hostnames: ['acme.localhost', APP] }, ACTOR)
  await pass(20 * DAY_MS)
  t.equal(asked(), 0)
  t.same(await namesOf(), ['acme.localhost', APP])
})

void t.test('a proof goes with its hostname, and the next owner has its own', async (t) => {
  const { prove, pass, records, hostnames, namesOf, asked } = await start(t)
  await prove()
  await hostnames.remove('acme', APP, ACTOR)
  const before = asked()
  await pass(5 * DAY_MS)
  t.equal(asked(), before)
  await prove('other')
  await pass(16 * DAY_MS)
  t.same(await namesOf('other'), ['other.localhost', APP])
  records.clear()
  await pass(16 * DAY_MS)
  t.same(await namesOf('other'), ['other.localhost'])
})

void t.test('the only hostname of a tenant stays, and the next one is looked at', async (t) => {
  const { prove, pass, records, tenants, namesOf, asked } = await start(t)
  await prove()
  await tenants.patch('acme', { hostnames: [APP] }, ACTOR)
  records.clear()
  await pass(20 * DAY_MS)
  t.same(await namesOf(), [APP])
  const before = asked()
  await pass(DAY_MS)
  t.ok(asked() - before <= 5, 'looked for as seldom as ever')
})
