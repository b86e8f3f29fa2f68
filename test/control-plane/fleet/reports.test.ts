/** What gateways report, while it takes long to write it down. */
import t, { type Test } from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import type { FleetHubOptions } from '../../../control-plane/fleet/hub.ts'
import type { EnforcementEvent, UpMessage } from '../../../shared/fleet/snapshot.ts'
import { startControlPlane, until } from '../../support/fleet.ts'
import { connectRaw, type RawGateway } from '../../support/raw-gateway.ts'

/** Nothing is written down until the test says so. */
async function startSlow(t: Test) {
  const begun: string[] = []
  let atOnce = 0
  let atOnceMax = 0
  const written = Promise.withResolvers<void>()
  const write = async (what: string) => {
    begun.push(what)
    atOnceMax = Math.max(atOnceMax, ++atOnce)
    await written.promise
    await new Promise((resolve) => setImmediate(resolve))
    atOnce--
  }
  const receivers: Pick<FleetHubOptions, 'onEvents' | 'onActivity'> = {
    onEvents: (gatewayId: string, [event]: EnforcementEvent[]) =>
      write(`${gatewayId} ${event?.outcome ?? ''}`),
    onActivity: (gatewayId) => write(`${gatewayId} activity`),
  }
  const control = await startControlPlane(t, receivers)
  control.put('ada')
  const join = async (id: string) => {
    const raw = await connectRaw(t, control.port, { id })
    await raw.wait('synced')
    return raw
  }
  return { begun, join, writtenDown: () => written.resolve(), atOnceMax: () => atOnceMax }
}

const eventsOf = (batch: number): UpMessage => ({
  type: 'events',
  batch,
  events: [{ tenant_id: 'ada', outcome: `o${batch}` }],
})
const ACTIVITY: UpMessage = { type: 'activity', sessions: [] }

/** All that it has said so far has been heard. */
async function heard({ socket }: RawGateway) {
  const ponged = new Promise((resolve) => socket.once('pong', resolve))
  socket.ping()
  await ponged
}

t.test('reports of one gateway are written down one after the other', async (t) => {
  const { begun, join, writtenDown, atOnceMax } = await startSlow(t)
  const raw = await join('one')
  for (let batch = 1; batch <= LIMITS.fleetReportsWaitingMax; batch++) raw.send(eventsOf(batch))
  await heard(raw)
  t.same(begun, ['one o1'])
  writtenDown()
  await raw.wait('events_received', LIMITS.fleetReportsWaitingMax)
  t.same(begun, ['one o1', 'one o2', 'one o3', 'one o4'])
  t.equal(atOnceMax(), 1)
})

t.test('who does not wait has its link closed, also when it comes again', async (t) => {
  const { begun, join, writtenDown } = await startSlow(t)
  const raw = await join('one')
  for (let batch = 1; batch <= LIMITS.fleetReportsWaitingMax + 1; batch++) raw.send(eventsOf(batch))
  t.match(await raw.closed, { code: 1008 })
  const again = await join('one')
  again.send(eventsOf(9))
  t.match(await again.closed, { code: 1008 })
  const other = await join('two')
  other.send(eventsOf(1))
  await heard(other)
  t.same(begun, ['one o1', 'two o1'], 'which is nothing to others')
  writtenDown()
  await other.wait('events_received')
  const last = await join('one')
  await until(() => begun.length === LIMITS.fleetReportsWaitingMax + 1)
  last.send(eventsOf(10))
  await last.wait('events_received')
})

t.test('of what it is not told of, what is too much is left out', async (t) => {
  const { begun, join, writtenDown } = await startSlow(t)
  const raw = await join('one')
  for (let sent = 0; sent < LIMITS.fleetActivityWaitingMax + 10; sent++) raw.send(ACTIVITY)
  raw.send(eventsOf(1))
  await heard(raw)
  t.same(begun, ['one activity', 'one o1'], 'and a sign-out waits for none of it')
  writtenDown()
  await until(() => begun.length === LIMITS.fleetActivityWaitingMax + 1)
  await heard(raw)
  t.equal(begun.length, LIMITS.fleetActivityWaitingMax + 1)
  t.equal(raw.socket.readyState, raw.socket.OPEN)
})
