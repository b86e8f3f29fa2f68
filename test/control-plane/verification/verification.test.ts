import type { AddressInfo } from 'node:net'
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { listen, middleware, startScene, type Scene } from './scene.ts'

void t.test('a sound integration passes every check, and may go live without force', async (t) => {
  const { scene, probe, customer, services, asked } = await startScene(t)
  t.strictSame((await customer('GET', 'verify/status')).body, {
    status: 'unknown',
    ran: 0,
    checks: [],
    held_back: [],
  })
  const pems = async () => (await services.keys.publicKeys('acme')).map(({ pem }) => pem)
  scene.application = middleware(pems)

  const { body, statuses } = await probe()
  t.strictSame(statuses, {
    hostname_routed: 'pass',
    application_reached: 'pass',
    middleware_mounted: 'pass',
    key_installed: 'pass',
    sealed_hidden: 'skip',
  })
  t.match(body, { status: 'pass', ran: 5 })
  for (const check of body['checks'] as unknown[])
    t.match(check, {
      detail: /./,
      next_action: '',
      at: /^\d{4}-\d\d-\d\dT.*Z$/,
      source: 'platform',
    })
  t.strictSame((await customer('GET', 'verify/status')).body, body)
  t.ok(
    asked.every(
      ({ url, headers }) => url === '/healthz' && headers.host?.startsWith('acme.localhost:'),
    ),
  )
  t.match(await customer('POST', 'go-live'), { status: 200, body: { protection: 'on' } })

  scene.isProtected = true
  t.equal((await probe()).statuses['sealed_hidden'], 'pass')
  scene.isProtected = false
  const open = await probe()
  t.match(open.body, { status: 'fail' })
  t.equal(open.statuses['sealed_hidden'], 'fail', 'a sealed path that answers is found')
})

void t.test('a sealed page that answers under another name is found', async (t) => {
  const { scene, probe, customer, services } = await startScene(t, { sealed: ['/admin'] })
  const good = middleware(async () =>
    (await services.keys.publicKeys('acme')).map(({ pem }) => pem),
  )
  scene.application = good
  await probe()
  t.match(await customer('POST', 'go-live'), { status: 200 })
  const names = ['/admin.html', '/admin.json', '/admin::$DATA', '/index.php/admin', '/_next/data/service-verify/admin.json', '/page-data/admin/page-data.json'] // prettier-ignore
  for (const name of ['/admin', ...names]) {
    scene.application = (request, response) =>
      request.url === '/healthz'
        ? good(request, response)
        : response.writeHead(request.url === name ? 200 : 404).end()
    const { check, statuses } = await probe()
    t.equal(statuses['sealed_hidden'], 'fail', name)
    t.ok(check('sealed_hidden')?.detail.includes(`${name} (200)`), name)
  }
})

void t.test('each mistake is named by the check that it breaks', async (t) => {
  const { scene, probe, customer, services } = await startScene(t)
  const pems = async () => (await services.keys.publicKeys('acme')).map(({ pem }) => pem)
  const good = middleware(pems)
  const foreign = (await import('node:crypto')).generateKeyPairSync('rsa', { modulusLength: 2048 })
  const foreignPem = foreign.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const secret = scene.edgeSecret

  const cases: Record<string, { scene: Partial<Scene>; fails: string[] }> = {
    'no middleware': {
      scene: {
        application: (_request, response) => response.writeHead(200).end('x'.repeat(200_000)),
      },
      fails: ['middleware_mounted', 'key_installed'],
    },
    'a middleware that believes everything': {
      scene: {
        application: (request, response) => {
          const [, claims = ''] = String(request.headers['x-service-probe']).split('.')
          const { nonce } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as {
            nonce: string
          }
          response.writeHead(204, { 'X-Service-Probe-Reply': nonce }).end()
        },
      },
      fails: ['middleware_mounted'],
    },
    'the key of somebody else': {
      scene: { application: middleware(() => Promise.resolve([foreignPem])) },
      fails: ['middleware_mounted', 'key_installed'],
    },
    'a middleware of ours without the key': {
      scene: {
        application: (_request, response) =>
          response.writeHead(401, { 'X-Service-Probe-Reply': '' }).end(),
      },
      fails: ['key_installed'],
    },
    'a 204 without the nonce': {
      scene: { application: (_request, response) => response.writeHead(204).end() },
      fails: ['middleware_mounted', 'key_installed'],
    },
    'a redirect, which is not followed': {
      scene: {
        application: (_request, response) =>
          response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end(),
      },
      fails: ['middleware_mounted', 'key_installed'],
    },
    'an application that is down': {
      scene: { isApplicationUp: false, application: good },
      fails: ['application_reached', 'middleware_mounted', 'key_installed'],
    },
    'a name that leads elsewhere': {
      scene: { edgeSecret: undefined, application: good },
      fails: ['hostname_routed', 'application_reached', 'middleware_mounted', 'key_installed'],
    },
    'an edge with another secret': {
      scene: { edgeSecret: 'wrong', application: good },
      fails: ['hostname_routed', 'application_reached', 'middleware_mounted', 'key_installed'],
    },
  }
  for (const [name, { scene: changes, fails }] of Object.entries(cases)) {
    Object.assign(scene, { edgeSecret: secret, isApplicationUp: true, ...changes })
    const { status, body, statuses } = await probe()
    t.equal(status, 200, name)
    const failed = Object.keys(statuses).filter((check) => statuses[check] === 'fail')
    t.strictSame(failed, fails, name)
    t.equal(body['status'], 'fail')
    if (name.includes('believes')) t.match(JSON.stringify(body), /signed with a foreign key/)
    for (const check of body['checks'] as { status: string; next_action: string }[])
      if (check.status === 'fail') t.match(check.next_action, /\w{3}/, `${name}: says what to do`)
    const missing = ['middleware_mounted', 'key_installed'].filter((check) => fails.includes(check))
    t.match(await customer('POST', 'go-live'), {
      status: 409,
      body: { error: 'not_verified', missing },
    })
  }
})

void t.test('during a rotation every published key is tried', async (t) => {
  const { scene, probe, operator, services } = await startScene(t)
  const first = (await services.keys.publicKeys('acme')).map(({ pem }) => pem)
  scene.application = middleware(() => Promise.resolve(first))
  await operator('POST', '/tenants/acme/keys/rotate', { phase: 'prepare' })
  const { statuses, body } = await probe()
  t.match(statuses, { middleware_mounted: 'pass', key_installed: 'fail' })
  const [, next] = await services.keys.publicKeys('acme')
  t.match(
    JSON.stringify(body),
    new RegExp(next?.kid ?? 'none'),
    'and the one that is missing is named',
  )
})

void t.test(
  'nothing hangs: not a silent application, nor one that never stops talking',
  async (t) => {
    const { scene, probe } = await startScene(t)
    scene.application = () => {}
    const silent = await probe()
    t.match(JSON.stringify(silent.body), /no response in time/)
    t.equal(silent.statuses['hostname_routed'], 'fail')

    let pieces = 0
    scene.application = (_request, response) => {
      response.writeHead(200)
      const talk = setInterval(() => {
        pieces++
        response.write('x'.repeat(100_000))
      }, 1)
      response.on('close', () => clearInterval(talk))
    }
    t.equal((await probe()).statuses['application_reached'], 'pass')
    t.ok(pieces < 300, `the body is not waited for: ${pieces} pieces`)
  },
)

void t.test('every hostname must lead through a gateway', async (t) => {
  const { scene, probe, services } = await startScene(t, {
    hostnames: ['acme.localhost', 'b.invalid'],
  })
  scene.application = middleware(async () =>
    (await services.keys.publicKeys('acme')).map(({ pem }) => pem),
  )
  const { statuses, body } = await probe()
  t.match(statuses, { hostname_routed: 'fail', middleware_mounted: 'pass', key_installed: 'pass' })
  t.match(JSON.stringify(body), /b\.invalid.*(?:does not resolve|refused|no answer)/)
})

void t.test('a verification is good for a day, and for what it has seen', async (t) => {
  const { scene, probe, customer, clock, operator, services } = await startScene(t)
  scene.application = middleware(async () =>
    (await services.keys.publicKeys('acme')).map(({ pem }) => pem),
  )
  await probe()
  clock.advance(24 * 3_600_000)
  t.match(await customer('POST', 'go-live'), { status: 409, body: { error: 'not_verified' } })
  await probe()
  clock.advance(24 * 3_600_000 - 1)
  t.equal((await customer('POST', 'go-live')).status, 200)
  await customer('POST', 'go-back')

  await probe()
  await operator('PATCH', '/tenants/acme', { name: 'New name' })
  t.match((await customer('GET', 'verify/status')).body, { status: 'pass' })
  await operator('PATCH', '/tenants/acme', { origin: 'http://127.0.0.1:9999' })
  t.match((await customer('GET', 'verify/status')).body, { status: 'unknown', ran: 0 })
  t.equal(
    (await customer('POST', 'go-live')).status,
    409,
    'another application, another verification',
  )
})

void t.test('who asks twice at once shares one run', async (t) => {
  const { probe, asked, scene, services } = await startScene(t)
  const both = Promise.withResolvers<void>()
  const begin = services.verification.probe
  let begun = 0
  t.intercept(services.verification, 'probe', {
    value: (tenantId: string) => {
      if (++begun === 2) both.resolve()
      return begin(tenantId)
    },
  })
  // who is asked answers when both have asked, however long the second one is on its way
  scene.application = async (_request, response) => {
    await both.promise
    return response.writeHead(200).end('hello')
  }
  const [one, two] = await Promise.all([probe(), probe()])
  t.strictSame(one.body, two.body)
  t.equal(asked.length, 3, 'one address, one genuine and one forged probe')
})

void t.test('a draft is not probed, a suspended tenant says so', async (t) => {
  const { tenant, call, operator, probe } = await startScene(t)
  const { analyzer_key: key } = await tenant('draft')
  t.match(await call('POST', '/api/v1/verify/probe', undefined, { key }), {
    status: 409,
    body: { error: 'tenant_draft' },
  })
  await operator('POST', '/tenants/acme/suspend')
  t.match(JSON.stringify((await probe()).body), /suspended/)
})

void t.test('in sdk mode the application is asked at its own address', async (t) => {
  const application = await listen(t, (request, response) => {
    t.equal(request.url, '/healthz')
    response.writeHead(200).end()
  })
  const { port } = application.address() as AddressInfo
  const scene = await startScene(t, {
    mode: 'sdk',
    hostnames: [],
    origin: `http://localhost:${port}`,
  })
  const { statuses } = await scene.probe()
  t.strictSame(Object.keys(statuses), [
    'application_reached',
    'middleware_mounted',
    'key_installed',
    'feed_polled',
    'sealed_hidden',
  ])
  t.equal(statuses['application_reached'], 'pass')
})

void t.test('what changes while it is looked at is not vouched for', async (t) => {
  const { scene, probe, services, operator, customer } = await startScene(t)
  const good = middleware(async () =>
    (await services.keys.publicKeys('acme')).map(({ pem }) => pem),
  )
  let patched: Promise<unknown> | undefined
  scene.application = async (request, response) => {
    patched ??= operator('PATCH', '/tenants/acme', { origin: 'http://127.0.0.1:9999' })
    await patched
    return good(request, response)
  }
  t.match(await probe(), { status: 409, body: { error: 'changed_meanwhile' } })
  t.match((await customer('GET', 'verify/status')).body, { status: 'unknown', ran: 0 })
  t.match((await probe()).body, { status: 'pass' })
})

void t.test('a clock that is far off is a warning, and passes', async (t) => {
  const { scene, probe, services } = await startScene(t)
  const good = middleware(async () =>
    (await services.keys.publicKeys('acme')).map(({ pem }) => pem),
  )
  for (const [aheadMs, status] of [
    [-LIMITS.probeClockSkewMsMax * 2, 'warn'],
    [LIMITS.probeClockSkewMsMax * 2, 'warn'],
    [0, 'pass'],
  ] as const) {
    scene.application = (request, response) => {
      response.setHeader('Date', new Date(Date.now() + aheadMs).toUTCString())
      return good(request, response)
    }
    const { body, statuses } = await probe()
    t.equal(statuses['application_reached'], status)
    t.equal(body['status'], 'pass')
  }
})
