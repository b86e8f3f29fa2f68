/** A tenant whose edge is played by a small server, and applications that answer as they like. */
import { createPublicKey } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { jwtVerify } from 'jose'
import { carriedProof, checkPass, probeKeyOf } from '../../../shared/probe.ts'
import { startApi } from '../../support/api.ts'
import { movableClock } from '../../support/control-plane.ts'

export type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

export interface Scene {
  /** What the application does with a request. */
  application: Answer
  /** undefined: the name leads to something that is not our gateway. */
  edgeSecret: string | undefined
  isProtected: boolean
  isApplicationUp: boolean
}

export async function listen(
  t: { teardown(work: () => unknown): void },
  answer: Answer,
): Promise<Server> {
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return server
}

export interface SeenCheck {
  readonly check: string
  readonly status: string
  readonly detail: string
  readonly next_action: string
  readonly source: string
}

/** A published tenant whose edge is played by a small server that keeps the gateway's promise. */
export async function startScene(
  t: Parameters<typeof startApi>[0],
  settings: Record<string, unknown> = {},
) {
  const clock = movableClock(Date.now())
  const scene: Scene = {
    application: (_request, response) => response.writeHead(200).end('hello'),
    edgeSecret: undefined,
    isProtected: false,
    isApplicationUp: true,
  }
  const asked: IncomingMessage[] = []
  const edge = await listen(t, (request, response) => {
    asked.push(request)
    const probe = String(request.headers['x-service-probe'] ?? '')
    const pass = String(request.headers['x-service-probe-pass'] ?? '')
    const key = scene.edgeSecret === undefined ? undefined : probeKeyOf(scene.edgeSecret)
    // of a sealed path it says that nobody is trying it, and opens nothing
    const isSealed = request.url?.includes('internal') === true
    const isOurs = key && !isSealed && checkPass(key, pass, probe, Math.floor(clock.nowMs() / 1000))
    if (isOurs) response.setHeader('X-Service-Probe-Carried', carriedProof(key, probe))
    if (!isOurs && scene.isProtected) return response.writeHead(404).end()
    if (!scene.isApplicationUp) return response.writeHead(502).end()
    return scene.application(request, response)
  })
  const { port } = edge.address() as AddressInfo
  const api = await startApi(t, { clock, edgeUrlFor: (hostname) => `http://${hostname}:${port}` })
  const tenant = await api.tenant('acme', { health: '/healthz', ...settings })
  await api.operator('POST', '/tenants/acme/publish')
  scene.edgeSecret = tenant.client_secret
  const customer = (method: string, what: string, body?: unknown) =>
    api.call(method, `/api/v1/${what}`, body, { key: tenant.analyzer_key })
  const probe = async () => {
    const answer = await customer('POST', 'verify/probe')
    const checks = answer.body['checks'] as SeenCheck[] | undefined
    return {
      ...answer,
      statuses: Object.fromEntries((checks ?? []).map(({ check, status }) => [check, status])),
      check: (name: string) => checks?.find(({ check }) => check === name),
    }
  }
  return { ...api, tenantKeys: tenant, scene, clock, asked, customer, probe, port }
}

/** What the middleware does, in a few lines, as somebody would write it from the specification. */
export function middleware(pems: () => Promise<string[]>): Answer {
  return async (request, response) => {
    const probe = String(request.headers['x-service-probe'] ?? '')
    for (const pem of await pems()) {
      try {
        const options = { algorithms: ['RS256'], audience: 'acme-user', typ: 'service-probe+jwt' }
        const { payload } = await jwtVerify(probe, createPublicKey(pem), options)
        response.setHeader('X-Service-Probe-Reply', String(payload['nonce']))
        return response.writeHead(204).end()
      } catch {
        // the next key
      }
    }
    return response.writeHead(401).end()
  }
}
