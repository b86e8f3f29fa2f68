/** How a connector comes to a tenant and goes: the operator's half, and the first call of the program. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { makeKey, startConnectors } from '../../support/connectors.ts'

const TOKENS = '/tenants/acme/connector-tokens'
const CONNECTORS = '/tenants/acme/connectors'

void t.test('a token lets one connector in, within a day', async (t) => {
  const { operator, token, join, clock } = await startConnectors(t)
  const made = await operator('POST', TOKENS, {})
  t.match(made, {
    status: 201,
    body: { token_id: /^cjt_/, token: /^sct_[\w-]{43}$/, uses: 1, uses_left: 1 },
  })
  const { expires_at: expiresAt, token: secret } = made.body as Record<string, string>
  const seconds = (Date.parse(expiresAt ?? '') - clock.nowMs()) / 1000
  t.equal(seconds, LIMITS.connectorTokenSecondsDefault)
  const listed = await operator('GET', TOKENS)
  t.match(listed.items, [{ token_id: made.body['token_id'], name: 'Connector' }])
  t.notMatch(JSON.stringify(listed.body), secret, 'it is shown once')

  const own = makeKey()
  const joined = await join(secret!, own.publicKey)
  t.match(joined, {
    status: 201,
    body: { tenant_id: 'acme', connector_id: /^con_/, key_id: /^cok_/, poll_seconds: 60 },
  })
  t.strictSame((await operator('GET', TOKENS)).items, [], 'it is used up')
  t.match((await operator('GET', CONNECTORS)).items, [{ name: 'web-1', program: '1.0.0' }])
  const refused = { status: 401, body: { error: 'connector_token_invalid' } }
  t.match(await join(secret!, makeKey().publicKey), refused)
  t.match(await join('sct_nobodys', own.publicKey), refused)
  const again = await join(secret!, own.publicKey)
  t.equal(again.status, 201, 'its answer was lost')
  t.equal(again.body['connector_id'], joined.body['connector_id'])
  t.equal((await operator('GET', CONNECTORS)).items.length, 1)

  const late = await token({ expires_in: LIMITS.connectorTokenSecondsMin })
  clock.advance(LIMITS.connectorTokenSecondsMin * 1000)
  t.match(await join(late.token, makeKey().publicKey), refused, 'it has expired')
  const gone = await token()
  t.match(await operator('DELETE', `${TOKENS}/${gone.token_id}`), { status: 204 })
  t.match(await join(gone.token, makeKey().publicKey), refused, 'it was deleted')
  const missing = { status: 404, body: { error: 'connector_token_not_found' } }
  t.match(await operator('DELETE', `${TOKENS}/${gone.token_id}`), missing)
})

void t.test('of many that come at once with one token, as many as it says get in', async (t) => {
  const { token, join } = await startConnectors(t)
  const { token: secret } = await token({ uses: 3 })
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => join(secret, makeKey().publicKey)),
  )
  const statuses = answers.map(({ status }) => status).sort()
  t.strictSame(statuses, [201, 201, 201, ...Array.from({ length: 7 }, () => 401)])
})

void t.test('every step is in the audit trail, and no secret is', async (t) => {
  const { operator, token, join } = await startConnectors(t)
  const { token: secret, token_id: tokenId } = await token({ uses: 2, name: 'Berlin' })
  const { body } = await join(secret, makeKey().publicKey)
  await operator('DELETE', `${CONNECTORS}/${String(body['connector_id'])}`)
  await operator('DELETE', `${TOKENS}/${tokenId}`)
  const { items } = await operator('GET', '/audit')
  t.match(items.slice(0, 4), [
    { action: 'connector_token.deleted', actor: 'operator' },
    { action: 'connector.revoked', actor: 'operator', details: { name: 'web-1' } },
    { action: 'connector.joined', actor: /^connector:con_/, details: { token_id: tokenId } },
    { action: 'connector_token.created', details: { name: 'Berlin', uses: 2 } },
  ])
  t.notMatch(JSON.stringify(items), secret)
})

void t.test('only a tenant in connector mode has any of it', async (t) => {
  const { operator, tenant, token, join, joined, signed } = await startConnectors(t)
  await tenant('edge')
  const refused = {
    status: 409,
    body: { error: 'mode_not_connector', detail: /Change its mode to `connector` first/ },
  }
  const calls = [
    ['POST', 'connector-tokens'],
    ['GET', 'connector-tokens'],
    ['GET', 'connectors'],
  ] as const
  for (const [method, path] of calls) {
    const body = method === 'POST' ? {} : undefined
    t.match(await operator(method, `/tenants/edge/${path}`, body), refused, path)
    t.match(await operator(method, `/tenants/nobody/${path}`, body), { status: 404 }, path)
  }
  const [who, revoked] = [await joined(), await joined()]
  const { token: secret } = await token()
  await operator('PATCH', '/tenants/acme', { mode: 'gateway' })
  t.match(await join(secret, makeKey().publicKey), { status: 401 })
  t.match(await signed('state', who), { status: 401 })
  t.match(await operator('DELETE', `${CONNECTORS}/${revoked.connector_id}`), { status: 204 })
  await operator('PATCH', '/tenants/acme', { mode: 'connector' })
  t.match(await signed('state', who), { status: 200 }, 'it comes back with the mode')
  t.match(await signed('state', revoked), { status: 401 }, 'and who was revoked does not')
  const missing = { status: 404, body: { error: 'connector_not_found' } }
  t.match(await operator('DELETE', `${CONNECTORS}/con_nobody`), missing)
})

void t.test('tokens and connectors are bounded, and so is what is said of them', async (t) => {
  const { operator, token, join } = await startConnectors(t)
  const { connectorTokenUsesMax: most, connectorTokenSecondsMax: longest } = LIMITS
  const wrong = [
    { uses: 0 },
    { uses: most + 1 },
    { expires_in: LIMITS.connectorTokenSecondsMin - 1 },
    { expires_in: longest + 1 },
    { name: 'x'.repeat(LIMITS.connectorNameCharactersMax + 1) },
    { name: '' },
  ]
  for (const body of wrong)
    t.match(await operator('POST', TOKENS, body), {
      status: 400,
      body: { error: 'field_invalid', field: Object.keys(body)[0] },
    })
  const name = 'x'.repeat(LIMITS.connectorNameCharactersMax)
  const { token: secret } = await token({ uses: most, expires_in: longest, name })
  for (let left = LIMITS.connectorTokensPerTenantMax - 1; left > 0; left--) await token()
  const full = { status: 409, body: { error: 'connector_tokens_full' } }
  t.match(await operator('POST', TOKENS, {}), full)
  for (let left = LIMITS.connectorsPerTenantMax; left > 0; left--)
    t.equal((await join(secret, makeKey().publicKey)).status, 201)
  const { items } = await operator('GET', TOKENS)
  t.equal(items.length, LIMITS.connectorTokensPerTenantMax - 1)
  const { token: other } = await token()
  const crowded = { status: 409, body: { error: 'connectors_full' } }
  t.match(await join(other, makeKey().publicKey), crowded)
  t.equal(
    (await operator('GET', TOKENS)).items.length,
    LIMITS.connectorTokensPerTenantMax,
    'unspent',
  )
})

void t.test(
  'what is no key, no name and no version is refused before a token is spent',
  async (t) => {
    const { ask, token, operator } = await startConnectors(t)
    const { token: secret } = await token()
    const right = { public_key: makeKey().publicKey, name: 'web-1', program: '1.0.0' }
    const wrong = {
      public_key: ['', 'a'.repeat(43), 'A'.repeat(42), `${'A'.repeat(42)}=`, 7],
      name: ['', 'a\u0000b', 'x'.repeat(LIMITS.connectorNameCharactersMax + 1)],
      program: ['', 'a b', 'x'.repeat(51)],
    }
    for (const [field, values] of Object.entries(wrong))
      for (const value of values)
        t.match(
          await ask('join', { ...right, [field]: value }, secret),
          { status: 400, body: { error: 'field_invalid', field } },
          `${field}: ${value}`,
        )
    t.match(await ask('join', right), { status: 401, body: { error: 'connector_token_invalid' } })
    t.match((await operator('GET', TOKENS)).items, [{ uses_left: 1 }])
  },
)

void t.test('an address joins so often and no more', async (t) => {
  const { join } = await startConnectors(t)
  const { publicKey } = makeKey()
  for (let left = LIMITS.rateConnectorJoin.burst; left > 0; left--)
    t.equal((await join('sct_guessed', publicKey)).status, 401)
  t.match(await join('sct_guessed', publicKey), { status: 429, body: { error: 'rate_limited' } })
})

void t.test('with its tenant goes all that was its', async (t) => {
  const { operator, token, join, joined, signed, tenant } = await startConnectors(t)
  const who = await joined()
  const { token: secret } = await token()
  t.equal((await operator('DELETE', '/tenants/acme')).status, 204)
  const refused = await signed('state', who)
  t.match(refused, { status: 401, body: { error: 'connector_refused' } })
  await tenant('acme', { mode: 'connector' })
  t.match(await join(secret, makeKey().publicKey), { status: 401 })
  t.strictSame((await operator('GET', CONNECTORS)).items, [])
})

void t.test('expired tokens are tidied away', async (t) => {
  const { token, clock, services } = await startConnectors(t)
  await token()
  t.equal(await services.joinTokens.prune(10), 0)
  clock.advance(LIMITS.connectorTokenSecondsDefault * 1000 + 1)
  t.equal(await services.joinTokens.prune(10), 1)
})
