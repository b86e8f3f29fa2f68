/** What a tenant's people see of its connectors: how each is doing, and what has become of it. */
import t from 'tap'
import { createConnectorPresence } from '../../../control-plane/connectors/presence.ts'
import { createPresenceEvents } from '../../../control-plane/connectors/presence-events.ts'
import { fromPresence, type ConnectorPresence } from '../../../shared/fleet/connector-presence.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { makeKey, startConnectors } from '../../support/connectors.ts'

const CONNECTORS = '/tenants/acme/connectors'

async function startSeen(t: Parameters<typeof startConnectors>[0]) {
  const world = await startConnectors(t)
  const { services, clock, operator } = world
  const { connectorPresence, jobs } = services
  function says(gatewayId: string, here: Partial<ConnectorPresence>[], gone: string[] = []) {
    connectorPresence.receive(gatewayId, {
      type: 'connectors',
      is_full: false,
      here: here.map((one) => ({
        tenant_id: 'acme',
        connector_id: 'con_1',
        state: 'connected',
        reason: null,
        program: '1.1.0',
        since_seconds: 60,
        known_seconds: null,
        connections: 2,
        in_use: 1,
        requests: 7,
        round_trip_ms: 12,
        last_error: null,
        ...one,
      })),
      gone: gone.map((connector_id) => ({ tenant_id: 'acme', connector_id })),
    })
    return jobs.run()
  }
  async function told(): Promise<string[]> {
    const { items } = await operator('GET', '/tenants/acme/enforcement-events')
    return items.map(({ outcome, reason }) =>
      typeof reason === 'string' && reason !== ''
        ? `${String(outcome)} ${reason}`
        : String(outcome),
    )
  }
  /** Each gateway renews what it has said, as it does every five seconds. */
  async function pass(ms: number, ...gateways: string[]) {
    for (let left = ms; left > 0; left -= 5000) {
      clock.advance(Math.min(5000, left))
      for (const gatewayId of gateways) await says(gatewayId, [])
      if (gateways.length === 0) await jobs.run()
    }
  }
  return { ...world, says, told, pass }
}

void t.test('how each connector is doing, at each gateway', async (t) => {
  const { operator, joined, says, pass, clock } = await startSeen(t)
  const { connector_id } = await joined()
  const listed = async () => (await operator('GET', CONNECTORS)).items[0]
  t.match(await listed(), {
    state: 'disconnected',
    last_seen_at: null,
    program: '1.0.0',
    gateways: [],
  })
  const last_error = { reason: 'refused', age_seconds: 3 }
  const unreachable = { state: 'unreachable', reason: 'refused', known_seconds: 3 } as const
  await says('edge-2', [{ connector_id, ...unreachable, last_error, round_trip_ms: 40 }])
  await says('edge-1', [{ connector_id, known_seconds: 50 }])
  const iso = (ms: number) => new Date(ms).toISOString()
  const nowMs = clock.nowMs()
  const error = { reason: 'refused', at: iso(nowMs - 3000) }
  const common = { program: '1.1.0', connections: 2, in_use: 1, requests: 7 }
  const since = iso(nowMs - 60_000)
  const of1 = { state: 'connected', reason: null, since, round_trip_ms: 12, last_error: null }
  const of2 = { ...unreachable, since, round_trip_ms: 40, last_error: error }
  const { known_seconds: _, ...asSeen } = of2
  t.strictSame(await listed(), {
    connector_id,
    name: 'web-1',
    state: 'unreachable',
    reason: 'refused',
    program: '1.1.0',
    joined_at: iso(nowMs),
    seen_at: iso(nowMs),
    last_seen_at: iso(nowMs),
    requests: 0,
    round_trip_ms: 40,
    last_error: error,
    gateways: [
      { gateway_id: 'edge-1', ...common, ...of1 },
      { gateway_id: 'edge-2', ...common, ...asSeen },
    ],
  })
  await says('edge-2', [], [connector_id])
  await says('edge-1', [], [connector_id])
  await pass(LIMITS.connectorPresenceMs)
  t.match(await listed(), {
    state: 'disconnected',
    last_seen_at: iso(nowMs),
    requests: 0,
    gateways: [],
  })
})

void t.test('its requests are counted over all connections, and none is forgotten', async (t) => {
  const { operator, joined, says, pass, services } = await startSeen(t)
  const { connector_id } = await joined()
  const requests = async () => (await operator('GET', CONNECTORS)).items[0]?.['requests']
  const says1 = (count: number) => says('edge-1', [{ connector_id, requests: count }])
  await says1(40)
  t.equal(await requests(), 0, 'what a gateway says first may have been written down already')
  await says1(47)
  t.equal(await requests(), 7)
  await says('edge-2', [])
  await says('edge-2', [{ connector_id, requests: 3 }])
  t.equal(await requests(), 10)
  await says1(20) // one of its workers has lost it
  await says1(22)
  t.equal(await requests(), 12)
  await says('edge-1', [], [connector_id])
  await says1(1)
  t.equal(await requests(), 13, 'it has come back')
  const written = async () =>
    (await services.store.read.select().from(schema.connectors))[0]?.requests
  t.equal(await written(), 13)
  await pass(5000, 'edge-1', 'edge-2')
  t.equal(await written(), 13, 'once')
  await says1(4)
  t.equal(await requests(), 16)
  await says('edge-1', [], [connector_id])
  await says('edge-2', [], [connector_id])
  await pass(LIMITS.connectorPresenceMs)
  t.equal(await requests(), 16, 'also of one that is gone')
})

void t.test('a connector that comes, loses its application, and is lost', async (t) => {
  const { operator, joined, says, told, pass } = await startSeen(t)
  const { connector_id } = await joined()
  t.same(await told(), ['connector_joined'])
  const { items } = await operator('GET', '/tenants/acme/enforcement-events')
  t.match(items, [{ app_host: 'web-1', instance: connector_id, subject: null }])
  await says('edge-1', [{ connector_id }])
  await says('edge-2', [{ connector_id }])
  t.same((await told()).slice(0, -1), ['connector_connected'], 'to two gateways is one')
  const refused = { state: 'unreachable', reason: 'refused', known_seconds: 0 } as const
  await says('edge-1', [{ connector_id, ...refused }])
  await says('edge-1', [{ connector_id, known_seconds: 0 }])
  t.same((await told()).slice(0, 2), [
    'connector_connected application_reached',
    'connector_unreachable refused',
  ])
  const before = (await told()).length
  await says('edge-1', [], [connector_id])
  await says('edge-2', [], [connector_id])
  await pass(LIMITS.connectorPresenceMs - 1000)
  await says('edge-1', [{ connector_id }])
  t.equal((await told()).length, before, 'it was away for a moment only')
  await says('edge-1', [], [connector_id])
  await pass(LIMITS.connectorPresenceMs)
  t.equal((await told())[0], 'connector_lost')
  await says('edge-1', [{ connector_id }])
  await says('edge-1', [{ connector_id, state: 'draining' }])
  await says('edge-1', [], [connector_id])
  await pass(LIMITS.connectorPresenceMs)
  t.same((await told()).slice(0, 2), ['connector_stopped', 'connector_connected'])
  await operator('DELETE', `${CONNECTORS}/${connector_id}`)
  await pass(LIMITS.connectorPresenceMs)
  t.equal((await told())[0], 'connector_revoked')
})

void t.test('a tool of the tenant learns how many are connected', async (t) => {
  const { tenant, operator, join, services, call } = await startConnectors(t)
  const { analyzer_key: key } = await tenant('globex', { mode: 'connector' })
  const connected = async () =>
    (await call('GET', '/api/v1/integration', undefined, { key })).body['connectors_connected']
  t.equal(await connected(), 0)
  const made = await operator('POST', '/tenants/globex/connector-tokens', {})
  const joined = await join(String(made.body['token']), makeKey().publicKey)
  t.equal(await connected(), 0, 'one that has joined only is not connected')
  const said = { tenant_id: 'globex', connector_id: String(joined.body['connector_id']) }
  for (const [state, count] of [
    ['connected', 1],
    ['unreachable', 1],
    ['draining', 0],
  ] as const) {
    const rest = { state, reason: null, program: '1.1.0', since_seconds: 0, known_seconds: null }
    const counts = { connections: 1, in_use: 0, requests: 0, round_trip_ms: 1, last_error: null }
    services.connectorPresence.receive('edge-1', {
      type: 'connectors',
      is_full: true,
      here: [{ ...said, ...rest, ...counts }],
      gone: [],
    })
    t.equal(await connected(), count, state)
  }
})

void t.test('one that leaves', async (t) => {
  const { joined, signed, says, told, pass } = await startSeen(t)
  const who = await joined()
  await says('edge-1', [{ connector_id: who.connector_id }])
  t.match(await signed('leave', who), { status: 204 })
  await says('edge-1', [], [who.connector_id])
  await pass(LIMITS.connectorPresenceMs)
  t.same(await told(), ['connector_left', 'connector_connected', 'connector_joined'])
})

void t.test('one that comes and goes floods nobody, and its last word is true', async (t) => {
  const { joined, says, told, pass } = await startSeen(t)
  const { connector_id } = await joined()
  for (let count = 0; count < 20; count++) {
    await says('edge-1', [{ connector_id, known_seconds: 0 }])
    await says('edge-1', [{ connector_id, state: 'unreachable', known_seconds: 0 }])
  }
  const { burst, perSecond } = LIMITS.rateConnectorTold
  t.equal((await told()).length, burst + 1, 'and that it has joined')
  await says('edge-1', [{ connector_id, known_seconds: 0 }])
  await pass(1000 / perSecond, 'edge-1')
  t.match((await told())[0], /^connector_connected/)
  t.equal((await told()).length, burst + 2)
})

void t.test('what cannot be written of one tenant keeps nothing from the others', async (t) => {
  const { services, clock, tenant, operator, join } = await startConnectors(t)
  await tenant('globex', { mode: 'connector' })
  const tenants = ['acme', 'globex']
  const ids = new Map<string, unknown>()
  for (const tenantId of tenants) {
    const made = await operator('POST', `/tenants/${tenantId}/connector-tokens`, {})
    const joined = await join(String(made.body['token']), makeKey().publicKey)
    ids.set(tenantId, joined.body['connector_id'])
  }
  const told: string[] = []
  let isBroken = true
  let news: (tenantIds: ReadonlySet<string>) => void = () => undefined
  const { run } = createPresenceEvents({
    store: services.store,
    presence: {
      of: (tenantId) => {
        const said = { tenant_id: tenantId, connector_id: String(ids.get(tenantId)) }
        const rest = {
          state: 'connected',
          reason: null,
          program: '1.1.0',
          since_seconds: 60,
        } as const
        const counts = { known_seconds: null, connections: 2, in_use: 1, requests: 7 }
        const whole = { ...said, ...rest, ...counts, round_trip_ms: 12, last_error: null }
        return [{ ...fromPresence(whole, clock.nowMs()), gatewayId: 'edge-1' }]
      },
      onChange: (listener) => void (news = listener),
      forgetOld: () => undefined,
    },
    tell: async (_change, { tenantId }) => {
      if (isBroken && tenantId === 'acme') throw new Error('no text for a database')
      told.push(tenantId)
    },
    clock,
  })
  news(new Set(tenants))
  await t.rejects(
    run(() => false),
    /no text for a database/,
  )
  t.same(told, ['globex'])
  isBroken = false
  await run(() => false)
  t.same(told, ['globex', 'acme'], 'and it is tried again')
})

void t.test('a gateway that comes with very many tenants leaves others their turns', async (t) => {
  const { services, clock } = await startConnectors(t)
  const presence = createConnectorPresence({ clock })
  const events = createPresenceEvents({ ...services, clock, presence, tell: async () => undefined })
  const run = () => events.run(() => false)
  await run()
  const said = { state: 'connected', reason: null, program: '1.1.0', since_seconds: 1 } as const
  const counts = { known_seconds: 1, connections: 1, in_use: 0, requests: 0, round_trip_ms: 1 }
  const here = Array.from({ length: 200 }, (_, at) => {
    const ids = { tenant_id: `tenant-${at}`, connector_id: `con_${at}` }
    return { ...ids, ...said, ...counts, last_error: null }
  })
  presence.receive('edge-1', { type: 'connectors', is_full: true, here, gone: [] })
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await run()
  isOver = true
  t.ok(turns >= 4)
})
