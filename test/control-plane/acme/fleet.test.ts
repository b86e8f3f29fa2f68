/** Many hostnames, and more than one control plane. */
import { join } from 'node:path'
import t from 'tap'
import { LEASE_MS } from '../../../control-plane/services/leases.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { hurriedClock, startOrdering } from '../../support/acme.ts'
import { ACTOR, temporaryFolder, tenantNamed } from '../../support/control-plane.ts'
import { openDatabase } from '../../support/databases.ts'
import { startFakeAuthority } from '../../support/fake-authority.ts'

const HOSTNAMES = Array.from({ length: 8 }, (_, index) => `h${index}.example.test`)

for (const moment of ['POST /new-order', 'POST /challenge/', 'POST /finalize/'])
  void t.test(`two that both hold that it is theirs do not order twice: ${moment}`, async (t) => {
    const file = join(temporaryFolder(t), 'service.db')
    const masterKey = Buffer.alloc(32, 1)
    const clock = hurriedClock()
    const late = { ...clock, nowMs: () => clock.nowMs() + LEASE_MS + 1000 }
    const authority = await startFakeAuthority(t, clock)
    const directories = [authority.directory]
    const shared = { masterKey, directories }
    const one = await startOrdering(t, { ...shared, clock, engine: await openDatabase(file) })
    const other = await startOrdering(t, {
      ...{ ...shared, clock: late },
      engine: await openDatabase(file),
    })
    await one.services.tenants.create(tenantNamed('app', { hostnames: HOSTNAMES }), ACTOR)
    await one.services.tenants.publish('app', ACTOR)
    // to the other the lease of the first is over, and it goes on in the middle of its question
    let isAsked = false
    authority.onRequest(async (request) => {
      if (isAsked || !request.startsWith(moment)) return
      isAsked = true
      await other.run()
    })
    while ((await one.orders()).length === 0 || (await one.orders()).some(isOnItsWay))
      await one.run()
    t.ok(isAsked)
    t.match(
      await one.orders(),
      HOSTNAMES.map(() => ({ failures: 0 })),
    )
    t.same(authority.orders.map(({ hostname }) => hostname).sort(), HOSTNAMES)
  })

void t.test('who is refused because the other was first takes nothing away from it', async (t) => {
  const file = join(temporaryFolder(t), 'service.db')
  const masterKey = Buffer.alloc(32, 1)
  const clock = hurriedClock()
  const late = { ...clock, nowMs: () => clock.nowMs() + LEASE_MS + 1000 }
  const authority = await startFakeAuthority(t, clock)
  const shared = { masterKey, directories: [authority.directory] }
  const one = await startOrdering(t, { ...shared, clock, engine: await openDatabase(file) })
  const engine = await openDatabase(file)
  const other = await startOrdering(t, { ...shared, clock: late, engine })
  await one.services.tenants.create(tenantNamed('app', { hostnames: ['h.example.test'] }), ACTOR)
  await one.services.tenants.publish('app', ACTOR)
  const bothAsk = Promise.withResolvers<void>()
  let otherRun: Promise<void> | undefined
  let count = 0
  authority.onRequest(async (request) => {
    if (request.startsWith('POST /certificate/')) return otherRun
    if (!request.startsWith('POST /finalize/')) return
    if (++count === 1) {
      otherRun = other.run()
      return bothAsk.promise
    }
    bothAsk.resolve()
    while (authority.orders[0]?.status === 'ready') await new Promise(setImmediate)
  })
  while ((await one.orders()).length === 0 || (await one.orders()).some(isOnItsWay)) {
    await one.run()
    clock.advance(MINUTE_MS)
  }
  t.equal(count, 2)
  t.match(await one.orders(), [{ failures: 0 }])
  t.equal(authority.orders.length, 1)
})

const isOnItsWay = ({ step }: { readonly step: string }) => step !== 'issued'

void t.test(
  'all certificates are wanted back at once, within the limits of the authority',
  async (t) => {
    const clock = hurriedClock()
    const authority = await startFakeAuthority(t, clock)
    const { run, orders, services } = await startOrdering(t, {
      clock,
      directories: [authority.directory],
    })
    const hostnames = Array.from({ length: 40 }, (_, index) => `n${index + 10}.example.test`)
    await services.tenants.create(tenantNamed('app', { hostnames }), ACTOR)
    await services.tenants.publish('app', ACTOR)
    const issued = async () => (await orders()).filter((row) => !isOnItsWay(row)).length
    while ((await issued()) < hostnames.length) await run()
    t.equal(authority.orders.length, hostnames.length)

    clock.advance(DAY_MS)
    authority.suggest(clock.nowMs() - HOUR_MS, clock.nowMs() - HOUR_MS / 2)
    // ten in a quarter of an hour
    let left = 10
    let freeAtMs = 0
    let limits = 0
    const tooEarly: string[] = []
    authority.onRequest((request) => {
      if (clock.nowMs() < freeAtMs && request.startsWith('POST')) tooEarly.push(request)
      if (request === 'POST /new-order' && left-- === 0) {
        limits += 1
        freeAtMs = clock.nowMs() + 15 * 60_000
        authority.refuse('*', { status: 429, type: 'rateLimited', retryAfter: '900' })
      }
      return Promise.resolve()
    })
    const certificates = async () =>
      (await services.fleetSource.snapshot('app'))?.snapshot?.certificates.length
    while (authority.orders.length < 2 * hostnames.length || (await issued()) < hostnames.length) {
      await run()
      t.equal(await certificates(), hostnames.length, 'each stays until the next one is there')
      if (freeAtMs > 0) {
        clock.advance(15 * 60_000)
        authority.refuse('*', undefined)
        ;[left, freeAtMs] = [10, 0]
      }
    }
    t.equal(authority.orders.length, 2 * hostnames.length)
    t.ok(authority.orders.slice(hostnames.length).every(({ replaces }) => replaces !== undefined))
    // those that were under way when it was reached
    const newOrders = tooEarly.filter((request) => request === 'POST /new-order').length
    t.ok(newOrders <= limits * LIMITS.acmeOrdersAtOnceMax, tooEarly.join())
  },
)
