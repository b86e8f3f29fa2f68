/** Several control planes in this process on one database, each with a fleet listener. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openServer } from '../../control-plane/store/engines/server.ts'
import type { Services } from '../../control-plane/services/services.ts'
import { systemClock } from '../../shared/clock.ts'
import { createTestLog, type LogLine } from './fleet.ts'
import { startServices, type ServicesOptions } from './control-plane.ts'
import type { Teardown } from './postgres.ts'

const MASTER_KEY = Buffer.alloc(32, 7)

export interface TestNode {
  readonly services: Services
  readonly lines: LogLine[]
  readonly fleetPort: number
}

export async function startNode(
  t: Teardown,
  url: string,
  options: ServicesOptions = {},
): Promise<TestNode> {
  const { engine } = await openServer(url)
  const { log, lines } = createTestLog()
  const shared = { engine, masterKey: MASTER_KEY, clock: systemClock, log }
  const services = await startServices(t, { ...shared, enforceMsMax: 60_000, ...options })
  const server = createServer((_request, response) => response.writeHead(404).end())
  services.fleet.attach(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { services, lines, fleetPort: (server.address() as AddressInfo).port }
}
