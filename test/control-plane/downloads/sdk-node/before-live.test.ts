/**
 * Visitors without claims, before go-live and after. Whoever reaches the application around the edge
 * looks the same as a visitor before go-live: only the service's signed word of the last seconds
 * lets either in.
 */
import t, { type Test } from 'tap'
import type { GuardedRequest, Outcome } from '../../../../control-plane/downloads/sdk-node/guard.ts'
import { createClaimsGuard } from '../../../../control-plane/downloads/sdk-node/verify-claims.ts'
import type { VerifyClaimsOptions } from '../../../../control-plane/downloads/sdk-node/published.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import {
  claimsWorld,
  NOW_MS,
  pemOf,
  probeOf,
  signingKey,
  statementOf,
  tokenOf,
} from '../../../support/claims.ts'

const requestOf = (...lines: string[]): GuardedRequest => ({
  method: 'GET',
  target: '/',
  rawHeaders: ['Host', 'app.test', ...lines],
  peerAddress: '',
  isSecure: false,
})
const UNSIGNED = requestOf()

const toldOf = (outcome: Outcome) =>
  outcome.kind === 'forward'
    ? (outcome.identity?.claims.sub ?? 'nobody')
    : `${outcome.status} ${/"reason":"(\w+)"/.exec(outcome.body)?.[1]}`

function start(t: Test, options: VerifyClaimsOptions = {}) {
  const world = claimsWorld()
  const guard = createClaimsGuard({ ...world.options, ...options })
  t.teardown(() => guard.close())
  let iat = NOW_MS / 1000
  return {
    world,
    guard,
    say: (protection: unknown) =>
      void (world.statement = () => {
        iat = Math.floor(world.nowMs / 1000)
        return new Response(statementOf(protection, { iat, exp: iat + 30 }))
      }),
    ask: async (request = UNSIGNED) => toldOf(await guard.judge(request)),
    pass: (ms: number) => void (world.nowMs += ms),
  }
}

const KNOWN_MS = LIMITS.protectionKnownMs

t.test('before go-live visitors pass and nobody is named', async (t) => {
  const { world, guard, say, ask, pass } = start(t)
  say('pass-through')
  t.equal(await ask(), 'nobody')
  t.match(guard.judge(UNSIGNED), { kind: 'forward', identity: undefined }, 'now at once')
  t.equal(world.askedOfProtection, 1)
  t.equal(await ask(requestOf('X-Service-Claims', tokenOf())), 'usr_ada', 'who is signed in is')
  pass(KNOWN_MS)
  t.equal(await ask(), 'nobody')
  t.equal(world.askedOfProtection, 2)
  t.strictSame(
    world.warnings.filter((warning) => /not live/.test(warning)),
    ['service-node: acme is not live yet: requests pass through without a signed-in user'],
    'and that is said once',
  )
})

t.test('on go-live it closes within seconds, on go-back it opens again', async (t) => {
  const { world, say, ask, pass } = start(t)
  say('pass-through')
  t.equal(await ask(), 'nobody')
  say('on')
  pass(KNOWN_MS - 1)
  t.equal(await ask(), 'nobody', 'by the last answer')
  pass(1)
  t.equal(await ask(), '401 no_claims')
  say('pass-through')
  pass(KNOWN_MS - 1)
  t.equal(await ask(), '401 no_claims')
  pass(1)
  t.equal(await ask(), 'nobody')
  t.equal(world.askedOfProtection, 3)
})

t.test('an answer counts from when it was asked for, however slowly it came', async (t) => {
  const { world, say, ask, pass, guard } = start(t)
  await guard.ready()
  const [asked, sent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  world.statement = async () => {
    const said = statementOf('pass-through')
    asked.resolve()
    await sent.promise
    return new Response(said)
  }
  const waiting = ask()
  await asked.promise
  pass(KNOWN_MS - 1)
  sent.resolve()
  t.equal(await waiting, 'nobody')
  say('on')
  pass(1)
  t.equal(await ask(), '401 no_claims')
})

t.test('whoever makes the service fall silent gains nothing', async (t) => {
  const { world, say, ask, pass } = start(t)
  world.isDown = true
  t.equal(await ask(), '401 no_claims', 'when nothing was ever known')
  world.isDown = false
  say('pass-through')
  t.equal(await ask(), '401 no_claims', 'and silence is gone by for as long as an answer')
  pass(KNOWN_MS)
  t.equal(await ask(), 'nobody')
  world.isDown = true
  pass(KNOWN_MS)
  t.equal(await ask(), '401 no_claims', 'what was open closes')
  pass(KNOWN_MS)
  t.equal(await ask(), '401 no_claims')
  const told = world.warnings.filter((warning) => /could not find out/.test(warning))
  t.equal(told.length, 2, 'each silence is told once')
  t.match(told[0], /whether acme is live, so requests without claims are refused: fetch failed/)
})

t.test('only the tenant’s own, recent and signed statement opens', async (t) => {
  const foreign = { ...signingKey(1), kid: signingKey().kid }
  const nowSeconds = NOW_MS / 1000
  const old = (ago: number) => ({ iat: nowSeconds - ago, exp: nowSeconds - ago + 30 })
  const wrong: Record<string, () => Response> = {
    'a foreign key': () => new Response(statementOf('pass-through', {}, foreign)),
    'an unknown key': () => new Response(statementOf('pass-through', {}, signingKey(2))),
    'another tenant': () => new Response(statementOf('pass-through', { aud: 'other-user' })),
    'another service': () => new Response(statementOf('pass-through', { iss: 'https://x.test' })),
    'an old one': () => new Response(statementOf('pass-through', old(90))),
    'one of the future': () => new Response(statementOf('pass-through', old(-61))),
    'one that lasts': () => new Response(statementOf('pass-through', { exp: nowSeconds + 31 })),
    'one without an end': () => new Response(statementOf('pass-through', { exp: undefined })),
    'a session': () => new Response(tokenOf({ protection: 'pass-through' })),
    'a probe': () => new Response(probeOf({ protection: 'pass-through' })),
    'of no type': () => new Response(statementOf('pass-through', {}, signingKey(), 'JWT')),
    'said by nobody': () => Response.json({ protection: 'pass-through' }),
    'nothing': () => new Response(''),
    'an error page': () => new Response(statementOf('pass-through'), { status: 503 }),
    'on': () => new Response(statementOf('on')),
    'what nobody knows': () => new Response(statementOf('off')),
    'true': () => new Response(statementOf(true)),
  } // prettier-ignore
  for (const [name, statement] of Object.entries(wrong)) {
    const { world, ask } = start(t)
    world.statement = statement
    t.equal(await ask(), '401 no_claims', name)
  }
  for (const ago of [89, 0, -60]) {
    const { world, ask } = start(t)
    world.statement = () => new Response(statementOf('pass-through', old(ago)))
    t.equal(await ask(), 'nobody', `clocks that differ by ${ago} s`)
  }
})

t.test('of an answer that does not end, little is read', async (t) => {
  const { world, ask } = start(t)
  let bytes = 0
  const flood = new ReadableStream<Uint8Array>({
    pull(controller) {
      bytes += 1024
      if (bytes > 1024 * 1024) controller.close()
      else controller.enqueue(new Uint8Array(1024))
    },
  })
  world.statement = () => new Response(flood)
  t.equal(await ask(), '401 no_claims')
  t.ok(bytes <= LIMITS.protectionStatementBytesMax + 4096, String(bytes))
})

t.test('claims that are wrong are refused before go-live too', async (t) => {
  const { say, ask, guard, world } = start(t)
  say('pass-through')
  t.equal(await ask(), 'nobody')
  const forged = tokenOf({}, { ...signingKey(1), kid: signingKey().kid })
  t.equal(await ask(requestOf('X-Service-Claims', forged)), '401 signature_wrong')
  t.equal(await ask(requestOf('X-Service-Claims', '')), '401 token_malformed')
  const [token, now] = [tokenOf(), world.nowMs / 1000]
  t.equal(
    await ask(requestOf('X-Service-Claims', tokenOf({ iat: now - 60, exp: now }))),
    '401 expired',
  )
  t.equal(
    await ask(requestOf('X-Service-Claims', token, 'x-service-claims', token)),
    '401 claims_repeated',
  )
  const probe = probeOf({}, { ...signingKey(1), kid: signingKey().kid })
  t.match(await guard.judge(requestOf('X-Service-Probe', probe)), { status: 401 })
  t.match(await guard.judge(requestOf('X-Service-Probe', probeOf())), { status: 204 })
})

t.test('many visitors at once ask once, and who is signed in asks nothing', async (t) => {
  const { world, say, ask, pass } = start(t)
  say('pass-through')
  t.equal(await ask(requestOf('X-Service-Claims', tokenOf())), 'usr_ada')
  t.equal(world.askedOfProtection, 0)
  const told = await Promise.all(Array.from({ length: 50 }, () => ask()))
  t.ok(told.every((one) => one === 'nobody'))
  t.equal(world.askedOfProtection, 1)
  pass(-3600_000)
  say('on')
  t.equal(await ask(), '401 no_claims', 'a clock that was set back keeps no answer')
})

t.test('a key that was rotated in since is looked for', async (t) => {
  const { world, guard, ask, pass } = start(t)
  await guard.ready()
  pass(60_000)
  world.keys = [signingKey(), signingKey(1)]
  world.statement = () => new Response(statementOf('pass-through', {}, signingKey(1)))
  t.equal(await ask(), 'nobody')
})

t.test('it is asked of nobody where that is not wanted', async (t) => {
  const publicKeyFile = `${t.testdir({ 'service_public.pem': pemOf(signingKey()) })}/service_public.pem`
  for (const options of [
    { beforeLive: 'refuse' },
    { publicKeyUrl: false, publicKeyFile },
  ] as const) {
    const { world, guard, say } = start(t, options)
    say('pass-through')
    t.equal(toldOf(guard.judge(UNSIGNED) as Outcome), '401 no_claims')
    t.equal(world.askedOfProtection, 0)
  }
  const { world, guard, say } = start(t, { excluded: ['/'] })
  say('on')
  t.match(guard.judge(UNSIGNED), { kind: 'forward' }, 'nor for an excluded path')
  t.equal(world.askedOfProtection, 0)
})

t.test('closing lets nobody wait', async (t) => {
  const { world, guard, ask } = start(t)
  await guard.ready()
  const asked = Promise.withResolvers<void>()
  const guardFetch = world.options.fetch
  const hanging = createClaimsGuard({
    ...world.options,
    fetch: ((url: string, init: RequestInit) => {
      if (!url.endsWith('/protection')) return guardFetch(url, init)
      asked.resolve()
      return new Promise((_resolve, reject) => {
        init.signal?.addEventListener('abort', () => reject(new Error('aborted')))
      })
    }) as typeof fetch,
  })
  const waiting = hanging.judge(UNSIGNED)
  await asked.promise
  await hanging.close()
  t.equal(toldOf(await waiting), '401 no_claims')
  t.notMatch(world.warnings.join(), /aborted/)
  t.equal(await ask(), '401 no_claims')
})
