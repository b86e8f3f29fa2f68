import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import t from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'
import { until } from '../../support/fleet.ts'
import { Browser, sidOf, signIn, startWorld } from './realm-world.ts'

type Scope = Parameters<typeof startWorld>[0]

/** An application that hears of ended sessions, and answers as it is told to. */
async function startListener(t: Scope) {
  const heard: { token: string; path: string; type: string | undefined }[] = []
  const answers: number[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const token = new URLSearchParams(body).get('logout_token') ?? ''
      heard.push({ token, path: request.url ?? '', type: request.headers['content-type'] })
      const status = answers.shift() ?? 200
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => void server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { heard, answers, origin, uri: `${origin}/back-channel?tenant=acme` }
}

async function start(t: Scope, clock = movableClock(Date.now())) {
  const listener = await startListener(t)
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme', { origin: listener.origin })
  const hear = { backchannelLogoutUri: listener.uri }
  await world.tenants.patch('acme', hear, ACTOR)
  const left = async () => (await world.store.read.select().from(schema.logoutNotices)).length
  return { ...listener, world, acme, clock, left }
}

t.test(
  'a session that ends is told to the application, by a token that it can check',
  async (t) => {
    const { world, acme, heard, left } = await start(t)
    const { tokens } = await signIn(new Browser(world.baseUrl), acme)
    await world.revocations.revoke('acme', { sid: sidOf(tokens) }, ACTOR)
    await until(() => heard.length > 0)
    t.equal(heard.length, 1)
    t.match(heard[0], {
      path: '/back-channel?tenant=acme',
      type: 'application/x-www-form-urlencoded',
    })
    const keys = createRemoteJWKSet(new URL(`${acme.issuer}/jwks`))
    const { payload, protectedHeader } = await jwtVerify(heard[0]?.token ?? '', keys, {
      issuer: acme.issuer,
      audience: acme.clientId,
      typ: 'logout+jwt',
    })
    t.equal(protectedHeader.alg, 'RS256')
    t.match(payload, {
      sub: acme.ada.userId,
      sid: sidOf(tokens),
      jti: String,
      iat: Number,
      exp: Number,
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    })
    t.notOk('nonce' in payload)
    await world.logoutNotices.send()
    t.equal(await left(), 0)
  },
)

t.test('however a session ends: signed out, all of a person, all of a tenant', async (t) => {
  const { world, acme, heard } = await start(t)
  const browsers = [1, 2, 3].map(() => new Browser(world.baseUrl))
  const [first, second, third] = await Promise.all(browsers.map((one) => signIn(one, acme)))
  if (!first || !second || !third) throw new Error('three have signed in')
  await browsers[0]?.visit(`${acme.issuer}/logout?id_token_hint=${first.idToken}`)
  await until(() => heard.length === 1)
  await world.revocations.revoke('acme', { subject: acme.ada.userId }, ACTOR)
  await until(() => heard.length === 3)
  const sids = await Promise.all(
    heard.map(async ({ token }) => {
      const keys = createRemoteJWKSet(new URL(`${acme.issuer}/jwks`))
      return (await jwtVerify(token, keys)).payload['sid']
    }),
  )
  t.strictSame(new Set(sids), new Set([first, second, third].map(({ tokens }) => sidOf(tokens))))
  t.equal(sids[0], sidOf(first.tokens))
  await world.revocations.revoke('acme', { all: true }, ACTOR)
  await sleep(50)
  t.equal(heard.length, 3, 'what has ended before does not end again')
})

t.test('an application that does not take it is asked again, then let be', async (t) => {
  const { world, acme, heard, answers, clock, left } = await start(t)
  const { tokens } = await signIn(new Browser(world.baseUrl), acme)
  answers.push(500, 302, 400, 503, 500)
  await world.revocations.revoke('acme', { sid: sidOf(tokens) }, ACTOR)
  await until(() => heard.length === 1)
  for (const minutes of [1, 4, 15, 40]) {
    await world.logoutNotices.send()
    const before = heard.length
    clock.advance(minutes * 60_000)
    await world.logoutNotices.send()
    t.equal(heard.length, before + 1, `after ${minutes} minutes`)
  }
  t.ok(
    heard.every(({ path }) => path.startsWith('/back-channel')),
    'no redirect is followed',
  )
  t.equal(await left(), 0)
  t.match(world.logged.join(''), /logout notice not taken/)
})

t.test('the tokens go nowhere but to the tenant itself', async (t) => {
  const world = await startWorld(t)
  await world.tenant('acme')
  for (const uri of ['http://169.254.169.254/', 'https://evil.example/', 'http://127.0.0.1:1/'])
    await t.rejects(world.tenants.patch('acme', { backchannelLogoutUri: uri }, ACTOR), {
      code: 'field_invalid',
      fields: { field: 'backchannel_logout_uri' },
    })
  const own = { backchannelLogoutUri: 'https://acme.example/back-channel' }
  t.match(await world.tenants.patch('acme', own, ACTOR), own)
  const moved = { hostnames: ['other.example'] }
  await t.rejects(world.tenants.patch('acme', moved, ACTOR), { code: 'field_invalid' })
})
