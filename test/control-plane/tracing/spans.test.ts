/** The spans of a control plane that is used, at a collector, and that nothing secret is in them. */
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { startControlPlane } from '../../../control-plane/control-plane.ts'
import { createLiveKey } from '../../../control-plane/keys/live-key.ts'
import { createMetrics } from '../../../control-plane/metrics.ts'
import { timedProvider } from '../../../control-plane/services/timed-clients.ts'
import { createTracing } from '../../../control-plane/tracing/tracing.ts'
import { systemClock } from '../../../shared/clock.ts'
import { startOrdering } from '../../support/acme.ts'
import { attributesOf, startCollector, type Span } from '../../support/collector.ts'
import { ACTOR, FLEET_KEY, temporaryFolder, tenantNamed } from '../../support/control-plane.ts'
import { startFakeAuthority } from '../../support/fake-authority.ts'
import { createTestLog } from '../../support/fleet.ts'
import { OPERATOR_KEY } from '../../support/api.ts'
import { startPublicServer } from '../../support/public-server.ts'
import { createReceivers } from '../../support/receivers.ts'
import { Browser, PASSWORD, relyingParty, userNamed } from '../realm/realm-world.ts'
import { startWebhooks } from '../webhooks/webhook-world.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const receivers = createReceivers()

async function startTracing(t: Test) {
  const collector = await startCollector(t)
  const { log } = createTestLog()
  const settings = { endpoint: collector.endpoint, sample: 1 }
  const tracing = createTracing({ settings, instanceId: 'a', clock: systemClock, log })
  t.teardown(() => tracing.close())
  const sent = async () => {
    await tracing.flush()
    return collector.spans()
  }
  return { ...collector, tracing, sent }
}

const named = (spans: readonly Span[], name: string) => spans.filter((span) => span.name === name)

t.test('a call of the API: its way, its change, and none of what was asked', async (t) => {
  const { tracing, sent, bodies } = await startTracing(t)
  const { baseUrl, tenant } = await startPublicServer(t, { tracing, clock: systemClock })
  const { client_secret: secret } = await tenant('acme')
  const email = 'ada.lovelace@example.test'
  const url = `${baseUrl}/api/v1/operator/tenants/acme/users`
  const headers = {
    authorization: `Bearer ${OPERATOR_KEY}`,
    'content-type': 'application/json',
    traceparent: `00-${TRACE}-b7ad6b7169203331-01`,
  }
  const body = JSON.stringify({ username: 'lovelace', email, password: PASSWORD, name: 'Ada' })
  const made = await fetch(url, { method: 'POST', headers, body })
  const said = await made.text()
  t.equal(made.status, 201, said)
  await (await fetch(`${url}?q=${email}&limit=1`, { headers })).text()
  await (await fetch(`${baseUrl}/nowhere/${secret}?key=${secret}`)).text()
  await (await fetch(`${baseUrl}/api/v1/operator/${secret}`, { headers })).text()
  const spans = await sent()
  const [post] = named(spans, 'POST /api/v1/operator/tenants/:tenant_id/users')
  t.match(post, { traceId: TRACE, parentSpanId: 'b7ad6b7169203331', kind: 2, status: {} })
  t.match(attributesOf(post!), {
    'http.request.method': 'POST',
    'http.response.status_code': '201',
    request_id: made.headers.get('x-request-id'),
  })
  const changes = spans.filter(
    ({ name, parentSpanId }) => name === 'change' && parentSpanId === post!.spanId,
  )
  t.ok(changes.length > 0)
  t.match(attributesOf(changes[0]!), { waited_ms: /^\d+$/, held_ms: /^\d+$/ })
  t.equal(named(spans, 'GET /api/v1/operator/tenants/:tenant_id/users').length, 1)
  t.equal(named(spans, 'GET').length, 2, 'what there is not has no way')
  const all = JSON.stringify(bodies)
  for (const hidden of [secret, email, 'lovelace', PASSWORD, OPERATOR_KEY, 'limit=1', 'nowhere'])
    t.notOk(all.includes(hidden), hidden)
})

t.test('a sign-in: each step with what came of it, in spans and figures', async (t) => {
  const { tracing, sent, bodies } = await startTracing(t)
  const world = await startPublicServer(t, { tracing, clock: systemClock })
  const metrics = createMetrics(world.services)
  const made = await world.tenant('acme')
  await world.services.tenants.publish('acme', ACTOR)
  await world.services.users.create('acme', userNamed('lovelace'), ACTOR)
  const browser = new Browser(world.baseUrl)
  const flow = await (
    await relyingParty({
      ...made,
      clientId: made.client_id,
      clientSecret: made.client_secret,
      issuer: `${world.baseUrl}/auth/realms/acme`,
      redirectUri: 'http://acme.localhost:8000/service/callback',
    })
  ).begin()
  const page = await browser.visit(flow.url)
  const wrong = await browser.submit(page.url, {
    username: 'lovelace',
    password: 'not-the-password',
  })
  const last = await browser.submit(wrong.url, { username: 'lovelace', password: PASSWORD })
  t.ok(last.url.startsWith('http://acme.localhost:8000/'))
  const spans = await sent()
  const steps = named(spans, 'sign_in').map(attributesOf)
  t.match(steps, [
    { step: 'password', outcome: 'password' },
    { step: 'password', outcome: 'signed_in' },
  ])
  const posts = named(spans, 'POST /auth/realms/:tenant/sign-in/:uid')
  t.equal(posts.length, 2)
  t.match(attributesOf(posts[0]!), { tenant_id: 'acme' })
  t.same(
    named(spans, 'sign_in').map(({ parentSpanId }) => parentSpanId),
    posts.map(({ spanId }) => spanId),
  )
  t.equal(named(spans, 'GET /auth/realms/:tenant/authorize').length, 1)
  const text = await metrics.text()
  const figure = 'control_plane_sign_in_step_duration_seconds_count'
  for (const outcome of ['password', 'signed_in'])
    t.match(text, `${figure}{step="password",outcome="${outcome}"} 1\n`)
  const all = JSON.stringify(bodies)
  const uid = new URL(page.url).pathname.split('/').at(-1) ?? 'none'
  const { searchParams } = new URL(flow.url)
  const code = new URL(last.url).searchParams.get('code') ?? 'none'
  const asked = ['state', 'nonce', 'code_challenge'].map((name) => searchParams.get(name) ?? 'none')
  for (const hidden of [PASSWORD, 'not-the-password', uid, code, made.client_secret, ...asked])
    t.notOk(all.includes(hidden), hidden)
  t.notMatch(all, 'lovelace')
})

t.test('jobs, and what they wait for', async (t) => {
  const { tracing, sent } = await startTracing(t)
  const { services } = await startPublicServer(t, { tracing, clock: systemClock })
  const metrics = createMetrics(services)
  services.jobs.tidies('broken', () => Promise.reject(new Error('no')))
  await services.jobs.run()
  const jobs = named(await sent(), 'job')
  const of = (wanted: string) => jobs.find((span) => attributesOf(span)['job'] === wanted)
  t.match(of('rates'), { kind: 1, status: {} })
  t.match(of('broken'), { status: { code: 2 } })
  t.ok(of('alerts'), 'and those that one does for all')
  for (const job of ['connectorRequests', 'scimLogWrite', 'endings'])
    t.ok(of(job), `and those that each does, without a lease: ${job}`)
  const text = await metrics.text()
  t.match(text, /^control_plane_job_done_timestamp_seconds\{job="rates"\} \d{10}/m)
  t.match(text, /^control_plane_job_duration_seconds\{job="alerts"\} \d/m)
  t.match(text, /^control_plane_job_failures_total\{job="broken"\} 1$/m)
  t.notMatch(text, 'control_plane_job_done_timestamp_seconds{job="broken"}')
  t.match(text, /^control_plane_change_wait_seconds_count [1-9]/m)
})

t.test('webhooks and mails: to whom, and none of what', async (t) => {
  const { tracing, sent, bodies } = await startTracing(t)
  const mailTransport = {
    send: () => Promise.reject(Object.assign(new Error('ada@x.test'), { code: 'EENVELOPE' })),
    close: () => undefined,
  }
  const world = await startWebhooks(t, receivers, { tracing, mailTransport })
  const metrics = createMetrics(world)
  const [good, bad] = [await receivers.start(t), await receivers.start(t, () => 500)]
  await world.webhook(`${good.url}/hook/secret-in-path?token=secret-in-query`)
  await world.webhook(bad.url)
  await world.emit(1)
  await world.dispatcher.run()
  const mail = { to: 'ada@x.test', subject: 'Reset', text: 'https://link-with-ticket' }
  await world.store.change((change) => world.mails.queue(change, 'acme', mail))
  await world.mails.deliver()
  const outgoing = named(await sent(), 'outgoing')
  const of = (to: string) => outgoing.filter((span) => attributesOf(span)['to'] === to)
  t.same(
    of('webhook')
      .map((span) => attributesOf(span)['http.response.status_code'])
      .sort(),
    ['204', '500'],
  )
  for (const span of of('webhook')) {
    t.equal(span.kind, 3)
    t.match(attributesOf(span)['server.address'], /^[a-z0-9.-]+(?::\d+)?$/)
  }
  t.match(of('mail'), [{ kind: 3, status: { code: 2 } }])
  t.same(attributesOf(of('mail')[0]!), { to: 'mail', 'error.type': 'EENVELOPE' })
  const all = JSON.stringify(bodies)
  for (const hidden of ['secret-in', 'ada@x.test', 'Reset', 'ticket']) t.notOk(all.includes(hidden))
  const text = await metrics.text()
  const count = 'control_plane_outgoing_duration_seconds_count'
  t.match(text, `${count}{to="webhook",result="answered"} 2`)
  t.match(text, `${count}{to="mail",result="failed"} 1`)
})

t.test('certificate authorities and identity providers', async (t) => {
  const { tracing, sent } = await startTracing(t)
  const authority = await startFakeAuthority(t)
  const { services, run } = await startOrdering(t, { directories: [authority.directory], tracing })
  const hostnames = ['a.example.test']
  await services.tenants.create(tenantNamed('app', { hostnames }), ACTOR)
  await services.tenants.publish('app', ACTOR)
  await run()
  const toAcme = named(await sent(), 'outgoing').map(attributesOf)
  t.ok(toAcme.length > 3)
  const { host } = new URL(authority.directory)
  t.match(toAcme[0], { to: 'acme', 'server.address': host, 'http.response.status_code': '200' })

  const refused = () =>
    Promise.reject(Object.assign(new Error('code=abc'), { name: 'ProviderProblem' }))
  const client = { json: refused, list: refused, text: refused, close: () => Promise.resolve() }
  const provider = timedProvider(client, tracing)
  const url = 'https://id.example.test/token?code=abc'
  await t.rejects(provider.json({ url }))
  await t.rejects(provider.list({ url }))
  await t.rejects(provider.text({ url }))
  const asked = (await sent()).slice(-3).map(attributesOf)
  const said = {
    to: 'connection',
    'server.address': 'id.example.test',
    'error.type': 'ProviderProblem',
  }
  t.same(asked, [said, said, said])
})

t.test(
  'the whole control plane sends what its setting says, the last of it at its end',
  async (t) => {
    const { endpoint, spans } = await startCollector(t)
    const ANY = { host: '127.0.0.1', port: 0 }
    const controlPlane = await startControlPlane(
      {
        baseUrl: 'http://localhost:8080',
        dataDir: temporaryFolder(t),
        listen: ANY,
        fleetListen: ANY,
        database: 'sqlite',
        traces: { endpoint, sample: 1 },
        operatorKey: createLiveKey(OPERATOR_KEY),
        fleetKey: createLiveKey(FLEET_KEY),
        masterKey: Buffer.alloc(32, 1),
        breachListFile: null,
        mailFrom: 'no-reply@localhost',
        smtpUrl: null,
        edgeUrlFor: (hostname) => `http://${hostname}`,
      },
      { log: pino({ level: 'silent' }), clock: systemClock },
    )
    const { port } = controlPlane.address
    await (await fetch(`http://127.0.0.1:${port}/health/ready`)).text()
    await controlPlane.close()
    t.equal(named(spans(), 'GET /health/ready').length, 1)
  },
)
