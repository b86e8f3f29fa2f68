import { decodeProtectedHeader } from 'jose'
import * as oidc from 'openid-client'
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { Browser, PASSWORD, relyingParty, sidOf, signIn, startWorld } from './realm-world.ts'

t.test('a standard relying party signs a person in, reads who it is, and signs out', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const party = await relyingParty(acme)
  const flow = await party.begin()

  const page = await browser.visit(flow.url)
  t.equal(page.response.status, 200)
  t.match(page.html, /<title>Sign in · The acme application<\/title>/)
  t.match(page.html, /name="username"/)
  t.match(page.html, /name="password"/)

  const answer = await browser.submit(page.url, { username: 'ada', password: PASSWORD })
  t.ok(answer.url.startsWith(`${acme.redirectUri}?code=`), answer.url)
  const tokens = await flow.finish(answer.url)
  const claims = tokens.claims()
  t.match(claims, {
    iss: acme.issuer,
    aud: acme.clientId,
    sub: acme.ada.userId,
    sid: /^[!-~]{20,}$/,
    amr: ['pwd'],
    acr: 'aal1',
    email: 'ada@example.test',
    name: 'Ada Lovelace',
    nonce: flow.nonce,
  })
  t.equal(typeof claims?.auth_time, 'number')
  t.equal((claims?.exp ?? 0) - (claims?.iat ?? 0), 28_800)
  t.same(decodeProtectedHeader(tokens.id_token ?? ''), {
    alg: 'RS256',
    typ: 'JWT',
    kid: (await world.keys.publicKeys('acme'))[0]?.kid,
  })
  t.ok(Buffer.byteLength(tokens.id_token ?? '') <= LIMITS.sessionTokenBytesMax)

  const info = await oidc.fetchUserInfo(party.configuration, tokens.access_token, acme.ada.userId)
  t.match(info, { email: 'ada@example.test', name: 'Ada Lovelace', preferred_username: 'ada' })

  const listed = await world.sessions.list('acme', { limit: 10 })
  t.match(listed.items, [{ sid: claims?.sid, userId: acme.ada.userId, ip: '127.0.0.1' }])

  const out = oidc.buildEndSessionUrl(party.configuration, {
    id_token_hint: tokens.id_token ?? '',
    post_logout_redirect_uri: 'http://acme.example:8000/',
    state: 'bye',
  })
  const left = await browser.visit(out.href)
  t.equal(left.url, 'http://acme.example:8000/?state=bye', 'no question is asked')
  t.ok((await world.sessions.find('acme', sidOf(tokens)))?.endedAt, 'ended everywhere')
  await t.rejects(oidc.fetchUserInfo(party.configuration, tokens.access_token, acme.ada.userId))
  const again = await browser.visit((await party.begin()).url)
  t.match(again.html, /name="password"/, 'the password is asked for again')
})

t.test('coming back within the session asks for nothing and keeps its end', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const first = await signIn(browser, acme)
  const flow = await first.party.begin({ prompt: 'none' })
  const { url } = await browser.visit(flow.url)
  const claims = (await flow.finish(url)).claims()
  t.equal(claims?.sid, first.claims.sid)
  t.equal(claims?.auth_time, first.claims.auth_time)
  t.ok((claims?.exp ?? Infinity) <= first.claims.exp + 1, 'not a second longer')
  t.equal((await world.sessions.list('acme', { limit: 10 })).items.length, 1)
})

t.test('prompt=none without a session answers login_required to the application', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const flow = await (await relyingParty(acme)).begin({ prompt: 'none' })
  const { url } = await new Browser(world.baseUrl).visit(flow.url)
  t.equal(new URL(url).searchParams.get('error'), 'login_required')
  t.equal(new URL(url).searchParams.get('state'), flow.state)
})

const fresh: Record<string, string>[] = [{ prompt: 'login' }, { max_age: '0' }]
for (const parameters of fresh)
  t.test(`${JSON.stringify(parameters)} asks again and begins a session of its own`, async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    const browser = new Browser(world.baseUrl)
    const first = await signIn(browser, acme)
    const second = await signIn(browser, acme, parameters)
    t.match(second.page.html, /name="password"/)
    t.not(second.claims.sid, first.claims.sid)
    t.equal(second.claims.sub, first.claims.sub)
  })

t.test(
  'the client may prove itself by Basic or in the form, and only with its secret',
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    for (const method of [oidc.ClientSecretBasic, oidc.ClientSecretPost]) {
      const browser = new Browser(world.baseUrl)
      const party = await relyingParty(acme)
      const flow = await party.begin()
      const page = await browser.visit(flow.url)
      const { url } = await browser.submit(page.url, { username: 'ada', password: PASSWORD })
      const configuration = await oidc.discovery(
        new URL(acme.issuer),
        acme.clientId,
        undefined,
        method(acme.clientSecret),
        { execute: [oidc.allowInsecureRequests] },
      )
      const checks = {
        pkceCodeVerifier: flow.verifier,
        expectedState: flow.state,
        expectedNonce: flow.nonce,
      }
      t.ok((await oidc.authorizationCodeGrant(configuration, new URL(url), checks)).id_token)
    }
    const wrong = await relyingParty(acme, 'scs_wrong')
    const flow = await wrong.begin()
    const browser = new Browser(world.baseUrl)
    const page = await browser.visit(flow.url)
    const { url } = await browser.submit(page.url, { username: 'ada', password: PASSWORD })
    const refusal = await flow.finish(url).catch((error: unknown) => error)
    t.match(refusal, { error: 'invalid_client' })
  },
)

t.test('discovery names what there is and nothing else', async (t) => {
  const world = await startWorld(t)
  const { issuer } = await world.tenant('acme')
  const response = await fetch(`${issuer}/.well-known/openid-configuration`)
  const document = (await response.json()) as Record<string, unknown>
  t.match(document, {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    end_session_endpoint: `${issuer}/logout`,
    jwks_uri: `${issuer}/jwks`,
    claims_parameter_supported: false,
    request_uri_parameter_supported: false,
  })
  t.same(document.response_types_supported, ['code'])
  t.same(document.response_modes_supported, ['query'])
  t.same(document.grant_types_supported, ['authorization_code', 'client_credentials'])
  t.same(document.code_challenge_methods_supported, ['S256'])
  t.same(document.id_token_signing_alg_values_supported, ['RS256'])
  t.same(document.token_endpoint_auth_methods_supported, [
    'client_secret_basic',
    'client_secret_post',
    'private_key_jwt',
  ])
  t.same(document.token_endpoint_auth_signing_alg_values_supported, ['ES256', 'RS256', 'EdDSA'])
  for (const absent of [
    'registration_endpoint',
    'device_authorization_endpoint',
    'revocation_endpoint',
    'introspection_endpoint',
    'pushed_authorization_request_endpoint',
    'dpop_signing_alg_values_supported',
  ])
    t.notOk(absent in document, absent)
})
