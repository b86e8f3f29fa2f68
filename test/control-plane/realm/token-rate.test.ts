import t from 'tap'
import type { Realm, RealmContext } from '../../../control-plane/realm/world.ts'
import { tokenRate } from '../../../control-plane/realm/token-rate.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { createRateLimits } from '../../../shared/rate-limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { ACTOR, exchange, startWorld } from './realm-world.ts'

t.test('who guesses the secret is sent away, and who has it is not', async (t) => {
  const world = await startWorld(t, { clock: movableClock(Date.now()) })
  const acme = await world.tenant('acme')
  const ask = async (clientSecret: string) => exchange({ ...acme, clientSecret }, { code: 'x' })
  const { burst } = LIMITS.rateTokenRefused
  const guesses = []
  for (let at = 0; at < burst + 1; at++) guesses.push((await ask(`guess ${at}`)).status)
  t.same(guesses.slice(0, burst), Array(burst).fill(401))
  t.equal(guesses[burst], 429)
  const refused = await ask('one more')
  t.ok(Number(refused.headers.get('retry-after')) >= 1)
  t.match(await refused.json(), { error: 'rate_limited' })
  t.equal((await ask(acme.clientSecret)).status, 400, 'it is the code that is wrong')
})

t.test('a secret in the body is as good', async (t) => {
  const world = await startWorld(t, { clock: movableClock(Date.now()) })
  const acme = await world.tenant('acme')
  const { clientId, clientSecret } = acme
  const inBody = async () => {
    const fields = { grant_type: 'authorization_code', code: 'x', redirect_uri: acme.redirectUri }
    const body = new URLSearchParams({
      ...fields,
      client_id: clientId,
      client_secret: clientSecret,
    })
    return (await fetch(`${acme.issuer}/token`, { method: 'POST', body })).status
  }
  for (let at = 0; at < LIMITS.rateTokenRefused.burst + 5; at++)
    if ((await inBody()) !== 400) return t.fail('sent away')
})

t.test('who has the secret is counted as well, so that a loop ends', async (t) => {
  const clock = movableClock(Date.now())
  const rateLimits = createRateLimits(clock)
  const realm = { tenant: { tenantId: 'acme' }, clientId: 'acme-user' } as Realm
  const limit = tokenRate(realm, { current: 'secret', previous: undefined }, { clock, rateLimits })
  const ctx = {
    path: '/token',
    req: { socket: { remoteAddress: '192.0.2.1' }, headers: {} },
    get: () => `Basic ${Buffer.from('acme-user:secret').toString('base64')}`,
    set: () => undefined,
    status: 200,
  } as unknown as RealmContext
  let passed = 0
  for (let at = 0; at < LIMITS.rateToken.burst + 1; at++)
    await limit(ctx, async () => void (passed += 1))
  t.equal(passed, LIMITS.rateToken.burst)
  t.equal(ctx.status, 429)
})

t.test('a stranger who guesses keeps nobody out who has the secret in the body', async (t) => {
  const world = await startWorld(t, { clock: movableClock(Date.now()) })
  const acme = await world.tenant('acme')
  const ask = async (secret: string, id = acme.clientId) => {
    const fields = { grant_type: 'authorization_code', code: 'x', redirect_uri: acme.redirectUri }
    const body = new URLSearchParams({ ...fields, client_id: id, client_secret: secret })
    const answer = await fetch(`${acme.issuer}/token`, { method: 'POST', body })
    return [answer.status, ((await answer.json()) as { error: string }).error]
  }
  for (let at = 0; at < LIMITS.rateTokenRefused.burst; at++) await ask(`guess ${at}`)
  t.same(await ask('one more'), [429, 'rate_limited'])
  t.same(await ask(acme.clientSecret, 'another'), [429, 'rate_limited'])
  t.same(await ask(acme.clientSecret), [400, 'invalid_grant'], 'it is the code that is wrong')
  const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  t.equal((await fetch(`${acme.issuer}/token`, json)).status, 429)
})

t.test('who guesses another application’s secret keeps out nobody who has shown it', async (t) => {
  const world = await startWorld(t, { clock: movableClock(Date.now()) })
  const acme = await world.tenant('acme')
  const made = async (name: string) =>
    world.realmClients.create(
      'acme',
      {
        ...{ name, redirectUris: ['https://wiki.example/'], postLogoutRedirectUris: [] },
        ...{ backchannelLogoutUri: null, isToldGroups: false },
      },
      ACTOR,
    )
  const [wiki, late] = [await made('Wiki'), await made('Late')]
  const ask = async ({ clientId, clientSecret }: Pick<typeof wiki, 'clientId' | 'clientSecret'>) =>
    (await exchange({ ...acme, clientId, clientSecret }, { code: 'x' })).status
  t.equal(await ask(wiki), 400, 'it is the code that is wrong')
  const { burst } = LIMITS.rateTokenRefused
  for (let at = 0; at < burst; at++) await ask({ ...wiki, clientSecret: `guess ${at}` })
  t.equal(await ask({ ...wiki, clientSecret: 'one more' }), 429)
  t.equal(await ask(wiki), 400)
  t.equal(await ask(late), 429, 'who never came before is a stranger')
  await world.realmClients.remove('acme', wiki.clientId, ACTOR)
  t.equal(await ask(wiki), 401)
  t.equal(await ask(wiki), 429, 'as is one that was deleted')
})
