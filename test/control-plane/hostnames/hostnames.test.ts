/** A tenant's administrators add hostnames; nobody is served at one that was not shown to be theirs. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { PROOF_PATH, proofOf, proofRecordOf } from '../../../control-plane/hostnames/proof.ts'
import { DAY_MS, MINUTE_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startConsole } from '../../support/console.ts'
import { ACTOR, movableClock, startServices, tenantNamed } from '../../support/control-plane.ts'

const APP = 'app.example.com'

/** What name servers and the web answer, and who was asked. */
async function startProving(t: Test, answer: RequestListener = (_, response) => response.end('')) {
  const records = new Map<string, string[][]>()
  const addresses = new Map<string, string[]>()
  const asked: string[] = []
  const web = createServer((request, response) => {
    asked.push(`${request.headers.host}${request.url}`)
    answer(request, response)
  }).listen(0, '127.0.0.1')
  await new Promise((done) => web.once('listening', done))
  t.teardown(() => {
    web.closeAllConnections()
    web.close()
  })
  const clock = movableClock()
  const proofs = {
    allowPrivate: ['127.0.0.1/32'],
    port: (web.address() as AddressInfo).port,
    resolve: async (name: string) => addresses.get(name) ?? ['127.0.0.1'],
    resolveTxt: async (name: string) => records.get(name) ?? [],
  }
  return { clock, proofs, records, addresses, asked }
}

async function startTenants(t: Test, answer?: RequestListener) {
  const world = await startProving(t, answer)
  const services = await startServices(t, world)
  for (const id of ['acme', 'other']) await services.tenants.create(tenantNamed(id), ACTOR)
  const { hostnames, tenants, jobs } = services
  const namesOf = async (id: string) => (await tenants.get(id)).hostnames
  const claim = (id: string, name = APP) => hostnames.claim(id, name, ACTOR)
  const check = async (id: string, name = APP) => {
    world.clock.advance(LIMITS.hostnameLookAgainMsMin)
    return hostnames.check(id, name, ACTOR)
  }
  const actions = async (tenantId: string) =>
    (await services.auditTrail.list({ limit: 20 }, { tenantId })).items.map(({ action }) => action)
  return { ...world, services, hostnames, tenants, jobs, namesOf, claim, check, actions }
}

void t.test('a TXT record proves a hostname, and only then is it the tenant’s', async (t) => {
  const { claim, check, namesOf, records, hostnames, actions } = await startTenants(t)
  const { token } = await claim('acme', ' App.Example.COM ')
  t.equal(token.length, 43)
  t.same(await namesOf('acme'), ['acme.localhost'])
  t.equal(await check('acme'), false)
  records.set(proofRecordOf(APP), [['v=spf1'], ['service-', `hostname=${token}`]])
  t.equal(await check('acme'), true)
  t.same(await namesOf('acme'), ['acme.localhost', APP])
  t.same(await hostnames.list('acme'), [])
  t.match(await actions('acme'), ['hostname.proven', 'hostname.claimed'])
})

void t.test('a hostname more than gateways take waits, whoever has added the others', async (t) => {
  const { claim, check, hostnames, tenants, namesOf, records } = await startTenants(t)
  const { token } = await claim('acme')
  const most = LIMITS.hostnamesPerTenantMax
  const many = Array.from({ length: most }, (_, at) => `a${at}.example.com`)
  await tenants.patch('acme', { hostnames: many }, ACTOR)
  records.set(proofRecordOf(APP), [[proofOf(token)]])
  await t.rejects(check('acme'), { code: 'hostname_claims_full', detail: /at most 100 hostnames/ })
  t.equal((await namesOf('acme')).length, most)
  t.equal((await hostnames.list('acme')).length, 1, 'it goes on waiting')
  await tenants.patch('acme', { hostnames: many.slice(1) }, ACTOR)
  t.equal(await check('acme'), true)
  t.equal((await namesOf('acme')).length, most)
})

void t.test('a file proves it as well; what echoes what it was asked for does not', async (t) => {
  let body = ''
  const { claim, check, namesOf, asked } = await startTenants(t, (request, response) => {
    response.end(body === '' ? request.url : body)
  })
  const { token } = await claim('acme')
  t.equal(await check('acme'), false)
  t.ok(asked.every((one) => one === APP + PROOF_PATH && !one.includes(token)))
  body = `${proofOf(token)}\n`
  t.equal(await check('acme'), true)
  t.same(await namesOf('acme'), ['acme.localhost', APP])
})

void t.test('a redirect, another status and a long answer prove nothing', async (t) => {
  let text = ''
  let kind = 0
  const { claim, check, asked } = await startTenants(t, (_, response) => {
    if (kind === 0) return response.writeHead(302, { location: '/there' }).end(text)
    if (kind === 1) return response.writeHead(404).end(text)
    response.end(`${text}\n${'a'.repeat(LIMITS.hostnameAnswerBytesMax)}`)
  })
  text = proofOf((await claim('acme')).token)
  for (kind of [0, 1, 2]) t.equal(await check('acme'), false)
  t.ok(asked.every((one) => one === APP + PROOF_PATH))
})

void t.test('nobody inside is asked, and nobody learns who is there', async (t) => {
  const { claim, check, addresses, asked } = await startTenants(t)
  await claim('acme')
  for (const inside of [['10.0.0.1'], ['169.254.169.254'], ['127.0.0.1', '::1'], []]) {
    addresses.set(APP, inside)
    t.equal(await check('acme'), false)
  }
  t.same(asked, [])
})

void t.test('who has it keeps it, and whoever comes behind proves it anew', async (t) => {
  const { claim, check, hostnames, namesOf, records } = await startTenants(t)
  const mine = await claim('acme')
  const theirs = await claim('other')
  t.not(mine.token, theirs.token)
  records.set(proofRecordOf(APP), [[proofOf(mine.token)]])
  t.equal(await check('other'), false, 'the proof of another tenant is none')
  t.equal(await check('acme'), true)
  t.same(await hostnames.list('other'), [], 'asked before, and over')
  await t.rejects(claim('other'), { code: 'hostname_taken' })
  await hostnames.remove('acme', APP, ACTOR)
  t.same(await namesOf('acme'), ['acme.localhost'])
  const anew = await claim('other')
  records.set(proofRecordOf(APP), [[proofOf(mine.token)], [proofOf(theirs.token)]])
  t.equal(await check('other'), false, 'a record that was left behind is no proof')
  records.set(proofRecordOf(APP), [[proofOf(anew.token)]])
  t.equal(await check('other'), true)
})

void t.test('an operator adds without a proof, which ends what others had begun', async (t) => {
  const { claim, hostnames, tenants, namesOf } = await startTenants(t)
  await claim('other')
  await tenants.patch('acme', { hostnames: ['acme.localhost', APP] }, ACTOR)
  t.same(await namesOf('acme'), ['acme.localhost', APP])
  t.same(await hostnames.list('other'), [])
})

void t.test('it is looked for by itself, after growing pauses', async (t) => {
  const { claim, jobs, clock, hostnames, records, namesOf } = await startTenants(t)
  const { token } = await claim('acme')
  const looks = async () => (await hostnames.list('acme'))[0]?.looks
  await jobs.run()
  t.equal(await looks(), 0)
  for (const [at, minutes] of [1, 1, 2, 5, 15, 60].entries()) {
    clock.advance(minutes * MINUTE_MS - 1)
    await jobs.run()
    t.equal(await looks(), at)
    clock.advance(1)
    await jobs.run()
    t.equal(await looks(), at + 1)
  }
  records.set(proofRecordOf(APP), [[proofOf(token)]])
  clock.advance(DAY_MS)
  await jobs.run()
  t.same(await namesOf('acme'), ['acme.localhost', APP])
})

void t.test('what is withdrawn while it is looked at does not come', async (t) => {
  const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>()
  const { promise, resolve: letGo } = Promise.withResolvers<void>()
  let text = ''
  const { claim, check, hostnames, namesOf } = await startTenants(t, (_, response) => {
    hold()
    void promise.then(() => response.end(text))
  })
  text = proofOf((await claim('acme')).token)
  const checking = check('acme')
  await isHeld
  await hostnames.withdraw('acme', APP, ACTOR)
  letGo()
  await checking
  t.same(await namesOf('acme'), ['acme.localhost'])
})

void t.test('names that nobody can prove, and too many, are refused', async (t) => {
  const { claim, check, clock, hostnames } = await startTenants(t)
  for (const name of [
    'acme',
    'x.localhost',
    '192.0.2.1',
    'a_b.example',
    '*.example.com',
    'x..y',
    '',
  ])
    await t.rejects(claim('acme', name), { code: 'field_invalid' }, name)
  for (let at = 0; at < LIMITS.hostnameClaimsPerTenantMax; at++)
    await claim('acme', `a${at}.example.com`)
  await t.rejects(claim('acme', 'a0.example.com'), { code: 'field_invalid' })
  await t.rejects(claim('acme'), { code: 'hostname_claims_full' })
  await check('acme', 'a0.example.com')
  await t.rejects(hostnames.check('acme', 'a0.example.com', ACTOR), {
    code: 'hostname_just_checked',
  })
  await t.rejects(hostnames.check('other', 'a0.example.com', ACTOR), { code: 'hostname_not_found' })
  clock.advance(LIMITS.hostnameClaimKeptMs + 1)
  t.ok((await hostnames.prune(100)) > 0, 'what nobody proves is forgotten')
  t.same(await hostnames.list('acme'), [])
})

void t.test(
  'in the console: added, checked, and the sentence that says what to change',
  async (t) => {
    const world = await startProving(t)
    const { person, services } = await startConsole(t, world)
    const ada = await person('acme', 'Ada')
    const path = '/console/tenants/acme/hostnames'
    t.match(await ada.post(path, { hostname: 'localhost' }), {
      status: 422,
      text: /public DNS name/,
    })
    t.match(await ada.post(path, { hostname: APP }), { status: 303 })
    const [claim] = await services.hostnames.list('acme')
    const page = (await ada.get(path)).text
    for (const text of [
      proofOf(claim?.token ?? ''),
      proofRecordOf(APP),
      `http://${APP}${PROOF_PATH}`,
    ])
      t.ok(page.includes(text), text)
    t.match(await ada.post(`${path}/${APP}/check`), { status: 303 })
    t.match((await ada.get(path)).text, /Neither the record nor the file/)
    world.records.set(proofRecordOf(APP), [[proofOf(claim?.token ?? '')]])
    world.clock.advance(LIMITS.hostnameLookAgainMsMin)
    const proven = await ada.post(`${path}/${APP}/check`)
    t.match((await ada.get(proven.location)).text, /is yours, and served from now on/)
    t.match(await ada.post(`${path}/${APP}/remove`), { status: 303 })
    t.notMatch((await ada.get(path)).text, APP)
    const last = await ada.post(`${path}/acme.localhost/remove`)
    t.match(last, { status: 400, text: /At least one hostname is needed/ })
  },
)
