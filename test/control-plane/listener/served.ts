/** The public listener on a real socket, before a handler that a test brings along. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { createPublicServer, type ServerWorld } from '../../../control-plane/server.ts'
import { systemClock } from '../../../shared/clock.ts'

export const REALM = '/auth/realms/acme'

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

export async function startListener(
  t: { teardown(work: () => unknown): void },
  handle: Handler,
  world: Partial<ServerWorld> = {},
) {
  const lines: Record<string, unknown>[] = []
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as never) })
  const server = createPublicServer({
    app: { fetch: () => new Response('') } as never,
    realms: { handle: async (request, response) => handle(request, response) },
    log,
    clock: systemClock,
    ...world,
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { server, port, lines, url: `http://127.0.0.1:${port}${REALM}` }
}
