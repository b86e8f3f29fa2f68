/**
 * What arrives without TLS where we have TLS of our own: nobody signs in there. Authorities that ask
 * for a proof of our name are answered, health is told, and everything else is sent to the address
 * that all have; what comes from this machine, or through a proxy that we trust, is as it ever was.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { TLSSocket } from 'node:tls'
import { challengeAnswer } from '../../shared/acme-challenge.ts'
import { withoutMapping } from '../../shared/client-address.ts'
import { isLoopback, networkList } from '../../shared/networks.ts'

/** True: it was answered. */
export type SendToTls = (
  request: IncomingMessage,
  response: ServerResponse,
  peerAddress: string,
) => boolean

interface WithoutTlsOptions {
  readonly baseUrl: string
  /** Of the account that our certificate is ordered with; undefined: none is. */
  readonly thumbprint: string | undefined
  readonly trustedProxies: readonly string[]
}

export function createSendToTls(options: WithoutTlsOptions): SendToTls {
  const { baseUrl, thumbprint } = options
  const { hostname } = new URL(baseUrl)
  const isTrusted = networkList(options.trustedProxies)

  function answerOf({ method, url = '', headers }: IncomingMessage): string | undefined {
    const host = (headers.host ?? '').toLowerCase().replace(/:\d+$/, '')
    if (thumbprint === undefined || method !== 'GET' || host !== hostname) return undefined
    return challengeAnswer(url, thumbprint)
  }

  return (request, response, peerAddress) => {
    if (request.socket instanceof TLSSocket) return false
    const answer = answerOf(request)
    if (answer !== undefined) {
      response.writeHead(200, { 'Content-Type': 'text/plain', 'Cache-Control': 'no-store' })
      response.end(answer)
      return true
    }
    const isHere = peerAddress === withoutMapping(request.socket.localAddress ?? '')
    if (isHere || isLoopback(peerAddress) || isTrusted(peerAddress)) return false
    const { url = '' } = request
    if (/^\/health(?:\/|$)/.test(url)) return false
    // a target in another form would name a place of its own
    const Location = baseUrl + (/^\/[\x21-\x7e]*$/.test(url) ? url : '/')
    response.writeHead(308, { Location, 'Content-Length': 0, Connection: 'close' })
    response.end()
    return true
  }
}
