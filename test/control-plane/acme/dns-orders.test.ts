/** Certificates that are proven by DNS: by a record that leads to our zone, for a hostname or a wildcard above it. */
import { X509Certificate } from 'node:crypto'
import t, { type Test } from 'tap'
import { createDnsServer } from '../../../control-plane/acme/dns-server.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { eq, isNotNull } from '../../../control-plane/store/drizzle.ts'
import { wakeAcmeFollowers } from '../../../control-plane/store/queries/acme-orders.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { hurriedClock, startOrdering } from '../../support/acme.ts'
import { apiOf } from '../../support/api.ts'
import { certificateFor } from '../../support/certificate.ts'
import { ACTOR, temporaryFolder, tenantNamed } from '../../support/control-plane.ts'
import { openDatabase } from '../../support/databases.ts'
import { startFakeAuthority } from '../../support/fake-authority.ts'
import { startNameServer } from '../../support/name-server.ts'
import { NO_PEBBLE, startPebble } from '../../support/pebble.ts'

const ZONE = { name: 'acme.service.test', servers: ['ns1.service.test'] }
const [A, B, C, DEEP] = ['a.example.test', 'b.example.test', 'c.example.test', 'd.c.example.test']

type Ordering = Awaited<ReturnType<typeof startOrdering>>

/** Both are told of each other only once they are there. */
async function startNames(t: Test) {
  const ports: number[] = []
  const names = await startNameServer(t, { name: ZONE.name, ports: () => ports })
  return {
    ...names,
    async answeredBy({ services, clock }: Ordering) {
      const thumbprint = services.acme?.thumbprint ?? ''
      const server = createDnsServer({ ...services, zone: ZONE, thumbprint, clock })
      ports.push((await server.listen({ host: '127.0.0.1', port: 0 })).port)
      t.teardown(() => server.close())
    },
    /** The operator has delegated it to somebody else. */
    nobodyAnswers: () => void (ports.length = 0),
  }
}

async function startDns(t: Test, wildcards: readonly string[] = []) {
  const clock = hurriedClock()
  const authority = await startFakeAuthority(t, clock)
  const names = await startNames(t)
  const ordering = await startOrdering(t, {
    clock,
    directories: [authority.directory],
    dns: ZONE,
    wildcards,
    world: { resolver: names.resolver, roundMs: 100 },
  })
  await names.answeredBy(ordering)
  ordering.answers(false) // nothing leads here at port 80
  const { tenants } = ordering.services
  const api = apiOf(ordering.services)
  async function publish(id: string, hostnames: readonly string[]) {
    await tenants.create(tenantNamed(id, { hostnames: [...hostnames] }), ACTOR)
    await tenants.publish(id, ACTOR)
  }
  const states = async (id = 'app') =>
    (await api.operator('GET', `/tenants/${id}/certificates`)).items as {
      hostname: string
      source: string | null
      order: { state: string; problem: string | null; wildcard: string | null } | null
      dns_records: { name: string; target: string; covers: string }[]
    }[]
  /** As its administrator does who reads it in the console. */
  async function delegate(id: string, covers: string) {
    const records = (await states(id)).flatMap((one) => one.dns_records)
    const record = records.find((one) => one.covers === covers)
    if (record === undefined) throw new Error(`no record for ${covers}`)
    names.aliases.set(record.name, record.target)
    return record
  }
  /** Until nothing is under way. */
  async function run() {
    for (let count = 0; count < 60; count++) {
      await ordering.run()
      if (!(await ordering.orders()).some(isUnderWay)) return
      clock.advance(SECOND_MS)
    }
    throw new Error(`not over: ${JSON.stringify(await ordering.orders())}`)
  }
  function isUnderWay({ step, failures, dueAt }: Awaited<ReturnType<Ordering['orders']>>[number]) {
    if (step === 'waiting') return failures === 0 && dueAt < clock.nowMs() + 10_000
    return step !== 'issued'
  }
  return { ...ordering, run, authority, names, publish, states, delegate }
}

const subjects = (pem: string | undefined) => new X509Certificate(pem ?? '').subjectAltName

void t.test('a hostname that nobody reaches at port 80 is proven by its record', async (t) => {
  const { run, publish, orders, states, delegate, authority, certificate, clock, names } =
    await startDns(t)
  await publish('app', [A])
  await run()
  const [before] = await states()
  t.match(
    before?.order?.problem,
    /is not answered by the gateways \(status 404\).* Or prove it by DNS\. Add a CNAME record named _acme-challenge\.a\.example\.test that points to [a-z2-7]{32}\.acme\.service\.test\.$/,
  )
  t.same(authority.requests, [], 'and troubles no authority')
  const record = await delegate('app', A)
  t.match(record, { name: `_acme-challenge.${A}`, target: /^[a-z2-7]{32}\.acme\.service\.test$/ })
  // by a name in between, as an authority follows it
  names.aliases.set(record.name, 'acme.between.test')
  names.aliases.set('acme.between.test', record.target)
  clock.advance(2 * MINUTE_MS)
  await run()
  t.match(await states(), [{ source: 'ordered', order: { state: 'issued', problem: null } }])
  t.equal(authority.orders[0]?.way, 'dns-01')
  t.equal(subjects(await certificate(A)), `DNS:${A}`)
  t.match(await orders(), [{ dnsLabel: null, dnsValue: null }], 'nothing is left to look for')
})

void t.test(
  'a wildcard is ordered once for all hostnames below it, and renewed once',
  async (t) => {
    const scene = await startDns(t)
    const { run, publish, orders, states, delegate, authority, certificate, clock, services } =
      scene
    await publish('app', [A, B, DEEP])
    await delegate('app', '*.example.test')
    await run()
    const issued = { source: 'ordered', order: { state: 'issued', wildcard: '*.example.test' } }
    t.match((await states()).slice(0, 2), [issued, issued])
    t.match((await states())[2], { hostname: DEEP, source: null }, 'it names one label')
    t.same(
      authority.orders.map(({ hostname, way }) => [hostname, way]),
      [['*.example.test', 'dns-01']],
    )
    t.equal(await certificate(A), await certificate(B))
    t.equal(subjects(await certificate(B)), 'DNS:*.example.test')

    await services.tenants.patch('app', { hostnames: [A, B, C] }, ACTOR)
    await run()
    t.equal(await certificate(C), await certificate(A), 'one that comes later has it at once')
    t.equal(authority.orders.length, 1)

    const first = await certificate(A)
    clock.advance(61 * DAY_MS)
    for (let count = 0; count < 3; count++) await run()
    t.equal(authority.orders.length, 2, 'renewed once')
    t.not(await certificate(A), first)
    for (const name of [B, C]) t.equal(await certificate(name), await certificate(A), name)
    t.match(await orders(), [{ step: 'issued' }, { step: 'issued' }, { step: 'issued' }])

    // who has ordered it goes, and the others go on
    const source = (await orders()).find(({ follows }) => follows === null)?.hostname
    const left = [A, B, C].filter((name) => name !== source)
    await services.tenants.patch('app', { hostnames: left }, ACTOR)
    clock.advance(61 * DAY_MS)
    for (let count = 0; count < 3; count++) await run()
    t.equal(authority.orders.length, 3)
    t.equal(await certificate(left[0]!), await certificate(left[1]!))
    t.ok(
      new X509Certificate((await certificate(left[0]!)) ?? '').validToDate.getTime() >
        clock.nowMs(),
    )
  },
)

void t.test('a record of another tenant proves nothing', async (t) => {
  const { run, publish, states, delegate, authority, names } = await startDns(t)
  await publish('first', [A])
  await publish('next', [B])
  const { target } = await delegate('first', '*.example.test')
  names.aliases.set(`_acme-challenge.${B}`, target)
  await run()
  t.same(
    authority.orders.map(({ hostname }) => hostname),
    ['*.example.test'],
  )
  t.match(await states('first'), [{ source: 'ordered' }])
  t.match(await states('next'), [{ source: null }], 'and what it was ordered for is nobody else’s')
  t.match(
    (await states('next'))[0]?.order?.problem,
    new RegExp(
      `_acme-challenge\\.b\\.example\\.test leads to ${target}, which is not of this hostname. Change it to`,
    ),
  )
})

void t.test('an id that is given again has another record', async (t) => {
  const { run, publish, states, delegate, services, authority } = await startDns(t)
  await publish('app', [A])
  const { target } = await delegate('app', A)
  await services.tenants.remove('app', ACTOR)
  await publish('app', [A])
  await run()
  const [now] = await states()
  t.not(now?.dns_records[0]?.target, target)
  t.match(now, { source: null })
  t.same(authority.orders, [], 'what was left behind proves nothing')
})

void t.test('the operator’s wildcard serves the tenants below it', async (t) => {
  const scene = await startDns(t, ['example.test'])
  const { run, publish, orders, states, authority, certificate, clock, services, names } = scene
  await services.consoleAccess.ensureRealm()
  await publish('one', [A])
  await run()
  const wildcard = async () => (await orders()).find(({ hostname }) => hostname.startsWith('*'))
  const wish =
    /Add a CNAME record named _acme-challenge\.example\.test that points to ([a-z2-7]{32}\.acme\.service\.test)\.$/
  const [, target = ''] = wish.exec((await wildcard())?.problem ?? '') ?? []
  t.ok(target)
  names.aliases.set('_acme-challenge.example.test', target)
  clock.advance(2 * MINUTE_MS)
  await run()
  await publish('two', [B, DEEP])
  clock.advance(10 * MINUTE_MS)
  await run()
  t.same(
    authority.orders.map(({ hostname }) => hostname),
    ['*.example.test'],
  )
  t.equal(await certificate(A), await certificate('*.example.test'))
  t.equal(await certificate(B), await certificate('*.example.test'))
  t.match(await states('two'), [{ source: 'ordered' }, { source: null }])
  const snapshot = await services.fleetSource.snapshot('two')
  t.equal(snapshot?.snapshot?.certificates[0]?.certificate_pem, await certificate(B))

  const { cert, key } = certificateFor(A)
  await services.certificates.put(
    'one',
    { hostname: A, certificatePem: cert, privateKeyPem: key },
    ACTOR,
  )
  clock.advance(61 * DAY_MS)
  for (let count = 0; count < 3; count++) await run()
  t.equal(authority.orders.length, 2)
  t.equal(await certificate(B), await certificate('*.example.test'))
  t.equal(await certificate(A), cert, 'an uploaded one counts more')
})

void t.test('a wildcard of very many hostnames is given to a few of them at once', async (t) => {
  const scene = await startDns(t, ['example.test'])
  const { run, publish, orders, authority, certificate, clock, services, names } = scene
  const woken = LIMITS.acmeFollowersWokenMax
  const many = Array.from({ length: woken + 12 }, (_, at) => `h${at}.example.test`)
  await services.consoleAccess.ensureRealm()
  await publish('one', [A])
  await run()
  const wildcard = (await orders()).find(({ hostname }) => hostname.startsWith('*'))
  const [, target = ''] = / points to (\S+)\.$/.exec(wildcard?.problem ?? '') ?? []
  names.aliases.set('_acme-challenge.example.test', target)
  clock.advance(2 * MINUTE_MS)
  await run()
  await publish('many', many)
  for (let count = 0; count < 3; count++) await run()

  const dueNow = async () => (await orders()).filter(({ dueAt }) => dueAt <= clock.nowMs()).length
  t.equal(await dueNow(), 0)
  await services.store.change(async ({ queries }) => {
    const more = { nowMs: clock.nowMs(), limit: woken }
    await wakeAcmeFollowers(queries, '*.example.test', more)
  })
  t.equal(await dueNow(), woken, 'one change wakes so many')
  await run()
  t.equal(await dueNow(), 0, 'who finds nothing newer wakes nobody')

  const renewAt = (await orders()).find(({ hostname }) => hostname.startsWith('*'))?.renewAt ?? 0
  // within a day they would look by themselves
  const later = { dueAt: renewAt + DAY_MS }
  await services.store.change(async ({ queries }) => {
    await queries.update(schema.acmeOrders).set(later).where(isNotNull(schema.acmeOrders.follows))
  })
  clock.advance(renewAt - clock.nowMs())
  for (let count = 0; count < 3; count++) await run()
  t.equal(authority.orders.length, 2)
  const newest = await certificate('*.example.test')
  const without = []
  for (const name of many) if ((await certificate(name)) !== newest) without.push(name)
  t.same(without, [], 'all of them have the next one')
})

void t.test('a zone that leads elsewhere is said, and port 80 serves meanwhile', async (t) => {
  const { run, publish, states, delegate, authority, answers, names, clock } = await startDns(t)
  await publish('app', [A])
  await delegate('app', A)
  names.nobodyAnswers()
  await run()
  t.match(
    (await states())[0]?.order?.problem,
    /the zone acme\.service\.test is not answered by the control planes\. Its parent needs NS records for ns1\.service\.test/,
  )
  t.same(authority.requests, [])
  answers(true)
  clock.advance(2 * MINUTE_MS)
  await run()
  t.match(await states(), [{ source: 'ordered' }])
  t.equal(authority.orders[0]?.way, 'http-01')
})

void t.test(
  'a wildcard that is refused is not asked for again by each of its hostnames',
  async (t) => {
    const { run, publish, delegate, authority, orders, clock } = await startDns(t)
    await publish('app', [A, B, C])
    await delegate('app', '*.example.test')
    authority.refuse('*.example.test', { status: 403, type: 'rejectedIdentifier' })
    await run()
    const asked = () => authority.requests.filter((one) => one === 'POST /new-order').length
    t.equal(asked(), 1)
    t.same((await orders()).map(({ failures }) => failures).sort(), [0, 0, 1])
    for (const { problem } of await orders())
      t.match(problem, /does not issue certificates for \*\.example\.test/)
    authority.refuse('*.example.test', undefined)
    clock.advance(3 * MINUTE_MS)
    for (let count = 0; count < 3; count++) await run()
    t.equal(authority.orders.length, 1)
    t.match(await orders(), [{ step: 'issued' }, { step: 'issued' }, { step: 'issued' }])
  },
)

void t.test('two that have been refused do not wait for each other', async (t) => {
  const { run, publish, orders, states, delegate, authority, clock, services } = await startDns(t)
  await publish('app', [A, B])
  await run() // both have failed, each by itself
  await delegate('app', '*.example.test')
  await services.store.change(async ({ queries }) => {
    await queries.update(schema.acmeOrders).set({ identifier: '*.example.test' })
  })
  authority.refuse('*.example.test', { status: 403, type: 'rejectedIdentifier' })
  clock.advance(3 * MINUTE_MS)
  await run()
  authority.refuse('*.example.test', undefined)
  // each as soon as its time comes, and not a moment later
  for (let count = 0; count < 6; count++) {
    const nextAt = Math.min(...(await orders()).map(({ dueAt }) => dueAt))
    clock.advance(Math.max(0, nextAt - clock.nowMs()))
    await run()
  }
  t.match(await states(), [{ source: 'ordered' }, { source: 'ordered' }])
  t.equal(authority.orders.length, 1)
})

void t.test('without a zone there is nothing to add', async (t) => {
  const authority = await startFakeAuthority(t)
  const { services, run } = await startOrdering(t, { directories: [authority.directory] })
  await services.tenants.create(tenantNamed('app', { hostnames: [A] }), ACTOR)
  await services.tenants.publish('app', ACTOR)
  await run()
  t.match(await services.certificates.states('app'), [{ dnsRecords: [] }])
})

void t.test(
  'a real authority, a real name server, and two control planes',
  { skip: NO_PEBBLE },
  async (t) => {
    const file = `${temporaryFolder(t)}/service.db`
    const masterKey = Buffer.alloc(32, 1)
    const names = await startNames(t)
    const pebble = await startPebble(t, { httpPort: 1, dnsPort: names.port })
    const start = async () => {
      const ordering = await startOrdering(t, {
        masterKey,
        engine: await openDatabase(file),
        directories: [pebble.directory],
        dns: ZONE,
        world: { ca: pebble.ca, resolver: names.resolver },
      })
      ordering.answers(false)
      await names.answeredBy(ordering)
      return ordering
    }
    const [one, other] = [await start(), await start()]
    const { services } = one
    await services.tenants.create(tenantNamed('app', { hostnames: [A, B, DEEP] }), ACTOR)
    await services.tenants.publish('app', ACTOR)
    await one.run()
    for (const { dnsRecords } of await services.certificates.states('app'))
      for (const { name, target, covers } of dnsRecords)
        if (covers === '*.example.test' || covers === DEEP) names.aliases.set(name, target)
    const left = async () => (await one.orders()).filter(({ step }) => step !== 'issued')
    await services.store.change(async ({ queries, nowMs }) => {
      await queries
        .update(schema.acmeOrders)
        .set({ dueAt: nowMs })
        .where(eq(schema.acmeOrders.step, 'waiting'))
    })
    for (let count = 0; count < 30 && (await left()).length > 0; count++) {
      await one.run()
      await other.run()
    }
    t.same(await left(), [])
    t.equal(subjects(await one.certificate(A)), 'DNS:*.example.test')
    t.equal(await one.certificate(A), await one.certificate(B))
    t.equal(subjects(await one.certificate(DEEP)), `DNS:${DEEP}`)
    const root = new X509Certificate(await pebble.root())
    const [leaf, chain] =
      ((await one.certificate(A)) ?? '').match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []
    t.ok(new X509Certificate(leaf ?? '').verify(new X509Certificate(chain ?? '').publicKey))
    t.ok(new X509Certificate(chain ?? '').verify(root.publicKey))
  },
)
