/** HTTP-01 (RFC 8555 section 8.3), as gateways answer it and control planes ask for it. */

export const CHALLENGE_PATH = '/.well-known/acme-challenge/'

const TOKEN = /^[A-Za-z0-9_-]{1,128}$/

/** What the account of this thumbprint answers there; undefined: no path of a challenge. */
export function challengeAnswer(target: string, thumbprint: string): string | undefined {
  if (!target.startsWith(CHALLENGE_PATH)) return undefined
  const token = target.slice(CHALLENGE_PATH.length)
  return TOKEN.test(token) ? `${token}.${thumbprint}` : undefined
}
