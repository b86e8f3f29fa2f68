/** A change that gateways enforce is answered with who does, and not before they do. */
import t, { type Test } from 'tap'
import { apiEndpoints } from '../../../control-plane/api/endpoints.ts'
import { systemClock } from '../../../shared/clock.ts'
import { createRateLimits } from '../../../shared/rate-limits.ts'
import { startApi } from '../../support/api.ts'
import { makeKey } from '../../support/connectors.ts'
import { FLEET_KEY } from '../../support/control-plane.ts'
import { until } from '../../support/fleet.ts'
import { fleetPortOf } from '../../support/fleet-port.ts'
import { connectRaw } from '../../support/raw-gateway.ts'

/** How fast a gateway answers here is not the subject; one that does not is waited for so long. */
async function startWorld(t: Test, enforceMsMax = 60_000, mode = 'gateway') {
  const { services, operator, tenant } = await startApi(t, { clock: systemClock, enforceMsMax })
  await tenant('acme', { mode })
  await operator('POST', '/tenants/acme/publish', {})
  const port = await fleetPortOf(t, services)
  const { epoch } = await services.fleetSource.position()
  const headers = { authorization: `Bearer ${FLEET_KEY}` }
  const raw = await connectRaw(t, port, { id: 'edge-1', epoch, webSocket: { headers } })
  const changes = () => raw.of('tenant').length + raw.of('remove').length
  await raw.wait('revoked_synced')
  await until(() => changes() > 0)
  const revision = () => services.store.revision()
  const serves = async (is_durable = true) =>
    raw.send({ type: 'applied', epoch, revision: await revision(), is_durable })
  const rejects = async () =>
    raw.send({ type: 'rejected', tenant_id: 'acme', revision: await revision(), reason: 'no' })
  await serves()

  /** Answers what the change has come to once the gateway has said `word`. */
  async function asked(method: string, path: string, body: unknown, word: () => Promise<void>) {
    const before = changes()
    let isTold = false
    const telling = operator(method, `/tenants/acme${path}`, body).then((answer) => {
      isTold = true
      return answer
    })
    await until(() => changes() > before)
    for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => setImmediate(resolve))
    t.equal(isTold, false, `${method} ${path}: nobody is told before the gateway has it`)
    // What came first may have been on its way since before the change.
    for (let heard = 0; !isTold; await until(() => isTold || changes() > heard)) {
      heard = changes()
      await word()
    }
    return telling
  }
  return { asked, serves, rejects, raw, operator, changes, services }
}

void t.test('whatever gateways enforce is answered once they do', async (t) => {
  const { asked, serves } = await startWorld(t)
  const enforced = { gateways: 1, of: 1 }
  for (const [method, path, body] of [
    ['PATCH', '', { sealed: ['/admin'] }],
    ['POST', '/suspend', {}],
    ['POST', '/activate', {}],
    ['POST', '/go-live', { force: true }],
    ['POST', '/go-back', {}],
    ['PUT', '/policies/session', { idle_seconds: 60, max_session_seconds: 600 }],
  ] as const) {
    const answer = await asked(method, path, body, serves)
    t.match(answer, { status: 200, body: { enforced } }, path)
  }
  t.equal((await asked('DELETE', '', undefined, serves)).status, 204, 'it holds everywhere')
})

void t.test('secrets of machines are known and revoked everywhere by then', async (t) => {
  const { asked, serves, operator } = await startWorld(t)
  const enforced = { gateways: 1, of: 1 }
  const { body: service } = await operator('POST', '/tenants/acme/services', { name: 'CI' })
  const path = `/services/${String(service['service_id'])}`
  const made = await asked('POST', `${path}/secrets`, {}, serves)
  t.match(made, { status: 201, body: { enforced } })
  const gone = `${path}/secrets/${String(made.body['secret_id'])}`
  t.equal((await asked('DELETE', gone, undefined, serves)).status, 204)
  const disabled = await asked('PATCH', path, { is_disabled: true }, serves)
  t.match(disabled, { status: 200, body: { is_disabled: true, enforced } })
  const removed = await asked('DELETE', path, undefined, () => serves(false))
  const left = { service_id: service['service_id'], enforced: { not_durable: ['edge-1'] } }
  t.match(removed, { status: 202, body: left })
})

void t.test(
  'who was sent away, and what was deleted, is taken by no gateway by then',
  async (t) => {
    const { asked, serves, operator, services } = await startWorld(t, 60_000, 'connector')
    const join = async () => {
      const { body } = await operator('POST', '/tenants/acme/connector-tokens', {})
      const program = { name: 'web-1', program: '1.0.0', requestId: '' }
      const joining = { ...program, publicKey: makeKey().publicKey }
      return (await services.connectors.join(String(body['token']), joining)).connectorId
    }
    const [first, second] = [await join(), await join()]
    const enforced = { gateways: 1, of: 1 }
    for (const phase of ['prepare', 'promote'])
      await operator('POST', '/tenants/acme/keys/rotate', { phase, force: true })
    const retire = { phase: 'retire', force: true }
    t.match(await asked('POST', '/keys/rotate', retire, serves), {
      status: 200,
      body: { enforced },
    })
    const revoked = await asked('DELETE', `/connectors/${first}`, undefined, serves)
    t.equal(revoked.status, 204, 'it holds everywhere')
    const forgotten = await asked('DELETE', `/connectors/${second}`, undefined, () => serves(false))
    const left = { connector_id: second, enforced: { ...enforced, not_durable: ['edge-1'] } }
    t.match(forgotten, { status: 202, body: left })
  },
)

void t.test(
  'who does not go by it is named: a gateway that has rejected it above all',
  async (t) => {
    const { asked, serves, raw } = await startWorld(t)
    const forgetful = await asked('POST', '/suspend', {}, () => serves(false))
    t.same(forgetful.body.enforced, { gateways: 1, of: 1, not_durable: ['edge-1'] })
    const removed = await asked('DELETE', '', undefined, async () => raw.socket.terminate())
    const left = { tenant_id: 'acme', enforced: { gateways: 0, of: 0, unreachable: ['edge-1'] } }
    t.match(removed, { status: 202, body: left })

    // it is waited for until the end, so nothing hangs on when its words come
    const hasty = await startWorld(t, 1000)
    const activated = hasty.operator('POST', '/tenants/acme/suspend', {})
    await until(() => hasty.changes() > 1)
    await hasty.rejects()
    await hasty.serves()
    const { body } = await activated
    t.same(body.enforced, { gateways: 0, of: 1, pending: ['edge-1'] })
  },
)

/**
 * Every call that changes something. gateways: what they enforce, so its answer waits for them and
 * says who does. sessions: it ends some or their
 * tokens, and says who refuses them. soon: gateways hear of it, and
 * nothing that was shut is open until they do; the answer waits a quarter of a second. here: it
 * holds with the commit, since only the control plane asks for it.
 */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  gateways: [
    'PATCH /tenants/{tenant_id}',
    'DELETE /tenants/{tenant_id}',
    'POST /tenants/{tenant_id}/publish',
    'POST /tenants/{tenant_id}/suspend',
    'POST /tenants/{tenant_id}/activate',
    'POST /tenants/{tenant_id}/go-live',
    'POST /tenants/{tenant_id}/go-back',
    'PUT /tenants/{tenant_id}/policies/session',
    'PUT /tenants/{tenant_id}/access-rules',
    'PATCH /tenants/{tenant_id}/services/{service_id}',
    'DELETE /tenants/{tenant_id}/services/{service_id}',
    'POST /tenants/{tenant_id}/services/{service_id}/secrets',
    'POST /tenants/{tenant_id}/services/{service_id}/keys',
    'DELETE /tenants/{tenant_id}/services/{service_id}/secrets/{secret_id}',
    'POST /tenants/{tenant_id}/keys/rotate', // retire; a new key waits until gateways have it
    'DELETE /tenants/{tenant_id}/connectors/{connector_id}',
    'DELETE /gateways/{gateway_id}/keys/{key_id}',
    'DELETE /gateways/{gateway_id}',
  ],
  sessions: [
    'PATCH /tenants/{tenant_id}/users/{user_id}',
    'DELETE /tenants/{tenant_id}/users/{user_id}',
    'DELETE /tenants/{tenant_id}/users/{user_id}/connections/{connection_id}',
    'POST /tenants/{tenant_id}/revocations',
    'PUT /tenants/{tenant_id}/groups/{group}/members/{user_id}',
    'PUT /tenants/{tenant_id}/users/{user_id}/attributes',
    'DELETE /tenants/{tenant_id}/groups/{group}/members/{user_id}',
    'POST /tenants/{tenant_id}/device-revocations',
    'POST /tenants/{tenant_id}/devices/{device_id}/revoke',
    'DELETE /tenants/{tenant_id}/devices/{device_id}',
    'PATCH /tenants/{tenant_id}/devices/{device_id}',
    'POST /tenants/{tenant_id}/devices/{device_id}/approve',
  ],
  soon: [
    'PUT /tenants/{tenant_id}/licence', // running sessions go on in every state
    'PUT /tenants/{tenant_id}/plan',
    'PUT /tenants/{tenant_id}/certificates/{hostname}',
    'DELETE /tenants/{tenant_id}/certificates/{hostname}',
    'POST /tenants/{tenant_id}/client-secret/rotate',
  ],
}

void t.test('every call that changes something says whether it waits for gateways', async (t) => {
  const { services } = await startApi(t)
  const rates = createRateLimits(services.clock)
  const told = new Map<string, boolean>()
  for (const { declaration } of apiEndpoints({ ...services, rates })) {
    const { method, path, caller, answers } = declaration
    if (caller !== 'operator' || method === 'GET') continue
    const says = Object.values(answers).some(({ content }) =>
      Object.values(content).some((schema) => 'enforced' in ((schema as Fields)?.entries ?? {})),
    )
    told.set(`${method} ${path.replace('/api/v1/operator', '')}`, says)
  }
  for (const [kind, calls] of Object.entries(CALLS))
    for (const call of calls) {
      t.equal(told.get(call), kind !== 'soon', call)
      told.delete(call)
    }
  for (const [call, says] of told) t.equal(says, false, `${call}: it holds with the commit`)
})

interface Fields {
  readonly entries?: object
}
