/** A company that demands the agent on its machines, and the proxy that their browsers go by. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startApplication, startTenant } from './application.ts'
import { startFleet } from './programs.ts'

interface TestScope {
  after(work: () => Promise<void>): void
}

export async function startCompany(t: TestScope) {
  const fleet = await startFleet(t)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'acme', application.origin)
  const policy = { require: 'enrolled' }
  const { status } = await fleet.operator('PUT', '/tenants/acme/policies/device', policy)
  if (status !== 200) throw new Error(`the policy of devices: ${status}`)
  const ports = [Number(new URL(fleet.baseUrl).port), ...fleet.gatewayPorts]
  return { fleet, application, tenant, ports, edge: tenant.edge() }
}

/** Everything but loopback goes to this, which is how a company sets it. */
export async function startCompanyProxy(t: TestScope) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.end('from the proxy')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const pac = `function FindProxyForURL(url, host) { return 'PROXY 127.0.0.1:${port}' }`
  const configUrl = `data:application/x-ns-proxy-autoconfig,${encodeURIComponent(pac)}`
  return { asked, port, configUrl }
}

/** What a page runs to say whether it reaches an address; a prompt that nobody answers keeps it silent. */
export const reaching = (url: string, silentMsMax: number) =>
  `Promise.race([
    fetch('${url}', { mode: 'no-cors' }).then(() => 'there', () => 'blocked'),
    new Promise((resolve) => setTimeout(resolve, ${silentMsMax}, 'blocked')),
  ])`
