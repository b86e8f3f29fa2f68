/** `verifyClaims()` by itself: what it lets pass, what it refuses, and what it is told. */
import t from 'tap'
import type { GuardedRequest, Outcome } from '../../../../control-plane/downloads/sdk-node/guard.ts'
import { createClaimsGuard } from '../../../../control-plane/downloads/sdk-node/verify-claims.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { claimsWorld, NOW_MS, probeOf, signingKey, tokenOf } from '../../../support/claims.ts'

function requestOf(rawHeaders: string[], target = '/', method = 'GET'): GuardedRequest {
  return { method, target, rawHeaders: ['Host', 'app.test', ...rawHeaders], peerAddress: '', isSecure: false } // prettier-ignore
}

const withToken = (token: string, target?: string) => requestOf(['X-Service-Claims', token], target)

const reasonOf = (outcome: Outcome) =>
  outcome.kind === 'answer' ? `${outcome.status} ${/"reason":"(\w+)"/.exec(outcome.body)?.[1]}` : 'forward' // prettier-ignore

t.test('a token that was seen before is judged at once, and its times every time', async (t) => {
  const world = claimsWorld()
  const guard = createClaimsGuard(world.options)
  const token = tokenOf()
  t.type(guard.judge(withToken(token)), Promise, 'the keys are fetched first')
  await guard.ready()
  const outcome = guard.judge(withToken(token))
  t.match(outcome, { kind: 'forward', target: '/', identity: { claims: { sub: 'usr_ada' } } })
  const again = guard.judge(withToken(token))
  t.equal((again as { identity: unknown }).identity, (outcome as { identity: unknown }).identity, 'one proof') // prettier-ignore
  t.equal(world.asked, 1)
  world.nowMs += 3600_000
  t.equal(reasonOf(guard.judge(withToken(token)) as Outcome), '401 expired')
})

t.test('the proofs of a key end with it', async (t) => {
  const world = claimsWorld([signingKey(0), signingKey(1)])
  const guard = createClaimsGuard(world.options)
  const [old, next] = [tokenOf({}, signingKey(0)), tokenOf({}, signingKey(1))]
  await guard.ready()
  for (const token of [old, next]) t.equal(reasonOf(await guard.judge(withToken(token))), 'forward')
  world.keys = [signingKey(1)]
  world.nowMs += 10 * 60_000
  await guard.judge(withToken(old)) // renews behind the scenes
  await guard.judge(withToken(tokenOf({}, signingKey(2))))
  t.equal(reasonOf(await guard.judge(withToken(old))), '401 key_unknown')
  t.equal(reasonOf(await guard.judge(withToken(next))), 'forward')
})

t.test('a header twice decides nothing', async (t) => {
  const guard = createClaimsGuard(claimsWorld().options)
  const token = tokenOf()
  const lines = ['X-Service-Claims', token, 'x-service-claims', token]
  t.equal(reasonOf(await guard.judge(requestOf(lines))), '401 claims_repeated')
  const probes = ['X-Service-Probe', probeOf(), 'X-Service-Probe', probeOf()]
  t.match(await guard.judge(requestOf(probes)), {
    status: 401,
    headers: [['X-Service-Probe-Reply', '']],
  })
})

t.test('a probe is answered with its nonce, a wrong one with nothing', async (t) => {
  const guard = createClaimsGuard(claimsWorld().options)
  const ask = async (probe: string) => guard.judge(requestOf(['X-Service-Probe', probe]))
  const reply = (nonce: string) => [
    ['X-Service-Probe-Reply', nonce],
    ['Cache-Control', 'no-store'],
  ]
  t.match(await ask(probeOf()), { status: 204, headers: reply('a-nonce-of-this-probe') })
  const forged = probeOf({}, { ...signingKey(1), kid: signingKey().kid })
  for (const wrong of [forged, tokenOf(), 'none', probeOf({ aud: 'x' }), probeOf({ iss: 'x' })])
    t.match(await ask(wrong), { status: 401, headers: reply('') })
})

t.test('without any key nobody is let in, and what is excluded goes on', async (t) => {
  const world = claimsWorld()
  world.isDown = true
  const guard = createClaimsGuard({ ...world.options, excluded: ['/health'] })
  t.match(await guard.judge(withToken(tokenOf())), { kind: 'answer', status: 503 })
  t.match(await guard.judge(withToken(tokenOf(), '/health')), {
    kind: 'forward',
    identity: undefined,
  })
  t.match(guard.judge(requestOf([], '/health/live?a')), {
    kind: 'forward',
    target: '/health/live?a',
  })
  t.match(world.warnings, [/public keys could not be read: fetch failed/])
})

t.test('excluded is what has no other reading, and names whoever has a session', async (t) => {
  const excluded = ['/health/', '/p']
  const guard = createClaimsGuard({ ...claimsWorld().options, excluded, beforeLive: 'refuse' })
  await guard.ready()
  for (const target of ['/health', '/health/', '/health/a', '/p?x=/../'])
    t.match(guard.judge(requestOf([], target)), { kind: 'forward', identity: undefined }, target)
  for (const target of ['/', '/healthy', '/HEALTH', '/health/..', '/health/%2e%2e/x', '/x?/health', '/p;a', '/p//x', '*']) // prettier-ignore
    t.match(guard.judge(requestOf([], target, target === '*' ? 'OPTIONS' : 'GET')), { kind: 'answer', status: 401 }, target) // prettier-ignore
  t.match(guard.judge(withToken(tokenOf(), '/health')), {
    identity: { claims: { sub: 'usr_ada' } },
  })
})

t.test('targets that the edge refuses are refused', async (t) => {
  const guard = createClaimsGuard(claimsWorld().options)
  await guard.ready()
  const judge = (target: string) => guard.judge(withToken(tokenOf(), target))
  for (const target of [
    '',
    'x',
    '/a#b',
    '/a\\b',
    '/%00',
    '/%',
    'http://other.test/',
    'ftp://app.test/',
    `/${'a'.repeat(LIMITS.targetBytesMax)}`,
  ])
    // prettier-ignore
    t.match(judge(target), { kind: 'answer', status: 400 }, target.slice(0, 20))
  t.match(judge('HTTP://App.Test:80/a?b'), { kind: 'forward', target: '/a?b' })
  t.match(judge('http://app.test'), { kind: 'forward', target: '/' })
})

t.test('each option is checked where it is given, and the error names it', async (t) => {
  const { options } = claimsWorld()
  const wrong: [Record<string, unknown>, RegExp][] = [
    [{ baseUrl: undefined }, /baseUrl is missing: give it, or set SERVICE_BASE_URL/],
    [{ baseUrl: 'service' }, /baseUrl must be an address/],
    [{ baseUrl: 'ftp://service' }, /baseUrl must be an address/],
    [{ baseUrl: 'https://u:secret@service.test' }, /baseUrl .* without credentials/],
    [{ tenantId: undefined }, /tenantId is missing/],
    [{ tenantId: 'Acme Inc' }, /tenantId must be a tenant ID/],
    [{ publicKeyFile: '' }, /publicKeyFile must be/],
    [{ publicKeyUrl: 'x' }, /publicKeyUrl must be/],
    [{ publicKeyUrl: false }, /publicKeyFile is missing/],
    [{ beforeLive: 'open' }, /beforeLive must be "pass" or "refuse"/],
    [{ excluded: '/health' }, /excluded must be a list/],
    [{ excluded: ['/a', 'health'] }, /excluded\[1\] must be a plain path prefix/],
    [{ onWarning: 1 }, /onWarning must be a function/],
    [{ tenant: 'acme' }, /tenant is not an option/],
  ]
  for (const [given, message] of wrong) {
    const made = () => createClaimsGuard({ ...options, ...given })
    t.throws(made, { name: 'TypeError', message })
    t.throws(made, { message: /^verifyClaims: (?!.*secret)/ })
  }
})

t.test('a clock that runs behind by less than a minute refuses nobody', async (t) => {
  const guard = createClaimsGuard(claimsWorld().options)
  const ahead = (seconds: number) => tokenOf({ iat: NOW_MS / 1000 + seconds })
  t.equal(reasonOf(await guard.judge(withToken(ahead(60)))), 'forward')
  t.equal(reasonOf(await guard.judge(withToken(ahead(61)))), '401 issued_ahead')
})
