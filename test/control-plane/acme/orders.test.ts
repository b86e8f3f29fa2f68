// apart: it waits so much
// waits: for the pauses between two questions to an authority
/** Orders as they are refused, taken elsewhere, given up, and renewed. */
import { X509Certificate } from 'node:crypto'
import t, { type Test } from 'tap'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts'
import { renewalIdOf } from '../../../control-plane/acme/csr.ts'
import { createOwnCertificate } from '../../../control-plane/tenants/own-certificate.ts'
import { hurriedClock, startOrdering } from '../../support/acme.ts'
import { acme as known } from '../../support/certificates.ts'
import { certificateFor } from '../../support/certificate.ts'
import { ACTOR, tenantNamed } from '../../support/control-plane.ts'
import { startFakeAuthority } from '../../support/fake-authority.ts'

const NAME = 'app.example.test'

async function startWith(
  t: Test,
  {
    count = 1,
    hostnames = [NAME],
    profile,
  }: { count?: number; hostnames?: string[]; profile?: string } = {},
) {
  const clock = hurriedClock()
  const authorities = await Promise.all(
    Array.from({ length: count }, () => startFakeAuthority(t, clock)),
  )
  const directories = authorities.map(({ directory }) => directory)
  const ordering = await startOrdering(t, {
    clock,
    directories,
    ...(profile !== undefined && { profile }),
  })
  const { tenants } = ordering.services
  await tenants.create(tenantNamed('app', { hostnames }), ACTOR)
  await tenants.publish('app', ACTOR)
  const [first, second] = authorities
  return { ...ordering, authority: first!, second: second! }
}

void t.test('a hostname that does not lead here troubles no authority', async (t) => {
  const { run, orders, answers, authority, clock, certificate } = await startWith(t)
  answers(false)
  await run()
  t.match(await orders(), [
    { step: 'waiting', failures: 1, orderUrl: null, privateKeySealed: null },
  ])
  t.match((await orders())[0]?.problem, /is not answered by the gateways \(status 404\)/)
  t.strictSame(authority.requests, [])
  clock.advance(2 * MINUTE_MS)
  await run()
  const [again] = await orders()
  t.match(again, { failures: 2 })
  t.ok((again?.dueAt ?? 0) > clock.nowMs() + 9 * MINUTE_MS, 'the pause grows')
  answers(true)
  clock.advance(10 * MINUTE_MS)
  await run()
  t.match(await orders(), [
    { step: 'issued', failures: 0, problem: null, issuedBy: authority.directory },
  ])
  t.ok(await certificate(NAME))
})

void t.test('what a hostname was ordered for goes with it', async (t) => {
  const names = [NAME, 'two.example.test', 'app.localhost', 'single']
  const { run, orders, services, authority, certificate } = await startWith(t, { hostnames: names })
  await run()
  t.same((await orders()).map(({ hostname }) => hostname).sort(), [NAME, 'two.example.test'])
  await services.tenants.patch('app', { hostnames: [NAME] }, ACTOR)
  t.same(
    (await orders()).map(({ hostname }) => hostname),
    [NAME],
  )
  t.equal(await certificate('two.example.test'), undefined)
  await services.tenants.create(tenantNamed('next', { hostnames: ['two.example.test'] }), ACTOR)
  await services.tenants.publish('next', ACTOR)
  await run()
  t.match(
    (await orders()).map(({ hostname, tenantId, step }) => [hostname, tenantId, step]),
    [
      [NAME, 'app', 'issued'],
      ['two.example.test', 'next', 'issued'],
    ],
  )
  t.equal(authority.orders.length, 3, 'each tenant has its own, and none was ordered twice')
  await services.tenants.remove('next', ACTOR)
  t.same(
    (await orders()).map(({ hostname }) => hostname),
    [NAME],
  )
})

void t.test('an uploaded certificate counts more than one that is ordered', async (t) => {
  const { run, orders, services, authority, certificate } = await startWith(t)
  await run()
  t.equal(authority.orders.length, 1)
  const { cert, key } = certificateFor(NAME)
  const own = { hostname: NAME, certificatePem: cert, privateKeyPem: key }
  await services.certificates.put('app', own, ACTOR)
  t.equal(await certificate(NAME), cert)
  t.strictSame(await orders(), [])
  t.equal((await services.fleetSource.snapshot('app'))?.snapshot?.acme, undefined)
  await run()
  t.strictSame(await orders(), [])
  t.equal(authority.orders.length, 1)
})

void t.test('one that is uploaded while an order is under way stays', async (t) => {
  const { run, orders, services, authority, certificate } = await startWith(t)
  authority.finishes(false)
  await run()
  t.match(await orders(), [{ step: 'answered' }])
  const { cert, key } = certificateFor(NAME)
  const own = { hostname: NAME, certificatePem: cert, privateKeyPem: key }
  await services.certificates.put('app', own, ACTOR)
  authority.finishes(true)
  await run()
  t.equal(await certificate(NAME), cert)
})

void t.test('an authority says no: a sentence, and the next time another one', async (t) => {
  const { run, orders, authority, second, clock, certificate } = await startWith(t, { count: 2 })
  authority.refuse(NAME, { status: 403, type: 'caa' })
  await run()
  const [row] = await orders()
  t.match(row, { step: 'waiting', failures: 1, authority: authority.directory })
  t.match(row?.problem, /^A CAA record does not allow .* It says: because of caa$/)
  t.equal(second.orders.length, 0)
  clock.advance(2 * MINUTE_MS)
  await run()
  t.match(await orders(), [{ step: 'issued', issuedBy: second.directory }])
  t.ok(await certificate(NAME))
})

void t.test('a busy authority is left alone for as long as it asks for', async (t) => {
  const { run, orders, authority, clock, lines } = await startWith(t)
  authority.refuse(NAME, { status: 429, type: 'rateLimited', retryAfter: '7200' })
  await run()
  const [row] = await orders()
  t.match(row, { step: 'waiting', failures: 0, orderUrl: null })
  t.match(row?.problem, /rate limit/)
  t.ok((row?.dueAt ?? 0) > clock.nowMs() + 7100_000, 'nothing before that')
  const asked = authority.requests.length
  clock.advance(6 * MINUTE_MS)
  await run()
  t.equal(authority.requests.length, asked)
  authority.refuse(NAME, undefined)
  clock.advance(2 * HOUR_MS)
  await run()
  t.match(await orders(), [{ step: 'issued', problem: null }])
  t.ok(lines.some(({ msg }) => msg === 'a certificate authority cannot take orders now'))
})

void t.test('others do not wait long for the limit of one hostname', async (t) => {
  const hostnames = ['a.example.test', 'b.example.test']
  const { run, orders, authority, clock } = await startWith(t, { hostnames })
  authority.refuse('a.example.test', { status: 429, type: 'rateLimited', retryAfter: '604800' })
  await run()
  clock.advance(5 * MINUTE_MS + 1000)
  await run()
  t.match(await orders(), [
    { hostname: 'a.example.test', step: 'waiting' },
    { hostname: 'b.example.test', step: 'issued' },
  ])
})

void t.test('a tenant that runs into limits keeps nobody else waiting', async (t) => {
  const hostnames = Array.from({ length: 24 }, (_, at) => `a${at + 10}.example.test`)
  const { run, orders, authority, services, clock } = await startWith(t, { hostnames })
  const limit = { status: 429, type: 'rateLimited', retryAfter: '12000' } as const
  for (const hostname of hostnames) authority.refuse(hostname, limit)
  for (let rounds = 0; rounds < 3; rounds++) {
    await run()
    const nextMs = Math.min(...(await orders()).map(({ dueAt }) => dueAt))
    clock.advance(nextMs - clock.nowMs() + 1000)
  }
  await services.tenants.create(tenantNamed('next', { hostnames: ['next.example.test'] }), ACTOR)
  await services.tenants.publish('next', ACTOR)
  await run()
  t.match((await orders()).at(-1), { hostname: 'next.example.test', step: 'issued' })
})

void t.test('a limit that several tenants have met is one of all', async (t) => {
  const { run, orders, authority, services } = await startWith(t)
  const limit = { status: 429, type: 'rateLimited', retryAfter: '7200' } as const
  authority.refuse('*', limit)
  await run()
  for (const name of ['one', 'two', 'three', 'four']) {
    const asked = authority.requests.length
    await services.tenants.create(tenantNamed(name, { hostnames: [`${name}.example.test`] }), ACTOR)
    await services.tenants.publish(name, ACTOR)
    await run()
    t.equal(authority.requests.length > asked, ['one', 'two'].includes(name), name)
  }
  t.ok((await orders()).every(({ step }) => step === 'waiting'))
})

void t.test('a busy authority is replaced by the next', async (t) => {
  const { run, orders, authority, second, services } = await startWith(t, { count: 2 })
  authority.refuse('*', { status: 503, type: 'serverInternal', retryAfter: '3600' })
  await run()
  t.match(await orders(), [{ step: 'issued', issuedBy: second.directory }])
  const asked = authority.requests.length
  await services.tenants.patch('app', { hostnames: [NAME, 'more.example.test'] }, ACTOR)
  await run()
  t.equal(authority.requests.length, asked, 'which is not asked again')
  t.match(
    (await orders()).map(({ step }) => step),
    ['issued', 'issued'],
  )
})

void t.test('the limit of one hostname is kept at each authority', async (t) => {
  const { run, orders, authority, second, clock } = await startWith(t, { count: 2 })
  const limit = { status: 429, type: 'rateLimited' } as const
  authority.refuse(NAME, { ...limit, retryAfter: '7200' })
  second.refuse(NAME, { ...limit, retryAfter: '3600' })
  await run()
  t.ok(((await orders())[0]?.dueAt ?? 0) > clock.nowMs() + 3500_000)
  const asked = authority.requests.length
  for (let minutes = 0; minutes < 119; minutes += 7) {
    await run()
    clock.advance(7 * MINUTE_MS)
  }
  t.equal(authority.requests.length, asked)
  t.ok(second.requests.filter((request) => request === 'POST /new-order').length >= 2)
  authority.refuse(NAME, undefined)
  clock.advance(2 * HOUR_MS)
  await run()
  t.match(await orders(), [{ step: 'issued' }])
})

void t.test('an authority that is not there is replaced by the next at once', async (t) => {
  const { run, orders, authority, second, services } = await startWith(t, { count: 2 })
  await run()
  t.match(await orders(), [{ step: 'issued', issuedBy: authority.directory }])
  authority.onAnswer(() => false) // with its directory and its account known
  await services.tenants.patch('app', { hostnames: [NAME, 'more.example.test'] }, ACTOR)
  await run()
  t.match(await orders(), [{}, { step: 'issued', issuedBy: second.directory }])
  t.equal(authority.orders.length, 1)
})

void t.test('an order that gets stuck is given up, and taken elsewhere', async (t) => {
  const { run, orders, authority, second, clock } = await startWith(t, { count: 2 })
  authority.validates(false)
  await run()
  t.match(await orders(), [{ step: 'answered' }])
  t.equal(authority.orders[0]?.challenges, 1, 'it is told once')
  clock.advance(HOUR_MS)
  await run()
  t.match(await orders(), [{ step: 'waiting', failures: 1 }])
  t.match((await orders())[0]?.problem, /has not been completed in time/)
  clock.advance(2 * MINUTE_MS)
  await run()
  t.match(await orders(), [{ step: 'issued', issuedBy: second.directory }])
  t.equal(authority.orders.length, 1)
})

void t.test('without a word of the authority a third of the life is left', async (t) => {
  const { run, orders, authority, clock, certificate } = await startWith(t)
  authority.issuesFor(90 * DAY_MS)
  await run()
  const first = await certificate(NAME)
  const [row] = await orders()
  const wanted = clock.nowMs() + 60 * DAY_MS
  t.ok(Math.abs((row?.renewAt ?? 0) - wanted) < HOUR_MS)
  clock.advance(59 * DAY_MS)
  await run()
  t.equal(await certificate(NAME), first)
  clock.advance(DAY_MS + HOUR_MS)
  await run()
  t.not(await certificate(NAME), first)
  t.equal(authority.orders.length, 2)
})

void t.test('an authority wants a certificate replaced', async (t) => {
  const started = await startWith(t, { profile: 'shortlived' })
  const { run, orders, authority, clock, certificate } = started
  await run()
  t.match(authority.orders, [{ replaces: undefined, profile: 'shortlived' }])
  authority.suggest(clock.nowMs() + 20 * DAY_MS, clock.nowMs() + 21 * DAY_MS)
  clock.advance(DAY_MS)
  await run()
  const first = (await certificate(NAME)) ?? ''
  const renewAt = (await orders())[0]?.renewAt ?? 0
  t.ok(renewAt >= clock.nowMs() + 18 * DAY_MS && renewAt <= clock.nowMs() + 20 * DAY_MS)
  clock.advance(6 * HOUR_MS)
  await run()
  t.equal((await orders())[0]?.renewAt, renewAt, 'a moment that was chosen stays')
  // as after an incident: all of them, now
  authority.suggest(clock.nowMs() - DAY_MS, clock.nowMs() - HOUR_MS)
  clock.advance(6 * HOUR_MS)
  await run()
  const next = (await certificate(NAME)) ?? ''
  t.not(next, first)
  t.equal(authority.orders[1]?.replaces, renewalIdOf(first))
  t.ok(authority.requests.includes(`GET /renewal/${renewalIdOf(first)}`))

  authority.suggest(clock.nowMs() - DAY_MS, clock.nowMs() - HOUR_MS)
  clock.advance(HOUR_MS)
  await run()
  t.equal(await certificate(NAME), next, 'one that is hardly there is not replaced at once')
})

void t.test('one that is replaced already is ordered without saying so', async (t) => {
  const { run, orders, authority, clock } = await startWith(t)
  await run()
  authority.suggest(clock.nowMs() - DAY_MS, clock.nowMs() - HOUR_MS)
  authority.validates(false)
  clock.advance(DAY_MS)
  await run()
  t.match(await orders(), [{ step: 'answered' }])
  authority.orders[1]!.status = 'invalid'
  authority.validates(true)
  clock.advance(HOUR_MS)
  await run()
  t.match(await orders(), [{ step: 'waiting', failures: 1 }])
  clock.advance(2 * MINUTE_MS)
  await run()
  t.match(await orders(), [{ step: 'issued' }])
  const replaced = authority.orders.map(({ replaces }) => typeof replaces)
  t.strictSame(replaced, ['undefined', 'string', 'undefined'])
})

void t.test('by what an authority knows one of its certificates', (t) => {
  t.equal(renewalIdOf(known.certificatePem), 'FQ3WfqMK72CGTozIvx8f-i0CBvk.Ag')
  t.end()
})

void t.test('a number with its first bit set has a byte before it', async (t) => {
  const { run, authority, certificate } = await startWith(t)
  await run()
  const pem = (await certificate(NAME)) ?? ''
  const [, serial = ''] = renewalIdOf(pem)?.split('.') ?? []
  const hex = Buffer.from(serial, 'base64url').toString('hex').toUpperCase()
  t.equal(hex, `00${new X509Certificate(pem).serialNumber}`)
  t.equal(renewalIdOf(pem)?.split('.')[0], authority.keyId.toString('base64url'))
})

void t.test(
  'the control plane’s own name is ordered for once, beside those of tenants',
  async (t) => {
    const clock = hurriedClock()
    const authority = await startFakeAuthority(t, clock)
    const OWN = 'auth.example.test'
    const { services, run, orders, certificate, answers } = await startOrdering(t, {
      clock,
      directories: [authority.directory],
      ownHostnames: [OWN],
    })
    await services.consoleAccess.ensureRealm()
    await services.tenants.create(tenantNamed('app', { hostnames: [NAME] }), ACTOR)
    await services.tenants.publish('app', ACTOR)
    answers(false)
    await run()
    const problems = (await orders()).map(({ problem }) => problem)
    t.match(problems[1], /^http:\/\/auth\.example\.test.* is not answered by the control planes/)
    t.match(problems[0], /is not answered by the gateways/)
    answers(true)
    clock.advance(10 * MINUTE_MS)
    await run()
    t.same(
      (await orders()).map(({ hostname, tenantId, step }) => [hostname, tenantId, step]),
      [
        [NAME, 'app', 'issued'],
        [OWN, 'console', 'issued'],
      ],
    )
    const pem = await certificate(OWN)
    t.match(new X509Certificate(pem ?? '').subjectAltName, `DNS:${OWN}`)
    await run()
    t.equal(authority.orders.length, 2, 'none twice')

    const own = createOwnCertificate({ ...services, hostname: OWN })
    await own.look()
    t.ok(own.context(), 'and is shown')
    const others = createOwnCertificate({ ...services, hostname: NAME })
    await others.look()
    t.equal(others.context(), undefined, 'that of a tenant is not ours to show')
  },
)
