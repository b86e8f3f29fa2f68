import t from 'tap'
import { PASSWORD, startApplication, startTenant } from '../../support/application.ts'
import { startFleet } from '../../support/programs.ts'
import { wholeFleet } from '../../support/whole-fleet.ts'

t.test("one tenant's session, cookie, key or code is worth nothing at another", async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startApplication(t)
  const acme = await startTenant(fleet, 'acme', application.origin)
  const beta = await startTenant(fleet, 'beta', application.origin)

  const ada = fleet.browser()
  await ada.signIn(`${acme.edge()}/`, 'ada', PASSWORD)
  const stolen = fleet.browser()
  for (const name of ['service_session', 'service_seen'])
    stolen.setCookie(beta.host, name, ada.cookie(acme.host, name) ?? '')
  t.match(await stolen.fetch(`${beta.edge()}/work`), { status: 401 }, 'session')

  const honest = fleet.browser()
  await honest.signIn(`${beta.edge()}/`, 'ada', PASSWORD)
  honest.setCookie(beta.host, 'service_seen', ada.cookie(acme.host, 'service_seen') ?? '')
  t.match(await honest.fetch(`${beta.edge()}/work`), { status: 401 }, 'companion cookie')

  // the answer of acme's realm, carried to beta's callback with beta's flow and with acme's
  const login = await ada.once(`${acme.edge()}/service/login`)
  let callback = String(login.headers['location'])
  while (!callback.includes('/service/callback'))
    callback = String((await ada.once(callback)).headers['location'])
  const carried = callback.replace(acme.host, beta.host)
  for (const [key, { value, path }] of ada.cookies.get(acme.host) ?? [])
    stolen.setCookie(beta.host, key.split(' ')[0] ?? '', value, path)
  const answer = await stolen.once(carried)
  t.match(answer.headers['location'], '/service/login', 'code: the sign-in begins anew')
  t.match(await stolen.fetch(`${beta.edge()}/work`), { status: 401 })

  for (const [method, path] of [
    ['POST', '/verify/probe'],
    ['POST', '/go-back'],
    ['GET', '/verify/status'],
  ] as const)
    t.match(await fleet.api(acme.client_secret, method, path), { status: 401 }, `secret at ${path}`)
  await fleet.api(acme.analyzer_key, 'POST', '/go-back')
  const protection = await fleet.operator('GET', '/tenants/beta')
  t.match(protection.body, { protection: 'on' }, 'a key moves its own tenant only')
})

t.test('an unknown host is 404 and never another tenant', async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'known', application.origin)
  const browser = fleet.browser()
  for (const host of [
    'other.localhost',
    'xknown.localhost',
    'known.localhost.evil.test',
    '127.0.0.1',
  ])
    t.match(await browser.fetch(fleet.edge(host)), { status: 404 }, host)
  t.match(
    await browser.fetch(tenant.edge().replace('known', 'KNOWN')),
    { status: 401 },
    'case folds',
  )
  t.equal(application.received.length, 0)
})

t.test('returnTo always ends on the host of the tenant', async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'returning', application.origin)
  for (const attack of [
    '//evil.test',
    '/\\evil.test',
    '\\\\evil.test',
    '/%09/evil.test',
    '/\t/evil.test',
    '///evil.test',
    '/..//evil.test',
    'https://evil.test/',
    'http:evil.test',
    'javascript:alert(1)',
  ]) {
    const browser = fleet.browser()
    const url = `${tenant.edge()}/service/login?returnTo=${encodeURIComponent(attack)}`
    const page = await browser.signIn(url, 'ada', PASSWORD)
    t.match(page, { status: 200 }, encodeURIComponent(attack))
    t.equal(new URL(page.url).host, new URL(tenant.edge()).host)
    t.match(page.text, 'application: / ')
  }
  const page = await fleet.browser().signIn(`${tenant.edge()}/deep/link?a=1&b=%2F`, 'ada', PASSWORD)
  t.equal(page.url, `${tenant.edge()}/deep/link?a=1&b=%2F`, 'an honest one is kept')
})

t.test('the application gets identity from us alone, and no secret is ever logged', async (t) => {
  const fleet = await startFleet(t)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'acme', application.origin)
  const ada = fleet.browser()
  await ada.signIn(`${tenant.edge()}/`, 'ada', PASSWORD)
  application.received.length = 0
  const forged = {
    'X-Service-User': 'root',
    'X-Service-Claims': 'forged',
    'x-service-verified': 'true',
    X_Service_User: 'root',
    'X.Service.User': 'root',
    'X-Original-URL': '/admin',
    'X-Forwarded-For': '1.2.3.4',
    'X-Real-IP': '1.2.3.4',
  }
  t.match(await ada.fetch(`${tenant.edge()}/work`, { headers: forged }), { status: 200 })
  t.match(await fleet.browser().fetch(`${tenant.edge()}/health`, { headers: forged }), {
    status: 200,
  })
  const [signed, anonymous] = application.received
  const session = ada.cookie(tenant.host, 'service_session') ?? ''
  t.match(signed?.headers, {
    'x-service-user': tenant.ada,
    'x-service-claims': session,
    'x-service-verified': 'true',
    'x-forwarded-for': '127.0.0.1',
  })
  t.match(signed?.headers.cookie, `service_session=${session}`)
  t.notMatch(signed?.headers.cookie, 'service_seen')
  for (const request of [signed, anonymous])
    t.notMatch(
      request?.rawHeaders.join('\n'),
      /root|forged|original|1\.2\.3\.4|_service|\.service/i,
    )
  t.notOk(anonymous?.headers['x-service-verified'])

  await fetch(`${fleet.baseUrl}/api/v1/public-key?api_key=${tenant.analyzer_key}`)
  await fetch(`${fleet.baseUrl}/api/v1/public-key?api_key=wrong-key-in-query`)
  await fleet.browser().signIn(`${tenant.edge()}/`, 'ada', 'wrong-password-typed')
  await ada.open(`${tenant.edge()}/service/logout`)
  await Promise.all([fleet.controlPlane.stop(), ...fleet.gateways.map((gateway) => gateway.stop())])
  const logs = fleet.logs()
  t.ok(
    logs.split('\n').every((line) => line === '' || line.startsWith('{')),
    'JSON lines',
  )
  const secrets = {
    'analyzer key': tenant.analyzer_key,
    'client secret': tenant.client_secret,
    'session token': session,
    'signature of the session': session.split('.')[2] ?? '',
    password: PASSWORD,
    'wrong password': 'wrong-password-typed',
    'wrong key': 'wrong-key-in-query',
    'operator key': 'operator-key-for-tests',
    'fleet key': 'fleet-key-for-tests',
    'master key': 'master-key-for-tests',
    'private key': 'PRIVATE KEY',
    'authorization code': 'code=',
    'query parameter': 'api_key',
  }
  for (const [name, secret] of Object.entries(secrets)) t.notOk(logs.includes(secret), `no ${name}`)
})
