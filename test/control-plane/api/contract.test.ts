import t from 'tap'
import { startApi } from '../../support/api.ts'

void t.test('the contract names everything, and nothing of a tenant', async (t) => {
  const { call, services } = await startApi(t)
  const { status, body } = await call('GET', '/api/v1/contract', undefined, { key: null })
  t.equal(status, 200)
  t.match(body, {
    contract_version: '1.0',
    transport: {
      session_cookie: 'service_session',
      claims_header: 'X-Service-Claims',
      user_header: 'X-Service-User',
      verified_header: 'X-Service-Verified',
      algorithm: 'RS256',
    },
    public_key: { path: '/api/v1/public-key', filename: 'service_public.pem' },
    packages: { cli_binary: 'service-analyzer' },
  })
  t.strictSame(Object.keys(body['frameworks'] as object), Object.keys(body['snippets'] as object))
  t.match(body, {
    frameworks: { express: { modes: ['gateway', 'connector', 'sdk'] } },
    snippets: {
      express: {
        edge: { install: `npm install ${services.baseUrl}/api/v1/sdk/node express` },
        sdk: { code: /enforce\(\)/ },
      },
    },
  })
  t.notMatch(JSON.stringify(body), '{base_url}')
})
