/**
 * For applications behind the edge (gateway and connector mode): believes nothing but a signature.
 * A request carries its user in `X-Service-Claims`, signed with the tenant's key; whatever does not
 * verify is refused. Answers the platform's probes on the way.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { judgeTimes, proveToken, type TokenClaims } from '../../../shared/enforcement/token.ts'
import { createPublicKeys } from './public-keys.ts'
import { answerProbe } from './probe.ts'

export interface VerifyClaimsOptions {
  readonly tenantId: string
  readonly baseUrl: string
  readonly publicKeyFile?: string
  readonly fetch?: typeof fetch
  readonly nowMs?: () => number
}

export type ClaimsVerdict =
  | { readonly kind: 'verified'; readonly claims: TokenClaims }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'probe'; readonly status: 204 | 401; readonly reply: string }

export interface ClaimsVerifier {
  verify(headers: IncomingHttpHeaders): Promise<ClaimsVerdict>
  /**
   * For `node:http` and everything that takes `(request, response, next)`. Verified claims are at
   * `request.serviceClaims`.
   */
  middleware(
    request: IncomingMessage & { serviceClaims?: TokenClaims },
    response: ServerResponse,
    next: () => void,
  ): void
}

/** The edge enforces the tenant's own maximum; a token's `exp` is the bound here. */
const SESSION_SECONDS_MAX = Number.MAX_SAFE_INTEGER / 2

export function verifyClaims(options: VerifyClaimsOptions): ClaimsVerifier {
  const baseUrl = options.baseUrl.replace(/\/+$/, '')
  const issuer = `${baseUrl}/auth/realms/${options.tenantId}`
  const audience = `${options.tenantId}-user`
  const nowMs = options.nowMs ?? Date.now
  const keys = createPublicKeys({
    ...options,
    ...(options.publicKeyFile === undefined
      ? { url: `${baseUrl}/tenants/${options.tenantId}/public-key` }
      : { file: options.publicKeyFile }),
  })

  async function verify(headers: IncomingHttpHeaders): Promise<ClaimsVerdict> {
    const probe = headers['x-service-probe']
    if (typeof probe === 'string') return answerProbe(probe, { audience, keys, nowMs })
    const token = headers['x-service-claims']
    if (typeof token !== 'string') return { kind: 'refused', reason: 'no_claims' }
    let claims = proveToken(token, { issuer, audience, keys: await keys.current() })
    if (claims === 'key_unknown')
      claims = proveToken(token, { issuer, audience, keys: await keys.refresh() })
    if (typeof claims === 'string') return { kind: 'refused', reason: claims }
    const reason = judgeTimes(claims, Math.floor(nowMs() / 1000), SESSION_SECONDS_MAX)
    return reason === undefined ? { kind: 'verified', claims } : { kind: 'refused', reason }
  }

  return {
    verify,
    middleware(request, response, next) {
      verify(request.headers).then(
        (verdict) => {
          if (verdict.kind === 'verified') {
            request.serviceClaims = verdict.claims
            return next()
          }
          if (verdict.kind === 'probe')
            return void response
              .writeHead(verdict.status, { 'X-Service-Probe-Reply': verdict.reply })
              .end()
          refuse(response, 401, verdict.reason)
        },
        () => refuse(response, 503, 'keys_unavailable'),
      )
    },
  }
}

function refuse(response: ServerResponse, status: 401 | 503, reason: string) {
  const body = JSON.stringify({ error: reason, detail: 'This request was not signed in.' })
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
  response.end(body)
}
