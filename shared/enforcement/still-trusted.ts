/** What was proven under one state of a tenant, and is looked at under a later one. */
import type { TokenTrust } from './token.ts'

/** The proof was made with a key that the tenant still has, and for the same two names. */
export function isStillTrusted(token: string, before: TokenTrust, now: TokenTrust): boolean {
  if (before === now) return true
  if (before.issuer !== now.issuer || before.audience !== now.audience) return false
  const kid = kidOf(token)
  const [keyBefore, keyNow] = [before.keys.get(kid), now.keys.get(kid)]
  return keyBefore !== undefined && keyNow !== undefined && keyBefore.equals(keyNow)
}

function kidOf(token: string): string {
  const header = Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString()
  return (JSON.parse(header) as { kid: string }).kid
}
