/** Machines, judged inside of the application as at the edge. */
import t from 'tap'
import { startGuard } from '../../../../support/asked-guard.ts'
import { rulesOf, SERVICES } from '../../../../support/access-rules.ts'
import { identityOf, newSecret, secretOf } from '../../../../support/machines.ts'
import { isForeign } from '../../../../../shared/enforcement/foreign-headers.ts'

const NOW = Math.floor(Date.now() / 1000)
const [CI] = SERVICES
const SECRET = newSecret()
const RIGHT = ['Service-Client-Id', CI, 'service-client-secret', SECRET]

t.test('a machine opens what names it, and is never sent to sign in', async (t) => {
  const { ask, service } = await startGuard(t, {
    access: rulesOf([{ path: '/hooks', allow: [{ group: 'nobody', not_group: 'nobody' }] }]),
  })
  t.match(
    await ask('/hooks', { headers: RIGHT }),
    { kind: 401, reason: 'no_session' },
    'there are none yet',
  )
  const trust = { issuer: service.issuer, audience: 'app-user' }
  const services = (secrets = [secretOf(SECRET, NOW + 600)]) => ({
    services: [
      { service_id: CI, identity: identityOf(service.keys[0]!, CI, trust, NOW - 5), secrets },
    ],
    clauses: [{ rule: 0, allow: [{ service: CI }] }],
  })
  service.put({ services: services() })
  await service.polled()
  t.match(await ask('/hooks', { headers: RIGHT }), { kind: 'forward', user: CI })
  t.match(await ask('/other', { headers: RIGHT }), { kind: 403, reason: 'machine_not_allowed' })
  t.match(await ask('/admin', { headers: RIGHT }), { kind: 404 })
  const both = { headers: RIGHT, cookie: service.session() }
  t.match(await ask('/hooks', both), { kind: 401, reason: 'machine_with_session' })
  t.match(await ask('/hooks', { cookie: service.session() }), { kind: 403, reason: 'rule_denied' })
  const twice = { headers: [...RIGHT, 'Service-Client-Secret', SECRET] }
  t.match(await ask('/hooks', twice), { kind: 401, reason: 'machine_malformed' })
  const alone = { headers: ['Service-Client-Id', CI] }
  t.match(await ask('/hooks', alone), { kind: 401, reason: 'machine_malformed' })
  const underscores = ['Service_Client_Id', CI, 'Service_Client_Secret', SECRET]
  t.match(
    await ask('/hooks', { headers: underscores }),
    { kind: 401, reason: 'no_session' },
    'no such header',
  )
  service.put({ services: services([]) })
  await service.polled()
  t.match(await ask('/hooks', { headers: RIGHT }), { kind: 401, reason: 'machine_unknown' })
})

t.test('the credentials are not for the application', async (t) => {
  for (const name of [...RIGHT.filter((_, at) => at % 2 === 0), 'SERVICE_CLIENT_SECRET'])
    t.ok(isForeign(name), name)
})

t.test('what a machine has open ends with its secret', async (t) => {
  const { guard, service } = await startGuard(t, {
    access: rulesOf([{ path: '/hooks', allow: [{ group: 'nobody', not_group: 'nobody' }] }]),
  })
  const trust = { issuer: service.issuer, audience: 'app-user' }
  const services = (secrets = [secretOf(SECRET, NOW + 600)]) => ({
    services: [
      { service_id: CI, identity: identityOf(service.keys[0]!, CI, trust, NOW - 5), secrets },
    ],
    clauses: [{ rule: 0, allow: [{ service: CI }] }],
  })
  service.put({ services: services() })
  await service.polled()
  const rawHeaders = ['Host', 'app.localhost', ...RIGHT]
  const outcome = await guard.judge({
    ...{ method: 'GET', target: '/hooks', rawHeaders, peerAddress: '127.0.0.1', isSecure: false },
  })
  t.match(outcome, { kind: 'forward' })
  if (outcome.kind !== 'forward') return
  const ended = new Promise<void>((resolve) => {
    guard.watch?.(outcome, { isActive: () => false, isOver: () => false, end: resolve })
  })
  service.put({ services: services([]) })
  await service.polled()
  await ended
  t.pass('ended')
})
