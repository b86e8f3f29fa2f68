/** Tokens of a provider: shown once, two at a time, revoked, expired, and of one tenant alone. */
import t from 'tap'
import { pino } from 'pino'
import { LIMITS } from '../../../shared/limits.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { slowBody } from '../../support/slow-body.ts'
import { ada, startProvider, tokenFor } from './provider.ts'

const TOKENS = '/tenants/acme/scim-tokens'
const REFUSED = {
  status: 401,
  body: { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: '401' },
}

t.test('a token is made and shown once, and its hash is all that is kept', async (t) => {
  const { operator, scim, services, clock } = await startProvider(t)
  clock.advance(1)
  const made = await operator('POST', TOKENS, { name: 'Okta', expires_in: 3600 })
  const base_url = 'http://localhost:8080/scim/v2/acme'
  t.match(made, { status: 201, body: { name: 'Okta', connection_id: null, base_url } })
  const key = made.body['token'] as string
  t.match(key, /^scim_[A-Za-z0-9_-]{43}$/, '256 random bits')
  t.equal((await scim('GET', '/Users', undefined, { key })).status, 200)
  const listed = await operator('GET', TOKENS)
  t.match(listed.items, [{ name: 'Entra' }, { name: 'Okta', last_used_at: /^2026/ }])
  t.notMatch(JSON.stringify(listed.body), key)
  const rows = await services.store.read.select().from(schema.scimTokens)
  t.notMatch(JSON.stringify(rows), key.slice(8))
})

t.test('two live side by side, and a revoked one is refused with the next request', async (t) => {
  const { operator, scim, services, tokenId } = await startProvider(t)
  const { token: key } = await tokenFor(services, 'acme')
  t.equal((await scim('GET', '/Users')).status, 200)
  t.equal((await operator('DELETE', `${TOKENS}/${tokenId}`)).status, 204)
  t.match(await scim('GET', '/Users'), REFUSED)
  t.equal((await scim('GET', '/Users', undefined, { key })).status, 200)
  t.match(await operator('DELETE', `${TOKENS}/${tokenId}`), { status: 404 })
  for (let left = LIMITS.scimTokensPerTenantMax - 1; left > 0; left--)
    await tokenFor(services, 'acme')
  await t.rejects(tokenFor(services, 'acme'), { code: 'scim_tokens_full' })
})

t.test('an expired token is refused, and a year is the most', async (t) => {
  const { operator, scim, clock } = await startProvider(t)
  const body = { name: 'x', expires_in: LIMITS.scimTokenSecondsMax }
  t.equal((await operator('POST', TOKENS, body)).status, 201)
  const longer = { ...body, expires_in: LIMITS.scimTokenSecondsMax + 1 }
  t.match(await operator('POST', TOKENS, longer), { status: 400, body: { field: 'expires_in' } })
  clock.advance(LIMITS.scimTokenSecondsMax * 1000 - 1)
  t.equal((await scim('GET', '/Users')).status, 200)
  clock.advance(1)
  t.match(await scim('GET', '/Users'), REFUSED)
  t.same((await operator('GET', TOKENS)).items, [])
})

t.test('who shows no token of this tenant is told nothing, whatever they ask for', async (t) => {
  const { scim, call, operator, tenant, services, token } = await startProvider(t)
  const { analyzer_key, client_secret } = await tenant('third')
  const { token: others } = await tokenFor(services, 'other')
  const wrong = [null, '', 'x', others, `${token}x`, token.slice(1), analyzer_key, client_secret]
  const asked = ['/Users', '/Users/usr_1', '/ServiceProviderConfig', '/nothing', '/Groups']
  for (const key of [...wrong, 'operator-key-of-the-tests'])
    for (const path of asked) {
      const answer = await scim('GET', path, undefined, { key })
      t.match(answer, REFUSED, `${key} ${path}`)
      t.equal(answer.headers.get('www-authenticate'), 'Bearer')
    }
  t.match(await scim('POST', '/Users', ada, { key: others }), REFUSED)
  for (const tenantId of ['console', 'nobody', '__proto__'])
    t.match(await call('GET', `/scim/v2/${tenantId}/Users`, undefined, { key: token }), REFUSED)
  t.match((await operator('GET', '/tenants/acme/users')).items, [])
})

t.test('another tenant’s connection cannot be named', async (t) => {
  const { operator } = await startProvider(t)
  const body = { name: 'x', connection_id: 'con_nobody' }
  t.match(await operator('POST', TOKENS, body), { status: 404, body: { field: 'connection_id' } })
})

t.test('no token is in any log, nor in what an administrator reads of requests', async (t) => {
  const lines: string[] = []
  const log = pino({}, { write: (line) => void lines.push(line) })
  const { scim, operator, token } = await startProvider(t, { log })
  await scim('POST', '/Users', { ...ada, password: 'Pushed-by-Okta-1' })
  await scim('GET', `/Users?filter=${encodeURIComponent('title eq "x"')}`)
  await scim('GET', '/Users', undefined, { key: `${token}x` })
  const { items } = await operator('GET', '/tenants/acme/scim-requests')
  t.match(items, [
    { method: 'GET', path: '/Users?filter=title eq "x"', status: 400, detail: /^Filter users by/ },
    { method: 'POST', path: '/Users', status: 201, detail: '' },
  ])
  const audit = await operator('GET', '/audit')
  const all = JSON.stringify([items, audit.items, lines])
  t.notMatch(all, token.slice(5, 20))
  t.notMatch(all, 'Pushed-by-Okta-1')
})

t.test('25 requests a second are taken, and more are told when to come again', async (t) => {
  const { scim, services, clock, call } = await startProvider(t)
  const { token: others } = await tokenFor(services, 'other')
  for (let count = 0; count < LIMITS.rateScim.burst; count++)
    t.equal((await scim('GET', '/ServiceProviderConfig')).status, 200)
  const refused = await scim('GET', '/ServiceProviderConfig')
  t.match(refused, { status: 429, body: { status: '429', detail: /Retry-After/ } })
  t.equal(refused.headers.get('retry-after'), '1')
  const other = '/scim/v2/other/ServiceProviderConfig'
  t.equal((await call('GET', other, undefined, { key: others })).status, 200)
  clock.advance(1000)
  for (let count = 0; count < LIMITS.rateScim.perSecond; count++)
    t.equal((await scim('GET', '/ServiceProviderConfig')).status, 200)
  t.equal((await scim('GET', '/ServiceProviderConfig')).status, 429)
})

t.test('the log of requests keeps the newest of a tenant', async (t) => {
  const { services, operator } = await startProvider(t)
  const { scimLog } = services
  const row = { tenantId: 'acme', method: 'GET', path: '/Users', status: 200, detail: '' }
  for (let at = 1; at <= LIMITS.scimLogEntriesMax + 20; at++)
    scimLog.note({ ...row, at, tokenId: 'sct_1', requestId: 'r' })
  scimLog.note({ ...row, tenantId: 'gone', at: 1, tokenId: 'sct_1', requestId: 'r' })
  await scimLog.flush()
  const kept = await services.store.read.select().from(schema.scimRequests)
  t.equal(kept.length, LIMITS.scimLogEntriesMax)
  t.equal(Math.min(...kept.map(({ at }) => at)), 21)
  const { items } = await operator('GET', '/tenants/acme/scim-requests?limit=2')
  t.equal(items.length, 2)
})

t.test('a token that is revoked while a body is on its way pushes nothing with it', async (t) => {
  const { app, operator, scim, token, tokenId } = await startProvider(t)
  const { body, begun, goOn } = slowBody(JSON.stringify(ada))
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' }
  const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
  const answered = app.request('/scim/v2/acme/Users', init, { address: '127.0.0.1' })
  await begun
  t.equal((await scim('GET', '/Users')).status, 200)
  t.equal((await operator('DELETE', `${TOKENS}/${tokenId}`)).status, 204)
  goOn()
  t.equal((await answered).status, 401)
  t.same((await operator('GET', '/tenants/acme/users')).items, [])
})
