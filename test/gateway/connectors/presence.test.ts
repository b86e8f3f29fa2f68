/** What a worker knows of its connectors, as it tells the primary. */
import t from 'tap'
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
