/** A key that comes along in `Authorization`. */
import { LIMITS } from '../../shared/limits.ts'
import type { ApiContext } from './context.ts'

/**
 * The scheme in any case, exactly one token behind it. RFC 6750, section 2.1 allows fewer
 * characters, but an operator may set a key of any visible ones, and has to get in with it.
 */
export function bearerOf(c: ApiContext): string | undefined {
  const match = /^Bearer ([\x21-\x7e]+)$/i.exec(c.req.header('authorization') ?? '')
  return boundedSecret(match?.[1])
}

export function boundedSecret(secret: string | undefined): string | undefined {
  return secret !== undefined && secret.length <= LIMITS.secretCharactersMax ? secret : undefined
}
