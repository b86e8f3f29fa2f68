/** What a worker knows of its connectors, as it tells the primary. */
import t from 'tap'
import type { Member } from '../../../gateway/connectors/member.ts'
import { createPresence } from '../../../gateway/connectors/presence.ts'
import type { ConnectorNews } from '../../../shared/fleet/connector-presence.ts'
import { ask, dialIn, newConnectorKeys, openDoor } from '../../support/dialled-in.ts'
import { until } from '../../support/fleet.ts'
import { freePort } from '../../support/ports.ts'
import { startOrigin } from '../../support/wire.ts'

t.test('connected, asked, no longer reaching its application, gone', async (t) => {
  const origin = await startOrigin(t)
  const reports: ConnectorNews[] = []
  const door = await openDoor(t, { report: (report) => void reports.push(report) })
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  const connector = dialIn(t, door, keys, { origin: origin.url })
  await connector.until('connected')
  await until(() => reports.length === 1)
  t.match(reports[0], {
    here: [{ tenantId: 'acme', connectorId: 'con_1', state: 'connected', requests: 0 }],
    gone: [],
  })
  for (let count = 0; count < 3; count++) await ask(door.upstream)
  const [{ member } = { member: undefined }] = door.connectors.present()
  t.equal(member?.requests, 3, 'on one connection')
  await until(() => member?.roundTripMs !== null)
  t.ok(member!.roundTripMs! >= 0)
  connector.tunnel.close()
  await until(() => reports.some(({ gone }) => gone.length === 1))
  t.match(reports.at(-1)?.gone, [{ tenantId: 'acme', connectorId: 'con_1' }])
  t.equal(member?.requests, 3, 'what its connections have answered stays counted')
  t.match(reports.at(-2)?.here, [{ connectorId: 'con_1', requests: 3 }], 'and is told before')
})

t.test('an application that refuses is told at once, with its reason', async (t) => {
  const reports: ConnectorNews[] = []
  const door = await openDoor(t, { report: (report) => void reports.push(report) })
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  const connector = dialIn(t, door, keys, { origin: `http://127.0.0.1:${await freePort()}` })
  await connector.until('connected')
  t.match(await ask(door.upstream), { failure: 'upstream_refused' })
  const told = () => reports.flatMap(({ here }) => here).find((one) => one.state === 'unreachable')
  await until(() => told() !== undefined)
  t.match(told(), { reason: 'refused', lastError: { reason: 'refused' } })
})

t.test('of those that are looked at only what is new is gone into, whatever it is', async (t) => {
  const memberOf = (connectorId: string) => ({
    ...{ tenantId: 'acme', connectorId, program: '1.0.0', reason: null as string | null },
    ...{ sinceMs: 1, knownMs: null as number | null, isDraining: false, isReached: true },
    ...{ connections: 1, inUse: 0, requests: 0, roundTripMs: 20 as number | null },
    lastError: null as Member['lastError'],
  })
  const [idle, changing] = [memberOf('con_idle'), memberOf('con_changing')]
  const found: string[] = []
  const reports: ConnectorNews[] = []
  const presence = createPresence({
    find({ connectorId }) {
      found.push(connectorId)
      return (connectorId === 'con_idle' ? idle : changing) as unknown as Member
    },
    report: (report) => void reports.push(report),
  })
  t.teardown(() => presence.close())
  const look = () => {
    for (const member of [idle, changing]) presence.look(member as unknown as Member)
  }
  look()
  await until(() => reports.length === 1)
  t.equal(reports[0]!.here.length, 2, 'nothing was told yet')
  const changes: Partial<typeof idle>[] = [
    { program: '1.0.1' },
    { reason: 'refused', isReached: false },
    { sinceMs: 2 },
    { knownMs: 3 },
    { connections: 2 },
    { inUse: 1 },
    { requests: 1 },
    { roundTripMs: 26 },
    { roundTripMs: null },
    { lastError: { reason: 'refused', atMs: 4 } },
    { isDraining: true },
  ]
  for (const [at, change] of changes.entries()) {
    found.length = 0
    Object.assign(changing, change)
    look()
    await until(() => reports.length === at + 2)
    t.same(found, ['con_changing'], JSON.stringify(change))
  }
  found.length = 0
  Object.assign(changing, { roundTripMs: 20 })
  look()
  await until(() => reports.length === changes.length + 2)
  Object.assign(changing, { roundTripMs: 24 })
  look()
  t.same(found, ['con_changing'], 'a little later is as told')
})
