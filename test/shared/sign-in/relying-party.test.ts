/** Where the realm's endpoints are is asked once, and not over and over while it is away. */
import t from 'tap'
import { createRelyingParty, isRealmAway } from '../../../shared/sign-in/relying-party.ts'
import { clockOf } from '../../support/clocks.ts'

const issuer = 'https://id.example/auth/realms/acme'
const METADATA = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  response_types_supported: ['code'],
}

t.test('a realm that is away is asked twice a second at most, whoever comes', async (t) => {
  let [nowMs, asked, isAway] = [0, 0, true]
  const relyingParty = createRelyingParty({
    clock: clockOf(() => nowMs),
    fetch: async () => {
      asked++
      return isAway ? new Response('away', { status: 503 }) : Response.json(METADATA)
    },
  })
  const tenant = { client: { issuer, id: 'acme-user', secret: 'a secret for tests' } }
  const redirectUri = 'https://app.example/service/callback'
  const start = () => relyingParty.start(tenant, { redirectUri, state: 'a', isFresh: false })
  const asksFor = async (tries: number) => {
    const before = asked
    for (let left = tries; left > 0; left--) await t.rejects(start())
    return asked - before
  }
  t.equal(await asksFor(20), 1)
  nowMs += 499
  t.equal(await asksFor(20), 0)
  nowMs += 1
  t.equal(await asksFor(20), 1)
  isAway = false
  nowMs += 500
  t.match(await start(), { location: /^https:\/\/id\.example\/auth\/realms\/acme\/authorize\?/ })
  nowMs += 60_000
  await start()
  t.equal(asked, 3, 'and what was found is kept')
})

t.test('a realm that is away is told from one that refuses', async (t) => {
  const failureOf = async (tokenAnswer: () => Response) => {
    const relyingParty = createRelyingParty({
      clock: clockOf(() => 0),
      fetch: async (url) =>
        url.endsWith('/token') ? tokenAnswer() : Response.json(METADATA, { status: 200 }),
    })
    const tenant = { client: { issuer, id: 'acme-user', secret: 'a secret for tests' } }
    const callbackUrl = 'https://app.example/service/callback?code=c&state=s'
    const flow = { state: 's', nonce: 'n', codeVerifier: 'v'.repeat(43), isFresh: false }
    return relyingParty.finish(tenant, { callbackUrl, ...flow }).then(
      () => t.fail('it does not come about'),
      (failure: unknown) => failure,
    )
  }
  const tokens = { access_token: 'a', token_type: 'bearer' }
  for (const [name, answer, isAway] of [
    ['busy', () => Response.json({ error: 'temporarily_unavailable' }, { status: 503 }), true],
    ['a proxy says so', () => new Response('<html>', { status: 502 }), true],
    [
      'no connection',
      () => {
        throw new TypeError('fetch failed')
      },
      true,
    ],
    [
      'no answer',
      () => {
        throw new DOMException('late', 'TimeoutError')
      },
      true,
    ],
    ['a used code', () => Response.json({ error: 'invalid_grant' }, { status: 400 }), false],
    ['no token', () => Response.json(tokens), false],
    ['nothing that it says', () => new Response('hello'), false],
  ] as const)
    t.equal(isRealmAway(await failureOf(answer)), isAway, name)
})
