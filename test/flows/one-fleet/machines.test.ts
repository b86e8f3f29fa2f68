import t from 'tap'
import { WebSocket } from 'ws'
import { PASSWORD, startApplication, startTenant } from '../../support/application.ts'
import { newSecret } from '../../support/machines.ts'
import { wholeFleet } from '../../support/whole-fleet.ts'
import { startWebSocketApplication } from '../../support/websockets.ts'

const PAGE = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }

t.test('a machine opens what a rule names it for, until its secret is revoked', async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'machines', application.origin)
  const api = (method: string, path: string, body?: object) =>
    fleet.operator(method, `/tenants/machines${path}`, body)
  const made = await api('POST', '/services', { name: 'CI' })
  t.match(made, { status: 201, body: { name: 'CI', secrets: [] } })
  const serviceId = String(made.body['service_id'])
  const secret = await api('POST', `/services/${serviceId}/secrets`, { expires_in: 3600 })
  t.match(secret, { status: 201, body: { secret: /^sms_/, enforced: { gateways: 2, of: 2 } } })
  const rules = [{ path: '/hooks', methods: ['POST'], allow: [{ service: serviceId }] }]
  t.match(await api('PUT', '/access-rules', { rules }), { status: 200, body: { rules } })

  const machine = fleet.browser()
  const headers = {
    'service-client-id': serviceId,
    'service-client-secret': String(secret.body['secret']),
  }
  const ask = (path: string, method = 'POST', more: Record<string, string> = {}, gateway = 0) =>
    machine.fetch(`${tenant.edge(gateway)}${path}`, { method, headers: { ...headers, ...more } })
  for (const gateway of [0, 1]) {
    const told = await ask('/hooks/1', 'POST', {}, gateway)
    t.match(told, { status: 200, text: `application: /hooks/1 user=${serviceId}` }, `${gateway}`)
  }
  const { headers: received } = application.received.at(-1)!
  t.equal(received['x-service-user'], serviceId)
  t.equal(received['x-service-verified'], 'true')
  const claims = claimsOf(String(received['x-service-claims']))
  t.match(claims, { sub: serviceId, client_id: serviceId, aud: 'machines-user', email: undefined })
  t.notMatch(JSON.stringify(application.received), /service-client|sms_/i)

  const usedAt = async () => {
    const { body } = await api('GET', `/services/${serviceId}`)
    return (body['secrets'] as unknown as { last_used_at: string | null }[])[0]?.last_used_at
  }
  while ((await usedAt()) === null) await new Promise((resolve) => setTimeout(resolve, 50))
  const refused = await ask('/hooks/1', 'GET', PAGE)
  t.match(refused, { status: 403, headers: { 'content-type': /json/ } })
  t.match(JSON.parse(refused.text), { error: 'access_denied', reason: 'machine_not_allowed' })
  t.match(await ask('/other'), { status: 403 }, 'what no rule speaks of is for people')
  t.match(await ask('/admin'), { status: 404 }, 'sealed')

  const ada = fleet.browser()
  t.match(await ada.signIn(`${tenant.edge()}/`, 'ada', PASSWORD), { status: 200 })
  const denied = await ada.fetch(`${tenant.edge()}/hooks/1`, { method: 'POST' })
  t.match(denied, { status: 403 })
  t.match(JSON.parse(denied.text), { error: 'rule_denied', missing: [] })
  t.notMatch(denied.text, serviceId, 'who else may is nobody’s business')
  const both = await ada.fetch(`${tenant.edge()}/hooks/1`, { method: 'POST', headers })
  t.match(both, { status: 401 }, 'a person and a machine at once')
  t.match(JSON.parse(both.text), { error: 'invalid_client', reason: 'machine_with_session' })

  const secretId = String(secret.body['secret_id'])
  const gone = await api('DELETE', `/services/${serviceId}/secrets/${secretId}`)
  t.match(gone, { status: 204 })
  for (const gateway of [0, 1]) {
    const answer = await ask('/hooks/1', 'POST', PAGE, gateway)
    t.match(answer, { status: 401, headers: { 'www-authenticate': 'Service-Client' } })
    t.match(JSON.parse(answer.text), { error: 'invalid_client', reason: 'machine_unknown' })
    t.equal(answer.headers['location'], undefined, 'no way to a login page')
  }
})

t.test('a token opens the same, at every gateway, until its secret is revoked', async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'token-machines', application.origin)
  const api = (method: string, path: string, body?: object) =>
    fleet.operator(method, `/tenants/token-machines${path}`, body)
  const { body: service } = await api('POST', '/services', { name: 'CI' })
  const serviceId = String(service['service_id'])
  const { body: secret } = await api('POST', `/services/${serviceId}/secrets`, {})
  await api('PUT', '/access-rules', {
    rules: [{ path: '/hooks', allow: [{ service: serviceId }] }],
  })
  const machine = fleet.browser()
  const given = await tokenOf(fleet, 'token-machines', serviceId, secret['secret'])
  const { access_token: token } = given
  const ask = (gateway: number, path = '/hooks/1') =>
    machine.fetch(`${tenant.edge(gateway)}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    })
  for (const gateway of [0, 1]) {
    const told = await ask(gateway)
    t.match(told, { status: 200, text: `application: /hooks/1 user=${serviceId}` }, `${gateway}`)
  }
  const { headers: received } = application.received.at(-1)!
  t.match(claimsOf(String(received['x-service-claims'])), { sub: serviceId, client_id: serviceId })
  t.equal(received['authorization'], undefined)
  t.notMatch(JSON.stringify(application.received), token.slice(-40))
  t.match(await ask(0, '/work'), { status: 403 })

  const seen = async () => (await api('GET', `/services/${serviceId}`)).body
  while (Number((await seen())['requests_last_day']) < 2)
    await new Promise((resolve) => setTimeout(resolve, 50))
  t.match(await seen(), { last_seen_ip: '127.0.0.1', last_seen_at: /^20/ })

  const secretId = String(secret['secret_id'])
  const gone = await api('DELETE', `/services/${serviceId}/secrets/${secretId}`)
  t.equal(gone.status, 204)
  for (const gateway of [0, 1]) {
    const answer = await ask(gateway)
    t.match(answer, {
      status: 401,
      headers: { 'www-authenticate': /^Bearer error="invalid_token"/ },
    })
    t.match(JSON.parse(answer.text), { error: 'invalid_token', reason: 'machine_token_revoked' })
  }
})

t.test('what a machine has open ends with its secret, at every gateway', async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startWebSocketApplication(t)
  const tenant = await startTenant(fleet, 'live-machines', application.url)
  const api = (method: string, path: string, body?: object) =>
    fleet.operator(method, `/tenants/live-machines${path}`, body)
  const { body: service } = await api('POST', '/services', { name: 'Listener' })
  const serviceId = String(service['service_id'])
  const rules = [{ path: '/live', allow: [{ service: serviceId }] }]
  await api('PUT', '/access-rules', { rules })
  const made = async () => (await api('POST', `/services/${serviceId}/secrets`, {})).body
  const [first, second] = [await made(), await made()]
  const bySecret = (secret: unknown) => {
    return { 'service-client-id': serviceId, 'service-client-secret': String(secret) }
  }
  const open = async (headers: Record<string, string>, gateway: number) => {
    const { host, port } = new URL(tenant.edge(gateway))
    const socket = new WebSocket(`ws://127.0.0.1:${port}/live`, { headers: { host, ...headers } })
    t.teardown(() => socket.terminate())
    const closed = new Promise<number>((resolve) => socket.on('close', resolve))
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    return { socket, closed }
  }
  const { access_token: token } = await tokenOf(fleet, 'live-machines', serviceId, first['secret'])
  const ways = [bySecret(first['secret']), { authorization: `Bearer ${token}` }]
  const ends = await Promise.all([0, 1].flatMap((gateway) => ways.map((way) => open(way, gateway))))
  const stays = await Promise.all(
    [0, 1].map((gateway) => open(bySecret(second['secret']), gateway)),
  )
  for (const { headers } of application.opened) {
    const none = { 'service-client-secret': undefined, authorization: undefined }
    t.match(headers, { 'x-service-user': serviceId, ...none })
  }
  const gone = await api('DELETE', `/services/${serviceId}/secrets/${String(first['secret_id'])}`)
  t.equal(gone.status, 204)
  const answeredMs = performance.now()
  for (const { closed } of ends) t.equal(await closed, 1008)
  t.comment(`the last of four closed ${Math.round(performance.now() - answeredMs)} ms later`)
  for (const { socket } of stays) t.equal(socket.readyState, WebSocket.OPEN, 'by another secret')
  await api('PATCH', `/services/${serviceId}`, { is_disabled: true })
  for (const { closed } of stays) t.equal(await closed, 1008)
})

t.test('a gateway that starts without its control plane knows its machines', async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'kept-machines', application.origin)
  const api = (method: string, path: string, body?: object) =>
    fleet.operator(method, `/tenants/kept-machines${path}`, body)
  const { body: service } = await api('POST', '/services', { name: 'CI' })
  const serviceId = String(service['service_id'])
  const { body: secret } = await api('POST', `/services/${serviceId}/secrets`, {})
  await api('PUT', '/access-rules', { rules: [{ path: '/', allow: [{ service: serviceId }] }] })
  await fleet.settled()
  await fleet.controlPlane.stop('SIGKILL')
  await fleet.gateways[0]?.stop('SIGKILL')
  await fleet.startGateway(0)
  const ask = (text: string) =>
    fleet.browser().fetch(`${tenant.edge(0)}/hooks`, {
      headers: { 'service-client-id': serviceId, 'service-client-secret': text },
    })
  t.match(await ask(String(secret['secret'])), { status: 200, text: new RegExp(serviceId) })
  t.match(await ask(newSecret()), { status: 401 })
  await fleet.startControlPlane()
  await fleet.settled()
})

async function tokenOf(
  fleet: Awaited<ReturnType<typeof wholeFleet>>,
  tenantId: string,
  serviceId: string,
  secret: unknown,
) {
  const fields = { grant_type: 'client_credentials', client_id: serviceId }
  const body = new URLSearchParams({ ...fields, client_secret: String(secret) })
  const answer = await fetch(`${fleet.baseUrl}/auth/realms/${tenantId}/token`, {
    method: 'POST',
    body,
  })
  return (await answer.json()) as { readonly access_token: string }
}

function claimsOf(token: string): Record<string, unknown> {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()
  return JSON.parse(payload) as Record<string, unknown>
}
