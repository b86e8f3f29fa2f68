/** Nobody is told that a session has ended before every connected gateway refuses it. */
import t, { type Test } from 'tap'
import { createApp } from '../../../control-plane/app.ts'
import { systemClock } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { OPERATOR_KEY } from '../../support/api.ts'
import { ACTOR, FLEET_KEY, startServices, tenantNamed } from '../../support/control-plane.ts'
import { enrolJws, makeDeviceKey } from '../../support/devices.ts'
import { until } from '../../support/fleet.ts'
import { fleetPortOf } from '../../support/fleet-port.ts'
import { connectRaw, type RawGateway } from '../../support/raw-gateway.ts'
import { createLiveKey } from '../../../control-plane/keys/live-key.ts'

const PASSWORD = 'a long walk along the harbour wall'

/** How fast a gateway answers here is not the subject; one that is silent is waited for so long. */
async function startWorld(t: Test, enforceMsMax = 60_000) {
  const services = await startServices(t, { clock: systemClock, enforceMsMax })
  await services.tenants.create(tenantNamed('acme'), ACTOR)
  const port = await fleetPortOf(t, services)
  const { epoch } = await services.fleetSource.position()
  const headers = { authorization: `Bearer ${FLEET_KEY}` }
  async function gateway(id: string) {
    const raw = await connectRaw(t, port, { id, epoch, webSocket: { headers } })
    await raw.wait('revoked_synced')
    acknowledge(raw, raw.of('revoked_synced')[0]!.sequence)
    return raw
  }
  let people = 0
  async function signedIn() {
    const username = `person-${++people}`
    const account = { username, email: `${username}@example.test`, name: username }
    const { userId } = await services.users.create(
      'acme',
      { ...account, password: PASSWORD },
      ACTOR,
    )
    const sid = `sid-${people}`
    const nowMs = services.clock.nowMs() + 2000 // what was revoked names the next second
    const issued = { tenantId: 'acme', userId, sid, ip: '192.0.2.1', userAgent: 'test' }
    await services.sessions.record({ ...issued, issuedAtMs: nowMs, expiresAtMs: nowMs + 60_000 })
    return { userId, sid }
  }
  const app = createApp(services, { operatorKey: createLiveKey(OPERATOR_KEY) })
  async function operator(method: string, path: string, body?: unknown) {
    const answer = await app.request(
      `${services.baseUrl}/api/v1/operator/tenants/acme${path}`,
      {
        method,
        headers: { authorization: `Bearer ${OPERATOR_KEY}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
      },
      { address: '127.0.0.1' },
    )
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? null : (JSON.parse(text) as unknown) }
  }
  return { services, gateway, signedIn, operator }
}

function acknowledge(raw: RawGateway, sequence: number, is_durable = true) {
  raw.send({ type: 'revoked_applied', sequence, is_durable })
}

/** Whether it waits for the word of the gateway; answers what it has come to. */
async function waitsFor<T>(t: Test, raw: RawGateway, name: string, work: () => Promise<T>) {
  const before = raw.of('revoked').length
  let isTold = false
  const telling = work().then((result) => {
    isTold = true
    return result
  })
  await raw.wait('revoked', before + 1)
  for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => setImmediate(resolve))
  t.equal(isTold, false, `${name}: nobody is told before the gateway has it`)
  acknowledge(raw, raw.of('revoked').at(-1)!.sequence)
  return telling
}

void t.test('whatever ends a session settles once the gateways refuse it', async (t) => {
  const { services, gateway, signedIn } = await startWorld(t)
  const raw = await gateway('edge-1')
  const { users, revocations, enforcement, policies } = services
  type Person = Awaited<ReturnType<typeof signedIn>>
  const ways: [string, (person: Person) => Promise<unknown>][] = [
    ['a session is revoked', ({ sid }) => revocations.revoke('acme', { sid }, ACTOR)],
    [
      'all sessions of a person',
      ({ userId }) => revocations.revoke('acme', { subject: userId }, ACTOR),
    ],
    ['a person is disabled', ({ userId }) => users.patch('acme', userId, DISABLED, ACTOR)],
    [
      'a password is set',
      ({ userId }) => users.patch('acme', userId, { password: `${PASSWORD} 2` }, ACTOR),
    ],
    [
      'a password is chosen',
      ({ userId }) => users.choosePassword('acme', userId, `${PASSWORD} 3`, ACTOR),
    ],
    ['a person is removed', ({ userId }) => users.remove('acme', userId, ACTOR)],
    [
      'a gateway reports a sign-out',
      ({ sid }) => enforcement.receive('edge-2', [{ tenant_id: 'acme', outcome: 'logout', sid }]),
    ],
    [
      'a middleware reports a session that moved',
      ({ sid }) => enforcement.take('acme', 'web-1', [{ outcome: 'terminate', sid }]),
    ],
    [
      'a policy allows fewer sessions',
      async ({ userId }) => {
        const nowMs = services.clock.nowMs() + 2000 // what was revoked names the next second
        const second = { tenantId: 'acme', userId, sid: `${userId}-2`, ip: '', userAgent: '' }
        await services.sessions.record({
          ...second,
          issuedAtMs: nowMs,
          expiresAtMs: nowMs + 60_000,
        })
        const settings = { concurrent_max: 1, when_full: 'end_oldest' } as const
        return policies.put('acme', 'session', settings, ACTOR)
      },
    ],
    [
      'the device that it was begun on is revoked',
      async ({ userId }) => {
        const deviceId = await enrolledDevice(services)
        const nowMs = services.clock.nowMs() + 2000
        const onDevice = { tenantId: 'acme', userId, sid: `${userId}-3`, ip: '', userAgent: '' }
        const times = { issuedAtMs: nowMs, expiresAtMs: nowMs + 60_000 }
        await services.sessions.record({ ...onDevice, ...times, deviceId })
        return services.enrolledDevices.revoke('acme', [deviceId], ACTOR)
      },
    ],
    ['all sessions of a tenant', () => revocations.revoke('acme', { all: true }, ACTOR)],
  ]
  for (const [name, end] of ways) {
    const person = await signedIn()
    await waitsFor(t, raw, name, () => end(person))
  }
})

async function enrolledDevice({
  deviceTickets,
  enrolledDevices,
}: Awaited<ReturnType<typeof startServices>>): Promise<string> {
  const asked = { platform: 'linux', uses: 1, expiresIn: 60 } as const
  const { ticket } = await deviceTickets.make('acme', asked, ACTOR)
  const from = { address: '192.0.2.1', requestId: 'r' }
  return (await enrolledDevices.enroll(ticket, enrolJws(makeDeviceKey()), from)).device_id
}

const DISABLED = { isDisabled: true }

void t.test('the answer says who refuses it, and names who does not', async (t) => {
  const { services, gateway, signedIn, operator } = await startWorld(t)
  const alone = await operator('POST', '/revocations', { all: true })
  t.match(alone, { status: 200, body: { enforced: { gateways: 0, of: 0 } } })

  const first = await gateway('edge-1')
  const { sid, userId } = await signedIn()
  const revoked = await waitsFor(t, first, 'by the API', () =>
    operator('POST', '/revocations', { sid }),
  )
  t.same((revoked.body as { enforced: unknown }).enforced, { gateways: 1, of: 1 })

  const renamed = await operator('PATCH', `/users/${userId}`, { name: 'Ada' })
  t.notOk('enforced' in (renamed.body as object), 'nothing has ended')

  const second = await gateway('edge-2')
  second.socket.terminate()
  await until(() => services.gateways().some(({ connected }) => !connected))
  const removed = await waitsFor(t, first, 'with one that is away', () =>
    operator('DELETE', `/users/${userId}`),
  )
  const body = { user_id: userId, enforced: { gateways: 1, of: 1, unreachable: ['edge-2'] } }
  t.same(removed, { status: 202, body }, 'not everywhere yet')

  const { sid: last } = await signedIn()
  const before = first.of('revoked').length
  const answering = operator('POST', '/revocations', { sid: last })
  await first.wait('revoked', before + 1)
  acknowledge(first, first.of('revoked').at(-1)!.sequence, false)
  const enforced = { gateways: 1, of: 1, not_durable: ['edge-1'], unreachable: ['edge-2'] }
  t.same(((await answering).body as { enforced: unknown }).enforced, enforced)
  t.equal(LIMITS.fleetEnforceMsMax, 1000, 'the longest that anybody waits')
})

void t.test('one that is silent is waited for, and then named', async (t) => {
  const { gateway, signedIn, operator } = await startWorld(t, 300)
  await gateway('edge-1')
  const { userId } = await signedIn()
  const disabled = await operator('PATCH', `/users/${userId}`, { disabled: true })
  t.match(disabled, { status: 200, body: { user_id: userId, disabled: true } })
  const enforced = { gateways: 0, of: 1, pending: ['edge-1'] }
  t.same((disabled.body as { enforced: unknown }).enforced, enforced)
})

void t.test('everybody refuses it: a removed person is answered with nothing', async (t) => {
  const { gateway, signedIn, operator } = await startWorld(t)
  const raw = await gateway('edge-1')
  const { userId } = await signedIn()
  const removed = await waitsFor(t, raw, 'a removal', () => operator('DELETE', `/users/${userId}`))
  t.same(removed, { status: 204, body: null })
})

void t.test('instances of an application ask by themselves: how soon is said', async (t) => {
  const { services, operator } = await startWorld(t)
  await services.tenants.patch('acme', { mode: 'sdk' }, ACTOR)
  const poll = { name: 'web-1', version: '1.0.0', clockOffsetMs: null }
  services.instances.polled('acme', poll, 'state')
  const { body } = await operator('POST', '/revocations', { all: true })
  const instances = { of: 1, within_seconds: 1 }
  t.same((body as { enforced: unknown }).enforced, { gateways: 0, of: 0, instances })
})
