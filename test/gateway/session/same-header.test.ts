/** What is kept of a session from one request to the next never decides, and never goes stale. */
import t from 'tap'
import { RecentlyUsed } from '../../../shared/enforcement/recently-used.ts'
import { TokenProofs } from '../../../shared/enforcement/token-proofs.ts'
import type { TokenTrust } from '../../../shared/enforcement/token.ts'
import { startEdge } from '../../support/edge-world.ts'
import { RawClient, startOrigin } from '../../support/wire.ts'

const AGENT = 'User-Agent: Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0\r\n'

async function startWorld(t: Parameters<typeof startOrigin>[0], trustedProxies: string[] = []) {
  const origin = await startOrigin(t)
  const edge = await startEdge(t, origin.url, {}, {}, { trustedProxies })
  const client = new RawClient(edge.port)
  t.teardown(() => client.close())
  async function ask(cookie: string, more = '', authority = 'app.localhost') {
    client.send(`GET / HTTP/1.1\r\nHost: ${authority}\r\n${AGENT}Cookie: ${cookie}\r\n${more}\r\n`)
    const answer = await client.answer()
    const { rawHeaders = [] } = answer?.status === 200 ? (origin.seen.at(-1) ?? {}) : {}
    const valueOf = (name: string) => rawHeaders[rawHeaders.indexOf(name) + 1]
    return { status: answer?.status, valueOf }
  }
  return { edge, ask }
}

t.test('other cookies beside the same session are the ones that go on', async (t) => {
  const { edge, ask } = await startWorld(t)
  const session = edge.session()
  const token = session.slice(0, session.indexOf(';'))
  for (const theme of ['dark', 'dark', 'light', 'dark']) {
    const answer = await ask(`theme=${theme}; ${session}`)
    t.equal(answer.valueOf('Cookie'), `theme=${theme}; ${token}`)
    t.equal(`service_session=${answer.valueOf('X-Service-Claims')}`, token)
  }
  t.match(await ask(`${session}; ${token}`), { status: 401 }, 'and a second one is seen')
  t.match(await ask(`theme=${'x'.repeat(60)}; ${token}`), { status: 401 }, 'and a missing one')
  t.match(await ask(session), { status: 200 })
})

t.test('a long header goes on as well, before a short one and behind it', async (t) => {
  const { edge, ask } = await startWorld(t)
  const session = edge.session()
  const token = session.slice(0, session.indexOf(';'))
  for (const size of [10, 5000, 5000, 10, 6000]) {
    const theme = `theme=${'x'.repeat(size)}`
    const answer = await ask(`${theme}; ${session}`)
    t.equal(answer.valueOf('Cookie'), `${theme}; ${token}`)
  }
})

t.test('the same header from elsewhere tells where it came from', async (t) => {
  const { edge, ask } = await startWorld(t, ['127.0.0.1'])
  const session = edge.session()
  for (const [address, authority] of [
    ['127.0.0.7', 'app.localhost'],
    ['127.0.0.7', 'app.localhost:80'],
    ['127.0.0.9', 'app.localhost'],
  ] as const) {
    const answer = await ask(session, `X-Forwarded-For: ${address}\r\n`, authority)
    t.equal(answer.valueOf('X-Forwarded-For'), `${address}, 127.0.0.1`)
    t.equal(answer.valueOf('X-Forwarded-Host'), authority)
    t.match(answer.valueOf('Forwarded'), `for=${address};host="${authority}";proto=http`)
  }
})

t.test('the same header is judged anew: time, revocation, and another secret', async (t) => {
  const { edge, ask } = await startWorld(t)
  const [ada, bob, eve] = ['a', 'b', 'c'].map((sid) => edge.session({ sid, lifeSeconds: 100 }))
  for (const cookie of [ada, bob, eve]) t.match(await ask(cookie!), { status: 200 })
  edge.revoke({ sids: { a: edge.nowSeconds() + 1 } })
  t.match(await ask(ada!), { status: 401 })
  t.match(await ask(bob!), { status: 200 })
  edge.put({ client_secret: 'another client secret of this tenant' })
  t.match(await ask(bob!), { status: 401 }, 'its companion was made with the secret before')
  edge.put({ client_secret: 'yet another client secret of this tenant' })
  edge.pass(101)
  t.match(await ask(eve!), { status: 401 })
})

t.test('the cache holds so many and no more, and forgets what was not used', async (t) => {
  const cache = new RecentlyUsed<number>(8)
  for (let value = 0; value < 8; value++) cache.set(`key ${value}`, value)
  t.equal(cache.size, 8, 'as many as may be held')
  t.equal(cache.get('key 0'), 0)
  cache.set('key 8', 8)
  t.ok(cache.size <= 8, 'and not one more')
  t.equal(cache.get('key 0'), 0, 'what was asked for stays')
  t.equal(cache.get('key 1'), undefined)
  for (let value = 0; value < 100; value++) {
    cache.set(`more ${value}`, value)
    t.equal(cache.get('key 0'), 0)
    t.ok(cache.size <= 8)
  }
})

t.test('tokens that are found by the same number are never taken for each other', async (t) => {
  const trust = {} as TokenTrust
  const proven: string[] = []
  const proofs = new TokenProofs<{ token: string; claims: object; trust: TokenTrust }, object>(
    8,
    (token) => ({ sub: proven.push(token) }),
    (proof) => proof,
  )
  const [one, other] = ['signature.Aa', 'signature.BB'] // as numbers both are the same
  for (const token of [one, other, one])
    t.match(proofs.prove(token, trust), { token }, 'each has its own claims')
  t.same(proven, [one, other, one], 'the last of them is remembered')
  t.match(proofs.prove(one, trust), { claims: { sub: 3 } })
})
