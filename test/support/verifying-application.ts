/**
 * A tenant's application as somebody writes it from the specification: it answers probes, and
 * believes the signature on the claims and nothing else. Its clock may be off.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createLocalJWKSet,
  jwtVerify,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyOptions,
} from 'jose'

const TOLERATED_SECONDS = 60

export interface VerifyingApplication {
  readonly origin: string
  /** Seconds that its clock is ahead of the true one. */
  clockAheadSeconds: number
  /** undefined: what it does with somebody whom it has verified. */
  answer: ((request: IncomingMessage, response: ServerResponse) => unknown) | undefined
  /** Who has been verified, in order. */
  readonly seen: { readonly sub: string; readonly url: string }[]
}

export async function startVerifyingApplication(
  t: { after(work: () => Promise<void>): void },
  { tenantId, baseUrl }: { readonly tenantId: string; readonly baseUrl: string },
): Promise<VerifyingApplication> {
  const audience = `${tenantId}-user`
  const keys = async () => {
    const answer = await fetch(`${baseUrl}/tenants/${tenantId}/public-key`)
    return createLocalJWKSet((await answer.json()) as JSONWebKeySet)
  }
  const now = () => new Date(Date.now() + application.clockAheadSeconds * 1000)

  /** What the keys verify; undefined where they do not, or where it is from the future. */
  async function verify(token: string, options: JWTVerifyOptions) {
    const rules = { audience, currentDate: now(), ...options }
    const verified = await jwtVerify(token, await keys(), rules).catch(() => undefined)
    const isFuture = Number(verified?.payload.iat) > now().getTime() / 1000 + TOLERATED_SECONDS
    return isFuture ? undefined : verified?.payload
  }

  async function serve(request: IncomingMessage, response: ServerResponse) {
    response.setHeader('Date', now().toUTCString())
    const probe = request.headers['x-service-probe']
    if (typeof probe === 'string') {
      const options = { typ: 'service-probe+jwt', clockTolerance: TOLERATED_SECONDS }
      const claims = await verify(probe, options)
      response.setHeader('X-Service-Probe-Reply', nonceOf(claims))
      return response.writeHead(claims === undefined ? 401 : 204).end()
    }
    const token = String(request.headers['x-service-claims'] ?? '')
    const claims = await verify(token, { issuer: `${baseUrl}/auth/realms/${tenantId}` })
    if (claims === undefined) return response.writeHead(401).end('who are you?')
    application.seen.push({ sub: String(claims.sub), url: request.url ?? '' })
    if (application.answer !== undefined) return application.answer(request, response)
    return response.writeHead(200, { 'Content-Type': 'text/plain' }).end('hello')
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.writeHead(500).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const application: VerifyingApplication = {
    origin: `http://127.0.0.1:${port}`,
    clockAheadSeconds: 0,
    answer: undefined,
    seen: [],
  }
  return application
}

function nonceOf(claims: JWTPayload | undefined): string {
  const nonce = claims?.['nonce']
  return typeof nonce === 'string' ? nonce : ''
}
