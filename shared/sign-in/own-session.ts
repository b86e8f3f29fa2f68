/** What `/service/me` tells of the session that a request has: at the edge and in the middleware. */
import { SECOND_MS } from '../clock.ts'
import type { TokenClaims } from '../enforcement/token.ts'
import type { SignInTenant } from './service-request.ts'

/** Where a person sees and changes all of their account. */
export const accountUrlOf = ({ client }: SignInTenant): string => `${client.issuer}/account`

export function ownSessionOf(tenant: SignInTenant, claims: TokenClaims) {
  const { name, email, sub, sid } = claims
  const endSeconds = Math.min(claims.exp, claims.iat + tenant.sessionRules.sessionSecondsMax)
  return {
    tenant_id: tenant.tenantId,
    user_id: sub,
    sid,
    name,
    email,
    signed_in_at: new Date(claims.authTime * SECOND_MS).toISOString(),
    ends_at: new Date(endSeconds * SECOND_MS).toISOString(),
    account_url: accountUrlOf(tenant),
  }
}

export const wantsPage = (accept: string): boolean => /\btext\/html\b/i.test(accept)
