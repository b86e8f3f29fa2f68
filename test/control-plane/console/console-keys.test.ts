/** The keys that the console itself is signed in with: rotated as a tenant's, and Publish the next key first, then start signing with it. Nobody is signed out. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { addressesHere } from '../../support/acme.ts'
import { apiOf, startApi } from '../../support/api.ts'
import { acme as certificate } from '../../support/certificates.ts'
import { movableClock } from '../../support/control-plane.ts'
import { startConsole } from '../../support/console.ts'

const PAGE = '/console/keys'
const STEP = { private_key_pem: '' }

void t.test('a rotation by its page leaves everybody signed in', async (t) => {
  const clock = movableClock()
  const { services, person } = await startConsole(t, { clock })
  const { keys, auditTrail } = services
  const grace = await person('operator')
  const ada = await person('acme')
  const kid = async (phase: string) =>
    (await keys.timeline('console')).find((key) => key.phase === phase)?.kid
  const first = await kid('current')
  const isIn = async () => {
    t.equal((await grace.get(PAGE)).status, 200)
    t.equal((await ada.get('/console/tenants/acme')).status, 200)
  }
  t.match((await grace.get(PAGE)).text, first?.slice(0, 12))
  const prepared = await grace.post(`${PAGE}/prepare`, STEP)
  t.match(prepared, { status: 303, location: /^\/console\/keys\?done=/ })
  t.equal(await kid('current'), first, 'it does not sign yet')
  await isIn()
  t.match((await grace.get(`${PAGE}/promote`)).text, /Existing sessions continue/)
  t.equal((await grace.post(`${PAGE}/promote`, STEP)).status, 303)
  t.equal(await kid('retired'), first)
  await isIn()
  t.match(await grace.post(`${PAGE}/retire`, STEP), { status: 409, text: /still/ })
  const forced = { ...STEP, force: 'on' }
  t.equal((await grace.post(`${PAGE}/retire`, forced)).status, 303)
  t.equal(await kid('retired'), undefined)
  await isIn()
  const steps = (await auditTrail.list({ limit: 50 }, { tenantId: 'console' })).items
  const rotations = steps.filter(({ action }) => action === 'keys.rotated')
  t.match(
    rotations.map(({ actor, content }) => [content['phase'], actor.split(':')[0]]),
    [
      ['retire', 'console'],
      ['promote', 'console'],
      ['prepare', 'console'],
    ],
  )
})

void t.test('a retired key is kept as long as a session can be', async (t) => {
  const clock = movableClock()
  const { services, person } = await startConsole(t, { clock })
  const { keys } = services
  const grace = await person('operator')
  for (const phase of ['prepare', 'promote']) await grace.post(`${PAGE}/${phase}`, STEP)
  clock.advance(LIMITS.consoleSessionMs - 1)
  t.equal((await (await person('operator')).post(`${PAGE}/retire`, STEP)).status, 409)
  clock.advance(1)
  t.equal((await (await person('operator')).post(`${PAGE}/retire`, STEP)).status, 303)
  t.equal((await keys.timeline('console')).length, 1)
})

void t.test('every step asks who is there, and no administrator', async (t) => {
  const clock = movableClock()
  const { services, person } = await startConsole(t, { clock })
  const grace = await person('operator')
  const ada = await person('acme')
  for (const path of [PAGE, `${PAGE}/promote`, `${PAGE}/retire`])
    t.equal((await ada.get(path)).status, 404, path)
  for (const phase of ['prepare', 'promote', 'retire'])
    t.equal((await ada.post(`${PAGE}/${phase}`, STEP)).status, 404, phase)
  clock.advance(LIMITS.consoleFreshMs + 1)
  for (const phase of ['prepare', 'promote', 'retire'])
    t.match(await grace.post(`${PAGE}/${phase}`, STEP), { status: 403, text: /Sign in again/ })
  t.equal((await services.keys.timeline('console')).length, 1)
})

void t.test('the same by API, and no gateway ever hears a key of it', async (t) => {
  const { operator, services } = await startApi(t)
  await services.consoleAccess.ensureRealm()
  const path = '/console/keys'
  const before = await operator('GET', path)
  t.match(before.body, { keys: [{ status: 'current' }] })
  const { body } = await operator('POST', `${path}/rotate`, { phase: 'prepare' })
  t.match(body, { keys: [{ status: 'current' }, { status: 'next' }] })
  t.match(await operator('POST', `${path}/rotate`, { phase: 'promote' }), { status: 200 })
  const early = await operator('POST', `${path}/rotate`, { phase: 'retire' })
  t.match(early, { status: 409, body: { error: 'key_still_used' } })
  t.match(await operator('POST', `${path}/rotate`, { phase: 'retire', force: true }), {
    status: 200,
    body: { keys: [{ status: 'current' }] },
  })
  t.match(await operator('POST', '/tenants/console/keys/rotate', { phase: 'prepare' }), {
    status: 404,
  })
  const { fleetSource } = services
  for (const change of await fleetSource.changedSince(0, 100)) t.equal(change.snapshot, null)
  for await (const change of fleetSource.all()) t.fail(`${change.tenant_id} is sent`)
})

void t.test(
  'the key of device agents is rotated here, and a second time only by force',
  async (t) => {
    const { services, person } = await startConsole(t, { clock: movableClock() })
    const { challengeKeys, auditTrail } = services
    const grace = await person('operator')
    t.match((await grace.get(PAGE)).text, /href="\/console\/keys\/devices"/)
    const [first, next] = (await challengeKeys.jwks()).keys.map(({ kid }) => kid)
    t.match((await grace.get(`${PAGE}/devices`)).text, /off during two rotations/)
    t.match(await grace.post(`${PAGE}/devices`, {}), {
      status: 303,
      location: /^\/console\/keys\?/,
    })
    const [second, after] = (await challengeKeys.jwks()).keys.map(({ kid }) => kid)
    t.equal(second, next)
    t.not(after, first)
    const soon = await grace.post(`${PAGE}/devices`, {})
    t.match(soon, { status: 409, text: /less than 30 days ago/ })
    t.equal((await grace.post(`${PAGE}/devices`, { force: 'on' })).status, 303)
    t.equal((await challengeKeys.jwks()).keys[0]?.kid, after)
    const { items } = await auditTrail.list({ limit: 5 }, {})
    t.match(items[0], { action: 'device_challenge_keys.rotated', actor: /^console:/ })
    const ada = await person('acme')
    t.equal((await ada.get(`${PAGE}/devices`)).status, 404, 'for operators alone')
  },
)

void t.test(
  'the service’s own names: how each certificate stands, and what to change',
  async (t) => {
    const clock = movableClock()
    const names: Record<string, string> = {}
    const { services, person } = await startConsole(t, {
      clock,
      ownHostnames: ['auth.example.test'],
      ownCertificateFile: { hostname: 'acme.localhost', read: () => names['file'] ?? 'nothing' },
      acme: {
        authorities: [{ directory: 'http://127.0.0.1:9/directory' }],
        email: null,
        profile: null,
        dns: { name: 'acme.example.com', servers: ['ns1.example.com'] },
        wildcards: ['apps.example.test'],
      },
      acmeWorld: {
        httpPort: 9,
        addresses: addressesHere,
        resolver: { cname: async () => [], txt: async () => [] },
      },
    })
    const grace = await person('operator')
    await services.gatewayDoors.connected('edge-1', {
      address: 'edge.example.test:443',
      certificate: 'AAAA',
    })
    t.match((await grace.get(PAGE)).text, /acme\.localhost.*None.*cannot be read as a certificate/s)
    names['file'] = certificate.certificatePem
    await services.acme?.run()
    const { text } = await grace.get(PAGE)
    t.match(text, /acme\.localhost.*days left.*File/s)
    t.match(text, /auth\.example\.test.*Failed.*Point its DNS records to the control planes/s)
    t.match(
      text,
      /\*\.apps\.example\.test.*Failed.*Add a CNAME record named _acme-challenge\.apps\.example\.test/s,
    )
    t.match(text, /_acme-challenge\.apps\.example\.test<\/code> points to/)
    t.match(text, /Fleet listener.*edge\.example\.test:443/s)
    t.match(text, services.fleetCertificate.fingerprint.slice(0, 16))
    const order = `${PAGE}/order-certificate`
    t.match(await grace.post(order, { hostname: 'auth.example.test' }), { status: 303 })
    t.equal((await grace.post(order, { hostname: 'acme.localhost' })).status, 422)
    const ada = await person('acme')
    t.equal((await ada.post(order, { hostname: 'auth.example.test' })).status, 404)
    const { operator } = apiOf(services)
    const { items } = await operator('GET', '/console/certificates')
    t.match(items, [
      { hostname: 'acme.localhost', source: 'file', certificate: { hostname: 'acme.localhost' } },
      { hostname: 'auth.example.test', source: null, order: { failures: 1 }, dns_records: [{}] },
      { hostname: '*.apps.example.test', dns_records: [{ covers: '*.apps.example.test' }] },
    ])
  },
)
