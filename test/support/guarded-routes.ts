/** What the routes of guarded-apps.ts answer, whatever framework calls them. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { TokenClaims } from '../../shared/enforcement/token.ts'

export type Claimed = IncomingMessage & { serviceClaims?: TokenClaims | undefined }

export interface GuardedApp {
  readonly server: Server
  close(): Promise<void>
}

export const DOWNLOAD_BYTES = 1024 * 1024

/** Node's own view of a request, which every framework hands out as well. */
export function whoOf(request: Claimed, shown: IncomingMessage['headers'] = request.headers) {
  return {
    user: request.serviceClaims?.sub ?? null,
    url: request.url,
    headers: shown,
    rawHeaders: request.rawHeaders,
    distinct: request.headersDistinct,
  }
}

export function pieces(): Readable {
  const piece = Buffer.alloc(64 * 1024, 'x')
  return Readable.from(Array.from({ length: DOWNLOAD_BYTES / piece.length }, () => piece))
}

export async function trailersOf(request: IncomingMessage) {
  await countBytes(request)
  const { trailers, trailersDistinct, rawTrailers } = request
  return { trailers, trailersDistinct, rawTrailers }
}

export async function countBytes(body: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0
  for await (const chunk of body) bytes += chunk.length
  return bytes
}

export const OWN_COOKIES = ['mine=1; Path=/', 'yours=2; Path=/']

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0] ?? ''
}

export function cacheOf(url: string | undefined): string | null {
  return new URL(url ?? '/', 'http://host.invalid').searchParams.get('cache')
}

/** Also what other frameworks are put around. */
export function nodeListener(request: Claimed, response: ServerResponse): void {
  switch (pathOf(request)) {
    case '/who':
      response.setHeader('Content-Type', 'application/json')
      return void response.end(JSON.stringify(whoOf(request)))
    case '/cookies': {
      const cache = cacheOf(request.url)
      const fields = { 'Set-Cookie': OWN_COOKIES, ...(cache && { 'Cache-Control': cache }) }
      return void response.writeHead(200, fields).end('cookies')
    }
    case '/upload':
      return void countBytes(request).then((bytes) => response.end(String(bytes)))
    case '/trailers':
      return void trailersOf(request).then((seen) => response.end(JSON.stringify(seen)))
    case '/download':
      return void pieces().pipe(response)
    case '/error':
      return void response.writeHead(500).end('the application’s own')
    default:
      response.writeHead(404).end('nothing here')
  }
}
