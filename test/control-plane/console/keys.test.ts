/** Keys of a tenant: what signs, what is accepted until when, and each step of a rotation. */
import t from 'tap'
import { barOf, captionOf } from '../../../control-plane/console/operator/keys-picture.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'
import { startConsole } from '../../support/console.ts'
import { addressesHere } from '../../support/acme.ts'
import { acme } from '../../support/certificates.ts'

const PAGE = '/console/tenants/acme/keys'
const SESSION_MS = 28_800_000

void t.test('a rotation goes through its steps, and each page says what it means', async (t) => {
  const clock = movableClock()
  const { services, person } = await startConsole(t, { clock })
  const { tenants, keys } = services
  let grace = await person('operator')
  t.match((await grace.get(PAGE)).text, /No keys yet.*Publish the tenant to create the first/s)
  t.equal((await grace.post(`${PAGE}/prepare`)).status, 409, 'a draft has none to rotate')
  await tenants.publish('acme', ACTOR)
  const kid = async (phase: string) =>
    (await keys.timeline('acme')).find((key) => key.phase === phase)?.kid ?? 'none'
  const first = await kid('current')
  const label = async () => {
    const { text } = await grace.get(PAGE)
    const [, picture = ''] = /<figure class="card keys">(.*?)<\/figure>/s.exec(text) ?? []
    t.match(picture, /role="img"\s+aria-labelledby="key-0"/)
    return [...picture.matchAll(/<p id="key-\d">(.*?)<\/p>/gs)].map(([, one]) => one).join('; ')
  }
  t.equal(await label(), `<code>${first.slice(0, 12)}</code> active`)

  const form_id = services.consoleAccess.proofs.newFormId(grace.userId)
  const prepared = await grace.post(`${PAGE}/prepare`, { form_id, private_key_pem: '' })
  t.match(prepared, { status: 303, location: /\/keys\?done=/ })
  t.match(await grace.post(`${PAGE}/prepare`, { form_id, private_key_pem: '' }), { status: 303 })
  t.equal((await keys.timeline('acme')).length, 2, 'sent twice it is one key')
  t.match((await grace.get(prepared.location)).text, /Next key published. It does not sign yet/)
  t.match(await label(), /published, not signing yet/)
  t.match(await grace.post(`${PAGE}/prepare`, { private_key_pem: '' }), {
    status: 409,
    text: /A next key is prepared already/,
  })

  const asked = await grace.get(`${PAGE}/promote`)
  t.match(asked.text, /Existing sessions continue: the previous key is accepted for another 8 h,/)
  t.equal((await grace.post(`${PAGE}/promote`, { private_key_pem: '' })).status, 303)
  t.equal(await kid('retired'), first)
  const page = (await grace.get(PAGE)).text
  t.match(page, /2026-01-01 08:00 UTC/, 'needed until its last session is over')
  t.match(await label(), /accepted for 8 hours more, until its last sessions expire/)

  const kept = await grace.get(`${PAGE}/retire`)
  t.match(kept.text, /nothing is deleted unless you force it/)
  t.match(kept.text, new RegExp(`${first}</code> is kept.*everyone whose session it signed`, 's'))
  t.match(await grace.post(`${PAGE}/retire`, { private_key_pem: '' }), { status: 409 })
  t.equal(await kid('retired'), first, 'nothing was deleted')
  clock.advance(SESSION_MS)
  grace = await person('operator')
  t.match(await label(), /no session uses it, safe to delete/)
  t.match((await grace.get(`${PAGE}/retire`)).text, /Deleted .no longer in use./)
  t.equal((await grace.post(`${PAGE}/retire`, { private_key_pem: '' })).status, 303)
  t.equal((await keys.timeline('acme')).length, 1)
  await grace.post(`${PAGE}/prepare`, { private_key_pem: '' })
  await grace.post(`${PAGE}/promote`, { private_key_pem: '' })
  t.equal((await grace.post(`${PAGE}/retire`, { private_key_pem: '', force: 'on' })).status, 303)
  t.equal(await kid('retired'), 'none', 'forced, it goes at once')
})

void t.test('what a rotation takes away is asked of who has just signed in', async (t) => {
  const clock = movableClock()
  const { services, person } = await startConsole(t, { clock })
  await services.tenants.publish('acme', ACTOR)
  const grace = await person('operator')
  clock.advance(LIMITS.consoleFreshMs + 1)
  for (const phase of ['promote', 'retire']) {
    t.match(await grace.get(`${PAGE}/${phase}`), { status: 302, location: /fresh=yes/ })
    const sent = await grace.post(`${PAGE}/${phase}`, { private_key_pem: '' })
    t.match(sent, { status: 403, text: /Sign in again/ })
  }
  t.equal((await grace.post(`${PAGE}/prepare`, { private_key_pem: '' })).status, 303)
})

void t.test('a key of your own is read or refused beside its field, and never shown', async (t) => {
  const { services, person } = await startConsole(t)
  await services.tenants.publish('acme', ACTOR)
  const grace = await person('operator')
  for (const pem of ['not a key at all', 'x'.repeat(LIMITS.privateKeyBytesMax + 1)]) {
    const refused = await grace.post(`${PAGE}/prepare`, { private_key_pem: pem })
    t.match(refused, { status: 422, text: /private_key_pem-error/ })
    t.notMatch(refused.text, pem)
    t.match(refused.text, /<details open/, 'where one sees it')
  }
})

void t.test(
  'keys are for operators: an administrator of the tenant sees neither page nor link',
  async (t) => {
    const { services, person } = await startConsole(t)
    await services.tenants.publish('acme', ACTOR)
    const ada = await person('acme')
    t.equal((await ada.get(PAGE)).status, 404)
    t.notMatch((await ada.get('/console/tenants/acme')).text, PAGE)
    t.notMatch((await ada.get('/console/search?in=acme&q=keys')).text, PAGE)
    t.match((await (await person('operator')).get('/console/tenants/acme')).text, PAGE)
  },
)

void t.test('each hostname says what its certificate is, and when it ends', async (t) => {
  const { services, person } = await startConsole(t)
  await services.tenants.publish('acme', ACTOR)
  const grace = await person('operator')
  t.match((await grace.get(PAGE)).text, /acme\.localhost.*None/s)
  const given = { hostname: 'acme.localhost', ...acme }
  const { notAfter, fingerprintSha256 } = await services.certificates.put('acme', given, ACTOR)
  const { text } = await grace.get(PAGE)
  t.match(text, notAfter.slice(0, 10))
  t.match(text, fingerprintSha256.slice(0, 16))
  t.notMatch(text, 'PRIVATE KEY-----\n')
})

void t.test(
  'why a certificate that is ordered is not there, and when it is tried again',
  async (t) => {
    const clock = movableClock()
    const directory = 'http://127.0.0.1:9/directory'
    const { services, person } = await startConsole(t, {
      clock,
      acme: { authorities: [{ directory }], email: null, profile: null },
      acmeWorld: { httpPort: 9, addresses: addressesHere },
    })
    await services.tenants.patch('acme', { hostnames: ['shop.acme.test'] }, ACTOR)
    await services.tenants.publish('acme', ACTOR)
    await services.acme?.run()
    const grace = await person('operator')
    const { text } = await grace.get(PAGE)
    t.match(text, /shop\.acme\.test.*Failed.*does not answer on port 80\. Point its DNS records/s)
    t.match(text, /Next attempt:/)
    const order = `${PAGE}/order-certificate`
    const sent = await grace.post(order, { hostname: 'shop.acme.test' })
    t.match(sent, { status: 303, location: /\/keys\?done=/ })
    const [state] = await services.certificates.states('acme')
    t.equal(state?.order?.nextAttemptAt, clock.nowMs())
    t.equal((await grace.post(order, { hostname: 'other.test' })).status, 422)
  },
)

void t.test(
  'an administrator reads which record proves a hostname, and what its certificate is',
  async (t) => {
    const acme = {
      authorities: [{ directory: 'http://127.0.0.1:9/directory' }],
      email: null,
      profile: null,
    }
    const resolver = { cname: async () => [], txt: async () => [] }
    const acmeWorld = { httpPort: 9, addresses: addressesHere, resolver }
    const dns = { name: 'acme.example.com', servers: ['ns1.example.com'] }
    const { services, person } = await startConsole(t, { acme: { ...acme, dns }, acmeWorld })
    await services.tenants.patch('acme', { hostnames: ['shop.acme.test', 'a.acme.test'] }, ACTOR)
    const ada = await person('acme')
    const page = async () => (await ada.get('/console/tenants/acme/hostnames')).text
    t.match(await page(), /_acme-challenge\.acme\.test<\/code> points to/, 'as a draft, too')
    await services.tenants.publish('acme', ACTOR)
    await services.acme?.run()
    const text = await page()
    t.match(text, /shop\.acme\.test.*Failed.*does not answer on port 80.*Or prove it by DNS/s)
    t.equal(
      text.match(/_acme-challenge\.acme\.test<\/code>/g)?.length,
      1,
      'what both have in common once',
    )
    const [state] = await services.certificates.states('acme')
    for (const { target } of state?.dnsRecords ?? []) t.match(text, target)
    t.notMatch(text, /Try now/, 'that is for operators')

    const without = await startConsole(t)
    const tim = await without.person('acme')
    t.notMatch((await tim.get('/console/tenants/acme/hostnames')).text, /Certificates by DNS/)
  },
)

void t.test('a picture says of every phase what it is', async (t) => {
  const tenant = { maxSessionSeconds: 3600 }
  const key = { kid: 'k', createdAtMs: 0, promotedAtMs: 1000, retiredAtMs: 2000 }
  const retired = barOf({ ...key, phase: 'retired' }, tenant)
  t.equal(retired.neededUntilMs, 3_602_000)
  t.match(captionOf(retired, 2000), /accepted for 60 minutes more/)
  t.match(captionOf(retired, 3_602_000), /safe to delete/)
  const next = { kid: 'n', phase: 'next', createdAtMs: 0, promotedAtMs: null, retiredAtMs: null }
  t.match(captionOf(barOf(next as never, tenant), 0), /not signing yet/)
})
