/** The API and the realms on a real socket, in this process, at the address that they tell. */
import { pino } from 'pino'
import { createPublicServer } from '../../control-plane/server.ts'
import { startApi } from './api.ts'
import type { ServicesOptions } from './control-plane.ts'
import { freePort } from './ports.ts'

export async function startPublicServer(
  t: Parameters<typeof startApi>[0],
  options: ServicesOptions = {},
) {
  const port = await freePort()
  const baseUrl = `http://127.0.0.1:${port}`
  const api = await startApi(t, { ...options, baseUrl })
  const { realms, clock } = api.services
  const log = options.log ?? pino({ level: 'silent' })
  const server = createPublicServer({
    app: api.app,
    realms,
    log,
    clock,
    trustedProxies: options.trustedProxies,
    tracing: api.services.tracing,
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { ...api, baseUrl, port }
}
