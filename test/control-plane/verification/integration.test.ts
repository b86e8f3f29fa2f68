/** What the flows do not show: users of another database, silence, and how often one may ask. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { enforce } from '../../../control-plane/downloads/sdk-node/index.ts'
import { upsertUserDirectory } from '../../../control-plane/store/queries/user-directories.ts'
import { createIntegration } from '../../../control-plane/verification/integration.ts'
import { systemClock } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { newTenant } from '../../support/api.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { startPublicServer } from '../../support/public-server.ts'
import { startScene } from './scene.ts'

/** A published tenant in sdk mode, with the real middleware in front of `hello`. */
async function start(t: Test) {
  const server = await startPublicServer(t, { clock: systemClock })
  const silent = new Set<string>()
  const place: { listener: Parameters<typeof createServer>[1] } = { listener: undefined }
  const application = createServer((request, response) => {
    if (!silent.has((request.url ?? '').split('?')[0] ?? '')) place.listener?.(request, response)
  })
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    application.closeAllConnections()
    application.close()
  })
  const { port } = application.address() as AddressInfo
  const body = newTenant('acme', {
    mode: 'sdk',
    hostnames: [],
    origin: `http://127.0.0.1:${port}`,
  })
  const created = await server.operator('POST', '/tenants', body)
  await server.operator('POST', '/tenants/acme/publish')
  const service = enforce({
    baseUrl: server.baseUrl,
    tenantId: 'acme',
    clientSecret: String(created.body['client_secret']),
  })
  t.teardown(() => service.close())
  await service.ready()
  place.listener = service.node((_request, response) => void response.end('hello'))

  const run = async (timing?: { trialMsMax: number; pageMsMax: number }) => {
    const { services, baseUrl } = server
    const integration = createIntegration({
      ...services,
      people: services.trialPeople,
      baseUrl,
      ...(timing && { timing }),
    })
    try {
      const { checks } = await integration.complete('acme', ACTOR)
      return Object.fromEntries(checks.map((check) => [check.check, check]))
    } finally {
      await integration.close()
    }
  }
  return { ...server, silent, run }
}

void t.test('people who are in another database are not invented there', async (t) => {
  const { services, run } = await start(t)
  await services.store.change(({ queries, nowMs }) =>
    upsertUserDirectory(queries, {
      tenantId: 'acme',
      settings: {},
      passwordSealed: '',
      updatedAt: nowMs,
    }),
  )
  const checks = await run()
  t.match(checks['sign_in_page_shown'], { status: 'pass' })
  t.match(checks['sign_in_completed'], {
    status: 'skip',
    detail: /in the tenant's own database, where the service cannot add a test user/,
  })
  t.match(checks['signed_out'], { status: 'skip' })
})

void t.test('silence ends a step, and the whole of it', async (t) => {
  const { silent, run } = await start(t)
  silent.add('/')
  t.match((await run({ trialMsMax: 30_000, pageMsMax: 1000 }))['identity_received'], {
    status: 'fail',
    detail: /cannot be opened: there was no response in time/,
  })
  silent.add('/service/callback')
  t.match((await run({ trialMsMax: 3000, pageMsMax: 60_000 }))['sign_in_completed'], {
    status: 'fail',
    detail: /\/service\/callback cannot be opened: there was no response in time/,
  })
  t.ok(LIMITS.signInTrialPageMsMax < LIMITS.signInTrialMsMax)
})

void t.test('each as often as is meant, and no more', async (t) => {
  const { call, tenant } = await startScene(t)
  const { analyzer_key: key } = await tenant('draft')
  const body = { cli_version: '1.0.0', project: { framework: null, language: null }, checks: [] }
  const complete = () => call('POST', '/api/v1/integration-complete', undefined, { key })
  const report = () => call('POST', '/api/v1/verify/local', body, { key })
  for (const { ask, rate } of [
    { ask: complete, rate: LIMITS.rateIntegration },
    { ask: report, rate: LIMITS.rateProbe },
  ]) {
    for (let count = 0; count < rate.burst; count++) t.not((await ask()).status, 429, `${count}`)
    const refused = await ask()
    t.match(refused, { status: 429, body: { error: 'rate_limited' } })
    t.equal(Number(refused.headers.get('retry-after')), 1 / rate.perSecond)
  }
})

void t.test('an integrator learns of their tenant what they need, and no secret', async (t) => {
  const { customer, call, tenantKeys, port } = await startScene(t, { sealed: ['/internal'] })
  const { status, body } = await customer('GET', 'integration')
  t.equal(status, 200)
  t.strictSame(body, {
    tenant_id: 'acme',
    name: 'acme',
    mode: 'gateway',
    status: 'published',
    protection: 'pass-through',
    edge_urls: { 'acme.localhost': `http://acme.localhost:${port}` },
    origin: 'http://127.0.0.1:9000',
    health: '/healthz',
    sealed: ['/internal'],
    excluded: ['/health'],
    issuer: 'http://localhost:8080/auth/realms/acme',
    client_id: 'acme-user',
    integration_completed_at: null,
    connectors_connected: null,
  })
  t.notMatch(JSON.stringify(body), tenantKeys.client_secret)
  t.equal((await call('GET', '/api/v1/integration', undefined, { key: 'wrong' })).status, 401)
})
