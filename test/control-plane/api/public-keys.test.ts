import { createPublicKey } from 'node:crypto'
import t from 'tap'
import { createLocalJWKSet, importSPKI, jwtVerify, SignJWT } from 'jose'
import type { JSONWebKeySet } from 'jose'
import { createPrivateKey } from 'node:crypto'
import { startApi } from '../../support/api.ts'

void t.test('the keys of a tenant are a JWKS, with status and PEM beside each', async (t) => {
  const { call, operator, tenant, services } = await startApi(t)
  await tenant('acme')
  const draft = await call('GET', '/tenants/acme/public-key', undefined, { key: null })
  t.match(draft, { status: 404, body: { error: 'not_published' } })
  await operator('POST', '/tenants/acme/publish')
  await operator('POST', '/tenants/acme/keys/rotate', { phase: 'prepare' })

  const answer = await call('GET', '/tenants/acme/public-key', undefined, { key: null })
  t.equal(answer.headers.get('cache-control'), 'no-cache')
  const { keys } = answer.body as unknown as JSONWebKeySet
  t.match(keys, [
    { kty: 'RSA', alg: 'RS256', use: 'sig', e: 'AQAB', status: 'current', pem: /^-----BEGIN PUB/ },
    { status: 'next' },
  ])
  t.notOk(
    keys.some((key) => 'd' in key || 'p' in key),
    'nothing private',
  )

  const { jwks } = await services.keys.signingSet('acme')
  for (const jwk of jwks) {
    const signed = await new SignJWT({})
      .setProtectedHeader({ alg: 'RS256', kid: jwk.kid })
      .sign(createPrivateKey({ key: jwk, format: 'jwk' }))
    await t.resolves(jwtVerify(signed, createLocalJWKSet({ keys })))
  }
})

void t.test('both PEM forms hold every key that should be accepted now', async (t) => {
  const { call, operator, tenant } = await startApi(t)
  const { analyzer_key: key } = await tenant('acme')
  const own = (query: string) => call('GET', `/api/v1/public-key${query}`, undefined, { key: null })
  t.match(await own(`?api_key=${key}`), { status: 404, body: { error: 'not_published' } })
  await operator('POST', '/tenants/acme/publish')
  await operator('POST', '/tenants/acme/keys/rotate', { phase: 'prepare' })

  const file = await own(`?api_key=${key}`)
  t.equal(file.status, 200)
  t.equal(file.headers.get('content-type'), 'application/x-pem-file')
  t.match(file.headers.get('content-disposition'), /filename="service_public\.pem"/)
  const pems = String(file.body['text']).match(/-----BEGIN[^]+?-----END PUBLIC KEY-----\n/g) ?? []
  t.equal(pems.length, 2)
  await t.resolves(importSPKI(pems[0] ?? '', 'RS256'))
  t.equal(
    createPublicKey(pems[0] ?? '').asymmetricKeyType,
    'rsa',
    'a reader of one key gets the one in use',
  )

  const same = await call('GET', '/tenants/acme/public-key', undefined, {
    key: null,
    headers: { accept: 'text/html;q=0.5, Application/X-PEM-file' },
  })
  t.equal(same.body['text'], file.body['text'])

  for (const query of [
    '',
    '?api_key=',
    '?api_key=x',
    `?api_key=${key}&api_key=${key}`,
    `?API_KEY=${key}`,
  ])
    t.match(await own(query), { status: 401, body: { error: 'analyzer_key_invalid' } }, query)
  const bearer = await call('GET', '/api/v1/public-key', undefined, { key })
  t.equal(bearer.status, 401, 'this one takes the key in the query')
})
