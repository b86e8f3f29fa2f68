/** Which connectors are at a gateway, as the control plane is told. */
import t, { type Test } from 'tap'
import { createConnectorOutbox } from '../../../gateway/fleet/connector-outbox.ts'
import type { ConnectorHere, ConnectorsMessage } from '../../../shared/fleet/connector-presence.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { createTestLog, until } from '../../support/fleet.ts'

function here(of: Partial<ConnectorHere> = {}): ConnectorHere {
  return {
    tenantId: 'acme',
    connectorId: 'con_1',
    state: 'connected',
    reason: null,
    program: '1.0.0',
    sinceMs: 0,
    knownMs: 0,
    connections: 1,
    inUse: 0,
    requests: 0,
    roundTripMs: null,
    lastError: null,
    ...of,
  }
}

function startOutbox(t: Test, renewMs = 3_600_000) {
  const clock = movableClock()
  const { log, lines } = createTestLog()
  const sent: ConnectorsMessage[] = []
  let isConnected = true
  const outbox = createConnectorOutbox({
    clock,
    log,
    renewMs,
    send(message) {
      if (isConnected) sent.push(message)
      return isConnected
    },
  })
  t.teardown(() => outbox.close())
  return { outbox, clock, sent, lines, setConnected: (is: boolean) => (isConnected = is) }
}

t.test('what a connector has answered last is told before it begins anew or is gone', async (t) => {
  const { outbox, sent } = startOutbox(t)
  const worker = {}
  outbox.add(worker, { here: [here({ requests: 3 })], gone: [] })
  outbox.add(worker, { here: [here({ requests: 8 })], gone: [] })
  outbox.add(worker, { here: [here({ requests: 1 })], gone: [] })
  outbox.add(worker, { here: [], gone: [here()] })
  await until(() => sent.length === 3)
  t.match(sent, [
    { here: [{ requests: 8 }] },
    { here: [{ requests: 1 }] },
    { here: [], gone: [{ connector_id: 'con_1' }] },
  ])
})

t.test('several workers of a gateway are one', async (t) => {
  const { outbox, clock, sent } = startOutbox(t)
  const [one, two] = [{}, {}]
  const nowMs = clock.nowMs()
  const known = { sinceMs: nowMs - 60_000, knownMs: nowMs - 50_000 }
  outbox.add(one, { here: [here({ ...known, requests: 3, roundTripMs: 4 })], gone: [] })
  const lastError = { reason: 'refused', atMs: nowMs - 9000 }
  const lost = { state: 'unreachable', reason: 'refused', lastError } as const
  const latest = { sinceMs: nowMs - 9000, knownMs: nowMs - 9000, connections: 2, inUse: 1 }
  outbox.add(two, {
    here: [here({ ...lost, ...latest, requests: 2, roundTripMs: 9 })],
    gone: [],
  })
  await until(() => sent.length === 1)
  t.strictSame(sent, [
    {
      type: 'connectors',
      is_full: true,
      here: [
        {
          tenant_id: 'acme',
          connector_id: 'con_1',
          state: 'unreachable',
          reason: 'refused',
          program: '1.0.0',
          since_seconds: 9,
          known_seconds: 9,
          connections: 3,
          in_use: 1,
          requests: 5,
          round_trip_ms: 9,
          last_error: { reason: 'refused', age_seconds: 9 },
        },
      ],
      gone: [],
    },
  ])
  outbox.add(two, null)
  await until(() => sent.length === 2)
  t.match(sent[1], { is_full: false, here: [{ state: 'connected', requests: 3 }], gone: [] })
  outbox.add(one, { here: [here({ state: 'draining' })], gone: [] })
  outbox.add(two, { here: [here()], gone: [] })
  await until(() => sent.length === 3)
  t.match(sent[2]?.here, [{ state: 'connected' }], 'one worker still may use it')
  outbox.add(one, { here: [], gone: [{ tenantId: 'acme', connectorId: 'con_1' }] })
  outbox.add(two, null)
  await until(() => sent.length === 4)
  t.match(sent[3], { here: [], gone: [{ tenant_id: 'acme', connector_id: 'con_1' }] })
})

t.test('what has changed is told, the rest is renewed, and a new link hears it all', async (t) => {
  const { outbox, sent, setConnected } = startOutbox(t, 5)
  outbox.connected()
  t.same(sent, [], 'a gateway without connectors says nothing')
  outbox.add({}, { here: [here(), here({ connectorId: 'con_2' })], gone: [] })
  await until(() => sent.length >= 3)
  t.match(sent[0], { is_full: true, here: { length: 2 } })
  for (const message of sent.slice(1)) t.match(message, { is_full: false, here: [], gone: [] })
  setConnected(false)
  outbox.add({}, { here: [here({ connectorId: 'con_3' })], gone: [] })
  setConnected(true)
  sent.length = 0
  outbox.connected()
  t.match(sent[0], { is_full: true, here: { length: 3 } })
})

t.test('as many as fit in a message, and no more than a gateway may have', async (t) => {
  const { outbox, sent, lines } = startOutbox(t)
  const { connectorsReportedAtOnceMax: atOnce, connectorsReportedMax: most } = LIMITS
  const all = Array.from({ length: most + 1 }, (_, at) => here({ connectorId: `con_${at}` }))
  outbox.add({}, { here: all, gone: [] })
  await until(() => sent.length === Math.ceil(most / atOnce))
  t.ok(sent.every((message) => message.here.length <= atOnce))
  t.equal(sent.flatMap((message) => message.here).length, most)
  t.same(
    sent.map(({ is_full }) => is_full),
    sent.map((_, at) => at === 0),
  )
  t.match(lines, [{ msg: 'too many connectors, the control plane is not told of all' }])
})
