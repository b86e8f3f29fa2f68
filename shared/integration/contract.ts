/** The integration contract: the names that applications and tools may rely on. No tenant values. */
import { FRAMEWORKS, snippets } from './snippets.ts'

/** Where an application keeps the tenant's public keys, unless told otherwise. */
export const PEM_FILENAME = 'service_public.pem'

export function integrationContract(baseUrl: string) {
  return {
    contract_version: '1.0',
    transport: {
      session_cookie: 'service_session',
      claims_header: 'X-Service-Claims',
      user_header: 'X-Service-User',
      verified_header: 'X-Service-Verified',
      algorithm: 'RS256',
    },
    public_key: { path: '/api/v1/public-key', filename: PEM_FILENAME },
    packages: { cli_binary: 'service-analyzer' },
    frameworks: FRAMEWORKS,
    snippets: snippets(baseUrl),
  }
}
