/** Time-based one-time passwords (RFC 6238) as every authenticator app computes them. */
import { Secret, TOTP } from 'otpauth'

const PERIOD_SECONDS = 30
const DIGITS = 6
/** One step before and behind: clocks of phones are a little off, and typing takes a moment. */
const WINDOW_STEPS = 1

export function newSeed(): string {
  return new Secret({ size: 20 }).base32
}

/** The step that the code belongs to, or nothing. That each is taken once is for the store. */
export function stepOf(seed: string, code: string, nowMs: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const delta = totp(seed).validate({ token: code, timestamp: nowMs, window: WINDOW_STEPS })
  if (delta === null) return undefined
  return TOTP.counter({ period: PERIOD_SECONDS, timestamp: nowMs }) + delta
}

/** What the picture holds that an app is shown: whose account it is, and the seed. */
export function enrolmentUri(seed: string, issuer: string, account: string): string {
  return totp(seed, issuer, account).toString()
}

function totp(seed: string, issuer = '', label = 'code') {
  const secret = Secret.fromBase32(seed)
  return new TOTP({ issuer, label, secret, digits: DIGITS, period: PERIOD_SECONDS })
}
