/** What the service signs for this application and for a minute or two: probes, and its own word. */
import { proveJws, type TokenTrust } from '../../../shared/enforcement/token.ts'
import type { TokenReason } from '../../../shared/reasons.ts'
import { PROBE_SECONDS, PROBE_TYPE } from '../../../shared/probe.ts'

const CLOCK_SKEW_SECONDS = 60

/** The claims of a JWT of this very type, or why it is not to be believed. */
export function proveWord(
  word: string,
  trust: TokenTrust,
  nowSeconds: number,
  { type, secondsMax }: { readonly type: string; readonly secondsMax: number },
): Record<string, unknown> | TokenReason | 'refused' {
  const claims = proveJws(word, trust.keys, (typ) => typ === type)
  if (typeof claims === 'string') return claims
  const { iss, aud, iat, exp } = claims
  if (iss !== trust.issuer || aud !== trust.audience) return 'refused'
  if (typeof iat !== 'number' || typeof exp !== 'number' || exp - iat > secondsMax) return 'refused'
  const isOfNow = exp + CLOCK_SKEW_SECONDS > nowSeconds && iat <= nowSeconds + CLOCK_SKEW_SECONDS
  return isOfNow ? claims : 'refused'
}

const PROBE = { type: PROBE_TYPE, secondsMax: PROBE_SECONDS }

/** The nonce to answer the platform's probe with when the tenant's key verifies it. */
export function judgeProbe(
  probe: string,
  trust: TokenTrust,
  nowSeconds: number,
): { readonly nonce: string } | TokenReason | 'refused' {
  const claims = proveWord(probe, trust, nowSeconds, PROBE)
  if (typeof claims === 'string') return claims
  const { nonce } = claims
  return typeof nonce === 'string' && /^[A-Za-z0-9_-]{8,128}$/.test(nonce) ? { nonce } : 'refused'
}
