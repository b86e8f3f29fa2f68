/** Machines, judged inside of the application as at the edge. */
import t from 'tap'
import { startGuard } from '../../../../support/asked-guard.ts'
import { rulesOf, SERVICES } from '../../../../support/access-rules.ts'
import {
  identityOf,
  machineTokenOf,
  newSecret,
  SECRET_ID,
  secretOf,
} from '../../../../support/machines.ts'
import { newSigningKey } from '../../../../support/tokens.ts'
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

const REPORTED = ['forwarded', 'refused']

t.test('what machines do is told to the service, as gateways tell it', async (t) => {
  const { ask, service, guard } = await startGuard(t, {
    access: rulesOf([{ path: '/hooks', allow: [{ group: 'nobody', not_group: 'nobody' }] }]),
  })
  const trust = { issuer: service.issuer, audience: 'app-user' }
  const secrets = [secretOf(SECRET, NOW + 600, SECRET_ID)]
  const identity = identityOf(service.keys[0]!, CI, trust, NOW - 5)
  service.put({
    services: {
      services: [{ service_id: CI, identity, secrets }],
      clauses: [{ rule: 0, allow: [{ service: CI }] }],
    },
  })
  await service.polled()
  const token = machineTokenOf(service.keys[0]!, CI, trust, NOW)
  for (const headers of [RIGHT, RIGHT, ['Authorization', `Bearer ${token}`]])
    t.match(await ask('/hooks', { headers }), { kind: 'forward', user: CI })
  const wrong = { headers: ['Service-Client-Id', CI, 'Service-Client-Secret', newSecret()] }
  for (let at = 0; at < 3; at++) t.match(await ask('/hooks', wrong), { kind: 401 })
  t.match(await ask('/work'), { kind: 401, reason: 'no_session' })
  await guard.close()
  const told = service.batches.flat() as { outcome: string }[]
  const place = { ip: '127.0.0.1' }
  t.same(
    told.filter(({ outcome }) => REPORTED.includes(outcome)),
    [
      { outcome: 'forwarded', reason: 'machine', subject: CI, sid: SECRET_ID, count: 1, ...place },
      { outcome: 'forwarded', reason: 'machine', subject: CI, sid: SECRET_ID, count: 2, ...place },
      {
        outcome: 'refused',
        reason: 'machine_unknown',
        ...place,
        app_host: 'app.localhost',
        count: 3,
      },
    ],
  )
  t.notMatch(JSON.stringify(told), /sms_|eyJ/)
})

t.test('a token of a key that is newer than what it has heard is looked for once', async (t) => {
  const { ask, service, pass } = await startGuard(t, {
    access: rulesOf([{ path: '/hooks', allow: [{ group: 'nobody', not_group: 'nobody' }] }]),
  })
  const trust = { issuer: service.issuer, audience: 'app-user' }
  const identity = identityOf(service.keys[0]!, CI, trust, NOW - 5)
  service.put({
    services: {
      services: [{ service_id: CI, identity, secrets: [secretOf(SECRET, NOW + 600, SECRET_ID)] }],
      clauses: [{ rule: 0, allow: [{ service: CI }] }],
    },
  })
  await service.polled()
  const next = newSigningKey('newer')
  service.keys.push(next)
  pass(11_000)
  const headers = ['Authorization', `Bearer ${machineTokenOf(next, CI, trust, NOW)}`]
  t.match(await ask('/hooks', { headers }), { kind: 'forward', user: CI })
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
    const is = { isActive: () => false, isOpenEnded: () => true, isOver: () => false }
    guard.watch?.(outcome, { ...is, end: resolve })
  })
  service.put({ services: services([]) })
  await service.polled()
  await ended
  t.pass('ended')
})
