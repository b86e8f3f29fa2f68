/** While a client secret is replaced: what was written under the old one is read, never written. */
import t from 'tap'
import { request } from 'undici'
import { createTenantCompiler } from '../../../gateway/tenants/compiled.ts'
import { deriveKey, readSeen } from '../../../shared/enforcement/seen.ts'
import { carriedProof, makePass, probeKeyOf } from '../../../shared/probe.ts'
import { HOST, startEdge, USER_AGENT, type EdgeWorld } from '../../support/edge-world.ts'
import { snapshotOf } from '../../support/fleet-source.ts'
import { startOrigin } from '../../support/wire.ts'

const OLD = 'a client secret of a test tenant' // what the world makes its cookies with
const NEW = 'the client secret that came after it'
const OVERLAP = { client_secret: NEW, previous_client_secret: OLD }

async function startWorld(t: Parameters<typeof startOrigin>[0]) {
  const origin = await startOrigin(t)
  const edge = await startEdge(t, origin.url, { protection: 'on', health: '/health' })
  const ask = async (path: string, headers: Record<string, string>, form = '') => {
    const answer = await request(`http://127.0.0.1:${edge.port}${path}`, {
      method: form === '' ? 'GET' : 'POST',
      headers: { host: HOST, 'user-agent': USER_AGENT, ...headers },
      body: form === '' ? null : form,
    })
    const text = await answer.body.text()
    return { status: answer.statusCode, headers: answer.headers, text }
  }
  return { edge, origin, ask }
}

const seenIn = (setCookie: unknown) => /service_seen=([^;]+)/.exec(String(setCookie))?.[1] ?? ''
const tokenOf = (cookie: string) => cookie.slice(0, cookie.indexOf(';'))
const idle = (edge: EdgeWorld) => edge.session({ seenAgoSeconds: 100 })

t.test(
  'a session goes on through a rotation, and its cookie moves over to the new secret',
  async (t) => {
    const { edge, ask } = await startWorld(t)
    const cookie = idle(edge)
    edge.put(OVERLAP)
    const answer = await ask('/', { cookie })
    t.equal(answer.status, 200)
    const moved = seenIn(answer.headers['set-cookie'])
    t.ok(readSeen(moved, 'sid-1', [deriveKey(NEW, 'seen')]), 'written under the new one')
    t.notOk(readSeen(moved, 'sid-1', [deriveKey(OLD, 'seen')]))

    edge.put({ client_secret: NEW, previous_client_secret: undefined })
    t.equal((await ask('/', { cookie })).status, 401, 'after the overlap the old one is nothing')
    t.equal((await ask('/', { cookie: `${tokenOf(cookie)}; service_seen=${moved}` })).status, 200)
  },
)

t.test('a secret that was ended at once takes its cookies with it', async (t) => {
  const { edge, ask } = await startWorld(t)
  const cookie = idle(edge)
  t.equal((await ask('/', { cookie })).status, 200)
  edge.put({ client_secret: NEW })
  t.equal((await ask('/', { cookie })).status, 401)
})

t.test('a form of /service/me from before the rotation is still the person’s own', async (t) => {
  const { edge, ask } = await startWorld(t)
  const cookie = edge.session()
  const page = await ask('/service/me', { cookie, accept: 'application/json' })
  const { csrf = '' } = JSON.parse(page.text) as { csrf?: string }
  edge.put(OVERLAP)
  const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' }
  const send = (value: string) => ask('/service/me', headers, `csrf=${value}&end_sid=sid-1`)
  t.equal((await send(`${csrf.slice(0, -1)}A`)).status, 403)
  t.not((await send(csrf)).status, 403)
})

t.test(
  'a probe from before the rotation is carried, and proven by the key that it came with',
  async (t) => {
    const { edge, ask, origin } = await startWorld(t)
    edge.put(OVERLAP)
    const probe = 'a.probe.token'
    for (const secret of [OLD, NEW]) {
      const key = probeKeyOf(secret)
      const answer = await ask('/health', {
        'x-service-probe': probe,
        'x-service-probe-pass': makePass(key, probe, edge.nowSeconds()),
      })
      t.equal(answer.status, 200)
      t.equal(answer.headers['x-service-probe-carried'], carriedProof(key, probe))
      t.ok(origin.seen.at(-1)?.rawHeaders.includes('X-Service-Probe'))
    }
    const pass = makePass(probeKeyOf('another'), probe, edge.nowSeconds())
    const headers = { 'x-service-probe': probe, 'x-service-probe-pass': pass }
    t.equal((await ask('/health', headers)).headers['x-service-probe-carried'], undefined)
  },
)

t.test('every key of a tenant is the newest first, and there is never a third', async (t) => {
  const compiler = createTenantCompiler({ openUpstream: () => ({ close: () => {} }) as never })
  t.teardown(() => compiler.close())
  const both = compiler.compile(snapshotOf('app', OVERLAP))
  t.same(both.seenKeys, [deriveKey(NEW, 'seen'), deriveKey(OLD, 'seen')])
  t.same(both.flowKeys, [deriveKey(NEW, 'flow'), deriveKey(OLD, 'flow')])
  t.same(both.probeKeys, [probeKeyOf(NEW), probeKeyOf(OLD)])
  t.equal(both.client.secret, NEW, 'codes are exchanged with the new one')
  const one = compiler.compile(snapshotOf('app', { client_secret: NEW }))
  for (const keys of [one.seenKeys, one.flowKeys, one.probeKeys]) t.equal(keys.length, 1)
})
