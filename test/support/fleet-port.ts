/** The fleet link of running services, on a port of its own until the test ends. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import type { Services } from '../../control-plane/services/services.ts'

export async function fleetPortOf(t: Test, { fleet }: Pick<Services, 'fleet'>): Promise<number> {
  const server = createServer()
  fleet.attach(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
