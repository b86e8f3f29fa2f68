/** A tenant's application that records what reaches it. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Fleet } from './programs.ts'

export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
}

export async function startApplication(t: { after(work: () => Promise<void>): void }) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const { method = '', url = '', headers, rawHeaders } = request
    received.push({ method, url, headers, rawHeaders })
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.end(`application: ${url} user=${String(headers['x-service-user'] ?? 'nobody')}`)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { origin: `http://127.0.0.1:${port}`, received }
}

/** The fields of a tenant that a test does not care about. */
export function tenantBody(tenantId: string, origin: string, more: Record<string, unknown> = {}) {
  return {
    tenant_id: tenantId,
    name: `Tenant ${tenantId}`,
    mode: 'gateway',
    plan: 'standard',
    hostnames: [`${tenantId}.localhost`],
    origin,
    sealed: ['/admin'],
    excluded: ['/health'],
    health: '/health',
    max_session_seconds: 3600,
    idle_seconds: 900,
    session_binding: 'off',
    ...more,
  }
}

/** A live tenant with one user, created as an operator would. */
export async function startTenant(
  fleet: Fleet,
  tenantId: string,
  origin: string,
  more: Record<string, unknown> = {},
) {
  const created = await fleet.operator('POST', '/tenants', tenantBody(tenantId, origin, more))
  if (created.status !== 201) throw new Error(`${created.status} ${JSON.stringify(created.body)}`)
  const ada = await addUser(fleet, tenantId, 'ada')
  for (const step of ['publish', 'go-live']) {
    const body = step === 'go-live' ? { force: true } : undefined
    const { status } = await fleet.operator('POST', `/tenants/${tenantId}/${step}`, body)
    if (status !== 200) throw new Error(`${step}: ${status}`)
  }
  await fleet.settled()
  return {
    ...(created.body as unknown as {
      client_id: string
      client_secret: string
      analyzer_key: string
    }),
    tenantId,
    ada,
    edge: (gateway = 0) => fleet.edge(`${tenantId}.localhost`, gateway),
    host: `${tenantId}.localhost`,
  }
}

export const PASSWORD = 'correct horse battery staple'

export async function addUser(fleet: Fleet, tenantId: string, username: string): Promise<string> {
  const { status, body } = await fleet.operator('POST', `/tenants/${tenantId}/users`, {
    username,
    email: `${username}@example.test`,
    name: `${username} of ${tenantId}`,
    password: PASSWORD,
  })
  if (status !== 201) throw new Error(`user: ${status} ${JSON.stringify(body)}`)
  return body['user_id'] as unknown as string
}
