/** Judges the platform's probe: the nonce to answer it with when the tenant's key verifies it. */
import { proveJws, type TokenTrust } from '../../../shared/enforcement/token.ts'
import type { TokenReason } from '../../../shared/reasons.ts'
import { PROBE_SECONDS, PROBE_TYPE } from '../../../shared/probe.ts'

const CLOCK_SKEW_SECONDS = 60

type ProbeVerdict =
  | { readonly kind: 'genuine'; readonly nonce: string }
  | { readonly kind: 'refused'; readonly reason: TokenReason | 'probe_refused' }

const REFUSED: ProbeVerdict = { kind: 'refused', reason: 'probe_refused' }

export function judgeProbe(probe: string, trust: TokenTrust, nowSeconds: number): ProbeVerdict {
  const claims = proveJws(probe, trust.keys, (typ) => typ === PROBE_TYPE)
  if (typeof claims === 'string') return { kind: 'refused', reason: claims }
  const { iss, aud, nonce, iat, exp } = claims
  if (iss !== trust.issuer || aud !== trust.audience) return REFUSED
  if (typeof iat !== 'number' || typeof exp !== 'number') return REFUSED
  if (exp + CLOCK_SKEW_SECONDS <= nowSeconds || iat > nowSeconds + CLOCK_SKEW_SECONDS)
    return REFUSED
  if (exp - iat > PROBE_SECONDS) return REFUSED
  if (typeof nonce !== 'string' || !/^[A-Za-z0-9_-]{8,128}$/.test(nonce)) return REFUSED
  return { kind: 'genuine', nonce }
}
