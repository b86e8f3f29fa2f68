/**
 * A tenant's application as somebody writes it from the specification: it answers probes, and
 * believes the signature on the claims and nothing else. Its clock may be off.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose'

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

  async function serve(request: IncomingMessage, response: ServerResponse) {
    response.setHeader('Date', now().toUTCString())
    const probe = request.headers['x-service-probe']
    if (typeof probe === 'string') {
      const options = { audience, typ: 'service-probe+jwt', currentDate: now(), clockTolerance: 60 }
      const verified = await jwtVerify(probe, await keys(), options).catch(() => undefined)
      response.setHeader('X-Service-Probe-Reply', nonceOf(verified?.payload))
      return response.writeHead(verified === undefined ? 401 : 204).end()
    }
    const token = String(request.headers['x-service-claims'] ?? '')
    const options = { audience, issuer: `${baseUrl}/auth/realms/${tenantId}`, currentDate: now() }
    const verified = await jwtVerify(token, await keys(), options).catch(() => undefined)
    const isFuture = Number(verified?.payload.iat) > now().getTime() / 1000 + 60
    if (verified === undefined || isFuture) return response.writeHead(401).end('who are you?')
    application.seen.push({ sub: String(verified.payload.sub), url: request.url ?? '' })
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
