import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { request } from 'undici'
import { answerMetrics, createMetrics } from '../../control-plane/metrics.ts'
import { upsertCertificate } from '../../control-plane/store/queries/certificates.ts'
import { createReceivers } from '../support/receivers.ts'
import { startOrdering } from '../support/acme.ts'
import { ACTOR, FLEET_KEY, startServices, tenantNamed } from '../support/control-plane.ts'
import { startFakeAuthority } from '../support/fake-authority.ts'
import { startAnalysis } from './analysis/analysis-world.ts'
import { startWebhooks } from './webhooks/webhook-world.ts'
import { createLiveKey } from '../../control-plane/keys/live-key.ts'

const receivers = createReceivers()

void t.test('the depth of the queue, and what came of deliveries, can be read', async (t) => {
  const world = await startWebhooks(t, receivers)
  const [good, bad] = [await receivers.start(t), await receivers.start(t, () => 500)]
  await world.webhook(good.url)
  await world.webhook(bad.url)
  await world.emit(3)
  await world.dispatcher.run()
  const metrics = createMetrics(world)
  const text = await metrics.text()
  t.match(text, /^control_plane_webhook_deliveries_waiting 3$/m)
  t.match(text, /^control_plane_webhook_events_waiting 0$/m)
  t.match(text, /^control_plane_webhook_deliveries_under_way 0$/m)
  t.match(text, /^control_plane_webhook_deliveries_total\{result="delivered"\} 3$/m)
  t.match(text, /^control_plane_webhook_attempts_failed_total 3$/m)
  const ofWebhooks = (all: string) => all.match(/^control_plane_webhook.*$/gm)
  t.same(ofWebhooks(await metrics.text()), ofWebhooks(text), 'looking at it counts nothing')
})

void t.test('what analyses have cost today, and what they may, can be read', async (t) => {
  const { analyse, provider, services, clock } = await startAnalysis(t, {
    ai: { tokensPerDay: 90_000 },
  })
  const metrics = createMetrics(services)
  t.match(await metrics.text(), /^control_plane_ai_tokens_today 0$/m)
  await analyse()
  provider.says({ status: 401 })
  await analyse()
  const text = await metrics.text()
  t.match(text, /^control_plane_ai_tokens_today 1200$/m)
  t.match(text, /^control_plane_ai_tokens_per_day_max 90000$/m)
  t.match(text, /^control_plane_ai_analyses_today\{outcome="guide"\} 1$/m)
  t.match(text, /^control_plane_ai_analyses_today\{outcome="ai_provider_refused"\} 1$/m)
  clock.advance(24 * 3_600_000)
  const tomorrow = await metrics.text()
  t.match(tomorrow, /^control_plane_ai_tokens_today 0$/m)
  t.notMatch(tomorrow, 'outcome="guide"')
})

void t.test('for how many hostnames certificates are there, and for how many not', async (t) => {
  const authority = await startFakeAuthority(t)
  const { services, run } = await startOrdering(t, { directories: [authority.directory] })
  const hostnames = ['a.example.test', 'b.example.test', 'c.example.test']
  await services.tenants.create(tenantNamed('app', { hostnames }), ACTOR)
  await services.tenants.publish('app', ACTOR)
  authority.refuse('b.example.test', { status: 403, type: 'caa' })
  await run()
  const text = await createMetrics(services).text()
  t.match(text, /^control_plane_certificate_hostnames\{state="issued"\} 2$/m)
  t.match(text, /^control_plane_certificate_hostnames\{state="failing"\} 1$/m)
  t.match(text, /^control_plane_certificate_hostnames\{state="waiting"\} 0$/m)
})

void t.test('sign-ins, changes, gateways, jobs and what ends next can be read', async (t) => {
  const services = await startServices(t)
  const { store, sessions, jobs, clock } = services
  const metrics = createMetrics(services)
  const before = await metrics.text()
  t.match(before, /^control_plane_jobs_done_timestamp_seconds Nan$/im)
  t.match(before, /^control_plane_certificate_expiry_timestamp_seconds Nan$/im)
  t.match(before, /^control_plane_events_total\{event="signin\.denied"\} 0$/m)
  await services.tenants.create(tenantNamed('acme'), ACTOR)
  await sessions.record({
    ...{ tenantId: 'acme', sid: 's1', userId: 'u1', ip: '192.0.2.1', userAgent: 'a browser' },
    ...{ issuedAtMs: clock.nowMs(), expiresAtMs: clock.nowMs() + 60_000 },
  })
  await store.change(async ({ queries, nowMs, emitEach }) => {
    await upsertCertificate(queries, {
      ...{ hostname: 'app.example', tenantId: 'acme', certificatePem: '', privateKeySealed: '' },
      ...{ notAfter: 7_000_000, updatedAt: nowMs, isOrdered: false },
    })
    const denied = { reason: 'wrong_password', ip: '192.0.2.1' }
    await emitEach('signin.denied', 'acme', Array(2).fill(denied))
  })
  await jobs.run()
  services.signInMail.count('wrong')
  const text = await metrics.text()
  for (const line of [
    'sessions_begun_total 1',
    'sign_in_mails_total{result="sent"} 0',
    'sign_in_mails_total{result="wrong"} 1',
    'events_total{event="signin.denied"} 2',
    `jobs_done_timestamp_seconds ${clock.nowMs() / 1000}`,
    'certificate_expiry_timestamp_seconds 7000',
    'gateways{state="connected"} 0',
    'database{state="behind"} 0',
    'database{state="full"} 0',
  ])
    t.ok(text.includes(`control_plane_${line}\n`), line)
  const [, changes = '0'] = /^control_plane_change_duration_seconds_count (\d+)$/m.exec(text) ?? []
  t.ok(Number(changes) >= 3, `${changes} changes`)
})

void t.test('only whoever has the fleet key gets figures', async (t) => {
  const world = await startWebhooks(t, receivers)
  const server = createServer(answerMetrics(createMetrics(world), createLiveKey(FLEET_KEY)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const ask = async (path: string, key?: string, method: 'GET' | 'POST' = 'GET') => {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
    const answer = await request(`http://127.0.0.1:${port}${path}`, { method, headers })
    return { status: answer.statusCode, text: await answer.body.text() }
  }
  t.match(await ask('/metrics', FLEET_KEY), { status: 200, text: /^# HELP control_plane_/ })
  t.match(await ask('/metrics'), { status: 401, text: '' })
  t.match(await ask('/metrics', 'another'), { status: 401, text: '' })
  t.match(await ask('/metrics', FLEET_KEY, 'POST'), { status: 404, text: '' })
  t.match(await ask('/', FLEET_KEY), { status: 404, text: '' })
})
