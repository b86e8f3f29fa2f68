/** Answers the platform's probe: 204 with its nonce when the tenant's key verifies it, else 401. */
import { proveJws } from '../../../shared/enforcement/token.ts'
import { PROBE_SECONDS, PROBE_TYPE } from '../../../shared/probe.ts'
import type { PublicKeys } from './public-keys.ts'

export interface ProbeAnswer {
  readonly kind: 'probe'
  readonly status: 204 | 401
  /** The nonce, or '' for a probe that nobody of ours signed. */
  readonly reply: string
}

const REFUSED: ProbeAnswer = { kind: 'probe', status: 401, reply: '' }
const CLOCK_SKEW_SECONDS = 60

export async function answerProbe(
  probe: string,
  world: { audience: string; keys: PublicKeys; nowMs: () => number },
): Promise<ProbeAnswer> {
  const isProbe = (typ: unknown) => typ === PROBE_TYPE
  let claims = proveJws(probe, await world.keys.current(), isProbe)
  if (claims === 'key_unknown') claims = proveJws(probe, await world.keys.refresh(), isProbe)
  if (typeof claims === 'string') return REFUSED
  const { aud, nonce, iat, exp } = claims
  const nowSeconds = Math.floor(world.nowMs() / 1000)
  if (aud !== world.audience) return REFUSED
  if (typeof iat !== 'number' || typeof exp !== 'number') return REFUSED
  if (exp + CLOCK_SKEW_SECONDS <= nowSeconds || iat > nowSeconds + CLOCK_SKEW_SECONDS)
    return REFUSED
  if (exp - iat > PROBE_SECONDS) return REFUSED
  if (typeof nonce !== 'string' || !/^[A-Za-z0-9_-]{8,128}$/.test(nonce)) return REFUSED
  return { kind: 'probe', status: 204, reply: nonce }
}
